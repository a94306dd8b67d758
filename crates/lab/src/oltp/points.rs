//! What every point of the workload is made of.

use archive::{Component, Figures, HeldBack, Histograms, Point, PointKey, WorkDone};
use workload::oltp::{self, OltpError};

use super::{Measured, title};
use crate::Step;
use crate::measure::{Bay, fingerprint, point_seed};
use crate::nodes::Nodes;
use crate::plan::{OltpStep, Statements};

/// Where a point is measured: its step, and its key in the plan.
pub(crate) struct Place<'a> {
    pub bay: &'a Bay<'a>,
    pub step: &'a Step,
    pub oltp: &'a OltpStep,
    pub key: &'a PointKey,
    /// Where a log of acknowledged transactions goes, if one is kept; the end of the name is still to come.
    pub journal: Option<std::path::PathBuf>,
}

impl Place<'_> {
    /// The target.
    pub fn target(&self) -> &Nodes {
        &self.bay.targets[self.key.target as usize]
    }

    /// The seed of the key: the same on every target.
    pub fn seed(&self) -> u64 {
        point_seed(self.bay.seed, self.key)
    }

    /// A point of this place without figures.
    pub fn blank(&self, code: &str) -> Point {
        let definition = oltp::fingerprint(&self.target().engine);
        let step = toml::to_string(self.step).unwrap_or_default();
        let platform = &self.bay.platforms[self.key.target as usize];
        Point {
            key: PointKey {
                test: code.to_owned(),
                ..self.key.clone()
            },
            title: title(code),
            component: Component::Database,
            started_at: host::clock::rfc3339(self.bay.clock.now()),
            seed: self.seed(),
            configuration: fingerprint(&[platform, &definition, &step]),
            definition,
            work: WorkDone::default(),
            figures: Figures::default(),
            histograms: Histograms::default(),
            steady: None,
            timed_events: Vec::new(),
            held_back: HeldBack::default(),
            samples: Vec::new(),
            reasons: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// What goes wrong here: a finding about the target, the end of the run, or the user's wish.
    pub fn failed(&self, error: OltpError) -> Measured {
        match error {
            OltpError::Interrupted => Measured::Interrupted,
            OltpError::Target(error) if error.kind != target::ErrorKind::Statement => {
                Measured::Broken(error.message)
            }
            error => Measured::Points(vec![Point {
                reasons: vec![error.to_string()],
                ..self.blank(&self.key.test)
            }]),
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
