//! The command line: verbs and options.

mod ab;
pub mod check;
mod common;
mod compare;
pub mod data;
mod docs;
mod first_screen;
mod headings;
mod judging;
mod length;
mod list;
pub mod observe;
pub mod positional;
mod report;
mod results;
pub mod run;
mod runs;
mod secret;
pub mod storage;
pub mod study;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use crate::command_line::{CommandLine, without_secrets};
use crate::console::takes_colour;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use ab::AbArguments;
pub use common::{MeasureOptions, Occasion, ServerHost, TextOrJson};
pub use compare::CompareArguments;
pub use data::DataArguments;
pub use docs::{DocsArguments, DocsVerb};
pub use judging::{BandOption, FailOn, Judging};
pub use list::{ListArguments, Listing};
pub use report::{Format, ReportArguments};
pub use results::ResultOptions;
pub use run::{RunArguments, Workload};
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
        let first = Self::parsed(typed.arguments());
        if first.as_ref().is_ok_and(Self::is_vdbench) {
            let moved = storage::with_vdbench_options_first(typed.arguments(), Self::command());
            return Self::parsed(&moved).unwrap_or_else(|error| exit(&error));
        }
        if first
            .as_ref()
            .is_ok_and(|arguments| !arguments.misplaces_workload())
        {
            return first.unwrap_or_else(|error| exit(&error));
        }
        let moved = with_workload_first(typed.arguments()).map(|moved| Self::parsed(&moved));
        match (first, moved) {
            (_, Some(Ok(arguments))) | (Ok(arguments), None) => arguments,
            (Ok(_), Some(Err(error))) | (Err(error), _) => exit(&error),
        }
    }

    fn parsed(typed: &[OsString]) -> Result<Self, clap::Error> {
        let matches = Self::grouped()
            .try_get_matches_from(typed)
            .map_err(without_tip)?;
        Self::from_arg_matches(&matches)
    }

    fn is_vdbench(&self) -> bool {
        match &self.verb {
            Verb::Vdbench(_) => true,
            Verb::Storage(storage) => matches!(storage.verb, StorageVerb::Vdbench(_)),
            _ => false,
        }
    }

    /// True for `run URL oltp`, where the workload was read as a plan.
    fn misplaces_workload(&self) -> bool {
        let Verb::Run(run) = &self.verb else {
            return false;
        };
        let is_workload = |text: &SecretText| Workload::NAMES.contains(&text.expose());
        run.workload.is_none() && run.texts.iter().any(is_workload)
    }

    /// The command with its options and verbs in groups.
    pub fn grouped() -> clap::Command {
        first_screen::with_first_screen(headings::with_headings(Self::command()))
    }
}

/// An unknown option is never meant as a value; those of psql and pgbench that name the server are parts of its URL.
fn without_tip(mut error: clap::Error) -> clap::Error {
    error.remove(ContextKind::Suggested);
    if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && ["-p", "-U", "-d", "-W"].contains(&option.as_str())
    {
        let tip = "give the server as a URL: postgres://USER@HOST:PORT/DATABASE";
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.to_owned().into()]),
        );
    }
    error
}

/// The arguments with the name of a workload directly after its verb, where clap expects it: `run URL oltp` is `run oltp
/// URL`. `None` if it is there, or there is none.
fn with_workload_first(typed: &[OsString]) -> Option<Vec<OsString>> {
    let of_data = ["load", "check", "restore", "drop"];
    let is_verb = |at: usize| match typed.get(at).and_then(|word| word.to_str()) {
        Some("run") => true,
        Some(action) => at > 0 && typed[at - 1] == "data" && of_data.contains(&action),
        None => false,
    };
    let place = (1..typed.len()).find(|at| is_verb(*at))? + 1;
    let is_workload = |word: &OsString| Workload::NAMES.iter().any(|name| word == name);
    let at = place + typed[place..].iter().position(is_workload)?;
    let mut moved = typed.to_vec();
    moved[place..=at].rotate_right(1);
    (at > place).then_some(moved)
}

/// The verbs; their names are a contract.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a plan or a workload on a database
    Run(Box<RunArguments>),
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
    /// Load, check, restore or drop a workload's database
    Data(DataArguments),
    /// List, rename, annotate or delete runs
    Runs(RunsArguments),
    /// List tests, plans, studies, engines or references
    List(ListArguments),
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

#[cfg(test)]
mod documents;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_workload_moves_to_its_verb() {
        let moved = |line: &str| {
            let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let moved = with_workload_first(&typed)?;
            let words: Vec<&str> = moved.iter().filter_map(|word| word.to_str()).collect();
            Some(words.join(" "))
        };
        for (typed, expected) in [
            (
                "dbdyno run sqlite: -c 4 oltp",
                Some("dbdyno run oltp sqlite: -c 4"),
            ),
            (
                "dbdyno --archive a data load sqlite: olap --scale 1",
                Some("dbdyno --archive a data load olap sqlite: --scale 1"),
            ),
            ("dbdyno run oltp sqlite:", None),
            ("dbdyno run quick sqlite:", None),
            ("dbdyno data estimate olap", None),
        ] {
            assert_eq!(moved(typed).as_deref(), expected, "{typed}");
        }
    }
}
