//! The agenda: plan × targets × repetitions = the points to measure, and what cannot be measured.

use archive::{Missing, PointKey};

use crate::nodes::Nodes;
use crate::workload::{Ground, Registry};
use crate::{Plan, Result};

/// All points of a run in the order in which they are measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agenda {
    /// Points.
    pub points: Vec<PointKey>,
    /// Tests that a target cannot do.
    pub missing: Vec<Missing>,
}

impl Agenda {
    /// Lays the agenda: every repetition goes through all steps and targets, so that a drift of the
    /// machine meets all of them alike.
    ///
    /// # Errors
    /// A test that does not exist.
    pub fn lay(plan: &Plan, workloads: &Registry, targets: &[Nodes], threads: u32) -> Result<Self> {
        let mut agenda = Self::default();
        for repetition in 1..=plan.repeat {
            for (number, step) in (1..).zip(&plan.step) {
                let ground = Ground {
                    repetition,
                    step: number,
                    targets,
                    threads,
                };
                let laid = workloads.of(step).lay(step, &ground)?;
                agenda.points.extend(laid.points);
                laid.missing.into_iter().for_each(|what| agenda.miss(what));
            }
        }
        Ok(agenda)
    }

    /// Adds what cannot be measured, once.
    pub fn miss(&mut self, missing: Missing) {
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    /// Adds the points of a target, or what stands in their way under the first one's name.
    pub fn add(
        &mut self,
        keys: Vec<PointKey>,
        obstacle: Option<String>,
        title: impl Fn(&str) -> String,
    ) {
        match (obstacle, keys.first()) {
            (Some(reason), Some(first)) => self.miss(Missing {
                target: first.target,
                test: first.test.clone(),
                title: title(&first.test),
                reason,
            }),
            _ => self.points.extend(keys),
        }
    }
}
