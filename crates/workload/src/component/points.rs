//! Tests of a step, their jobs and threads, and obstacles.

use archive::Remark;
use engine::Feature;
use lab::plan::{Degree, degrees_on};
use lab::{LabError, Nodes, Result, Step};

use crate::{Library, Sweep, Test, below};

pub(super) fn tests_of<'a>(step: &Step, library: &'a Library) -> Result<Vec<&'a Test>> {
    if let Some(at) = &step.script {
        let unread = || LabError::Plan("a script was not read".into());
        return Ok(vec![library.script_at(&at.place()).ok_or_else(unread)?]);
    }
    if step.tests.is_empty() {
        // Tests below the database are not about it, so they have to be named.
        let is_own =
            |test: &&Test| test.script().is_none() && !test.definition.exercise.is_below_database();
        let mut all: Vec<_> = library.tests().filter(is_own).collect();
        // Components are in the scorecard's order. Within one, writing tests come last, so that they do not alter the
        // tables that others read.
        all.sort_by_key(|t| {
            (
                t.definition.component,
                t.definition.writes,
                t.code().to_owned(),
            )
        });
        return Ok(all);
    }
    let tests = step.tests.iter().map(|code| library.test(code));
    Ok(tests.collect::<std::result::Result<_, _>>()?)
}

/// Tests and jobs of a step as far as they are known without a target: the most that this engine might run.
///
/// # Errors
/// A test that does not exist.
pub(super) fn foreseen<'a>(
    step: &Step,
    library: &'a Library,
    engine: &str,
    cores: u32,
) -> Result<Vec<(&'a Test, u32)>> {
    let tests = tests_of(step, library)?.into_iter();
    let spoken = tests.filter(|test| !is_wordless(test, engine));
    let points = spoken.flat_map(|test| {
        swept(test, step, cores)
            .into_iter()
            .map(move |(jobs, _)| (test, jobs))
    });
    Ok(points.collect())
}

/// Tests on tables or below the database may lack SQL of their own; a computation consists of nothing else.
fn is_wordless(test: &Test, engine: &str) -> bool {
    let exercise = &test.definition.exercise;
    !exercise.uses_tables() && !exercise.is_below_database() && test.sql(engine).is_empty()
}

pub(super) fn obstacle(test: &Test, target: &Nodes) -> Option<Remark> {
    let lacking = test.needs.iter().find_map(|feature| {
        let why = target.lacks(*feature)?;
        let feature = feature.name().to_owned();
        Some(Remark::EngineLacks { feature, why })
    });
    let lacking = lacking.or_else(|| test.script()?.lacks(&target.engine));
    let lacking = lacking.or_else(|| {
        let is_written = writes_to(test, &target.engine);
        is_written.then(|| target.read_only()).flatten()
    });
    if test.definition.exercise.is_below_database() {
        return below::test::check_location(target).err();
    }
    let wordless = || {
        is_wordless(test, &target.engine).then(|| Remark::NoStatement {
            engine: target.engine.clone(),
        })
    };
    lacking.or_else(wordless)
}

/// True if a test writes to its target, including its tables and stored code.
fn writes_to(test: &Test, engine: &str) -> bool {
    let makes_data = match test.script() {
        Some(script) => script.makes_data(engine),
        None => test.needs.contains(&Feature::Tables),
    };
    makes_data || test.definition.writes || !test.set_up_sql(engine).is_empty()
}

/// Reason why a test that could be swept is measured at one point; `None` if it is swept.
pub(super) fn sweep_obstacle(
    test: &Test,
    contention: bool,
    lacks: impl Fn(Feature) -> Option<String>,
) -> Option<String> {
    match test.definition.sweep {
        // The limit of one writer does not concern files.
        Sweep::Jobs if test.definition.exercise.is_below_database() => None,
        Sweep::Jobs if test.definition.writes && !contention => lacks(Feature::ConcurrentWriters),
        Sweep::Threads => lacks(Feature::ParallelStatement),
        Sweep::Jobs | Sweep::One => None,
    }
}

pub(super) fn sweep(test: &Test, step: &Step, target: &Nodes, cores: u32) -> Vec<(u32, u32)> {
    if sweep_obstacle(test, step.contention, |f| target.lacks(f)).is_some() {
        return vec![(1, 1)];
    }
    swept(test, step, cores)
}

fn or_powers(list: &[Degree], cores: u32, last: u32) -> Vec<u32> {
    match list {
        [] => powers_of_two(last),
        list => degrees_on(list, cores),
    }
}

pub(super) fn jobs_swept(step: &Step, cores: u32) -> Vec<u32> {
    or_powers(&step.jobs, cores, 4 * cores)
}

/// Jobs and threads of a test's points on a target without restrictions.
fn swept(test: &Test, step: &Step, cores: u32) -> Vec<(u32, u32)> {
    match test.definition.sweep {
        Sweep::Jobs => jobs_swept(step, cores)
            .into_iter()
            .map(|jobs| (jobs, 1))
            .collect(),
        Sweep::Threads => or_powers(&step.threads, cores, cores)
            .into_iter()
            .map(|threads| (1, threads))
            .collect(),
        Sweep::One => vec![(1, 1)],
    }
}

/// 1, 2, 4 … up to `last`, and `last` itself.
fn powers_of_two(last: u32) -> Vec<u32> {
    let mut powers: Vec<u32> = std::iter::successors(Some(1u32), |n| n.checked_mul(2))
        .take_while(|n| *n < last.max(1))
        .collect();
    powers.push(last.max(1));
    powers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_end_with_the_last() {
        assert_eq!(powers_of_two(6), [1, 2, 4, 6]);
    }
}
