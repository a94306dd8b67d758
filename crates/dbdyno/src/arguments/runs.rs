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
    /// Only runs with this text in their label, plan or target
    pub text: Option<String>,
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
