//! Users over pools of connections, against the programmed target, in virtual time, so that assertions are exact.
//! Properties of the machine's clock are in [`real_time`].

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "../shared/mod.rs"]
mod shared;

mod accounts;
mod ends;
mod models;
mod queue;
mod real_time;
mod timeouts;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use load::mock::Mock;
use load::{
    BlockingClient, Clients, Clock, Done, Drive, End, Failure, NextOperation, NonblockingClient,
    Outcome, Request, Think, Turn, UserPopulation, Users, drive,
};
use stats::random::Random;

use shared::{AN_HOUR, GO_ON, after, assert_us, check_driver, ms, on, us};

const KINDS: usize = 3;

/// Users who draw kinds and pauses from their own generators.
struct Flock {
    pause: Think,
    users: Vec<Mutex<Random>>,
}

impl Flock {
    fn new(users: u32, pause: Think) -> Self {
        let user = |number| Mutex::new(Random::stream(11, u64::from(number)));
        Self {
            pause,
            users: (0..users).map(user).collect(),
        }
    }
}

impl UserPopulation for Flock {
    fn next_operation(&self, user: u32) -> NextOperation {
        let random = &mut self.users[user as usize].lock().unwrap();
        NextOperation {
            kind: random.below(KINDS as u64) as u8,
            pause_ns: self.pause.draw_ns(random),
        }
    }
}

#[derive(Default)]
struct Log {
    operations: Mutex<Vec<(u32, u8)>>,
    closed: AtomicUsize,
}

impl Log {
    fn add(&self, user: u32, kind: u8) {
        let log = self.operations.lock();
        log.unwrap_or_else(PoisonError::into_inner)
            .push((user, kind));
    }

    fn of_user(&self, user: u32) -> Vec<u8> {
        let log = self.operations.lock().unwrap();
        let of = log.iter().filter(|(who, _)| *who == user);
        of.map(|(_, kind)| *kind).collect()
    }
}

struct LoggedConnection<'a, C: ?Sized> {
    inner: Box<C>,
    log: &'a Log,
}

impl<C: ?Sized> Drop for LoggedConnection<'_, C> {
    fn drop(&mut self) {
        self.log.closed.fetch_add(1, Ordering::Relaxed);
    }
}

impl NonblockingClient for LoggedConnection<'_, dyn NonblockingClient> {
    fn descriptor(&self) -> i32 {
        self.inner.descriptor()
    }
    fn begin(&mut self, request: Request) -> Turn {
        self.log.add(request.user, request.kind);
        self.inner.begin(request)
    }
    fn ready(&mut self) -> Turn {
        self.inner.ready()
    }
}

impl BlockingClient for LoggedConnection<'_, dyn BlockingClient> {
    fn operate(&mut self, request: Request) -> Result<Done, Failure> {
        self.log.add(request.user, request.kind);
        self.inner.operate(request)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Loop,
    Threads,
}

const WAYS: [Way; 2] = [Way::Loop, Way::Threads];

fn connections<'a>(way: Way, mock: &Mock, count: usize, log: &'a Log) -> Clients<'a> {
    match way {
        Way::Loop => Clients::Nonblocking {
            clients: mock
                .nonblocking(count)
                .unwrap()
                .into_iter()
                .map(|inner| {
                    Box::new(LoggedConnection { inner, log }) as Box<dyn NonblockingClient + 'a>
                })
                .collect(),
            replace: None,
        },
        Way::Threads => Clients::Blocking(
            mock.sessions(count)
                .into_iter()
                .map(|inner| {
                    Box::new(LoggedConnection { inner, log }) as Box<dyn BlockingClient + 'a>
                })
                .collect(),
        ),
    }
}

struct Unnamed;

impl UserPopulation for Unnamed {
    fn next_operation(&self, _user: u32) -> NextOperation {
        panic!("these users were to be replaced")
    }
}

fn plain(users: u32, window: Duration) -> Drive<'static> {
    Drive {
        users: Users::Population {
            count: users,
            kinds: KINDS,
            population: &Unnamed,
        },
        interval: ms(100),
        ..Drive::of_jobs(End::Time(window), &GO_ON)
    }
}

/// Drives this population in place of [`Unnamed`].
fn drive_population(
    population: &dyn UserPopulation,
    pool: Clients,
    kinds: usize,
    how: &Drive,
) -> Outcome {
    let Users::Population { count, .. } = how.users else {
        panic!("users share the connections")
    };
    let users = Users::Population {
        count,
        kinds,
        population,
    };
    drive(
        pool,
        &Drive {
            users,
            ..how.clone()
        },
    )
}

/// Drives a flock in virtual time and checks the invariants of every outcome there.
fn run(way: Way, mock: &Mock, count: usize, pause: Think, how: &Drive) -> Outcome {
    let log = Log::default();
    let outcome = logged(way, mock, count, pause, how, &log);
    assert_eq!(outcome.clients.len(), count);
    assert_eq!(outcome.driver_threads.is_some(), way == Way::Loop);
    outcome
}

fn logged(way: Way, mock: &Mock, count: usize, pause: Think, how: &Drive, log: &Log) -> Outcome {
    let (clock, _) = Clock::new_virtual();
    let Users::Population { count: users, .. } = how.users else {
        panic!("users share the connections")
    };
    let flock = Flock::new(users, pause);
    let pool = connections(way, &mock.clone().on(&clock), count, log);
    let how = on(clock, how.clone());
    let outcome = drive_population(&flock, pool, KINDS, &how);
    check_virtual(&outcome);
    outcome
}

fn check_virtual(outcome: &Outcome) {
    check(outcome);
    check_driver(outcome);
}

fn check(outcome: &Outcome) {
    for (number, kind) in outcome.kinds.iter().enumerate() {
        let intervals = outcome.intervals.iter().map(|i| &i.kinds[number]);
        let series = intervals.fold((0, 0), |(completed, errors), cell| {
            (completed + cell.response.count(), errors + cell.errors)
        });
        assert_eq!(series, (kind.completed, kind.errors));
        assert!(kind.service.count() >= kind.completed);
        assert!(kind.waiting.count() >= kind.service.count());
        assert!(kind.response.count() >= kind.waiting.count());
        assert!(kind.waiting.max_us() <= kind.response.max_us() * 1.001);
        assert!(kind.rolled_back <= kind.completed && kind.timeouts <= kind.errors);
    }
    // The accounts of the clients are those of the kinds, and no longer than the window.
    let of_clients = outcome.clients.iter().map(|client| client.operations);
    assert_eq!(of_clients.sum::<u64>(), outcome.operations());
    let rows: u64 = outcome.kinds.iter().map(|kind| kind.rows).sum();
    assert_eq!(rows, outcome.rows());
    for client in &outcome.clients {
        assert!(client.active <= outcome.elapsed && client.finish <= outcome.elapsed);
        assert!(client.service + client.idle <= client.active);
    }
    // Every operation that was due is in a histogram, except for failures.
    let total = outcome.total();
    assert!(
        total.response.count() + total.errors
            <= total.completed + total.errors + outcome.unfinished
    );
    let covered: Duration = outcome.intervals.iter().map(|i| i.length).sum();
    assert_eq!(covered, outcome.elapsed);
}
