//! One level of a ramp: a number of users for a time.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::load::{
    Drive, End, Interval, KindOutcome, Outcome, Progress, RampUp, Schedule, Think, UserPopulation,
    Users,
};
use archive::{CacheState, Figures, Histograms, Point, Remark, Sample, WorkDone};
use lab::checks;
use lab::observe::{Driven, Observation, Observed};
use lab::start::Start;
use stats::words::counted;

use super::{Measured, PointContext, TOTAL, code_of};
use crate::step::Statements;
use crate::work::{Opened, Work, WorkOptions};
use crate::{Account, Kind, Mode, Pacing};

/// Terminals of a warehouse (clause 4.2.2 of the specification).
const USERS_OF_A_WAREHOUSE: u32 = 10;

pub(super) fn level(place: &PointContext, progress: &Progress) -> Measured {
    let level = match Level::open(place) {
        Ok(level) => level,
        Err(error) => return place.failed(error),
    };
    match level.measure(progress, place.step.rate_per_s, None) {
        Ok(outcome) => Measured::Points(level.points(&outcome)),
        Err(measured) => measured,
    }
}

const CONCURRENT_WORK_MAX: Duration = Duration::from_secs(86_400);

/// Work concurrent with the users, which ends their measured window.
pub struct ConcurrentWork<'c> {
    /// Called when the window begins.
    pub entered: &'c (dyn Fn() + Sync),
    /// Set when it is over.
    pub over: &'c AtomicBool,
}

pub struct Level<'a> {
    place: &'a PointContext<'a>,
    work: Work,
    users: u32,
    /// Seed of the users' inputs and arrivals.
    seed: u64,
}

pub struct LevelOutcome {
    pub total: Point,
    pub outcome: Outcome,
    /// Remark on acknowledged transactions that the tables do not contain.
    pub lost: Option<Remark>,
    account: Account,
}

/// Server memory per session, or the reason why it is unknown.
type SessionMemory = Result<Option<f64>, String>;

impl<'a> Level<'a> {
    pub fn open(place: &'a PointContext<'a>) -> crate::Result<Self> {
        Self::open_with_seed(place, place.seed())
    }

    /// Like [`Self::open`], with other inputs than the measured ones.
    pub fn open_with_seed(place: &'a PointContext<'a>, seed: u64) -> crate::Result<Self> {
        let users = place.key.jobs;
        let options = WorkOptions {
            warehouses: place.oltp.warehouses,
            rows: place.oltp.warehouse_rows,
            users,
            connections: place.oltp.connections(users),
            pacing: if place.oltp.pauses {
                Pacing::KeyingAndThinking
            } else {
                Pacing::None
            },
            mode: match place.oltp.statements {
                Statements::Client => Mode::Client,
                Statements::Procedure => Mode::Procedure,
            },
            run_seed: place.context.seed,
            seed,
            journal: place.journal.clone(),
        };
        let target = place.on;
        let work = Work::open(Arc::clone(target.first()), &target.engine, &options)?;
        Ok(Self {
            place,
            work,
            users,
            seed,
        })
    }

    /// Runs the users, with arrivals at a rate or as a closed loop, for the step's time or until the concurrent work
    /// ends.
    pub fn measure(
        &self,
        progress: &Progress,
        rate_per_s: Option<f64>,
        concurrent_work: Option<&ConcurrentWork<'_>>,
    ) -> Result<LevelOutcome, Measured> {
        let place = self.place;
        let memory = Mutex::new(Ok(None));
        let observation = Observation::of(place.context, place.blank(TOTAL))
            .timed(true)
            .on(place.on, place.site);
        let observed = observation.drive(|start| {
            self.drive_users(start, &memory, progress, rate_per_s, concurrent_work)
                .map(Driven::from)
        })?;
        let lost = self.work.reconcile().map_err(|error| place.failed(error))?;
        let account = self.work.account();
        let outcome = observed.outcome.clone();
        let uncounted = self.work.uncounted(&account, outcome.connections_lost);
        let uncounted = uncounted.map_err(|error| place.failed(error))?;
        let mut total = self.total(observed, rate_per_s, &account, lost.as_ref());
        match memory.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Ok(mb) => total.figures.session_memory_mb = mb,
            Err(why) => total.notes.push(Remark::SessionMemoryUnknown { why }),
        }
        total.reasons.extend(uncounted);
        Ok(LevelOutcome {
            total,
            lost,
            account,
            outcome,
        })
    }

    /// Drives the users from the ramp-up to the end of their window.
    fn drive_users(
        &self,
        start: &Start<'_>,
        memory: &Mutex<SessionMemory>,
        progress: &Progress,
        rate_per_s: Option<f64>,
        concurrent_work: Option<&ConcurrentWork<'_>>,
    ) -> Result<Outcome, Measured> {
        let (population, clients) = self.population()?;
        let sessions = clients.len() as u32;
        let leaving = || {
            let place = self.place;
            start.end();
            let memory_mb = (place.context).session_memory_mb(place.on, place.site, sessions);
            *memory.lock().unwrap_or_else(PoisonError::into_inner) = memory_mb;
        };
        let is_alone = self.place.context.side.is_none();
        let entering = || {
            start.take();
            concurrent_work
                .into_iter()
                .for_each(|concurrent| (concurrent.entered)());
        };
        let drive = self.drive(population.as_ref(), progress, rate_per_s);
        let drive = Drive {
            entering: Some(&entering),
            leaving: is_alone.then_some(&leaving),
            end: concurrent_work.map_or(drive.end, |_| End::Time(CONCURRENT_WORK_MAX)),
            stop: concurrent_work.map_or(drive.stop, |concurrent| concurrent.over),
            ..drive
        };
        let outcome = self.place.context.drive(clients, &drive);
        Ok(Outcome {
            // Concurrent work ends the window regularly.
            interrupted: outcome.interrupted && concurrent_work.is_none(),
            ..outcome
        })
    }

    fn population(&self) -> Result<Opened<'_>, Measured> {
        let place = self.place;
        place.context.sessions_open(place.on, place.site);
        let opened = self.work.population();
        opened.map_err(|error| place.failed(error))
    }

    /// Operations per second in each interval of unmeasured work.
    pub fn rates_per_s(
        &self,
        progress: &Progress,
        window: Duration,
        interval: Duration,
    ) -> Result<Vec<f64>, Measured> {
        let (population, clients) = self.population()?;
        let how = Drive {
            ramp_up: RampUp::None,
            end: End::Time(window),
            interval,
            ..self.drive(population.as_ref(), progress, self.place.step.rate_per_s)
        };
        let outcome = ::load::drive(clients, &how);
        Measured::cut_short(outcome.interrupted, outcome.fatal.as_deref())?;
        Ok(outcome.interval_rates_per_s())
    }

    /// Points of a level: all transactions together, and each kind.
    pub fn points(&self, level: &LevelOutcome) -> Vec<Point> {
        let kinds = Kind::ALL.map(|kind| self.of_kind(kind, level));
        std::iter::once(level.total.clone()).chain(kinds).collect()
    }

    fn drive<'d>(
        &self,
        population: &'d dyn UserPopulation,
        progress: &'d Progress,
        rate_per_s: Option<f64>,
    ) -> Drive<'d>
    where
        'a: 'd,
    {
        let step = self.place.step;
        let seconds = |s: f64| Duration::from_secs_f64(s);
        Drive {
            users: Users::Population {
                count: self.users,
                kinds: Kind::ALL.len(),
                population,
            },
            schedule: match rate_per_s {
                None => Schedule::Closed { think: Think::None },
                Some(rate_per_s) => Schedule::Open {
                    rate_per_s,
                    arrivals: step.arrivals(),
                },
            },
            ramp_up: step
                .ramp_up_seconds
                .map_or(RampUp::None, |s| RampUp::Time(seconds(s))),
            end: End::Time(seconds(step.seconds.unwrap_or(1.0))),
            interval: self.place.context.interval,
            operation_limit: self.place.oltp.operation_limit_seconds.map(seconds),
            threads: step.driver_threads(),
            seed: self.seed,
            entering: None,
            leaving: None,
            stop: self.place.context.stop,
            progress: Some(progress),
            clock: load::Clock::Monotonic,
        }
    }

    fn total(
        &self,
        mut observed: Observed<'_>,
        rate_per_s: Option<f64>,
        account: &Account,
        lost: Option<&Remark>,
    ) -> Point {
        let (outcome, point) = (&observed.outcome, &mut observed.point);
        let figures = &mut point.figures;
        let of_users = self.figures(&outcome.total(), outcome);
        // Users report no rows, and none of them is ever done.
        *figures = Figures {
            rows: None,
            rows_per_s: None,
            first_finish_s: None,
            last_finish_s: None,
            rolled_back: of_users.rolled_back,
            timeouts: of_users.timeouts,
            connection_wait_us_mean: of_users.connection_wait_us_mean,
            connection_wait_us_p99: of_users.connection_wait_us_p99,
            new_orders_per_min: outcome
                .per_s(outcome.kinds[Kind::NewOrder as usize].completed)
                .map(|rate| rate * 60.0),
            round_trips_per_operation: trips(account.kinds.iter()),
            unfinished: Some(outcome.unfinished as f64),
            ..figures.clone()
        };
        let limits = &self.place.context.validity;
        let offered = rate_per_s.and_then(|per_s| checks::Offered::of(outcome, per_s));
        point
            .reasons
            .extend(offered.and_then(|offered| offered.reason(limits)));
        let of_pauses = rate_per_s.is_none() && self.place.oltp.pauses;
        let ramp_up_s = self.place.step.ramp_up_seconds.unwrap_or_default();
        let short = short_ramp_up(ramp_up_s, &outcome.total()).filter(|_| of_pauses);
        point.reasons.extend(short);
        point.reasons.extend(self.work.audit(account));
        point.reasons.extend(lost.cloned());
        point
            .notes
            .extend(offered.and_then(|offered| offered.note(limits)));
        point.notes.extend(self.notes(outcome, lost));
        point.notes.extend(self.work.audit_note(account));
        point.notes.extend(account.deliveries_skipped());
        point.work = self.work_done(rate_per_s);
        observed.finish()
    }

    fn of_kind(&self, kind: Kind, level: &LevelOutcome) -> Point {
        let done = &level.outcome.kinds[kind as usize];
        let mut figures = self.figures(done, &level.outcome);
        figures.round_trips_per_operation =
            trips([&level.account.kinds[kind as usize]].into_iter());
        let failed = (done.errors > 0).then_some(Remark::TransactionsFailed {
            errors: done.errors,
        });
        Point {
            started_at: level.total.started_at.clone(),
            work: level.total.work.clone(),
            figures,
            samples: samples_of(kind, level),
            reasons: failed.into_iter().collect(),
            histograms: Histograms::of(&done.service, &done.response),
            ..self.place.blank(&code_of(kind))
        }
    }

    fn figures(&self, done: &KindOutcome, outcome: &Outcome) -> Figures {
        let waited = |of: fn(&KindOutcome) -> f64| (!done.waiting.is_empty()).then(|| of(done));
        Figures {
            operations: Some(done.completed as f64),
            operations_per_s: outcome.per_s(done.completed),
            elapsed_s: Some(outcome.elapsed.as_secs_f64()),
            errors: Some(done.errors as f64),
            retries: Some(done.retries as f64),
            rolled_back: Some(done.rolled_back as f64),
            timeouts: Some(done.timeouts as f64),
            connection_wait_us_mean: waited(|done| done.waiting.mean_us()),
            connection_wait_us_p99: waited(|done| done.waiting.percentile_us(99.0)),
            ..Figures::default()
        }
    }

    fn notes(&self, outcome: &Outcome, lost: Option<&Remark>) -> Vec<Remark> {
        let mut notes = vec![self.work.constants()];
        if !self.place.oltp.pauses {
            notes.push(Remark::NoThinkTime);
        }
        let of_warehouses = self.work.warehouses().saturating_mul(USERS_OF_A_WAREHOUSE);
        if self.place.oltp.pauses && self.users > of_warehouses {
            notes.push(Remark::TooManyUsers {
                users: self.users,
                users_specified: of_warehouses,
                users_of_a_warehouse: USERS_OF_A_WAREHOUSE,
            });
        }
        if outcome.connections_lost > 0 {
            notes.push(Remark::ConnectionsGivenUp {
                connections: outcome.connections_lost,
            });
        }
        if self.place.journal.is_some() && lost.is_none() {
            notes.push(Remark::AllAcknowledgedThere);
        }
        if self.place.oltp.check == crate::step::Check::None {
            notes.push(Remark::NotChecked);
        }
        notes.extend(self.work.standing_notes());
        notes
    }

    fn work_done(&self, rate_per_s: Option<f64>) -> WorkDone {
        let (step, oltp) = (self.place.step, self.place.oltp);
        let mut offered = step.clone();
        offered.rate_per_s = rate_per_s;
        let limit = oltp.limit().or(oltp.slo());
        let connections = match oltp.connections {
            None => "a connection for each user".to_owned(),
            Some(shared) => counted(u64::from(shared), "connection"),
        };
        let pauses = if oltp.pauses {
            ", keying and think times"
        } else {
            ""
        };
        WorkDone {
            mode: "time".into(),
            size: self.work.size(),
            seconds: step.seconds,
            schedule: format!(
                "{}, {connections}{pauses}, {}",
                offered.schedule_words(),
                self.place.statements()
            ),
            state: "as the previous level left it".into(),
            cache: CacheState::Uncontrolled,
            limit_percentile: limit.map(|limit| limit.percentile),
            limit_response_us: limit.map(|limit| limit.limit.as_secs_f64() * 1e6),
            ..WorkDone::default()
        }
    }
}

fn trips<'k>(kinds: impl Iterator<Item = &'k crate::KindAccount>) -> Option<f64> {
    let (trips, done) = kinds.fold((0, 0), |(trips, done), kind| {
        (trips + kind.round_trips, done + kind.completed)
    });
    (done > 0).then(|| trips as f64 / done as f64)
}

/// Remark on a ramp-up shorter than the cycle of users who pause, who are not yet at their pace.
fn short_ramp_up(ramp_up_s: f64, done: &KindOutcome) -> Option<Remark> {
    let response_s = if done.response.is_empty() {
        0.0
    } else {
        done.response.mean_us() / 1e6
    };
    let cycle_s = Kind::pause_mean_s() + response_s;
    (ramp_up_s < cycle_s).then_some(Remark::RampUpTooShort {
        ramp_up_s,
        cycle_s,
        ramp_up_s_min: cycle_s.ceil() as u32,
    })
}

fn samples_of(kind: Kind, level: &LevelOutcome) -> Vec<Sample> {
    let sample = |interval: &Interval| {
        let of_kind = &interval.kinds[kind as usize];
        let response = &of_kind.response;
        let length_s = interval.length.as_secs_f64();
        Sample {
            at_s: (interval.at + interval.length).as_secs_f64(),
            operations_per_s: (length_s > 0.0).then(|| response.count() as f64 / length_s),
            response_us_p99: response.percentile(99.0).map(|d| d.as_secs_f64() * 1e6),
            ..Sample::default()
        }
    };
    level.outcome.intervals.iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Users whose transactions take 2 s have a cycle of 476/23 + 2 s.
    #[test]
    fn a_ramp_up_is_as_long_as_a_cycle() {
        let mut done = KindOutcome::default();
        done.response.record_ns(2_000_000_000);
        assert_eq!(short_ramp_up(22.7, &done), None);
        let found = short_ramp_up(12.0, &done).unwrap().to_string();
        let says = "the ramp-up of 12 s is shorter than a user's cycle of 22.7 s";
        assert!(found.starts_with(says), "{found}");
        assert!(
            found.ends_with("set ramp_up_seconds to at least 23"),
            "{found}"
        );
        assert!(short_ramp_up(0.0, &KindOutcome::default()).is_some());
    }
}
