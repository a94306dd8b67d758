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
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

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

/// A dynamometer for database platforms: load the whole platform through the database, and get one page of
/// figures that you can trust
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
#[command(
    after_help = "Exit status: 0 measured and valid · 1 environment failed · 2 invalid input (flag, plan, URL, name) · \
3 measured, but a check failed · 4 measured, but a limit or verdict was missed · 130 interrupted"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Archive of results (default: $DBDYNO_ARCHIVE, or archive.dbdyno in your data directory)
    // Behind the arguments of every verb, however many verbs there are: clap counts both together.
    #[arg(long, global = true, value_name = "PATH", display_order = 900)]
    pub archive: Option<PathBuf>,
    /// Log the steps of a run to standard error; -vv also what each waits for
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 901)]
    pub verbose: u8,
    /// Log everything that -vv shows to a file
    #[arg(long, global = true, value_name = "FILE", display_order = 902)]
    pub log: Option<PathBuf>,
}

/// The verbs by what their user wants, as the help lists them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["run", "ab"]),
    ("Workloads", &["oltp", "olap", "columnar", "vdbench"]),
    ("Compare", &["compare", "judge"]),
    ("Results", &["report", "list", "runs", "export"]),
    ("Platform", &["host"]),
    ("Shell", &["completions"]),
];

impl Arguments {
    /// What was typed; ends the process where that is a question or makes no sense.
    pub fn typed() -> Self {
        let matches = Self::grouped().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// The command, whose help lists the verbs in groups; clap has groups for options alone.
    pub fn grouped() -> clap::Command {
        let command = Self::command();
        let about = |name: &str| {
            let verb = command.find_subcommand(name);
            verb.and_then(clap::Command::get_about)
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        let mut verbs = String::new();
        for (title, names) in GROUPS {
            verbs.push_str(&format!("{title}:\n"));
            for name in *names {
                verbs.push_str(&format!("  {name:<12} {}\n", about(name)));
            }
            verbs.push('\n');
        }
        command.help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}Options:\n{{options}}{{after-help}}\n"
        ))
    }
}

/// The verbs; their names are a contract.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a plan on one or more targets
    Run(RunArguments),
    /// Measure two configurations in alternating blocks and say what the difference is worth
    Ab(AbArguments),
    /// Compare two runs: ratios with confidence intervals, and verdicts
    Compare(CompareArguments),
    /// Check a run against SLA limits (text, JSON or JUnit)
    Judge(JudgeArguments),
    /// List tests, plans, engines, references or runs
    List(ListArguments),
    /// Rename, annotate or delete runs
    Runs(RunsArguments),
    /// Export a run as JSON, CSV or Markdown
    Export(ExportArguments),
    /// Write a run to a self-contained HTML page
    Report(ReportArguments),
    /// Analytical workload, 22 queries: load, run, check or drop its database
    Olap(OlapArguments),
    /// Load tables into an in-memory column store; measure size and speed-up
    Columnar(ColumnarArguments),
    /// Order-entry workload: load, run, check, restore or drop its database
    Oltp(OltpArguments),
    /// Run vdbench parameter files on the storage below the database
    Vdbench(VdbenchArguments),
    /// Show this machine's inventory and how it departs from published advice
    Host(HostArguments),
    /// Print a completion script for a shell
    Completions {
        /// Shell to print it for
        shell: clap_complete::Shell,
    },
    /// Write a manual page for every verb
    #[command(hide = true)]
    Manual {
        /// Directory to write them to
        directory: PathBuf,
    },
}

/// `dbdyno compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Baseline run: number, label, or "last"
    #[arg(value_name = "RUN-A")]
    pub a: String,
    /// Run to judge against it
    #[arg(value_name = "RUN-B")]
    pub b: String,
    /// Also compare points measured differently (size, schedule, cache …); they are labelled
    #[arg(long)]
    pub anyway: bool,
    /// Histograms from the storage array's own reporter, as CSV (docs/VDBENCH.md); RUN=FILE for the second run
    #[arg(long, value_name = "[RUN=]FILE.csv")]
    pub array: Vec<String>,
    #[command(flatten)]
    pub judging: Judging,
}

/// How two runs are judged, for `compare` and `ab`.
#[derive(Debug, Args)]
pub struct Judging {
    /// Equivalence band in percent, or "learned" from A/A studies of the same plan in the archive
    #[arg(long, value_name = "PCT|learned", default_value = "2", value_parser = band)]
    pub band: BandAsked,
    /// Smallest effect in percent that you want to detect; the number of pairs is advised for it
    #[arg(long, value_name = "PCT", default_value = "5", value_parser = share)]
    pub effect: f64,
    /// Primary metric, instead of the plan's: `[TARGET:]TEST[@JOBS[xTHREADS]].FIGURE`
    #[arg(long, value_name = "METRIC")]
    pub primary: Vec<String>,
    /// Exit with status 4 if a primary metric is worse (or inconclusive)
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// Show all secondary metrics and all configuration differences
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
        .ok_or_else(|| "expected a percentage above 0 and below 100".to_owned())
}

/// `dbdyno judge`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all limits met · 3 the run is incomplete or was altered after it was measured, whatever \
the limits say · 4 a limit was missed, or nothing valid was measured to judge it by"
)]
pub struct JudgeArguments {
    /// Run: number, label, or "last"
    pub run: String,
    /// File with the limits (docs/FORMAT.md)
    #[arg(long, value_name = "FILE.toml")]
    pub sla: PathBuf,
    /// Also write JUnit XML, for build servers
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Print JSON (docs/FORMAT.md)
    #[arg(long)]
    pub json: bool,
}

/// `dbdyno ab`.
#[derive(Debug, Args)]
pub struct AbArguments {
    /// Built-in plan or path of a plan file
    #[arg(required_unless_present = "resume", default_value = "")]
    pub plan: String,
    /// Change side A only: a plan key as in --set, target.KEY=VALUE (a setting of the target URL; on a running
    /// server, for the measured sessions) or target=URL. Without --a and --b the plan is measured against
    /// itself (A/A)
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub a: Vec<SecretText>,
    /// Change side B only
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub b: Vec<SecretText>,
    /// Pairs of blocks; each block runs the plan once, from the same starting state
    #[arg(long, value_name = "N", default_value_t = lab::study::PAIRS_DEFAULT,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(lab::study::PAIRS_MAX)))]
    pub pairs: u32,
    /// Database to measure, on both sides (default: SQLite and DuckDB in temporary files)
    #[arg(long = "target", value_name = "URL")]
    pub targets: Vec<SecretText>,
    /// Name of the study; its runs are NAME-a and NAME-b
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Set a plan key on both sides
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Random seed; also decides the order of the blocks
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Resume an interrupted study
    #[arg(long, value_name = "NAME", conflicts_with_all = ["plan", "a", "b", "pairs", "targets", "name", "settings", "seed", "platform", "address", "device", "yes", "shared"])]
    pub resume: Option<String>,
    /// Test library to use instead of the built-in one
    #[arg(long, value_name = "DIR")]
    pub library: Option<PathBuf>,
    /// Directory for the default targets' files (default: your cache directory)
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// File stating what cannot be discovered: array, RAID, cache, options
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
    /// Only runs of this plan
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<String>,
    /// Only runs on this target: its engine (sqlite, postgres) or the start of its URL
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Only runs started at or after this date or time (UTC)
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
        "expected a date or a time in UTC, such as 2026-01-31 or 2026-01-31T12:00:00Z".to_owned()
    })?;
    Ok(time.to_string())
}

/// What `dbdyno list` can show.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Listing {
    /// Component tests
    Tests,
    /// Built-in plans
    Plans,
    /// Database engines
    Engines,
    /// Published figures of other platforms
    References,
    /// Runs in the archive
    Runs,
}

/// `dbdyno export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Run: number, label, or "last"
    pub run: String,
    /// Format
    #[arg(long, value_enum, default_value = "json")]
    pub format: Format,
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Format {
    /// Everything, histograms included (docs/FORMAT.md)
    Json,
    /// One row per point
    Csv,
    /// One table per test
    Markdown,
}

/// `dbdyno report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Run: number, label, or "last"
    pub run: String,
    /// Run, or reference as ref:NAME, to show beside it
    #[arg(long, value_name = "RUN-or-REFERENCE")]
    pub against: Vec<String>,
    /// Histograms from the storage array's own reporter, as CSV (docs/VDBENCH.md); RUN=FILE for a run given
    /// with --against
    #[arg(long, value_name = "[RUN=]FILE.csv")]
    pub array: Vec<String>,
    /// Output file
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
    /// Print JSON (docs/HOST.md)
    #[arg(long)]
    pub json: bool,
    /// Directory with proc, sys and etc, such as a tree copied from another machine
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,
    /// Another machine, over ssh: `ssh://USER@HOST[:PORT]`
    #[arg(long, value_name = "URL", conflicts_with = "root")]
    pub host: Option<String>,
    /// Show differences from a run, or from a file written by --json
    #[arg(long, value_name = "RUN-or-FILE.json")]
    pub against: Option<String>,
    /// File stating what cannot be discovered: array, RAID, cache, options
    #[arg(long, value_name = "FILE.toml")]
    pub platform: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_stands_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let mut verbs: Vec<&str> = shown.map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
    }
}
