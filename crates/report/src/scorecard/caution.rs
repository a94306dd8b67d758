//! Rows whose cells must not be compared: tests of an engine's own language or executor.

use archive::reference::Reference;
use archive::{Remark, Run};

use super::Against;

/// True if a point of `test` has a remark that it measures only its engine.
pub fn engine_specific(run: &Run, test: &str) -> bool {
    let mut points = run.points.iter().filter(|p| p.key.test == test);
    points.any(|point| point.notes.contains(&Remark::EngineSpecific))
}

/// True if the reference names none of the run's engines, so that its figures come from another language.
pub fn other_runtime(run: &Run, reference: &Reference) -> bool {
    !run.targets.iter().any(|t| names(reference, &t.engine))
}

fn names(reference: &Reference, engine: &str) -> bool {
    let engine = engine.to_lowercase();
    let facts = reference.platform.iter().flat_map(|(_, facts)| facts);
    facts
        .flat_map(|(name, value)| [name, value])
        .chain([&reference.title, &reference.document])
        .any(|text| text.to_lowercase().contains(&engine))
}

/// The reason against comparing the figures of a test; `None` if they are comparable.
pub fn caution(run: &Run, against: &[Against<'_>], test: &str) -> Option<&'static str> {
    let others = against.iter().filter_map(|a| match a {
        Against::Run(other) => Some(*other),
        Against::Reference(_) => None,
    });
    let runs: Vec<&Run> = std::iter::once(run).chain(others).collect();
    if !runs.iter().any(|r| engine_specific(r, test)) {
        return None;
    }
    let foreign = against
        .iter()
        .any(|a| matches!(a, Against::Reference(r) if other_runtime(run, r)));
    let mut engines = runs.iter().flat_map(|r| &r.targets).map(|t| &t.engine);
    let first = engines.next();
    match (foreign, engines.any(|engine| Some(engine) != first)) {
        (true, _) => Some(
            "Not comparable across engines: each column measures its own engine's executor, and the published figures come from another language runtime.",
        ),
        (false, true) => {
            Some("Not comparable across engines: each column measures its own engine's executor.")
        }
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_of_the_same_engine_is_no_other_runtime() {
        let dl980 = archive::reference::load("dl980-violin").expect("it is embedded");
        assert!(names(&dl980, "Oracle"));
        assert!(!names(&dl980, "SQLite"));
    }
}
