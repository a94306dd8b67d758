//! Analytical queries on the tables on which the users of order entry work.
//!
//! The right answers are unknown because the rows change, so each query runs in a [`snapshot`] that is verified to be
//! one. Without users, answers are the same each time. A [`copy`] of the tables in a column store can follow the users;
//! the age of its rows is their [`freshness`].

pub mod copy;
pub mod freshness;
pub mod query;
pub mod snapshot;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ::load::{BlockingClient, Done, Drive, End, Failure, Progress, Request};
use archive::{CacheState, Point, PointKey, Remark, WorkDone};
use engine::{ErrorKind, TargetError};
use lab::observe::{Driven, Observation};
use lab::{Measured, Nodes, RunContext};
use olap::Answer;
use olap::measure::dop::set_degree;
use olap::measure::passes::{PASSES_MAX, Passes};
use olap::step::OlapStep;
use workload::exercise::failure;

pub use query::{Query, fingerprint, queries};
use snapshot::{Age, Clock, Snapshots};

pub(super) struct QueryContext<'a> {
    pub context: &'a RunContext<'a>,
    pub olap: &'a OlapStep,
    pub key: &'a PointKey,
    pub blank: Point,
    /// The order-entry database, or the copy of it.
    pub on: &'a Nodes,
    /// Clock for the age of a copy that follows the users.
    pub clock: Option<Clock<'a>>,
    pub least: Duration,
    /// True if nobody changes the tables meanwhile.
    pub is_quiet: bool,
}

/// Runs every query once, waits for `begin`, and runs whole passes for at least the given time.
pub(super) fn in_passes(
    place: &QueryContext<'_>,
    progress: &Progress,
    begin: impl FnOnce() -> bool,
) -> Measured {
    let shared = SharedResults::default();
    let users = match place.users(&shared) {
        Ok(users) => users,
        Err(error) => return place.failed(error),
    };
    if !begin() {
        return Measured::Interrupted;
    }
    match place.measure(users, &shared, progress) {
        Ok(point) => Measured::Points(vec![point]),
        Err(ended) => ended,
    }
}

#[derive(Default)]
struct SharedResults {
    /// First answer to each query, if nobody changes the tables.
    answers: Mutex<HashMap<u32, Answer>>,
    queries: AtomicU64,
    took_us: AtomicU64,
    checks: AtomicU64,
    ages: Mutex<Vec<Age>>,
}

impl<'a> QueryContext<'a> {
    fn queries(&self) -> Vec<&'static Query> {
        let named = self.olap.named_queries();
        let is_selected = |query: &&Query| named.is_empty() || named.contains(&query.number);
        queries().iter().filter(is_selected).collect()
    }

    /// Users who have run every query once, at the degree of the point; sessions opened later have that of the target.
    fn users<'k>(&self, shared: &'k SharedResults) -> engine::Result<Vec<User<'k>>>
    where
        'a: 'k,
    {
        set_degree(&self.olap.dop, self.on, self.key.threads)?;
        let opened = (0..self.key.jobs).map(|_| {
            let mut session = self.on.first().open_session()?;
            session.limit_statements(Some(self.olap.query_limit()))?;
            let mut user = User {
                snapshots: Snapshots::new(session, &self.on.engine, self.clock),
                queries: self.queries(),
                is_quiet: self.is_quiet,
                shared,
            };
            for query in self.queries() {
                let result = user.snapshots.ask(query)?;
                if self.is_quiet {
                    user.differing(query, result.answer);
                }
            }
            Ok(user)
        });
        let users = opened.collect::<engine::Result<Vec<_>>>();
        self.on.set_threads(None)?;
        users
    }

    fn measure(
        &self,
        users: Vec<User<'_>>,
        shared: &SharedResults,
        progress: &Progress,
    ) -> Result<Point, Measured> {
        let context = self.context;
        let of_a_pass = self.queries().len() as u64;
        let in_passes = |user| {
            Box::new(Passes {
                client: Box::new(user),
                queries: of_a_pass,
                least: self.least,
                begun: None,
            }) as Box<dyn BlockingClient + '_>
        };
        let clients = users.into_iter().map(in_passes).collect();
        let end = End::Operations {
            per_job: PASSES_MAX * of_a_pass,
        };
        let drive = Drive {
            interval: context.interval,
            seed: context.seed,
            progress: Some(progress),
            ..Drive::of_jobs(end, context.stop)
        };
        let observation = Observation::of(context, self.blank()).on(self.on, self.key.target);
        let observed = observation
            .drive(|start| Ok(Driven::from(::load::drive(start.watch(clients), &drive))))?;
        let mut point = observed.finish();
        let ages = shared.ages.lock().unwrap_or_else(PoisonError::into_inner);
        freshness::add_ages(&ages, &mut point.figures);
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (answered, took_us) = (read(&shared.queries), read(&shared.took_us));
        // Checks of the snapshots run between the queries, so their time is excluded.
        point.figures.queries_per_min = (took_us > 0)
            .then(|| 60e6 * f64::from(self.key.jobs) * answered as f64 / took_us as f64);
        point.notes.insert(
            0,
            Remark::QueriesInSnapshots {
                queries: answered,
                checks: read(&shared.checks),
            },
        );
        point
            .notes
            .extend(self.is_quiet.then_some(Remark::AnswersAlikeQuiet));
        Ok(point)
    }

    fn blank(&self) -> Point {
        Point {
            work: WorkDone {
                mode: "time".into(),
                seconds: Some(self.least.as_secs_f64()),
                schedule: "closed, queries on the order-entry tables in whole passes".into(),
                state: if self.is_quiet {
                    "as loaded"
                } else {
                    "changed by order entry meanwhile"
                }
                .into(),
                cache: CacheState::Warm,
                ..WorkDone::default()
            },
            ..self.blank.clone()
        }
    }

    fn failed(&self, error: TargetError) -> Measured {
        match error.kind {
            ErrorKind::Statement => Measured::Points(vec![Point {
                reasons: vec![Remark::OlapFailed {
                    error: error.message,
                }],
                ..self.blank()
            }]),
            _ => Measured::Broken(error.message),
        }
    }
}

struct User<'k> {
    snapshots: Snapshots<'k>,
    queries: Vec<&'static Query>,
    is_quiet: bool,
    shared: &'k SharedResults,
}

impl User<'_> {
    /// Difference between an answer and the first one to its query, which is stored.
    fn differing(&self, query: &Query, answer: Answer) -> Option<String> {
        let answers = self.shared.answers.lock();
        let mut answers = answers.unwrap_or_else(PoisonError::into_inner);
        match answers.get(&query.number) {
            Some(first) => query::differing(&answer, first),
            None => {
                answers.insert(query.number, answer);
                None
            }
        }
    }
}

impl BlockingClient for User<'_> {
    fn operate(&mut self, request: Request) -> Result<Done, Failure> {
        let place = (request.index % self.queries.len().max(1) as u64) as usize;
        let query = self.queries[place];
        let wrong = |what: String| Failure::Operation(format!("query {}: {what}", query.number));
        let result = self.snapshots.ask(query).map_err(failure)?;
        if let Some(torn) = result.torn {
            return Err(wrong(format!("its rows are not of one moment: {torn}")));
        }
        let rows = result.answer.rows.len() as u64;
        let differing = (self.is_quiet).then(|| self.differing(query, result.answer));
        if let Some(what) = differing.flatten() {
            return Err(wrong(format!("another answer on the same rows: {what}")));
        }
        let shared = self.shared;
        let mut ages = shared.ages.lock().unwrap_or_else(PoisonError::into_inner);
        ages.extend(result.age);
        drop(ages);
        shared.queries.fetch_add(1, Ordering::Relaxed);
        let took_us = result.took.as_micros() as u64;
        shared.took_us.fetch_add(took_us, Ordering::Relaxed);
        if place + 1 == self.queries.len() {
            let broken = self.snapshots.check().map_err(failure)?;
            if let Some(broken) = broken {
                return Err(Failure::Operation(format!("a snapshot breaks {broken}")));
            }
            shared.checks.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Done {
            rows,
            ..Done::default()
        })
    }
}
