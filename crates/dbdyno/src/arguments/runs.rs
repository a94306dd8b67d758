//! Arguments of `dbdyno runs`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    after_help = "Results never change, nor does the label a run was measured under: a renamed run is found by both names"
)]
pub struct RunsArguments {
    #[command(subcommand)]
    pub verb: RunsVerb,
}

#[derive(Debug, Subcommand)]
pub enum RunsVerb {
    /// List the runs of the archive
    List(RunFilter),
    /// Delete runs and their results. Refused: a run that may be in progress, a run altered after it was
    /// measured, and one side of a study
    Delete {
        /// Runs: numbers, labels, or "last"
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
        /// Delete without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Rename a run
    Rename {
        /// Run: number, label, or "last"
        run: String,
        /// New name; the original label undoes the renaming
        name: String,
    },
    /// Attach a note to a run, shown in lists, reports and exports
    Note {
        /// Run: number, label, or "last"
        run: String,
        /// Note; replaces the old one, and an empty one removes it
        text: String,
    },
}

#[derive(Debug, Args)]
pub struct RunFilter {
    /// Only runs with this text in their label, plan, target or start (UTC), such as 2026-11; all of them if there are several
    #[arg(value_name = "TEXT")]
    pub texts: Vec<String>,
}
