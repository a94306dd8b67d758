//! What can be typed behind `dbdyno runs`.

use clap::{Args, Subcommand};

/// `dbdyno runs`.
#[derive(Debug, Args)]
#[command(
    after_help = "`dbdyno list runs` shows the runs. What was measured, and the label that it was measured under, stay as \
they are: a renamed run is found by both names"
)]
pub struct RunsArguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: RunsVerb,
}

/// What can be done to runs.
#[derive(Debug, Subcommand)]
pub enum RunsVerb {
    /// Remove runs with all that was measured. A run that may be under way, one that was changed after it was measured,
    /// and one side of a study are refused
    Delete {
        /// Numbers or labels of runs, or "last"
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Call a run by another name
    Rename {
        /// Number or label of a run, or "last"
        run: String,
        /// Its new name; the label that it was measured under takes the new one away
        name: String,
    },
    /// Keep a note of a run, shown in lists, reports and exports
    Note {
        /// Number or label of a run, or "last"
        run: String,
        /// The note, instead of the one there is; an empty one takes it away
        text: String,
    },
}
