//! The agenda: points to measure, and tests that cannot be measured.

use archive::{Missing, PointKey, Remark};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agenda {
    pub points: Vec<PointKey>,
    pub missing: Vec<Missing>,
}

impl Agenda {
    pub fn miss(&mut self, missing: Missing) {
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    /// Adds the points of a target, or the obstacle under the name of the first one.
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
