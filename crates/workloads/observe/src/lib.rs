//! Observation of a database under someone else's load, without writing anything.
//!
//! * `step`: the plan's table.
//! * `code`: codes of the points.
//! * `measure`: the sampling loop, which slows down with the server.
//! * `pace`: sampling interval, and the time for which a sample stands.
//! * `rates`: increases of counters, without those that a reset or a restart hides.
//! * `sessions`: statements, blockers and long transactions of sessions.
//! * `activity`: sessions by class of wait over time.
//! * `average`: active sessions by the server's own account, if it has one.
//! * `point`: figures, tables and remarks.
//! * [`twin`]: a plan whose load has the observed profile.

#![forbid(unsafe_code)]

mod activity;
mod average;
mod code;
mod measure;
mod pace;
mod point;
mod rates;
mod sessions;
mod step;
pub mod twin;

use archive::{PointKey, Remark};
use engine::TargetUrl;
use lab::plan::TableKind;
use lab::volume::Written;
use lab::{Agenda, Ground, Measure, Nodes, Result, RunContext, Sessions, Step, Workload};

use code::{CODE, DEFINITION, TITLE};
use step::ObserveStep;
pub use step::{SECONDS_MAX, SECONDS_MIN};

pub struct Observations;

fn obstacle(target: &Nodes) -> Option<Remark> {
    (target.nodes.len() > 1).then_some(Remark::ObservedCluster)
}

impl Workload for Observations {
    fn names(&self) -> &'static [&'static str] {
        &["observe"]
    }

    fn tables(&self) -> &'static [TableKind] {
        &[step::TABLE]
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn is_observation(&self) -> bool {
        true
    }

    fn check(&self, step: &Step) -> std::result::Result<(), String> {
        step.table::<ObserveStep>().check(step)
    }

    fn tests(&self, _step: &Step) -> Result<Vec<String>> {
        Ok(vec![CODE.to_owned()])
    }

    fn lay(&self, _step: &Step, ground: &Ground<'_>) -> Result<Agenda> {
        let mut agenda = Agenda::default();
        for (target, base) in ground.places() {
            let key = PointKey {
                test: CODE.to_owned(),
                ..base
            };
            agenda.add(vec![key], obstacle(target), |_| TITLE.to_owned());
        }
        Ok(agenda)
    }

    fn written(&self, _steps: &[&Step], _scheme: &str, _replicas: u32) -> Result<Written> {
        Ok(Written::default())
    }

    fn timed_s(&self, step: &Step, _scheme: &str, _replicas: u32) -> Result<f64> {
        Ok(step.timed_s())
    }

    fn sessions(&self, _step: &Step, _key: &PointKey) -> Sessions {
        Sessions {
            count: 1,
            who: "observer",
            remedy: "wait until one ends",
        }
    }

    fn title(&self, _code: &str) -> Result<String> {
        Ok(TITLE.to_owned())
    }

    fn definition(&self, _code: &str, _targets: &[TargetUrl], _number: usize) -> Result<String> {
        Ok(lab::point::fingerprint(&[DEFINITION]))
    }

    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a> {
        Box::new(measure::Measurement { context })
    }
}
