//! Results of studies with more than two sides, for `study` and `compare`.

use ::archive::Run;
use anyhow::Result;
use stats::compare::Verdict;
use verdict::alternatives::{self, alternatives, is_alternative};
use verdict::screening::{self, Options, is_screened, screening};

use super::{print_coloured, print_json, shown, tell};
use crate::arguments::{BandOption, FailOn, Judging};
use crate::event_outputs::Watched;
use crate::exit::{InvalidInput, Status};

/// Judges the sides of a screening, or alternatives in all pairs, prints the result, and returns the requested status; `None` for other
/// runs.
pub fn judge_and_show_all(
    runs: &[&Run],
    judging: &Judging,
    watched: &Watched,
) -> Result<Option<Status>> {
    let is_of_many = |run: &&Run| is_screened(run) || is_alternative(run);
    if !runs.iter().any(is_of_many) {
        return Ok(None);
    }
    refuse_of_two(judging)?;
    let primary = judging.primary()?;
    let options = Options {
        band: judging.band(),
        primary: &primary,
    };
    if runs.iter().any(|run| is_screened(run)) {
        let found = screening(runs, &options)?;
        let render = |shown| report::screening(&found, shown);
        print_result(judging, watched, render, || screening::json(&found))?;
        let is = |verdict| found.any(verdict);
        return Ok(Some(status(judging, is, found.lacks_effects())));
    }
    if runs.iter().any(|run| is_alternative(run)) {
        let found = alternatives(runs, &options)?;
        let render = |shown| report::alternatives(&found, shown);
        print_result(judging, watched, render, || alternatives::json(&found))?;
        let is = |verdict| found.any(verdict);
        return Ok(Some(status(judging, is, found.lacks_verdicts())));
    }
    Ok(None)
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

fn print_result(
    judging: &Judging,
    watched: &Watched,
    render: impl Fn(report::Shown) -> String,
    json: impl FnOnce() -> serde_json::Value,
) -> Result<()> {
    tell(watched, judging, &render);
    if judging.json {
        print_json(&format!("{:#}\n", json()))
    } else {
        print_coloured(&render(shown(judging)))
    }
}

fn status(judging: &Judging, is: impl Fn(Verdict) -> bool, lacks_some: bool) -> Status {
    let failed = match judging.fail_on {
        None => false,
        Some(FailOn::Worse) => is(Verdict::Worse),
        Some(FailOn::Inconclusive) => is(Verdict::Worse) || is(Verdict::Inconclusive) || lacks_some,
    };
    if failed { Status::Missed } else { Status::Fine }
}
