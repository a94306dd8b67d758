//! One measurement: order entry, queries, or both at the same time.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use ::load::Progress;
use archive::{Component, Point, PointKey, Remark};
use columnar::ColumnarError;
use lab::{Measured, Nodes, RunContext, Step};
use olap::measure::{AnalyticalRun, in_passes};
use olap::step::{OlapStep, QueryTables};
use oltp::OltpError;
use oltp::measure::{
    ConcurrentWork, Level, LevelOutcome, PointContext, TOTAL, broken, options, put_off,
};
use oltp::step::{Check, OltpStep};

use super::codes::{on, role};
use super::shared_tables::copy::{Cycle, OrderEntryCopy};
use super::shared_tables::snapshot::Clock;
use super::shared_tables::{self, freshness};
use super::{QUERIES, QUERIES_ALONE, USERS, USERS_ALONE, definition, is_of_users, jobs_of, title};

const ORDER_ENTRY_SCHEMA: &str = "oltp";
/// Interval at which a thread that waits for the users checks for a stop.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Copy of the order-entry tables, also opened as a database.
struct Copied {
    copy: OrderEntryCopy,
    on: Nodes,
}

type Followed = Result<Vec<Cycle>, ColumnarError>;

/// Signals users and copies that the queries are over, even after a panic; otherwise they would never end.
struct OverAtEnd<'a>(&'a AtomicBool);

impl Drop for OverAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) struct MixedPoint<'a> {
    pub context: &'a RunContext<'a>,
    pub analytical: &'a AnalyticalRun<'a>,
    pub step: &'a Step,
    pub oltp: &'a OltpStep,
    pub olap: &'a OlapStep,
    pub key: &'a PointKey,
    /// Number of the target whose server has the order-entry database.
    pub source: usize,
    pub progress: &'a Progress,
}

struct Fresh {
    nodes: Nodes,
    how: String,
}

impl MixedPoint<'_> {
    pub fn measure(&self) -> Measured {
        let points = match role(&self.key.test) {
            USERS_ALONE => self.users_alone(),
            QUERIES_ALONE => self.queries_alone(),
            _ => self.together(),
        };
        points.map_or_else(|measured| measured, Measured::Points)
    }

    fn users_alone(&self) -> Result<Vec<Point>, Measured> {
        let fresh = self.fresh()?;
        let key = self.users_key();
        let place = self.users(&fresh, &key);
        let level = Level::open(&place).map_err(|error| self.failed(error))?;
        let measured = level.measure(self.progress, self.step.rate_per_s, None);
        let level_outcome = measured.map_err(|measured| self.reassign(measured))?;
        Ok(vec![self.of_users(&fresh, &level_outcome)?])
    }

    fn queries_alone(&self) -> Result<Vec<Point>, Measured> {
        let measured = match self.olap.tables {
            QueryTables::Analytical => self.ask(None, self.key, self.progress, || true),
            QueryTables::OrderEntry => {
                let fresh = self.fresh()?;
                let copied = self.copied(&fresh)?;
                let on = copied.as_ref().map_or(&fresh.nodes, |copied| &copied.on);
                self.ask(Some((on, None)), self.key, self.progress, || true)
            }
        };
        Ok(vec![self.of_queries(measured)?])
    }

    fn together(&self) -> Result<Vec<Point>, Measured> {
        let fresh = self.fresh()?;
        let key = self.users_key();
        let place = self.users(&fresh, &key);
        let level = Level::open(&place).map_err(|error| self.failed(error))?;
        let mut copied = self.copied(&fresh)?;
        let (users, answered, followed) = self.drive(&level, &fresh, copied.as_mut());
        // Without queries there was no concurrent load.
        let level_outcome = match users {
            Some(outcome) => outcome.map_err(|measured| self.reassign(measured))?,
            None => return Err(self.reassign(answered)),
        };
        let mut queries = self.of_queries(answered)?;
        if let (Some(copied), Some(followed)) = (&mut copied, followed) {
            self.of_copy(copied, followed, &fresh, &mut queries)?;
        }
        let mut users = self.of_users(&fresh, &level_outcome)?;
        users.notes.push(Remark::QueriesConcurrent {
            users: queries.key.jobs,
            least_s: self.least().as_secs_f64(),
        });
        queries.notes.push(Remark::OrderEntryConcurrent {
            users: users.key.jobs,
        });
        // Process-wide and server-wide counts include both workloads.
        queries.figures.busy_cores_mean = None;
        if !self.context.targets[self.key.target as usize].is_embedded {
            for point in [&mut users, &mut queries] {
                point.notes.push(Remark::CountedTogether);
            }
        }
        Ok(vec![users, queries])
    }

    /// Runs both at the same time; without an outcome of the users if the queries gave up before. A copy follows from
    /// the users' ramp-up on, so it is fresh when they begin.
    fn drive(
        &self,
        level: &Level<'_>,
        fresh: &Fresh,
        copied: Option<&mut Copied>,
    ) -> (
        Option<Result<LevelOutcome, Measured>>,
        Measured,
        Option<Followed>,
    ) {
        let key = self.key_of(QUERIES);
        let over = AtomicBool::new(false);
        let (ready, is_ready) = channel();
        let (entered, window) = channel();
        let (copy, on, clock) = match copied {
            Some(Copied { copy, on }) => {
                let (since, users) = (copy.since(), self.progress);
                (Some(copy), &*on, Some(Clock { since, users }))
            }
            None => (None, &fresh.nodes, None),
        };
        std::thread::scope(|scope| {
            let (over, key) = (&over, &key);
            let asking = scope.spawn(move || {
                let begin = move || ready.send(()).is_ok() && self.comes(&window);
                let _over = OverAtEnd(over);
                self.ask(Some((on, clock)), key, &Progress::new(), begin)
            });
            let is_ready = is_ready.recv().is_ok();
            let following = copy.filter(|_| is_ready).map(|copy| {
                let every = self.olap.follow_every();
                let from = fresh.nodes.first().as_ref();
                let (followed, is_fresh) = channel();
                let fresh = move || {
                    // The receiver exists until the scope ends.
                    let _ = followed.send(());
                };
                let following = scope.spawn(move || {
                    freshness::follow(copy, from, self.progress, every, over, fresh)
                });
                // After a failure nothing arrives; the failure is reported at the end.
                let _ = is_fresh.recv();
                following
            });
            let users = is_ready.then(|| {
                let concurrent = ConcurrentWork {
                    entered: &|| {
                        // While everything is being stopped, nobody may receive it.
                        let _ = entered.send(());
                    },
                    over,
                };
                level.measure(self.progress, self.step.rate_per_s, Some(&concurrent))
            });
            drop(entered);
            // A panic of the thread is a panic of this one.
            let answered = asking.join().unwrap_or_else(|panic| resume_unwind(panic));
            let followed = following.map(|following| {
                following
                    .join()
                    .unwrap_or_else(|panic| resume_unwind(panic))
            });
            (users, answered, followed)
        })
    }

    /// Runs queries in whole passes once `begin` allows it: on the analytical tables, or on those of order entry, with
    /// the clock for the age of a copy.
    fn ask(
        &self,
        order_entry: Option<(&Nodes, Option<Clock<'_>>)>,
        key: &PointKey,
        progress: &Progress,
        begin: impl FnOnce() -> bool,
    ) -> Measured {
        match (self.olap.tables, order_entry) {
            (QueryTables::OrderEntry, Some((on, clock))) => {
                let place = shared_tables::QueryContext {
                    context: self.context,
                    olap: self.olap,
                    key,
                    blank: self.blank(key),
                    on,
                    clock,
                    least: self.least(),
                    is_quiet: role(&key.test) == QUERIES_ALONE,
                };
                shared_tables::in_passes(&place, progress, begin)
            }
            _ => {
                let place = self.analytical.place(self.step, self.olap, key);
                in_passes(&place, self.least(), progress, begin)
            }
        }
    }

    /// Copy of the fresh order-entry tables, if the target is a column store.
    fn copied(&self, fresh: &Fresh) -> Result<Option<Copied>, Measured> {
        let target = &self.context.targets[self.key.target as usize];
        let Some(replica) = target.replica() else {
            return Ok(None);
        };
        if self.olap.tables == QueryTables::Analytical {
            return Ok(None);
        }
        let (level, memory_bytes) = (replica.level(), replica.memory_bytes());
        let from = fresh.nodes.first().as_ref();
        let copy = OrderEntryCopy::lift(from, level, memory_bytes, self.context.stop);
        let (copy, wrong) = copy.map_err(|error| self.not_copied(error))?;
        if !wrong.is_empty() {
            return Err(self.without_figures(wrong));
        }
        let on = target.replaced_by(copy.target());
        let on = on.map_err(|error| self.failed(error.into()))?;
        Ok(Some(Copied { copy, on }))
    }

    /// Adds the cost of the refreshes, and verifies the copy once nobody works any more.
    fn of_copy(
        &self,
        copied: &mut Copied,
        followed: Followed,
        fresh: &Fresh,
        queries: &mut Point,
    ) -> Result<(), Measured> {
        let cycles = followed.map_err(|error| self.not_copied(error))?;
        let (copy, from) = (&mut copied.copy, fresh.nodes.first().as_ref());
        let differing = copy.follow(from, 0).and_then(|_| copy.differing(from));
        queries
            .notes
            .push(freshness::cost(&cycles, self.olap.follow_every()));
        match differing.map_err(|error| self.not_copied(error))? {
            Some(differing) => queries.reasons.push(differing),
            None => queries.notes.push(Remark::CopyEqualAtEnd {
                tables: copy.tables(),
            }),
        }
        Ok(())
    }

    fn not_copied(&self, error: ColumnarError) -> Measured {
        match error {
            ColumnarError::Interrupted => Measured::Interrupted,
            ColumnarError::Target(error) => self.failed(error.into()),
            error => {
                let error = error.to_string();
                self.without_figures(vec![Remark::ColumnarFailed { error }])
            }
        }
    }

    /// Waits until the users' window begins; false if it never does.
    fn comes(&self, window: &Receiver<()>) -> bool {
        loop {
            match window.recv_timeout(CHECK_INTERVAL) {
                Ok(()) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) if self.is_stopped() => return false,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.context.stop.load(Ordering::Relaxed)
    }

    /// Restores the rows, so that every measurement begins with the same ones.
    fn fresh(&self) -> Result<Fresh, Measured> {
        let source = &self.context.targets[self.source];
        let nodes = source.secondary_schema(ORDER_ENTRY_SCHEMA);
        let nodes = nodes.map_err(|error| self.failed(error.into()))?;
        let renewed = oltp::renew(
            nodes.first().as_ref(),
            &nodes.engine,
            &options(self.oltp),
            self.context.plan,
            true,
            self.context.stop,
            &|_| {},
        );
        if self.is_stopped() {
            return Err(Measured::Interrupted);
        }
        let how = renewed.map_err(|error| self.failed(error))?.how;
        Ok(Fresh { nodes, how })
    }

    fn users<'p>(&'p self, fresh: &'p Fresh, key: &'p PointKey) -> PointContext<'p> {
        PointContext {
            context: self.context,
            step: self.step,
            oltp: self.oltp,
            key,
            on: &fresh.nodes,
            site: self.source as u32,
            journal: None,
        }
    }

    /// Key from which users draw their inputs, which is the same with and without queries.
    fn users_key(&self) -> PointKey {
        PointKey {
            test: TOTAL.into(),
            jobs: jobs_of(USERS, self.oltp, self.olap),
            ..self.key.clone()
        }
    }

    fn key_of(&self, code: &'static str) -> PointKey {
        PointKey {
            test: on(self.olap.tables, code).to_owned(),
            jobs: jobs_of(code, self.oltp, self.olap),
            ..self.key.clone()
        }
    }

    /// Point of the users. A consistency check follows; a database that fails it makes the point invalid.
    fn of_users(&self, fresh: &Fresh, outcome: &LevelOutcome) -> Result<Point, Measured> {
        let code = match role(&self.key.test) {
            USERS_ALONE => USERS_ALONE,
            _ => USERS,
        };
        let mut point = outcome.total.clone();
        point.key = self.key_of(code);
        point.title = title(&point.key.test);
        point.work.state = fresh.how.clone();
        if self.oltp.check != Check::None {
            let is_light = self.oltp.check == Check::Light;
            let (target, engine) = (fresh.nodes.first().as_ref(), &fresh.nodes.engine);
            let checked = oltp::check(target, engine, is_light);
            let checked = checked.map_err(|error| self.failed(error))?;
            point.reasons.extend(broken(&checked));
            point.notes.extend(put_off(&checked));
        }
        Ok(point)
    }

    fn of_queries(&self, measured: Measured) -> Result<Point, Measured> {
        match measured {
            Measured::Points(mut points) if points.len() == 1 => {
                let point = points.remove(0);
                Ok(Point {
                    title: title(&point.key.test),
                    ..point
                })
            }
            other => Err(self.reassign(other)),
        }
    }

    fn least(&self) -> Duration {
        Duration::from_secs_f64(self.step.seconds.unwrap_or(1.0))
    }

    fn failed(&self, error: OltpError) -> Measured {
        match error {
            OltpError::Interrupted => Measured::Interrupted,
            OltpError::Target(error) if error.kind != engine::ErrorKind::Statement => {
                Measured::Broken(error.message)
            }
            error => {
                let error = error.to_string();
                self.without_figures(vec![Remark::OltpFailed { error }])
            }
        }
    }

    /// Attributes a failure of one workload to the points of this step.
    fn reassign(&self, measured: Measured) -> Measured {
        let Measured::Points(points) = measured else {
            return measured;
        };
        let failed = points.into_iter().map(|point| point.reasons);
        let reasons = failed.into_iter().find(|reasons| !reasons.is_empty());
        self.without_figures(reasons.unwrap_or_else(|| vec![Remark::NothingMeasured]))
    }

    /// Points with reasons instead of figures: both, if both workloads were measured.
    fn without_figures(&self, reasons: Vec<Remark>) -> Measured {
        let codes = match role(&self.key.test) {
            USERS_ALONE => vec![USERS_ALONE],
            QUERIES_ALONE => vec![QUERIES_ALONE],
            _ => vec![USERS, QUERIES],
        };
        let point = |code: &'static str| Point {
            reasons: reasons.clone(),
            ..self.blank(&self.key_of(code))
        };
        Measured::Points(codes.into_iter().map(point).collect())
    }

    fn blank(&self, key: &PointKey) -> Point {
        let code = key.test.as_str();
        let target = if is_of_users(code) {
            self.source
        } else {
            self.key.target as usize
        };
        let definition = definition(code, &self.context.targets[target].engine);
        let component = Component::Database;
        (self.context).blank(self.step, key.clone(), definition, title(code), component)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in `drive`: users who work until the queries are over.
    #[test]
    fn queries_that_panic_let_nobody_work_on() {
        let over = AtomicBool::new(false);
        let joined = std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let _over = OverAtEnd(&over);
                panic!("on purpose, in a test");
            });
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            asking.join()
        });
        assert!(joined.is_err());
    }
}
