//! Results of studies with more than two sides, or the reason why there are none.

use archive::Run;

use super::section::Fragment;

/// Judges a run with the other sides of its study, if they are present: the parts of the section, and of the first screen.
pub fn judge_sides<Found, Why: ToString, Outcome>(
    run: &Run,
    others: &[&Run],
    refused: &str,
    judge: impl FnOnce(&[&Run]) -> Result<Found, Why>,
    add: impl FnOnce(&mut Fragment, &[&Run], &Found),
    outcome: impl FnOnce(&Run, &Found) -> Outcome,
) -> (Fragment, Option<Outcome>) {
    let mut parts = Fragment::default();
    if others.is_empty() {
        return (parts, None);
    }
    let sides: Vec<&Run> = std::iter::once(run).chain(others.iter().copied()).collect();
    match judge(&sides) {
        Ok(found) => {
            add(&mut parts, &sides, &found);
            (parts, Some(outcome(run, &found)))
        }
        Err(why) => {
            parts.sentence(&format!("{refused}: {}", why.to_string()));
            (parts, None)
        }
    }
}
