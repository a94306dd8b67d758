//! Analytical workload as steps of a plan: their load, each query as a point, and the aggregates: the power of one
//! user, and the throughput of several.

mod codes;
pub mod dop;
mod in_passes;
mod load;
pub mod passes;
mod points;
mod power;
mod queries;
mod refresh;
mod refresh_stream;
mod rounds;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::load::Progress;
use archive::{Archive, PointKey, Remark};
use engine::TargetUrl;
use lab::plan::TableKind;
use lab::volume::Written;
use lab::{Agenda, Done, Ground, Measure, Nodes, Result, RunContext, Step, Workload};
use workload::volume::stored;

use super::step::{self, OlapOrder, OlapStep};
use super::work::{Answers, Rows};
use crate::{Function, order};

pub use codes::LOAD;
pub(crate) use codes::{COMPOSITE, POWER, ROUNDS, THROUGHPUT, function_of, of_code, title};
use refresh::Refreshes;

pub use in_passes::in_passes;
pub use points::PointContext;

const NAME: &str = "olap";
/// Bytes that a database of scale 1 stores at most, with keys.
const SCALE_BYTES: f64 = 2.4e9;

/// Codes of a step's points at one degree of parallelism.
fn codes_of(olap: &OlapStep) -> Vec<String> {
    if olap.order == OlapOrder::Load {
        return vec![LOAD.into()];
    }
    if olap.rounds().is_some() {
        return vec![ROUNDS.into()];
    }
    let selected = order::of_stream(0, &olap.queries());
    let mut codes: Vec<String> = selected.iter().map(|number| format!("Q{number}")).collect();
    if olap.refresh {
        let [first, last] = Function::ALL.map(|function| function.code().to_owned());
        codes.insert(0, first);
        codes.push(last);
    }
    if selected.len() > 1 {
        codes.push(POWER.into());
    }
    if olap.streams() > 0 {
        codes.push(THROUGHPUT.into());
    }
    if olap.streams() > 0 && selected.len() > 1 {
        codes.push(COMPOSITE.into());
    }
    codes
}

/// Points of a step, made from `base`.
pub(crate) fn keys(olap: &OlapStep, base: &PointKey, target: &Nodes) -> Vec<PointKey> {
    let degrees = match olap.order {
        OlapOrder::Load => vec![1],
        OlapOrder::Run => dop::swept(&olap.dop, target),
    };
    let key = |code: String, threads: u32| PointKey {
        jobs: match code.as_str() {
            THROUGHPUT | COMPOSITE => olap.streams(),
            _ => 1,
        },
        test: code,
        threads,
        ..base.clone()
    };
    let at = |threads| codes_of(olap).into_iter().map(move |code| (code, threads));
    let each = degrees.into_iter().flat_map(at);
    each.map(|(code, threads)| key(code, threads)).collect()
}

pub fn obstacle(olap: &OlapStep, target: &Nodes) -> Option<Remark> {
    if olap.refresh && target.is_replica() {
        return Some(Remark::ReplicaNotRefreshed);
    }
    if target.nodes.len() > 1 {
        return Some(Remark::ClusterNotQueried);
    }
    crate::obstacle(&target.engine)
}

pub struct Analytical;

impl Workload for Analytical {
    fn names(&self) -> &'static [&'static str] {
        &[NAME]
    }

    fn tables(&self) -> &'static [TableKind] {
        &[step::TABLE]
    }

    fn check(&self, step: &Step) -> std::result::Result<(), String> {
        let olap: &OlapStep = step.table();
        match olap.tables {
            step::QueryTables::Analytical => olap.check(),
            step::QueryTables::OrderEntry => {
                Err("tables = \"order-entry\" requires use = \"mixed\"".into())
            }
        }
    }

    fn tests(&self, step: &Step) -> Result<Vec<String>> {
        Ok(codes_of(step.table()))
    }

    fn lay(&self, step: &Step, ground: &Ground<'_>) -> Result<Agenda> {
        let olap: &OlapStep = step.table();
        let mut agenda = Agenda::default();
        for (target, base) in ground.places() {
            // A replica is populated with a copy; nothing is loaded into it.
            if target.is_replica() && olap.order != OlapOrder::Run {
                continue;
            }
            let obstacle = obstacle(olap, target).or_else(|| target.read_only());
            agenda.add(keys(olap, &base, target), obstacle, title);
        }
        Ok(agenda)
    }

    fn written(&self, steps: &[&Step], _: &str, _replicas: u32) -> Result<Written> {
        let mut written = Written::default();
        for olap in steps.iter().map(|step| step.table::<OlapStep>()) {
            if let (OlapOrder::Load, Some(scale)) = (olap.order, olap.scale) {
                written.add(stored((scale * SCALE_BYTES) as u64));
            }
        }
        Ok(written)
    }

    fn title(&self, code: &str) -> Result<String> {
        Ok(title(code))
    }

    fn reads_replicas(&self, _step: &Step) -> bool {
        true
    }

    fn definition(&self, _code: &str, targets: &[TargetUrl], number: usize) -> Result<String> {
        Ok(crate::fingerprint(targets[number].engine()))
    }

    fn reload(
        &self,
        context: &RunContext<'_>,
        steps: &[&Step],
        target: u32,
    ) -> std::result::Result<(), Done> {
        let loads = |step: &&&Step| step.table::<OlapStep>().order == OlapOrder::Load;
        match steps.iter().rfind(loads) {
            Some(step) => load::load_again(context, step.table(), target),
            None => Ok(()),
        }
    }

    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a> {
        Box::new(AnalyticalRun::new(context))
    }
}

pub struct AnalyticalRun<'a> {
    context: &'a RunContext<'a>,
    /// Answers of the first target, by repetition and step, for comparison with the others.
    answers: Mutex<HashMap<(u32, u32), Arc<Answers>>>,
    refreshes: Mutex<Refreshes>,
}

impl Measure for AnalyticalRun<'_> {
    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done> {
        let olap: &OlapStep = step.table();
        let place = self.place(step, olap, key);
        let measured = match key.test.as_str() {
            LOAD => load::load(&place),
            POWER | COMPOSITE => {
                let codes = power::parts(olap, &key.test);
                let is_part = |part: &PointKey| power::is_part(part, &codes, key);
                let parts = archive.load_points(self.context.run, &is_part)?;
                power::of_parts(&place, &parts, codes.len())
            }
            ROUNDS => rounds::at_degree(&place, progress),
            _ if olap.refresh => {
                let refreshes = self.refreshes.lock();
                let mut refreshes = refreshes.unwrap_or_else(PoisonError::into_inner);
                refresh::in_cycle(place, &mut refreshes, progress)
            }
            _ => queries::at_degree(&place, progress),
        };
        measured.enter(archive, self.context)
    }
}

impl<'a> AnalyticalRun<'a> {
    pub fn new(context: &'a RunContext<'a>) -> Self {
        Self {
            context,
            answers: Mutex::default(),
            refreshes: Mutex::default(),
        }
    }

    pub fn place<'p>(
        &'p self,
        step: &'p Step,
        olap: &'p OlapStep,
        key: &'p PointKey,
    ) -> PointContext<'p> {
        PointContext {
            context: self.context,
            step,
            olap,
            key,
            answers: self.answers_of(key),
            rows: Rows::AsLoaded,
        }
    }

    fn answers_of(&self, key: &PointKey) -> Arc<Answers> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(answers.entry((key.repetition, key.step)).or_default())
    }
}
