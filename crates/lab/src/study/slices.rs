//! Check that two configurations can be measured in alternating slices, and the way their databases coexist.

use std::time::Duration;

use archive::lock_file::real_path;
use archive::{Arranged, Arrangement, PointKey};
use engine::{Reach, TargetUrl};

use super::memory;
use super::side::Side;
use crate::Step;
use crate::alternate::Tables;
use crate::checks::{SLICE_MAX, SLICE_MIN};
use crate::error::{LabError, Result};
use crate::nodes::group;
use crate::registry::Registry;
use crate::workload::InSlices;

const SLICES_MIN: f64 = 10.0;
/// Length of the slices that are advised by default.
const SLICE_ADVISED: Duration = Duration::from_millis(100);

/// Reason why sides cannot be measured in slices, and the way out.
pub(super) struct Obstacle {
    why: String,
    advice: &'static str,
}

impl Obstacle {
    fn refusal(self) -> LabError {
        LabError::Plan(format!("{}{}", self.why, self.advice))
    }
}

type Possible<T> = Result<std::result::Result<T, Obstacle>>;

/// All sides, with their workloads and planned points.
pub(super) struct All<'a> {
    pub sides: &'a [Side],
    pub workloads: &'a [Registry],
    pub planned: Vec<&'a [PointKey]>,
}

impl All<'_> {
    /// Arrangement of the sides: in slices of this length, or in blocks.
    pub(super) fn arranged(&self, slice: Option<Duration>) -> Result<Arranged> {
        let in_slices = self.in_slices(slice.unwrap_or(SLICE_ADVISED))?;
        match (slice, in_slices) {
            (None, in_slices) => Ok(Arranged {
                how: in_blocks(self.sides)?,
                obstacle: in_slices.as_ref().err().map(|found| found.why.clone()),
                in_slices: in_slices.ok().map(|layout| layout.together.arrangement()),
            }),
            (Some(_), Ok(layout)) => Ok(Arranged {
                how: layout.together.arrangement(),
                in_slices: None,
                obstacle: None,
            }),
            (Some(_), Err(obstacle)) => Err(obstacle.refusal()),
        }
    }

    fn in_slices(&self, slice: Duration) -> Possible<Layout> {
        if self.sides.len() > 2 {
            return Ok(Err(Obstacle {
                why: format!("{} sides cannot take turns in slices", self.sides.len()),
                advice: "; measure them in blocks",
            }));
        }
        let tests = |points: &[PointKey]| -> Vec<(u32, u32, String)> {
            let of = |key: &PointKey| (key.repetition, key.target, key.test.clone());
            points.iter().map(of).collect()
        };
        if tests(self.planned[0]) != tests(self.planned[1]) {
            return Ok(Err(Obstacle {
                why: "the sides do not measure the same tests in the same order, so they cannot take turns"
                    .into(),
                advice: "; measure them in blocks",
            }));
        }
        possible(self.sides, slice, self.workloads)
    }
}

/// Checks that the sides can be measured in slices of this length; touches nothing.
pub(super) fn check(sides: &[Side], slice: Duration, workloads: &[Registry]) -> Result<()> {
    if !(SLICE_MIN..=SLICE_MAX).contains(&slice) {
        return Err(LabError::Plan(format!(
            "slices of {slice:?} cannot be measured; use {SLICE_MIN:?} to {SLICE_MAX:?}"
        )));
    }
    match possible(sides, slice, workloads)? {
        Ok(_) => Ok(()),
        Err(obstacle) => Err(obstacle.refusal()),
    }
}

/// The coexistence of the sides, if their steps are long enough and the machine has memory for both.
fn possible(sides: &[Side], slice: Duration, workloads: &[Registry]) -> Possible<Layout> {
    let least_s = SLICES_MIN * slice.as_secs_f64();
    for (number, step) in sides.iter().flat_map(|side| (1..).zip(&side.plan.step)) {
        if let Some(seconds) = step.seconds.filter(|seconds| *seconds < least_s) {
            return Ok(Err(Obstacle {
                why: format!(
                    "step {number}: {seconds} s are too short for slices of {slice:?}; set seconds to {least_s} or more"
                ),
                advice: "",
            }));
        }
    }
    if sides[0].plan.host != sides[1].plan.host {
        return Ok(Err(Obstacle {
            why: "the sides differ in settings of the host, which hold for both at once".into(),
            advice: "; measure them in blocks, without slices",
        }));
    }
    let found = find(sides, workloads)?;
    Ok(match found {
        Ok(layout) if !layout.is_on_one_database() => match memory::shortage(sides)? {
            Some(why) => Err(Obstacle {
                why,
                advice: "; give them less, or measure them in blocks, without slices: then one runs at a time",
            }),
            None => Ok(layout),
        },
        found => found,
    })
}

/// Start of a block; of several targets the worst one counts.
fn in_blocks(sides: &[Side]) -> Result<Arrangement> {
    let mut how = Arrangement::BlocksAnew;
    for url in sides.iter().flat_map(|side| &side.targets) {
        match engines::find(url)?.reach() {
            Reach::Network => return Ok(Arrangement::BlocksRunning),
            Reach::LocalServer if !url.path.is_empty() => how = Arrangement::BlocksRestarted,
            _ => {}
        }
    }
    Ok(how)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub together: Together,
    /// Each side has separate tables on one database.
    pub own_tables: bool,
}

impl Layout {
    /// The coexistence of both sides.
    pub(super) fn of(sides: &[Side], workloads: &[Registry]) -> Result<Self> {
        find(sides, workloads)?.map_err(Obstacle::refusal)
    }

    pub fn is_on_one_database(self) -> bool {
        self.together != Together::TwoInstances
    }

    pub fn tables(self) -> Tables {
        match self.together {
            Together::TwoInstances => Tables::Apart,
            _ if self.own_tables => Tables::Beside,
            _ => Tables::Same,
        }
    }
}

fn find(sides: &[Side], workloads: &[Registry]) -> Possible<Layout> {
    let together = match together(sides)? {
        Ok(together) => together,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    let on_one = together != Together::TwoInstances;
    let [a, b] = [0, 1].map(|side| steps(&sides[side], &workloads[side]));
    let (a, b) = match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(obstacle), _) | (_, Err(obstacle)) => return Ok(Err(obstacle)),
    };
    let shares = |(a, b): (&InSlices, &InSlices)| a.reads.is_some() && a.reads == b.reads;
    let own_tables = on_one && !(a.len() == b.len() && a.iter().zip(&b).all(shares));
    let obstacle = |steps: &[InSlices]| {
        let mut steps = (1..).zip(steps);
        steps.find_map(|(number, step)| Some((number, step.not_beside.clone()?)))
    };
    Ok(match obstacle(&a).or(obstacle(&b)).filter(|_| own_tables) {
        Some((number, why)) => Err(Obstacle {
            why: format!("step {number} cannot be measured in slices on one database: {why}"),
            advice: "; give each side a database of its own (target=URL), or measure them in blocks, without slices",
        }),
        None => Ok(Layout {
            together,
            own_tables,
        }),
    })
}

/// Use of tables by the steps of a side.
fn steps(side: &Side, workloads: &Registry) -> std::result::Result<Vec<InSlices>, Obstacle> {
    let of_step = |(number, step): (usize, &Step)| {
        let in_slices = workloads.of(step).in_slices(&side.plan, step);
        in_slices.map_err(|why| Obstacle {
            why: format!(
                "step {number} ({}) cannot be measured in slices: {why}",
                step.uses
            ),
            advice: "; or measure it in blocks",
        })
    };
    (1..).zip(&side.plan.step).map(of_step).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    /// The same targets, opened once.
    Shared,
    /// Separate sessions on the same running servers.
    OneServer,
    TwoInstances,
}

impl Together {
    fn arrangement(self) -> Arrangement {
        match self {
            Self::Shared => Arrangement::InPlace,
            Self::OneServer => Arrangement::OneServer,
            Self::TwoInstances => Arrangement::TwoInstances,
        }
    }
}

fn together(sides: &[Side]) -> Possible<Together> {
    let groups = [group(&sides[0].targets)?, group(&sides[1].targets)?];
    let [a, b] = groups.map(|groups| groups.concat());
    if a == b {
        return Ok(Ok(Together::Shared));
    }
    let mut together = Together::TwoInstances;
    for (one, other) in a
        .iter()
        .flat_map(|one| b.iter().map(move |other| (one, other)))
    {
        if !is_same_place(one, other) {
            continue;
        }
        if engines::find(one)?.reach() != Reach::Network {
            return Ok(Err(Obstacle {
                why: format!(
                    "both sides need {one}, which cannot be open twice with different settings"
                ),
                advice: "; give each side a database of its own (target=URL), or measure them in blocks, without slices",
            }));
        }
        together = Together::OneServer;
    }
    Ok(Ok(together))
}

/// True if two URLs, with the names that [`group`] gives files, are of the same database. Without a path each opens a
/// new one: a throw-away server, or in memory.
pub(super) fn is_same_place(one: &TargetUrl, other: &TargetUrl) -> bool {
    match (engines::file(one), engines::file(other)) {
        (Some(one), Some(other)) => real_path(&one) == real_path(&other),
        _ => (&one.scheme, &one.path) == (&other.scheme, &other.path) && !one.path.is_empty(),
    }
}
