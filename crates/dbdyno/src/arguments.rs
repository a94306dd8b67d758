//! The command line: verbs and options.

pub mod backup;
pub mod check;
pub mod columnar;
mod common;
pub mod fleet;
mod headings;
mod judging;
mod layout;
mod length;
pub mod observe;
pub mod olap;
mod oltp;
// The verbs take it into use one after another.
#[allow(dead_code)]
pub mod positional;
mod run;
mod runs;
mod secret;
pub mod study;
mod vdbench;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use crate::command_line::{CommandLine, without_secrets};
use crate::console::takes_colour;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use judging::share;
use length::length;

pub use backup::{BackupArguments, BackupVerb};
pub use columnar::{ColumnarArguments, ColumnarVerb};
pub use common::{MeasureOptions, ServerHost, TextOrJson};
pub use judging::{BandOption, FailOn, Judging};
pub use layout::{LayoutArguments, LayoutVerb};
pub use olap::{OlapArguments, OlapVerb};
pub use oltp::{
    Check, CheckArguments, DropArguments, LoadArguments, OltpArguments, OltpVerb,
    ReconcileArguments, RestoreArguments, Rows, UsersArguments,
};
pub use run::{Occasion, RunArguments};
pub use runs::{RunsArguments, RunsVerb};
pub use secret::{SecretText, urls};
pub use vdbench::VdbenchArguments;

/// A dynamometer for database platforms: load the whole platform through the database, and get one page of
/// figures that you can trust
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
#[command(
    after_help = "Exit status: 0 measured and valid · 1 not measured: database unreachable, disk full or file damaged · 2 invalid input (flag, plan, URL, name) · \
3 measured, but a check failed · 4 a limit was missed, or a verdict named by --fail-on occurred · 130 interrupted"
)]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,
    /// Archive of results (default: $DBDYNO_ARCHIVE, or archive.dbdyno in your data directory)
    #[arg(long, global = true, value_name = "PATH")]
    pub archive: Option<PathBuf>,
    /// Log the steps of a run to standard error; -vv also logs what each step waits for
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Log everything that -vv shows to a file
    #[arg(long, global = true, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
}

/// Groups of verbs in the help, by purpose.
const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["run", "ab", "study", "observe"]),
    (
        "Workloads",
        &["oltp", "olap", "columnar", "backup", "vdbench"],
    ),
    ("Compare", &["compare", "judge", "fleet"]),
    ("Results", &["report", "live", "list", "runs", "export"]),
    ("Platform", &["check", "host", "layout"]),
    ("Shell", &["completions"]),
];

/// Prints help, or an error of usage, and ends the process.
fn exit(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    let text = if takes_colour(&std::io::stderr()) {
        error.render().ansi().to_string()
    } else {
        error.render().to_string()
    };
    // The message repeats arguments, which may hold passwords.
    let _ = write!(std::io::stderr().lock(), "{}", without_secrets(&text));
    std::process::exit(error.exit_code())
}

impl Arguments {
    /// The parsed arguments; ends the process on a request for help or an error of usage.
    pub fn parse_from_typed(typed: &CommandLine) -> Self {
        let mut command = Self::grouped();
        let matches = command.try_get_matches_from_mut(typed.arguments());
        let parsed = matches.and_then(|matches| Self::from_arg_matches(&matches));
        parsed.unwrap_or_else(|error| exit(&error))
    }

    /// The command with grouped verbs in its help; clap has groups for options only.
    pub fn grouped() -> clap::Command {
        let command = headings::with_headings(Self::command());
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
    /// Measure two configurations in alternating blocks and test whether they differ
    Ab(AbArguments),
    /// Carry out a built-in study: measure before and after a change made by you or by a command
    Study(study::StudyArguments),
    /// Observe a database at work, without a load and read only: active sessions by wait, load profile, top statements, locks
    Observe(observe::ObserveArguments),
    /// Compare two runs: ratios with confidence intervals, and verdicts
    Compare(CompareArguments),
    /// Check a run against SLA limits (text, JSON or JUnit)
    Judge(JudgeArguments),
    /// Many systems before and after an update: import histograms, judge the shift, export
    Fleet(fleet::FleetArguments),
    /// List tests, plans, studies, engines, references or runs
    List(ListArguments),
    /// Rename, annotate or delete runs
    Runs(RunsArguments),
    /// Export a run as JSON, CSV or Markdown
    Export(ExportArguments),
    /// Write a run to a self-contained HTML page
    Report(ReportArguments),
    /// Show a run of the archive on the page that --live serves, as if it were measured now
    Live(LiveArguments),
    /// Analytical workload derived from TPC-H, 22 queries: load, run, check or drop its database
    Olap(OlapArguments),
    /// Load tables into an in-memory column store; measure size and speed-up
    Columnar(ColumnarArguments),
    /// Order-entry workload derived from TPC-C: load, run, check, restore or drop its database
    Oltp(OltpArguments),
    /// Back up a database, restore it elsewhere, and prove the restored copy; report rates
    Backup(BackupArguments),
    /// Run vdbench parameter files on the storage below the database
    Vdbench(VdbenchArguments),
    /// Check a database before a run: version, rights, connection, and what a run would lack; changes nothing
    Check(check::CheckArguments),
    /// Show this machine's inventory and how it departs from published advice
    Host(HostArguments),
    /// Make, show or remove a trial layout of devices, file systems and a database's files
    Layout(LayoutArguments),
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

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Baseline run: number, label, or "last"; or the name of a study, alone
    #[arg(value_name = "RUN-A")]
    pub a: String,
    /// Run to judge against it
    #[arg(value_name = "RUN-B")]
    pub b: Option<String>,
    /// Also compare points measured differently (size, schedule, cache …); they are labelled
    #[arg(long)]
    pub anyway: bool,
    /// Response-time histograms exported as CSV by the storage array's own monitoring (docs/VDBENCH.md); RUN=FILE for the second run
    #[arg(long, value_name = "[RUN=]FILE.csv")]
    pub array: Vec<String>,
    /// Give verdicts although one run was made after the other: you vouch that nothing but the recorded differences
    /// changed in between
    #[arg(long)]
    pub trust_sequential: bool,
    #[command(flatten)]
    pub judging: Judging,
}

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
    /// Format: text, or JSON (docs/FORMAT.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
}

#[derive(Debug, Clone, Args)]
pub struct AbArguments {
    /// Built-in plan or path of a plan file; required unless --resume is given
    #[arg(
        required_unless_present = "resume",
        default_value = "",
        hide_default_value = true
    )]
    pub plan: String,
    /// Change side A only: a plan key as in --set, target.KEY=VALUE (a setting of the target URL; on a running
    /// server, for the measured sessions) or target=URL. Without --a and --b the plan is measured against
    /// itself (A/A)
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub a: Vec<SecretText>,
    /// Change side B only
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub b: Vec<SecretText>,
    /// Pairs of blocks; each block runs the plan once, from the same starting state (default: 10, or as many as the
    /// plan's primary metrics need). With --until: at most so many (default: 100)
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(lab::study::PAIRS_MAX)))]
    pub pairs: Option<u32>,
    /// Add pairs until every primary metric has a verdict, or an effect of this size is excluded: at looks planned in
    /// advance, which share the 5 % of error
    #[arg(long, value_name = "PCT", value_parser = share)]
    pub until: Option<f64>,
    /// Begin no new pair after this time, such as 10m or 2h (default: 30m, or none with --pairs)
    #[arg(long, value_name = "LENGTH", value_parser = length, requires = "until")]
    pub within: Option<Duration>,
    /// Measure both blocks of a pair at once, in slices of this length in turn (such as 100ms): finds smaller differences on a
    /// busy machine. Needs timed points; both sides must be able to stand at once
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub interleave: Option<Duration>,
    /// Database to measure, on both sides (default: SQLite and DuckDB in temporary files)
    #[arg(long = "target", value_name = "URL")]
    pub targets: Vec<SecretText>,
    /// Resume an interrupted study
    #[arg(long, value_name = "NAME", conflicts_with_all = ["plan", "a", "b", "pairs", "until", "within", "interleave", "targets", "name", "settings", "seed", "platform", "ssh", "allow_busy"])]
    pub resume: Option<String>,
    /// Test library to use instead of the built-in one
    #[arg(long, value_name = "DIR")]
    pub library: Option<PathBuf>,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub options: MeasureOptions,
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Kind of item to list
    pub what: Listing,
    /// Reference to show completely, with every row, figure, note and source (only for references)
    pub name: Option<String>,
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

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Listing {
    /// Component tests
    Tests,
    /// Built-in plans
    Plans,
    /// Built-in studies and their sizes
    Studies,
    /// Database engines
    Engines,
    /// Published figures of other platforms
    References,
    /// Runs in the archive
    Runs,
}

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Run: number, label, or "last"
    pub run: String,
    /// Format
    #[arg(long, value_enum, default_value = "json")]
    pub format: Format,
    /// Prices of the platform (docs/FORMAT.md): add its total and what the figures cost, to JSON
    #[arg(long, value_name = "FILE.toml")]
    pub prices: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Format {
    /// Everything, histograms included (docs/FORMAT.md)
    Json,
    /// One row per point
    Csv,
    /// One table per test
    Markdown,
}

#[derive(Debug, Args)]
pub struct LiveArguments {
    /// Run: number, label, or "last"
    pub run: String,
    /// Times as fast as it was measured
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = speed)]
    pub speed: f64,
    #[allow(rustdoc::broken_intra_doc_links)] // Brackets of the help, no link.
    /// Where to serve the page: [IP:]PORT
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7411")]
    pub at: live::Address,
    /// End with the run, instead of showing it until Ctrl-C
    #[arg(long)]
    pub once: bool,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|n: &f64| (1e-3..=1e6).contains(n));
    speed.ok_or_else(|| "expected a number from 0.001 to 1000000".to_owned())
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Run: number, label, or "last"
    pub run: String,
    /// Run, or reference as ref:NAME, to show beside it
    #[arg(long, value_name = "RUN-or-REFERENCE")]
    pub against: Vec<String>,
    /// Response-time histograms exported as CSV by the storage array's own monitoring (docs/VDBENCH.md); RUN=FILE for a run given
    /// with --against
    #[arg(long, value_name = "[RUN=]FILE.csv")]
    pub array: Vec<String>,
    /// Prices of the platform (docs/FORMAT.md): add its total and what the figures cost; RUN=FILE for a run with prices of its own
    #[arg(long, value_name = "[RUN=]FILE.toml")]
    pub prices: Vec<String>,
    /// Output file
    #[arg(
        short,
        long,
        value_name = "FILE.html",
        default_value = "dbdyno-report.html"
    )]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct HostArguments {
    /// Format: text, or JSON (docs/HOST.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
    /// Directory with proc, sys and etc, such as a tree copied from another machine
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,
    /// Another machine: `ssh://USER@HOST[:PORT]`
    #[arg(long, value_name = "URL", conflicts_with = "root")]
    pub ssh: Option<String>,
    /// Show differences from a run, or from a file written by --format json
    #[arg(long, value_name = "RUN-or-FILE.json")]
    pub against: Option<String>,
    /// File describing what dbdyno cannot discover: storage array, RAID level, cache, licensed options
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
