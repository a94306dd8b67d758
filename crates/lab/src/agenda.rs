//! The agenda: the points to measure, and what cannot be measured.

use archive::{Missing, PointKey, Remark};

/// All points of a run in the order in which they are measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agenda {
    pub points: Vec<PointKey>,
    /// Tests that a target cannot do.
    pub missing: Vec<Missing>,
}

impl Agenda {
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
        obstacle: Option<Remark>,
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
