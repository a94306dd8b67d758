//! Results of studies with more than two sides, or the reason why there are none.

use archive::Run;

/// A section of the page, and its part of the first screen.
pub struct JudgedSides<Section, Outcome> {
    pub section: Option<Section>,
    pub outcome: Option<Outcome>,
    /// The reason for a missing result although sides of a study are present.
    pub refused: Option<String>,
}

/// Judges a run with the other sides of its study, if they are present.
pub fn judge_sides<Found, Why: ToString, Section, Outcome>(
    run: &Run,
    others: &[&Run],
    judge: impl FnOnce(&[&Run]) -> Result<Found, Why>,
    section: impl FnOnce(&[&Run], &Found) -> Section,
    outcome: impl FnOnce(&Run, &Found) -> Outcome,
) -> JudgedSides<Section, Outcome> {
    let none = JudgedSides {
        section: None,
        outcome: None,
        refused: None,
    };
    if others.is_empty() {
        return none;
    }
    let sides: Vec<&Run> = std::iter::once(run).chain(others.iter().copied()).collect();
    match judge(&sides) {
        Ok(found) => JudgedSides {
            section: Some(section(&sides, &found)),
            outcome: Some(outcome(run, &found)),
            refused: None,
        },
        Err(why) => JudgedSides {
            refused: Some(why.to_string()),
            ..none
        },
    }
}
