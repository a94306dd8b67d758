//! Arguments of `dbdyno runs`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    after_help = "`dbdyno list runs` lists them. Results never change, nor does the label a run was measured under: a \
renamed run is found by both names"
)]
pub struct RunsArguments {
    #[command(subcommand)]
    pub verb: RunsVerb,
}

#[derive(Debug, Subcommand)]
pub enum RunsVerb {
    /// Delete runs and their results. Refused: a run that may be in progress, a run altered after it was
    /// measured, and one side of a study
    Delete {
        /// Runs: numbers, labels, or "last"
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
        /// Do not ask for confirmation
        #[arg(long)]
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
