//! The command line: verbs and options.

pub mod backup;
pub mod check;
pub mod columnar;
mod common;
mod docs;
mod headings;
mod judging;
mod length;
mod list;
pub mod observe;
pub mod olap;
mod oltp;
// The verbs take it into use one after another.
#[allow(dead_code)]
pub mod positional;
mod report;
mod run;
mod runs;
mod secret;
pub mod storage;
pub mod study;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use crate::command_line::{CommandLine, without_secrets};
use crate::console::takes_colour;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use judging::share;
use length::length;

pub use backup::{BackupArguments, BackupVerb};
pub use columnar::{ColumnarArguments, ColumnarVerb};
pub use common::{MeasureOptions, ServerHost, TextOrJson};
pub use docs::{DocsArguments, DocsVerb};
pub use judging::{BandOption, FailOn, Judging};
pub use list::{ListArguments, Listing};
pub use olap::{OlapArguments, OlapVerb};
pub use oltp::{
    Check, CheckArguments, DropArguments, LoadArguments, OltpArguments, OltpVerb,
    ReconcileArguments, RestoreArguments, Rows, UsersArguments,
};
pub use report::{Format, ReportArguments};
pub use run::{Occasion, RunArguments};
pub use runs::{RunFilter, RunsArguments, RunsVerb};
pub use secret::{SecretText, urls};
pub use storage::{LayoutVerb, StorageArguments, StorageVerb, VdbenchArguments};

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
        &["oltp", "olap", "columnar", "backup", "storage"],
    ),
    ("Compare", &["compare"]),
    ("Results", &["report", "runs"]),
    ("Platform", &["check"]),
    ("Reference", &["list", "docs"]),
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
    /// Show a run: page, text, JSON, CSV or Markdown; check it against limits; replay it
    Report(ReportArguments),
    /// List, rename, annotate or delete runs
    Runs(RunsArguments),
    /// List tests, plans, studies, engines or references
    List(ListArguments),
    /// Analytical workload derived from TPC-H, 22 queries: load, run, check or drop its database
    Olap(OlapArguments),
    /// Load tables into an in-memory column store; measure size and speed-up
    Columnar(ColumnarArguments),
    /// Order-entry workload derived from TPC-C: load, run, check, restore or drop its database
    Oltp(OltpArguments),
    /// Back up a database, restore it elsewhere, and prove the restored copy; report rates
    Backup(BackupArguments),
    /// Measure the storage below the database: vdbench parameter files, trial layouts, fleets of systems
    Storage(StorageArguments),
    /// Run vdbench parameter files on the storage below the database
    // Scripts and wrappers of vdbench call this name.
    #[command(hide = true)]
    Vdbench(VdbenchArguments),
    /// Check a database before a run: rights, settings, what a run would lack; or a machine
    Check(check::CheckArguments),
    /// Say where the documents are; write manual pages and completion scripts
    Docs(DocsArguments),
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
