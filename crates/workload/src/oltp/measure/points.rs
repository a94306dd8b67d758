//! What every point of the workload is made of.

use crate::oltp::{self, OltpError};
use archive::{Component, Point, PointKey, Remark};

use super::{Measured, codes_of_a_level, is_of_a_level, title};
use crate::oltp::step::{OltpStep, Statements};
use lab::Nodes;
use lab::RunContext;
use lab::Step;
use lab::point::point_seed;

/// Where a point is measured: its step, and its key in the plan.
pub(crate) struct PointContext<'a> {
    pub context: &'a RunContext<'a>,
    pub step: &'a Step,
    pub oltp: &'a OltpStep,
    pub key: &'a PointKey,
    /// The database that users work on: the target, or one beside it.
    pub on: &'a Nodes,
    /// Number of the target whose server it stands in.
    pub site: u32,
    /// Where a log of acknowledged transactions goes, if one is kept.
    pub journal: Option<std::path::PathBuf>,
}

impl PointContext<'_> {
    /// The seed of the key: the same on every target.
    pub fn seed(&self) -> u64 {
        point_seed(self.context.seed, self.key)
    }

    /// A point of this place without figures.
    pub fn blank(&self, code: &str) -> Point {
        let key = PointKey {
            test: code.to_owned(),
            ..self.key.clone()
        };
        let definition = oltp::fingerprint(&self.on.engine);
        let about = (title(code), Component::Database);
        Point {
            // All points of a level are of the same users.
            seed: self.seed(),
            ..self.context.blank(self.step, key, definition, about)
        }
    }

    /// What goes wrong here: a finding about the target, the end of the run, or the user's wish.
    pub fn failed(&self, error: OltpError) -> Measured {
        match error {
            OltpError::Interrupted => Measured::Interrupted,
            OltpError::Target(error) if error.kind != target::ErrorKind::Statement => {
                Measured::Broken(error.message)
            }
            // Not a finding about the target: whatever level comes next, the database would still be missing.
            error @ (OltpError::Absent
            | OltpError::NotWhole { .. }
            | OltpError::Other { .. }
            | OltpError::Used) => Measured::NotLoaded(Box::new(error)),
            error => {
                let error = error.to_string();
                Measured::Points(self.without_figures(&[Remark::OltpFailed { error }]))
            }
        }
    }

    /// Points that say why they have no figures. A level has them all at once, so that none of its kinds is
    /// measured again.
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

    /// Where the logic of the transactions is, in words.
    pub fn statements(&self) -> &'static str {
        match self.oltp.statements {
            Statements::Client => "client statements",
            Statements::Procedure => "stored procedures",
        }
    }
}
