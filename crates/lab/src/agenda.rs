//! The agenda: plan × targets × repetitions = the points to measure, and what cannot be measured.

use archive::{Missing, PointKey};
use target::Feature;
use workload::{Library, Sweep, Test};

use crate::nodes::Nodes;
use crate::plan::{OlapOrder, Used};
use crate::{LabError, Plan, Result, Step, below, columnar, mixed, olap, oltp};

/// All points of a run in the order in which they are measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agenda {
    /// Points.
    pub points: Vec<PointKey>,
    /// Tests that a target cannot do.
    pub missing: Vec<Missing>,
}

/// Checks what can be checked without a target: that every test and size exists.
///
/// # Errors
/// A test or size that does not exist, with the nearest that does.
pub fn check(plan: &Plan, library: &Library) -> Result<()> {
    for step in plan.step.iter().filter(|step| step.is_of_tests()) {
        library.size(&step.size)?;
        tests_of(step, library)?;
    }
    Ok(())
}

impl Agenda {
    /// Lays the agenda: every repetition goes through all steps and targets, so that a drift of the
    /// machine meets all of them alike.
    ///
    /// # Errors
    /// A test that does not exist.
    pub fn lay(plan: &Plan, library: &Library, targets: &[Nodes], cores: u32) -> Result<Self> {
        let mut agenda = Self::default();
        for repetition in 1..=plan.repeat {
            for (step_number, step) in (1..).zip(&plan.step) {
                if !step.is_of_tests() {
                    agenda.add_workload(step, (repetition, step_number), targets);
                    continue;
                }
                for test in tests_of(step, library)? {
                    for (target_number, target) in (0..).zip(targets) {
                        // What is lifted is asked by the analytical queries alone.
                        if columnar::is_replica(target) {
                            continue;
                        }
                        match obstacle(test, target) {
                            Some(reason) if repetition == 1 => {
                                agenda.add_missing(target_number, test, reason);
                            }
                            Some(_) => {}
                            None => agenda.points.extend(
                                sweep(test, step, target, cores).into_iter().map(
                                    |(jobs, threads)| PointKey {
                                        repetition,
                                        step: step_number,
                                        target: target_number,
                                        test: test.code().to_owned(),
                                        nodes: target.nodes.len() as u32,
                                        jobs,
                                        threads,
                                    },
                                ),
                            ),
                        }
                    }
                }
            }
        }
        Ok(agenda)
    }

    /// The points of a step that is of a workload with a database of its own.
    fn add_workload(&mut self, step: &Step, place: (u32, u32), targets: &[Nodes]) {
        for (number, target) in (0..).zip(targets) {
            let base = PointKey {
                repetition: place.0,
                step: place.1,
                target: number,
                test: String::new(),
                nodes: target.nodes.len() as u32,
                jobs: 1,
                threads: 1,
            };
            let is_replica = columnar::is_replica(target);
            let title: fn(&str) -> String;
            let (keys, obstacle) = match step.used() {
                Used::Columnar(columnar) => {
                    title = columnar::title;
                    let keys = columnar::keys(columnar, &base, target);
                    (keys, columnar::obstacle(targets))
                }
                Used::Mixed(oltp, olap) => {
                    title = mixed::title;
                    let keys = mixed::keys((oltp, olap), &base, target);
                    (keys, mixed::obstacle(olap, targets, target))
                }
                Used::Oltp(oltp) if !is_replica => {
                    title = oltp::title;
                    (oltp::keys(oltp, &base), oltp::obstacle(target))
                }
                Used::Olap(olap) if !is_replica || olap.order == OlapOrder::Run => {
                    title = olap::title;
                    let keys = olap::keys(olap, &base, target);
                    (keys, olap::obstacle(olap, target))
                }
                // A replica holds what was lifted, and nothing is lifted into what has tables of its own.
                _ => continue,
            };
            // Order entry and queries make their tables themselves.
            let obstacle = obstacle.or_else(|| target.first().read_only());
            match (obstacle, keys.first()) {
                (Some(reason), Some(first)) => self.add(Missing {
                    target: number,
                    test: first.test.clone(),
                    title: title(&first.test),
                    reason,
                }),
                _ => self.points.extend(keys),
            }
        }
    }

    fn add_missing(&mut self, target: u32, test: &Test, reason: String) {
        self.add(Missing {
            target,
            test: test.code().to_owned(),
            title: test.definition.title.clone(),
            reason,
        });
    }

    fn add(&mut self, missing: Missing) {
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }
}

/// The tests of a step, in the order of the plan or of the library.
fn tests_of<'a>(step: &Step, library: &'a Library) -> Result<Vec<&'a Test>> {
    if let Some(path) = &step.script {
        let unread = || LabError::Plan(format!("script {path} was not read"));
        return Ok(vec![library.script_at(path).ok_or_else(unread)?]);
    }
    if step.tests.is_empty() {
        // What lies below the database is asked for by name: it says nothing of the database.
        let is_own =
            |test: &&Test| test.script().is_none() && !test.definition.exercise.is_below_database();
        let mut all: Vec<_> = library.tests().filter(is_own).collect();
        // Components in the order of the scorecard; within one, tests that write come last, so that
        // the tables of the reading ones stay as they were loaded.
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

/// Tests and jobs of a step as far as they can be told without a target: all that an engine of this name
/// might be asked.
///
/// # Errors
/// A test that does not exist.
pub(crate) fn foreseen<'a>(
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

/// What works on tables, or below any, may do without SQL of its own; a computation is nothing else.
fn is_wordless(test: &Test, engine: &str) -> bool {
    let exercise = &test.definition.exercise;
    !exercise.uses_tables() && !exercise.is_below_database() && test.sql(engine).is_empty()
}

fn obstacle(test: &Test, target: &Nodes) -> Option<String> {
    let lacking = test.needs.iter().find_map(|feature| target.lacks(*feature));
    let lacking = lacking.or_else(|| test.script()?.lacks(&target.engine));
    let lacking = lacking.or_else(|| {
        let is_written = writes_to(test, &target.engine);
        is_written.then(|| target.first().read_only()).flatten()
    });
    if test.definition.exercise.is_below_database() {
        return below::test::place(target).err();
    }
    let wordless = || {
        is_wordless(test, &target.engine).then(|| {
            format!(
                "the library holds no statement of this test for {}",
                target.engine
            )
        })
    };
    lacking.or_else(wordless)
}

/// Whether a test writes to its target, be it to make what it reads.
fn writes_to(test: &Test, engine: &str) -> bool {
    let makes_data = match test.script() {
        Some(script) => script.makes_data(engine),
        None => test.needs.contains(&Feature::Tables),
    };
    makes_data || test.definition.writes
}

/// Why a test that could be swept is measured at one point alone; `None` when it is swept.
pub fn sweep_obstacle(
    test: &Test,
    contention: bool,
    lacks: impl Fn(Feature) -> Option<String>,
) -> Option<String> {
    match test.definition.sweep {
        // No engine's writer is in the way.
        Sweep::Jobs if test.definition.exercise.is_below_database() => None,
        Sweep::Jobs if test.definition.writes && !contention => lacks(Feature::ConcurrentWriters),
        Sweep::Threads => lacks(Feature::ParallelStatement),
        Sweep::Jobs | Sweep::One => None,
    }
}

fn sweep(test: &Test, step: &Step, target: &Nodes, cores: u32) -> Vec<(u32, u32)> {
    if sweep_obstacle(test, step.contention, |f| target.lacks(f)).is_some() {
        return vec![(1, 1)];
    }
    swept(test, step, cores)
}

/// Jobs and threads of a test's points on a target that lacks nothing.
fn swept(test: &Test, step: &Step, cores: u32) -> Vec<(u32, u32)> {
    let or_powers = |list: &[u32], last: u32| {
        if list.is_empty() {
            powers_of_two(last)
        } else {
            list.to_vec()
        }
    };
    match test.definition.sweep {
        Sweep::Jobs => or_powers(&step.jobs, 4 * cores)
            .into_iter()
            .map(|jobs| (jobs, 1))
            .collect(),
        Sweep::Threads => or_powers(&step.threads, cores)
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
    use crate::nodes::group;

    fn sqlite() -> Vec<Nodes> {
        let groups = group(&[target::TargetUrl::parse("sqlite:").unwrap()]).unwrap();
        groups.iter().map(|g| Nodes::open(g).unwrap()).collect()
    }

    fn lay(plan: &str) -> Agenda {
        let plan = Plan::parse(plan, &[]).unwrap();
        Agenda::lay(&plan, &Library::embedded().unwrap(), &sqlite(), 2).unwrap()
    }

    #[test]
    fn jobs_are_swept_to_four_times_the_cores() {
        let agenda = lay("name='p'\nrepeat=2\n[[step]]\nuse='library'\ntests=['T611']\n");
        let jobs: Vec<_> = agenda
            .points
            .iter()
            .map(|p| (p.repetition, p.jobs))
            .collect();
        assert_eq!(
            jobs,
            [
                (1, 1),
                (1, 2),
                (1, 4),
                (1, 8),
                (2, 1),
                (2, 2),
                (2, 4),
                (2, 8)
            ]
        );
        assert_eq!(powers_of_two(6), [1, 2, 4, 6]);
    }

    #[test]
    fn one_writer_means_one_point() {
        let agenda = lay("name='p'\n[[step]]\nuse='library'\ntests=['T311']\n");
        assert_eq!(agenda.points.len(), 1);
        let contended = lay("name='p'\n[[step]]\nuse='library'\ntests=['T311']\ncontention=true\n");
        assert_eq!(contended.points.len(), 4);
    }

    #[test]
    fn below_the_database_is_measured_when_it_is_asked_for_and_there_is_a_place() {
        let codes = |plan: &str| -> Vec<String> {
            let agenda = lay(plan);
            let points = agenda.points.into_iter().map(|p| p.test);
            points
                .chain(agenda.missing.into_iter().map(|m| m.test))
                .collect()
        };
        let all = codes("name='p'\n[[step]]\nuse='library'\njobs=[1]\nthreads=[1]\n");
        assert!(all.len() > 15 && !all.iter().any(|code| code.starts_with('D')));
        // A database in memory lies on no device.
        let agenda = lay("name='p'\n[[step]]\nuse='library'\ntests=['D121']\n");
        assert_eq!((agenda.points.len(), agenda.missing.len()), (0, 1));
        assert!(!agenda.missing[0].reason.is_empty());
    }

    #[test]
    fn what_an_engine_cannot_do_is_missing_once_with_its_reason() {
        let agenda = lay("name='p'\nrepeat=3\n[[step]]\nuse='library'\ntests=['T153', 'T626']\n");
        assert!(agenda.points.is_empty());
        assert_eq!(agenda.missing.len(), 2);
        assert!(agenda.missing[0].reason.contains("procedural"));
    }
}
