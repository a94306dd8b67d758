//! Whether two configurations can be measured in slices in turn, and how they stand at once.

use std::time::Duration;

use archive::PointKey;
use target::Reach;

use super::side::Side;
use crate::checks::{SLICE_MAX, SLICE_MIN};
use crate::error::{LabError, Result};
use crate::registry::Registry;

/// Slices that a point must have on each side.
const SLICES_MIN: f64 = 10.0;

/// Whether the sides can be measured in slices of this length at all.
///
/// # Errors
/// With the reason, and what to do.
pub(super) fn check(
    sides: &[Side; 2],
    slice: Duration,
    workloads: &[Registry; 2],
    planned: [&[PointKey]; 2],
) -> Result<()> {
    let refuse = |why: String| Err(LabError::Plan(why));
    if !(SLICE_MIN..=SLICE_MAX).contains(&slice) {
        return refuse(format!(
            "slices of {slice:?} cannot be measured; use {SLICE_MIN:?} to {SLICE_MAX:?}"
        ));
    }
    let tests = |points: &[PointKey]| -> Vec<(u32, u32, String)> {
        let of = |key: &PointKey| (key.repetition, key.target, key.test.clone());
        points.iter().map(of).collect()
    };
    if tests(planned[0]) != tests(planned[1]) {
        return refuse(
            "the sides do not measure the same tests in the same order, so they cannot take turns; measure them in blocks"
                .into(),
        );
    }
    let on_one = together(sides)? != Together::TwoInstances;
    for (side, workloads) in sides.iter().zip(workloads) {
        for (number, step) in (1..).zip(&side.plan.step) {
            if let Some(why) = workloads.of(step).obstacle_to_slices(step, on_one) {
                return refuse(format!(
                    "step {number} ({}) cannot be measured in slices: {why}; or measure it in blocks",
                    step.uses
                ));
            }
            let least_s = SLICES_MIN * slice.as_secs_f64();
            if step.seconds.is_some_and(|seconds| seconds < least_s) {
                return refuse(format!(
                    "step {number}: {} s are too short for slices of {slice:?}; set seconds to {least_s} or more",
                    step.seconds.unwrap_or_default()
                ));
            }
        }
    }
    Ok(())
}

/// How two configurations stand at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    /// The same targets, opened once.
    Shared,
    /// Sessions of their own on the same running servers.
    OneServer,
    /// Databases of their own.
    TwoInstances,
}

/// How the databases of both sides stand at once.
pub(super) fn together(sides: &[Side; 2]) -> Result<Together> {
    let [a, b] = [&sides[0].targets, &sides[1].targets];
    if a == b {
        return Ok(Together::Shared);
    }
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
            return Err(LabError::Plan(format!(
                "both sides need {one}, which cannot be open twice with different settings; give each side a database of its \
                 own, or measure them in blocks"
            )));
        }
        together = Together::OneServer;
    }
    Ok(together)
}
