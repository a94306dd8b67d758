//! Whether two configurations can be measured in slices in turn, and how they stand at once.

use std::time::Duration;

use archive::{Arranged, Arrangement, PointKey};
use target::Reach;

use super::side::Side;
use crate::checks::{SLICE_MAX, SLICE_MIN};
use crate::error::{LabError, Result};
use crate::registry::Registry;

/// Slices that a point must have on each side.
const SLICES_MIN: f64 = 10.0;

/// Length of the slices that are advised where none were asked for.
const SLICE_ADVISED: Duration = Duration::from_millis(100);

/// What both sides are measured with: of each side what its plan can ask for, and its planned points.
pub(super) struct Both<'a> {
    pub sides: &'a [Side; 2],
    pub workloads: &'a [Registry; 2],
    pub planned: [&'a [PointKey]; 2],
}

/// Why sides cannot be measured in slices, and what to do beside giving each block its own time.
struct Obstacle {
    why: String,
    advice: &'static str,
}

impl Both<'_> {
    /// How the sides are measured: in slices of this length, or in blocks.
    ///
    /// # Errors
    /// With the reason, and what to do, where they cannot be measured in such slices.
    pub(super) fn arranged(&self, slice: Option<Duration>) -> Result<Arranged> {
        let Some(slice) = slice else {
            let in_slices = self.in_slices(SLICE_ADVISED)?;
            return Ok(Arranged {
                how: in_blocks(self.sides)?,
                obstacle: in_slices.as_ref().err().map(|found| found.why.clone()),
                in_slices: in_slices.ok().map(Together::arrangement),
            });
        };
        if !(SLICE_MIN..=SLICE_MAX).contains(&slice) {
            return Err(LabError::Plan(format!(
                "slices of {slice:?} cannot be measured; use {SLICE_MIN:?} to {SLICE_MAX:?}"
            )));
        }
        match self.in_slices(slice)? {
            Ok(together) => Ok(Arranged {
                how: together.arrangement(),
                in_slices: None,
                obstacle: None,
            }),
            Err(Obstacle { why, advice }) => Err(LabError::Plan(format!("{why}{advice}"))),
        }
    }

    /// How the sides stand at once in such slices, or why they cannot.
    fn in_slices(&self, slice: Duration) -> Result<std::result::Result<Together, Obstacle>> {
        let refuse = |why: String, advice| Ok(Err(Obstacle { why, advice }));
        let tests = |points: &[PointKey]| -> Vec<(u32, u32, String)> {
            let of = |key: &PointKey| (key.repetition, key.target, key.test.clone());
            points.iter().map(of).collect()
        };
        if tests(self.planned[0]) != tests(self.planned[1]) {
            let why = "the sides do not measure the same tests in the same order, so they cannot take turns";
            return refuse(why.into(), "; measure them in blocks");
        }
        let together = match together(self.sides)? {
            Ok(together) => together,
            Err(obstacle) => return Ok(Err(obstacle)),
        };
        let on_one = together != Together::TwoInstances;
        for (side, workloads) in self.sides.iter().zip(self.workloads) {
            for (number, step) in (1..).zip(&side.plan.step) {
                if let Some(why) = workloads.of(step).obstacle_to_slices(step, on_one) {
                    let uses = &step.uses;
                    let why = format!("step {number} ({uses}) cannot be measured in slices: {why}");
                    return refuse(why, "; or measure it in blocks");
                }
                let least_s = SLICES_MIN * slice.as_secs_f64();
                if step.seconds.is_some_and(|seconds| seconds < least_s) {
                    let seconds = step.seconds.unwrap_or_default();
                    let why = format!(
                        "step {number}: {seconds} s are too short for slices of {slice:?}; set seconds to {least_s} or more"
                    );
                    return refuse(why, "");
                }
            }
        }
        Ok(Ok(together))
    }
}

/// What blocks begin with; of several targets what the worst one does.
fn in_blocks(sides: &[Side; 2]) -> Result<Arrangement> {
    let mut how = Arrangement::BlocksAnew;
    for url in sides.iter().flat_map(|side| &side.targets) {
        match target::find(url)?.reach() {
            Reach::Network => return Ok(Arrangement::BlocksRunning),
            Reach::LocalServer if !url.path.is_empty() => how = Arrangement::BlocksRestarted,
            _ => {}
        }
    }
    Ok(how)
}

/// How two configurations stand at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Together {
    /// The same targets, opened once.
    Shared,
    /// Sessions of their own on the same running servers.
    OneServer,
    /// Databases of their own.
    TwoInstances,
}

impl Together {
    fn arrangement(self) -> Arrangement {
        match self {
            Together::Shared => Arrangement::InPlace,
            Together::OneServer => Arrangement::OneServer,
            Together::TwoInstances => Arrangement::TwoInstances,
        }
    }
}

/// Whether both sides have the same targets, opened once.
pub(super) fn is_shared(sides: &[Side; 2]) -> bool {
    sides[0].targets == sides[1].targets
}

/// How the databases of both sides stand at once, or why they cannot.
fn together(sides: &[Side; 2]) -> Result<std::result::Result<Together, Obstacle>> {
    if is_shared(sides) {
        return Ok(Ok(Together::Shared));
    }
    let [a, b] = [&sides[0].targets, &sides[1].targets];
    let mut together = Together::TwoInstances;
    for (one, other) in a
        .iter()
        .flat_map(|one| b.iter().map(move |other| (one, other)))
    {
        // Without a path it is a throw-away server, or in memory: another one each time it is opened.
        let is_same = (&one.scheme, &one.path) == (&other.scheme, &other.path);
        if !is_same || one.path.is_empty() {
            continue;
        }
        if target::find(one)?.reach() != Reach::Network {
            return Ok(Err(Obstacle {
                why: format!(
                    "both sides need {one}, which cannot be open twice with different settings"
                ),
                advice: "; give each side a database of its own, or measure them in blocks",
            }));
        }
        together = Together::OneServer;
    }
    Ok(Ok(together))
}
