//! What can be typed.

pub mod columnar;
pub mod olap;
mod oltp;
mod run;
mod runs;
mod secret;
mod vdbench;

use std::path::PathBuf;

use crate::consent::Permission;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use columnar::{ColumnarArguments, ColumnarVerb};
pub use olap::{OlapArguments, OlapVerb};
pub use oltp::{
    Check, CheckArguments, DropArguments, LoadArguments, OltpArguments, OltpVerb,
    ReconcileArguments, RestoreArguments, UsersArguments,
};
pub use run::{Occasion, RunArguments, ServerHost};
pub use runs::{RunsArguments, RunsVerb};
pub use secret::{SecretText, urls};
pub use vdbench::VdbenchArguments;

/// A dynamometer for database platforms: loads the whole platform through the database and prints
/// one page of figures that can be trusted.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
#[command(
    after_help = "Exit status: 0 measured and valid · 1 the environment failed · 2 wrong in itself \
(flag, plan, scheme, name) · 3 measured but a gate failed · 4 measured but judged below what was asked \
for · 130 interrupted"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Archive of all results (default: $DBDYNO_ARCHIVE, else archive.dbdyno in the user's data directory)
    // Behind the arguments of every verb, however many verbs there are: clap counts both together.
    #[arg(long, global = true, value_name = "PATH", display_order = 900)]
    pub archive: Option<PathBuf>,
}

/// The verbs; their names are a contract.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure a plan on one or more targets
    Run(RunArguments),
    /// Measure two configurations in turn, pair by pair, and say what the difference is worth
    Ab(AbArguments),
    /// Set two runs against each other: ratios with intervals, and verdicts
    Compare(CompareArguments),
    /// Hold a run against limits, for a person or a build server
    Judge(JudgeArguments),
    /// Show what there is
    List(ListArguments),
    /// Rename, annotate or delete runs of the archive
    Runs(RunsArguments),
    /// Print a run as JSON, CSV or Markdown
    Export(ExportArguments),
    /// Write a run as one self-contained HTML page
    Report(ReportArguments),
    /// The analytical workload: load its database, ask its 22 queries, check their answers, remove it
    Olap(OlapArguments),
    /// Lift tables of any database into memory by columns: their sizes, and what that is worth
    Columnar(ColumnarArguments),
    /// The order-entry workload: load its database, let users work on it, check it, remove it
    Oltp(OltpArguments),
    /// Storage below the database: carry out vdbench parameter files
    Vdbench(VdbenchArguments),
    /// Show what this machine is, and what published practice advises for it
    Host(HostArguments),
}

/// `dbdyno compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The run that is the measure: its number or label, or "last"
    #[arg(value_name = "RUN-A")]
    pub a: String,
    /// The run that is judged
    #[arg(value_name = "RUN-B")]
    pub b: String,
    /// Compare also what was measured differently (size, schedule, cache …), labelled
    #[arg(long)]
    pub anyway: bool,
    /// Histograms of the storage array's own reporter, as CSV (docs/VDBENCH.md); of the second run as
    /// RUN=FILE
    #[arg(long, value_name = "[RUN=]FILE.csv")]
    pub array: Vec<String>,
    #[command(flatten)]
    pub judging: Judging,
}

/// How two runs are judged, for `compare` and `ab`.
#[derive(Debug, Args)]
pub struct Judging {
    /// Practical band in percent within which two count as alike, or "learned" from the archive's
    /// studies of the same plan against itself
    #[arg(long, value_name = "PCT|learned", default_value = "2", value_parser = band)]
    pub band: BandAsked,
    /// Smallest effect in percent that must be found: pairs are advised for it
    #[arg(long, value_name = "PCT", default_value = "5", value_parser = share)]
    pub effect: f64,
    /// Metric to decide on instead of the plan's, as `[TARGET:]TEST[@JOBS[xTHREADS]].FIGURE`
    #[arg(long, value_name = "METRIC")]
    pub primary: Vec<String>,
    /// Exit with status 4 when a primary metric is worse (or not even conclusive)
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// Show every secondary metric and every difference
    #[arg(long)]
    pub all: bool,
    /// Print JSON (docs/FORMAT.md)
    #[arg(long)]
    pub json: bool,
}

/// Which verdict makes the command fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A primary metric is worse
    Worse,
    /// A primary metric is worse or inconclusive
    Inconclusive,
}

/// How wide the practical band is asked to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BandAsked {
    /// A share.
    Share(f64),
    /// From earlier studies.
    Learned,
}

fn band(text: &str) -> Result<BandAsked, String> {
    match text {
        "learned" => Ok(BandAsked::Learned),
        other => share(other).map(BandAsked::Share),
    }
}

/// A share from percent.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    number
        .filter(|pct| *pct > 0.0 && *pct < 100.0)
        .map(|pct| pct / 100.0)
        .ok_or_else(|| "give percent above 0 and below 100".to_owned())
}

/// `dbdyno judge`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all limits are met · 3 the run is incomplete or its record was changed, \
whatever its limits say · 4 a limit is missed, or cannot be judged because nothing valid was measured under it"
)]
pub struct JudgeArguments {
    /// Number or label of a run, or "last"
    pub run: String,
    /// File of limits (docs/FORMAT.md)
    #[arg(long, value_name = "FILE.toml")]
    pub sla: PathBuf,
    /// Also write JUnit XML, which build servers read
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Print JSON (docs/FORMAT.md) instead of lines
    #[arg(long)]
    pub json: bool,
}

/// `dbdyno ab`.
#[derive(Debug, Args)]
pub struct AbArguments {
    /// Name of a built-in plan or path of a plan file
    #[arg(required_unless_present = "resume", default_value = "")]
    pub plan: String,
    /// Sets something for side A alone: a key of the plan as in --set, target.KEY=VALUE (a setting of
    /// the target's URL; of a running server, for the sessions that are measured) or target=URL; without --a
    /// and --b the plan is measured against itself
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub a: Vec<SecretText>,
    /// Sets something for side B alone
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub b: Vec<SecretText>,
    /// Pairs of blocks; each block is the plan once, from the same start
    #[arg(long, value_name = "N", default_value_t = lab::study::PAIRS_DEFAULT,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(lab::study::PAIRS_MAX)))]
    pub pairs: u32,
    /// Database to measure, for both sides; without it SQLite and DuckDB in files of their own
    #[arg(long = "target", value_name = "URL")]
    pub targets: Vec<SecretText>,
    /// Name of the study; its runs are called NAME-a and NAME-b
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Sets a key of the plan for both sides
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Seed of everything random, the order of the blocks included
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Go on with a study that was interrupted or killed
    #[arg(long, value_name = "NAME", conflicts_with_all = ["plan", "a", "b", "pairs", "targets", "name", "settings", "seed", "platform", "address", "device", "yes", "shared"])]
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
    #[command(flatten)]
    pub server: ServerHost,
    #[command(flatten)]
    pub permission: Permission,
    #[command(flatten)]
    pub judging: Judging,
}

/// `dbdyno list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// What to list
    pub what: Listing,
    /// Runs of this plan alone
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<String>,
    /// Runs on this target alone: its engine (sqlite, postgres) or the beginning of its URL
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Runs begun then or later: a date or a time of UTC, as `list runs` shows them
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<String>,
}

/// The beginning of a time as the archive has it.
fn since(text: &str) -> Result<String, String> {
    let is_date = text.parse::<jiff::civil::Date>().is_ok() && text.len() == "2026-01-01".len();
    if is_date {
        return Ok(text.to_owned());
    }
    let time = text.parse::<jiff::Timestamp>().map_err(|_| {
        "write a date or a time of UTC, like 2026-01-31 or 2026-01-31T12:00:00Z".to_owned()
    })?;
    Ok(time.to_string())
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
    /// Histograms of the storage array's own reporter, as CSV (docs/VDBENCH.md); of another run than the
    /// first as RUN=FILE
    #[arg(long, value_name = "[RUN=]FILE.csv")]
    pub array: Vec<String>,
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
    /// Another machine through ssh, as `ssh://USER@HOST[:PORT]`
    #[arg(long, value_name = "URL", conflicts_with = "root")]
    pub host: Option<String>,
    /// Show what differs from a run, or from a file that --json wrote
    #[arg(long, value_name = "RUN-or-FILE.json")]
    pub against: Option<String>,
    /// File that states what a machine cannot discover: array, RAID, cache, options
    #[arg(long, value_name = "FILE.toml")]
    pub platform: Option<PathBuf>,
}
