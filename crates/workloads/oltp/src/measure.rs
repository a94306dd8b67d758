//! Order-entry workload as steps of a plan: load, users at each level of a ramp, and the checks before and after.
//!
//! Each level of a ramp is six points with the same users: all transactions together, and each kind. They are committed
//! together, so that a level is stored completely or not at all.

mod codes;
mod consistency;
mod growth;
mod level;
mod load;
mod points;
mod ramp;
mod search;
mod warm_up;

use std::collections::{HashMap, HashSet};

use ::load::Progress;
use ::load::search::MEASUREMENTS_MAX;
use archive::{Archive, Missing, Point, PointKey, Remark};
use engine::{Feature, TargetUrl};
use lab::plan::TableKind;
use lab::volume::{Volume, Written};
use lab::{
    Agenda, Done, Ground, InSlices, Measure, Measured, Nodes, Plan, Result, RunContext, Sessions,
    Step, Workload, servers,
};
use workload::volume::{of_small_transactions, stored};

use super::step::{self, Check, OltpStep, Order};

pub use codes::TOTAL;
pub(crate) use codes::{
    AFTER, BEFORE, CHECK, LOAD, Ramp, code_of, codes_of_a_level, is_of_a_level, is_sound, ramp_of,
    title,
};
pub(crate) use consistency::ConsistencyCheck;
pub use consistency::{broken, put_off};
pub use level::{ConcurrentWork, Level, LevelOutcome};
pub use load::options;
pub use points::PointContext;

/// Points of a step, made from `base`.
pub(crate) fn keys(oltp: &OltpStep, base: &PointKey) -> Vec<PointKey> {
    let key = |code: &str, jobs: u32| PointKey {
        test: code.to_owned(),
        jobs,
        ..base.clone()
    };
    match oltp.order {
        Order::Load => vec![key(LOAD, 1)],
        Order::Check => vec![key(CHECK, 1)],
        Order::Run => {
            let checked = oltp.check != Check::None;
            let before = checked.then(|| key(BEFORE, 1));
            let after = checked.then(|| key(AFTER, 1));
            let level = |users: &u32| {
                let users = *users;
                codes_of_a_level().map(move |code| key(&code, users))
            };
            let levels = oltp.users().iter().flat_map(level);
            before.into_iter().chain(levels).chain(after).collect()
        }
    }
}

pub fn obstacle(target: &Nodes) -> Option<Remark> {
    if target.nodes.len() > 1 {
        return Some(Remark::ClusterNotChecked);
    }
    let made_for_it = || {
        let needs = [Feature::SmallTransactions, Feature::KeylessTables];
        let error = needs.into_iter().find_map(|need| target.lacks(need))?;
        Some(Remark::OltpWithoutEngine { error })
    };
    crate::obstacle(&target.engine).or_else(made_for_it)
}

const NAME: &str = "oltp";

pub struct OrderEntry;

impl Workload for OrderEntry {
    fn names(&self) -> &'static [&'static str] {
        &[NAME]
    }

    fn operations(&self) -> &'static [&'static str] {
        &super::mix::Kind::NAMES
    }

    fn tables(&self) -> &'static [TableKind] {
        &[step::TABLE]
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn check(&self, step: &Step) -> std::result::Result<(), String> {
        step.table::<OltpStep>().check(step)
    }

    fn lay(&self, step: &Step, ground: &Ground<'_>) -> Result<Agenda> {
        let mut agenda = Agenda::default();
        // A replica is populated with a copy and has no tables of its own.
        let places = ground.places().filter(|(target, _)| !target.is_replica());
        for (target, base) in places {
            let obstacle = obstacle(target).or_else(|| target.read_only());
            agenda.add(keys(step.table(), &base), obstacle, title);
        }
        Ok(agenda)
    }

    fn written(&self, steps: &[&Step], _: &str, _replicas: u32) -> Result<Written> {
        let mut written = Written::default();
        steps
            .iter()
            .for_each(|step| written.add(volume(step, step.table())));
        Ok(written)
    }

    fn jobs_most(&self, step: &Step) -> u32 {
        step.table::<OltpStep>()
            .users()
            .last()
            .copied()
            .unwrap_or(1)
    }

    fn timed_s(&self, step: &Step, _scheme: &str, _replicas: u32) -> Result<f64> {
        let oltp: &OltpStep = step.table();
        if oltp.order != Order::Run {
            return Ok(0.0);
        }
        let levels = match oltp.slo() {
            Some(_) => MEASUREMENTS_MAX,
            None => oltp.users().len(),
        };
        let warm_up_s = oltp.warm_up_max().map_or(0.0, |most| most.as_secs_f64());
        Ok(levels as f64 * step.timed_s() + warm_up_s)
    }

    fn sessions(&self, step: &Step, key: &PointKey) -> Sessions {
        Sessions {
            count: step.table::<OltpStep>().connections(key.jobs).into(),
            who: "user",
            remedy: SHARE_CONNECTIONS,
        }
    }

    fn title(&self, code: &str) -> Result<String> {
        Ok(title(code))
    }

    fn definition(&self, _code: &str, targets: &[TargetUrl], number: usize) -> Result<String> {
        Ok(crate::fingerprint(targets[number].engine()))
    }

    fn in_slices(&self, plan: &Plan, step: &Step) -> std::result::Result<InSlices, String> {
        let oltp: &OltpStep = step.table();
        if oltp.slo().is_some() {
            return Err("it searches for a rate; give it users or a rate".into());
        }
        // A side whose tables are removed with its pair finds only tables that it has loaded.
        let mut steps = plan.step.iter();
        let is_loaded = steps.any(|step| self.names().contains(&step.uses.as_str()) && loads(step));
        let not_beside = (!is_loaded).then(|| {
            "it writes, and no step of the plan loads the warehouses for each side; add a step with do = \"load\"".into()
        });
        Ok(InSlices {
            reads: None,
            not_beside,
        })
    }

    fn reload(
        &self,
        context: &RunContext<'_>,
        steps: &[&Step],
        target: u32,
    ) -> std::result::Result<(), Done> {
        match steps.iter().rfind(|step| loads(step)) {
            Some(step) => load::load_again(context, step.table(), target),
            None => Ok(()),
        }
    }

    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a> {
        Box::new(Levels {
            context,
            left_out: HashSet::new(),
            warm: HashSet::new(),
            checked: HashMap::new(),
        })
    }
}

fn loads(step: &Step) -> bool {
    step.table::<OltpStep>().order == Order::Load
}

/// Advice if a server allows fewer sessions than there are users.
pub const SHARE_CONNECTIONS: &str =
    "run fewer users, or let them share connections (connections = N)";

/// Bytes of a warehouse with its keys: 100 MB, and the items' share.
const WAREHOUSE_BYTES: f64 = 110e6;

/// Volume of a load.
pub fn load_volume(whole_warehouses: f64) -> Volume {
    stored((whole_warehouses * WAREHOUSE_BYTES) as u64)
}

/// Bytes that a step writes; a load may precede every repetition.
pub fn volume(step: &Step, oltp: &OltpStep) -> Volume {
    match oltp.order {
        Order::Check => Volume::default(),
        Order::Load => load_volume(oltp.whole_warehouses()),
        Order::Run => {
            let level_s = step.seconds.unwrap_or(1.0) + step.ramp_up_seconds.unwrap_or(0.0);
            let mut volume = of_small_transactions(level_s * oltp.users().len() as f64);
            if oltp.slo().is_some() {
                // A search restores the database between its measurements.
                let load = load_volume(oltp.whole_warehouses());
                let both = volume.written_bytes.saturating_add(load.written_bytes);
                volume.written_bytes = both.saturating_mul(MEASUREMENTS_MAX as u64);
                volume.room_bytes = volume.room_bytes.saturating_add(load.room_bytes);
            }
            volume
        }
    }
}

/// Levels of ramps, and the steps before and after them.
struct Levels<'a> {
    context: &'a RunContext<'a>,
    left_out: HashSet<PointKey>,
    /// Ramps whose target was warmed up.
    warm: HashSet<Ramp>,
    /// Ramps whose database was checked here before users worked, and the start time of the server at that check.
    checked: HashMap<Ramp, Option<String>>,
}

impl Measure for Levels<'_> {
    fn has_left_out(&self, key: &PointKey) -> bool {
        self.left_out.contains(key)
    }

    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done> {
        let oltp: &OltpStep = step.table();
        let place = PointContext {
            context: self.context,
            step,
            oltp,
            key,
            on: &self.context.targets[key.target as usize],
            site: key.target,
            journal: oltp.journal.then(|| self.journal(archive, key)),
        };
        let again = match self.check_again(&place) {
            Some((Measured::Points(found), why)) => Some((found, why)),
            Some((ended, _)) => return ended.enter_by(self.context, |_| Ok(())),
            None => None,
        };
        if let Some((found, _)) = again.as_ref().filter(|(found, _)| !is_sound(found)) {
            self.end_broken(archive, key, found)?;
            return Ok(Done::Entered(Vec::new()));
        }
        let mut measured = match key.test.as_str() {
            LOAD => load::load(&place),
            CHECK | BEFORE | AFTER => consistency::check(&place),
            _ => self.level(&place, progress),
        };
        if let Some((_, why)) = again {
            measured.note(TOTAL, &why);
        }
        measured.enter_by(self.context, |points| {
            self.enter(archive, oltp, key, points)
        })
    }
}

impl Levels<'_> {
    /// Rechecks the database before a level if its state is uncertain: another process has checked it before the run
    /// was resumed, or its server has restarted. Returns the result, and a remark for the level.
    fn check_again(&mut self, place: &PointContext) -> Option<(Measured, Remark)> {
        let since = servers::since(place.on);
        let why = match self.checked.insert(ramp_of(place.key), since.clone()) {
            None => Remark::CheckedForOtherProcess,
            Some(before) if before != since => Remark::CheckedForRestart,
            Some(_) => return None,
        };
        let is_due = is_of_a_level(place.key) && place.oltp.check != Check::None;
        is_due.then(|| {
            let key = PointKey {
                test: BEFORE.to_owned(),
                jobs: 1,
                ..place.key.clone()
            };
            let found = consistency::check(&PointContext {
                key: &key,
                journal: None,
                ..*place
            });
            (found, why)
        })
    }

    /// Invalidates the measurements on a database that is found broken, and skips the rest.
    fn end_broken(&mut self, archive: &mut Archive, key: &PointKey, found: &[Point]) -> Result<()> {
        let check = ConsistencyCheck {
            run: self.context.run,
            key,
        };
        check.after(archive, found)?;
        self.left_out.extend(check.before(archive, found)?);
        Ok(())
    }

    /// Stores points with their consequences for others.
    fn enter(
        &mut self,
        archive: &mut Archive,
        oltp: &OltpStep,
        key: &PointKey,
        points: &[Point],
    ) -> Result<()> {
        let check = ConsistencyCheck {
            run: self.context.run,
            key,
        };
        match key.test.as_str() {
            BEFORE => self.left_out.extend(check.before(archive, points)?),
            AFTER => check.after(archive, points)?,
            _ => {}
        }
        archive.append_points(self.context.run, points)?;
        if key.test == TOTAL && oltp.stop {
            self.left_out.extend(self.end_by_rule(archive, oltp, key)?);
        }
        Ok(())
    }

    /// Measures a level, after a warm-up if it is the first of its ramp here.
    fn level(&mut self, place: &PointContext, progress: &Progress) -> Measured {
        let is_warm = self.warm.contains(&ramp_of(place.key));
        let cap = place.oltp.warm_up_max().filter(|_| !is_warm);
        let note = match cap.map(|cap| warm_up::warm_up(place, cap, progress)) {
            Some(Err(measured)) => return measured,
            Some(Ok(note)) => Some(note),
            None => None,
        };
        self.warm.insert(ramp_of(place.key));
        let mut measured = match place.oltp.slo() {
            Some(objective) => search::search(place, objective, progress),
            None => level::level(place, progress),
        };
        if let Some(note) = note {
            measured.note(TOTAL, &note);
        }
        measured
    }

    /// Log file next to the archive, named by the point's index. An existing one is of an interrupted level, which is
    /// measured again, and is removed.
    fn journal(&self, archive: &Archive, key: &PointKey) -> std::path::PathBuf {
        let mut name = archive.path().as_os_str().to_owned();
        name.push(format!(
            "-{}-{}-{}-{}-{}.journal",
            self.context.run, key.repetition, key.step, key.target, key.jobs
        ));
        let path = std::path::PathBuf::from(name);
        // A missing file is as good as removed; one that remains is refused when the new log is created.
        let _ = std::fs::remove_file(&path);
        path
    }

    /// Leaves out the rest of a ramp once its rule is satisfied.
    fn end_by_rule(
        &self,
        archive: &mut Archive,
        oltp: &OltpStep,
        key: &PointKey,
    ) -> Result<Vec<PointKey>> {
        let is_of_ramp = |k: &PointKey| ramp_of(k) == ramp_of(key);
        let is_level = |k: &PointKey| k.test == TOTAL && is_of_ramp(k);
        let levels = archive.load_points(self.context.run, &is_level)?;
        let Some(reason) = ramp::enough(&levels, oltp) else {
            return Ok(Vec::new());
        };
        let is_later = |k: &PointKey| is_of_ramp(k) && is_of_a_level(k) && k.jobs > key.jobs;
        let later: Vec<_> = archive
            .planned(self.context.run)?
            .into_iter()
            .filter(is_later)
            .collect();
        if later.is_empty() {
            return Ok(later);
        }
        let missing = Missing {
            target: key.target,
            test: TOTAL.into(),
            title: title(TOTAL),
            reason,
        };
        archive.skip(self.context.run, &later, &missing)?;
        Ok(later)
    }
}
