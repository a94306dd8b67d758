//! The command line: verbs and options.

mod ab;
pub mod backup;
pub mod check;
pub mod columnar;
mod common;
mod compare;
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

use crate::command_line::{CommandLine, without_secrets};
use crate::console::takes_colour;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use ab::AbArguments;
pub use backup::{BackupArguments, BackupVerb};
pub use columnar::{ColumnarArguments, ColumnarVerb};
pub use common::{MeasureOptions, ServerHost, TextOrJson};
pub use compare::CompareArguments;
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
