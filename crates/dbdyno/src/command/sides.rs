//! Results of studies with more than two sides, for `study` and `compare`.

use ::archive::Run;
use anyhow::Result;
use stats::compare::Verdict;
use verdict::contrasts::{self, Kind, Options, contrasts};

use super::{print_coloured, print_json, shown, tell};
use crate::arguments::{BandOption, FailOn, Judging};
use crate::event_outputs::Watched;
use crate::exit::{InvalidInput, Status};

/// Tables of a comparison on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    None,
    /// Those of the primary metrics.
    Primary,
    All,
}

impl Tables {
    /// The tables of a verb that always prints some.
    pub fn of_detail(is_full: bool) -> Self {
        if is_full { Self::All } else { Self::Primary }
    }
}

/// Judges the sides of a screening, or alternatives in all pairs, prints the result, and returns the requested status; `None` for other
/// runs.
pub fn judge_and_show_all(
    runs: &[&Run],
    judging: &Judging,
    tables: Tables,
    watched: &Watched,
) -> Result<Option<Status>> {
    let kinds: Vec<Kind> = runs.iter().filter_map(|run| Kind::of(run)).collect();
    let Some(first) = kinds.first() else {
        return Ok(None);
    };
    let is_screening = kinds.contains(&Kind::Screening);
    let kind = if is_screening {
        Kind::Screening
    } else {
        *first
    };
    refuse_of_two(judging)?;
    let primary = judging.primary()?;
    let options = Options {
        band: judging.band(),
        primary: &primary,
    };
    let found = contrasts(kind, runs, &options)?;
    let render = |shown| match kind {
        Kind::Screening => report::screening(&found, shown),
        Kind::Alternatives => report::alternatives(&found, shown),
    };
    tell(watched, render);
    if judging.format.is_json() {
        print_json(&format!("{:#}\n", contrasts::json(&found)))?;
    } else if tables != Tables::None {
        print_coloured(&render(shown(tables == Tables::All)))?;
    }
    let failed = match judging.fail_on {
        None => false,
        Some(FailOn::Worse) => found.any(Verdict::Worse),
        Some(FailOn::Inconclusive) => {
            found.any(Verdict::Worse) || found.any(Verdict::Inconclusive) || found.lacks_verdicts()
        }
    };
    let status = if failed { Status::Missed } else { Status::Fine };
    Ok(Some(status))
}

/// Refuses options that only comparisons of two sides have.
pub fn refuse_of_two(judging: &Judging) -> Result<(), InvalidInput> {
    match (&judging.band, judging.prices.is_empty()) {
        (BandOption::Learned, _) => Err(of_two_sides_alone("--band learned")),
        (_, false) => Err(of_two_sides_alone("--prices")),
        _ => Ok(()),
    }
}

/// The error for a flag without a meaning for more than two sides.
pub fn of_two_sides_alone(flag: &str) -> InvalidInput {
    InvalidInput(format!(
        "{flag} belongs to two sides, and this study has more; leave it out"
    ))
}
