//! Studies of more than two sides: what all of them say together, or why they say nothing.

use archive::Run;

/// A section of the page, and what the first screen says.
pub struct OfSides<Section, Outcome> {
    pub section: Option<Section>,
    pub outcome: Option<Outcome>,
    /// Why there is none, although sides of a study are here.
    pub refused: Option<String>,
}

/// Judges a run with the other sides of its study, if they are here.
pub fn of_sides<Found, Why: ToString, Section, Outcome>(
    (run, others): (&Run, &[&Run]),
    judge: impl FnOnce(&[&Run]) -> Result<Found, Why>,
    section: impl FnOnce(&[&Run], &Found) -> Section,
    outcome: impl FnOnce(&Run, &Found) -> Outcome,
) -> OfSides<Section, Outcome> {
    let none = OfSides {
        section: None,
        outcome: None,
        refused: None,
    };
    if others.is_empty() {
        return none;
    }
    let sides: Vec<&Run> = std::iter::once(run).chain(others.iter().copied()).collect();
    match judge(&sides) {
        Ok(found) => OfSides {
            section: Some(section(&sides, &found)),
            outcome: Some(outcome(run, &found)),
            refused: None,
        },
        Err(why) => OfSides {
            refused: Some(why.to_string()),
            ..none
        },
    }
}
