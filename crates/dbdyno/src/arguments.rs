//! The command line: verbs and options.

mod ab;
pub mod backup;
pub mod check;
pub mod columnar;
mod common;
mod compare;
mod docs;
mod first_screen;
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

/// Measure a database platform: what it delivers, and what limits it
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
// The manual page shows it; the first screen has no room.
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

    /// The command with its options and verbs in groups.
    pub fn grouped() -> clap::Command {
        first_screen::with_first_screen(headings::with_headings(Self::command()))
    }
}

/// The verbs; their names are a contract.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a plan on one or more databases
    Run(RunArguments),
    /// Measure two configurations in turn, and test whether they differ
    Ab(AbArguments),
    /// Carry out a built-in study, such as before and after a change
    Study(study::StudyArguments),
    /// Watch a running database, read only and without a load
    ///
    /// The result has active sessions by wait, the load profile, top statements and locks.
    Observe(observe::ObserveArguments),
    /// Compare two runs: ratios with confidence intervals
    Compare(CompareArguments),
    /// Show a run as page, text or data; check limits; replay it
    Report(ReportArguments),
    /// List, rename, annotate or delete runs
    Runs(RunsArguments),
    /// List tests, plans, studies, engines or references
    List(ListArguments),
    /// Load, run, check or drop 22 analytical queries
    Olap(OlapArguments),
    /// Load tables into memory; measure size and speed-up
    Columnar(ColumnarArguments),
    /// Load, run, check, restore or drop order entry
    Oltp(OltpArguments),
    /// Back up a database, restore it, and prove the copy
    Backup(BackupArguments),
    /// Measure below the database: vdbench files, layouts, fleets
    Storage(StorageArguments),
    /// Run vdbench parameter files on the storage below the database
    // Scripts and wrappers of vdbench call this name.
    #[command(hide = true)]
    Vdbench(VdbenchArguments),
    /// Check a database before a run, dbdyno itself, or a machine
    ///
    /// Of a database: version, rights, connection, and what a run would lack; changes nothing without --compatibility or
    /// --self-test.
    Check(check::CheckArguments),
    /// Show where the documents are; write man pages and completions
    Docs(DocsArguments),
}
