//! Common parts of the workload's points.

use archive::{Component, Point, PointKey, Remark};
use lab::point::point_seed;
use lab::{Nodes, RunContext, Step};

use super::{Measured, codes_of_a_level, is_of_a_level, title};
use crate::OltpError;
use crate::step::{OltpStep, Statements};

/// Context of a measurement: its step, and its key in the plan.
pub struct PointContext<'a> {
    pub context: &'a RunContext<'a>,
    pub step: &'a Step,
    pub oltp: &'a OltpStep,
    pub key: &'a PointKey,
    /// The database that users work on: the target's, or a second one on its server.
    pub on: &'a Nodes,
    /// Number of the target whose server has it.
    pub site: u32,
    /// Path of the log of acknowledged transactions, if the step has one.
    pub journal: Option<std::path::PathBuf>,
}

impl PointContext<'_> {
    /// The same on every target.
    pub fn seed(&self) -> u64 {
        point_seed(self.context.seed, self.key)
    }

    pub fn blank(&self, code: &str) -> Point {
        let key = PointKey {
            test: code.to_owned(),
            ..self.key.clone()
        };
        let definition = crate::fingerprint(&self.on.engine);
        Point {
            // All points of a level are of the same users.
            seed: self.seed(),
            ..self
                .context
                .blank(self.step, key, definition, title(code), Component::Database)
        }
    }

    /// Maps an error to a finding about the target, the end of the run, or the interrupt.
    pub fn failed(&self, error: OltpError) -> Measured {
        error.ended().unwrap_or_else(|error| {
            let error = error.to_string();
            Measured::Points(self.without_figures(&[Remark::OltpFailed { error }]))
        })
    }

    /// A level has all points at once, so that none of its kinds is measured again.
    pub fn without_figures(&self, reasons: &[Remark]) -> Vec<Point> {
        let point = |code: &str| Point {
            reasons: reasons.to_vec(),
            ..self.blank(code)
        };
        if is_of_a_level(self.key) {
            codes_of_a_level().map(|code| point(&code)).collect()
        } else {
            vec![point(&self.key.test)]
        }
    }

    /// Phrase for the location of the transactions' logic.
    pub fn statements(&self) -> &'static str {
        match self.oltp.statements {
            Statements::Client => "client statements",
            Statements::Procedure => "stored procedures",
        }
    }
}
