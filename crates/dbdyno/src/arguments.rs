//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A dynamometer for database platforms: loads the whole platform through the database and prints
/// one page of figures that can be trusted.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
#[command(
    after_help = "Exit status: 0 measured and valid · 1 the environment failed · 2 wrong in itself \
(flag, plan, scheme, name) · 3 measured but a gate failed · 130 interrupted"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Archive of all results (default: $DBDYNO_ARCHIVE, else archive.dbdyno in the user's data directory)
    #[arg(long, global = true, value_name = "PATH")]
    pub archive: Option<PathBuf>,
}

/// The verbs; their names are a contract.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure a plan on one or more targets
    Run(RunArguments),
    /// Show what there is
    List(ListArguments),
    /// Print a run as JSON, CSV or Markdown
    Export(ExportArguments),
    /// Write a run as one self-contained HTML page
    Report(ReportArguments),
    /// Show what this machine is, and what published practice advises for it
    Host(HostArguments),
}

/// `dbdyno run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Name of a built-in plan or path of a plan file
    #[arg(default_value = "quick")]
    pub plan: String,
    /// Database to measure, as ENGINE:PATH (an empty path is a database in memory); several of one
    /// engine are the nodes of a cluster. Without it: SQLite and DuckDB in files of their own, which
    /// are removed afterwards
    #[arg(long = "target", value_name = "URL")]
    pub targets: Vec<String>,
    /// Label of the run, by which it can be called later
    #[arg(long, value_name = "LABEL")]
    pub name: Option<String>,
    /// Sets a key of the plan: KEY, step.KEY (all steps) or step.N.KEY
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Repetitions of the whole plan
    #[arg(long, value_name = "N")]
    pub repeat: Option<u32>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Go on with a run that was interrupted or killed
    #[arg(long, value_name = "RUN", conflicts_with_all = ["plan", "targets", "name", "settings", "repeat", "seed", "platform"])]
    pub resume: Option<String>,
    /// Directory with a test library to use instead of the built-in one
    #[arg(long, value_name = "DIR")]
    pub library: Option<PathBuf>,
    /// Directory for the files of the default targets (default: the user's cache directory)
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// File that states what a machine cannot discover: array, RAID, cache, options
    #[arg(long, value_name = "FILE.toml")]
    pub platform: Option<PathBuf>,
}

/// `dbdyno list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// What to list
    pub what: Listing,
}

/// What `dbdyno list` can show.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Listing {
    /// The component tests
    Tests,
    /// The built-in plans
    Plans,
    /// The kinds of databases
    Engines,
    /// The published figures of other platforms
    References,
    /// The runs in the archive
    Runs,
}

/// `dbdyno export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Number or label of a run, or "last"
    pub run: String,
    /// Form of the export
    #[arg(long, value_enum, default_value = "json")]
    pub format: Format,
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Format {
    /// Everything, histograms included (docs/FORMAT.md)
    Json,
    /// One line per point
    Csv,
    /// One table per test
    Markdown,
}

/// `dbdyno report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Number or label of a run, or "last"
    pub run: String,
    /// Another run, or ref:NAME, to set beside it
    #[arg(long, value_name = "RUN-or-REFERENCE")]
    pub against: Vec<String>,
    /// File to write
    #[arg(
        short,
        long,
        value_name = "FILE.html",
        default_value = "dbdyno-report.html"
    )]
    pub output: PathBuf,
}

/// `dbdyno host`.
#[derive(Debug, Args)]
pub struct HostArguments {
    /// Print JSON (docs/HOST.md) instead of sections
    #[arg(long)]
    pub json: bool,
    /// Directory that holds the machine's proc, sys and etc: the copied tree of another one, say
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,
    /// Show what differs from a run, or from a file that --json wrote
    #[arg(long, value_name = "RUN-or-FILE.json")]
    pub against: Option<String>,
    /// File that states what a machine cannot discover: array, RAID, cache, options
    #[arg(long, value_name = "FILE.toml")]
    pub platform: Option<PathBuf>,
}
