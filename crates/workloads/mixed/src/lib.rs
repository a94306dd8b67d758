//! Order entry with concurrent analytical queries as steps of a plan: the performance of each alone, and its remainder
//! while the other runs.
//!
//! Both use one server: the analytical tables are in their usual schema, those of order entry in a secondary schema of
//! that database, because they have the same names. The queries read the rows themselves, or a copy of them in a column
//! store; and either the analytical tables, or those on which the users work ([`shared_tables`]).

#![forbid(unsafe_code)]

mod codes;
mod concurrent;
pub mod shared_tables;
mod step;

use ::load::Progress;
use archive::{Archive, PointKey, Remark};
use engine::{Reach, TargetUrl};
use lab::nodes::source_of;
use lab::plan::TableKind;
use lab::volume::{Volume, Written};
use lab::{Agenda, Done, Ground, Measure, Nodes, Result, RunContext, Sessions, Step, Workload};
use olap::measure::AnalyticalRun;
use olap::step::{OlapStep, QueryTables};
use oltp::step::OltpStep;

pub(crate) use codes::{
    QUERIES, QUERIES_ALONE, USERS, USERS_ALONE, definition, is_of_users, jobs_of, title,
};
use concurrent::MixedPoint;

/// Points of a step at a target, made from `base`. Order entry alone is measured where its tables are, not for each
/// copy.
pub(crate) fn keys(
    oltp: &OltpStep,
    olap: &OlapStep,
    base: &PointKey,
    target: &Nodes,
) -> Vec<PointKey> {
    let key = |code: &'static str, threads: u32| PointKey {
        test: codes::on(olap.tables, code).to_owned(),
        jobs: jobs_of(code, oltp, olap),
        threads,
        ..base.clone()
    };
    let alone = (!target.is_replica()).then(|| key(USERS_ALONE, 1));
    let at_degree = |threads: u32| [QUERIES_ALONE, USERS, QUERIES].map(|code| key(code, threads));
    let degrees = olap::measure::dop::swept(&olap.dop, target);
    let others = degrees.into_iter().flat_map(at_degree);
    alone.into_iter().chain(others).collect()
}

pub(crate) fn obstacle(olap: &OlapStep, targets: &[Nodes], target: &Nodes) -> Option<Remark> {
    let source = if target.is_replica() {
        match source_of(targets) {
            Some(source) => source,
            None => return Some(Remark::NoTables),
        }
    } else {
        target
    };
    if let (QueryTables::OrderEntry, Some(replica)) = (olap.tables, target.replica())
        && !replica.level().follows()
    {
        let level = replica.level().to_string();
        return Some(Remark::CopyCannotFollow { level });
    }
    oltp::measure::obstacle(source).or_else(|| olap::measure::obstacle(olap, target))
}

pub struct Mixed;

impl Workload for Mixed {
    fn names(&self) -> &'static [&'static str] {
        &["mixed"]
    }

    fn tables(&self) -> &'static [TableKind] {
        &[oltp::step::TABLE, olap::step::TABLE]
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn check(&self, step: &Step) -> std::result::Result<(), String> {
        let (oltp, olap): (&OltpStep, &OlapStep) = (step.table(), step.table());
        oltp.check(step)?;
        olap.check()?;
        step::check(oltp, olap)
    }

    fn lay(&self, step: &Step, ground: &Ground<'_>) -> Result<Agenda> {
        let (oltp, olap): (&OltpStep, &OlapStep) = (step.table(), step.table());
        let mut agenda = Agenda::default();
        for (target, base) in ground.places() {
            let obstacle = obstacle(olap, ground.targets, target).or_else(|| target.read_only());
            agenda.add(keys(oltp, olap, &base, target), obstacle, title);
        }
        Ok(agenda)
    }

    fn written(&self, steps: &[&Step], _: &str, replicas: u32) -> Result<Written> {
        let mut written = Written::default();
        let volumes = steps.iter().map(|step| volume(step, replicas));
        volumes.for_each(|volume| written.add(volume));
        Ok(written)
    }

    /// Alone, and with queries at each degree: on disk and on each of the replicas.
    fn timed_s(&self, step: &Step, _scheme: &str, replicas: u32) -> Result<f64> {
        let degrees = step.table::<OlapStep>().dop.len().max(1) as f64;
        // The queries alone take as long as with order entry.
        Ok((1.0 + 2.0 * degrees * f64::from(1 + replicas)) * step.timed_s())
    }

    fn sessions(&self, step: &Step, _key: &PointKey) -> Sessions {
        let (oltp, olap): (&OltpStep, &OlapStep) = (step.table(), step.table());
        let users = u64::from(oltp.connections(oltp.users()[0]));
        Sessions {
            // The secondary schema of the users holds one more session, and a copy that follows it holds two.
            count: users
                + u64::from(olap.streams().max(1))
                + 1
                + match olap.tables {
                    QueryTables::Analytical => 0,
                    QueryTables::OrderEntry => 2,
                },
            who: "user",
            remedy: oltp::measure::SHARE_CONNECTIONS,
        }
    }

    fn title(&self, code: &str) -> Result<String> {
        Ok(title(code))
    }

    /// A copy of the order-entry tables is made for each point.
    fn reads_replicas(&self, step: &Step) -> bool {
        step.table::<OlapStep>().tables == QueryTables::Analytical
    }

    fn definition(&self, code: &str, targets: &[TargetUrl], number: usize) -> Result<String> {
        let is_replica =
            |url: &TargetUrl| engines::find(url).is_ok_and(|e| e.reach() == Reach::Replica);
        let own = &targets[number];
        let follows_copy = is_of_users(code) && is_replica(own);
        let source = targets.iter().find(|url| follows_copy && !is_replica(url));
        Ok(definition(code, source.unwrap_or(own).engine()))
    }

    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a> {
        Box::new(Together {
            context,
            analytical: AnalyticalRun::new(context),
        })
    }
}

/// Loads of order entry for the points of a degree on one side: before users work during queries, and before queries
/// alone that need its tables.
fn loads_of_a_degree(step: &Step) -> u32 {
    match step.table::<OlapStep>().tables {
        QueryTables::Analytical => 1,
        QueryTables::OrderEntry => 2,
    }
}

/// Order entry runs alone, and at each degree during queries of the target and of each replica; each time after a load,
/// of which a copy may be stored.
fn volume(step: &Step, replicas: u32) -> Volume {
    let (oltp, olap): (&OltpStep, &OlapStep) = (step.table(), step.table());
    let sides = 1 + u64::from(replicas);
    let of_degrees = sides * olap.dop.len().max(1) as u64;
    let load = oltp::measure::load_volume(oltp.whole_warehouses());
    let run = oltp::measure::volume(step, oltp);
    let loads = 1 + of_degrees * u64::from(loads_of_a_degree(step));
    let loaded_bytes = load.written_bytes.saturating_mul(loads);
    let run_bytes = run.written_bytes.saturating_mul(1 + of_degrees);
    Volume {
        written_bytes: loaded_bytes.saturating_add(run_bytes),
        room_bytes: (load.room_bytes.saturating_mul(2)).saturating_add(run.room_bytes),
    }
}

struct Together<'a> {
    context: &'a RunContext<'a>,
    analytical: AnalyticalRun<'a>,
}

impl Measure for Together<'_> {
    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done> {
        let context = self.context;
        let own = key.target as usize;
        let source = if context.targets[own].is_replica() {
            context
                .targets
                .iter()
                .position(|target| !target.is_replica())
        } else {
            None
        };
        let point = MixedPoint {
            context,
            analytical: &self.analytical,
            step,
            oltp: step.table(),
            olap: step.table(),
            key,
            source: source.unwrap_or(own),
            progress,
        };
        point.measure().enter(archive, context)
    }
}
