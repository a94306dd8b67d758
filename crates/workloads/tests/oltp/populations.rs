//! Users over a pool of connections, on a real server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use load::mock::Mock;
use load::{
    Arrivals, Clients, Clock, Drive, End, NonblockingClient, Outcome, Progress, RampUp, Schedule,
    Users,
};
use oltp::{
    Constants, ExecutorContext, Kind, Ledger, Metadata, Mode, Pacing, Terminals, WarehouseRows,
    World,
};

use crate::common::*;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn context(database: &Database, users: u32, pacing: Pacing) -> ExecutorContext {
    let mut session = database.session();
    let metadata = Metadata::of_whole(session.as_mut()).unwrap();
    oltp::note_transactions(session.as_mut()).unwrap();
    let world = World {
        warehouses: metadata.warehouses,
        constants: Constants::draw(3, metadata.c_last_load, metadata.rows),
        pacing,
        run: 0xc0ffee,
    };
    ExecutorContext {
        engine: database.engine.to_owned(),
        mode: Mode::Client,
        terminals: Arc::new(Terminals::new(world, users, 3)),
        ledger: Arc::new(Ledger::default()),
        commit_log: None,
    }
}

fn counter(database: &Database, context: &ExecutorContext) -> Box<dyn NonblockingClient> {
    let connection = context.nonblocking(database.target.as_ref()).unwrap();
    Box::new(connection.expect("the engine can be awaited"))
}

fn drive(
    database: &Database,
    context: &ExecutorContext,
    connections: usize,
    how: &Drive,
) -> Outcome {
    let pool = Clients::Nonblocking {
        clients: (0..connections)
            .map(|_| counter(database, context))
            .collect(),
        replace: Some(Box::new(|| Ok(counter(database, context)))),
    };
    load::drive(pool, how)
}

fn how(terminals: &Terminals, ramp_up: Duration, window: Duration) -> Drive<'_> {
    Drive {
        users: Users::Population {
            count: terminals.len() as u32,
            kinds: Kind::ALL.len(),
            population: terminals,
        },
        ramp_up: RampUp::Time(ramp_up),
        ..Drive::of_jobs(End::Time(window), &GO_ON)
    }
}

/// 5000 users with keying and think times of 20.7 s on average, with a deck of 23 cards, are 241.6 transactions per
/// second, ten of 23 new orders, if answers take 5 ms: in virtual time, a quarter of an hour.
#[test]
fn five_thousand_users_keep_their_pace() {
    let (clock, _) = Clock::new_virtual();
    let world = World {
        warehouses: 500,
        constants: Constants::draw(3, 100, WarehouseRows::Full),
        pacing: Pacing::KeyingAndThinking,
        run: 0xc0ffee,
    };
    let users = Terminals::new(world, 5000, 3);
    let mock = Mock::new().on(&clock).latency(Duration::from_millis(5));
    let pool = Clients::Nonblocking {
        clients: mock.nonblocking(64).unwrap(),
        replace: None,
    };
    let how = Drive {
        clock,
        ..how(&users, Duration::from_secs(60), Duration::from_secs(900))
    };
    let outcome = load::drive(pool, &how);
    assert_eq!((outcome.fatal.as_ref(), outcome.errors()), (None, 0));
    let per_s = outcome.operations_per_s().unwrap();
    // Golden for the seed; 217 000 random transactions are 0.2 % more or less.
    assert!((240.5..242.5).contains(&per_s), "{per_s}/s, not 241.6");
    let orders = outcome.kinds[Kind::NewOrder as usize].completed;
    let orders_pct = 100.0 * orders as f64 / outcome.operations() as f64;
    assert!((43.0..44.0).contains(&orders_pct), "{orders_pct} %");
    assert_eq!(outcome.late_starts, 0);
    assert_eq!(outcome.driver_time(), Duration::ZERO);
}

/// The same users over 64 connections to a real server: less than 250 MB, and no more transactions than they request,
/// however fast the machine is.
#[test]
fn five_thousand_users_share_sixty_four_connections() {
    const ALONE: &str = "DBDYNO_TEST_MEMORY_ALONE";
    if std::env::var_os(ALONE).is_none() {
        // The peak is the process's, in which other tests have theirs.
        let ended = testing::again!().env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success(), "{said}");
        return;
    }
    let database = Database::loaded("postgres", 2);
    let users = 5000;
    let context = context(&database, users, Pacing::KeyingAndThinking);
    let (ramp_up, window) = (Duration::from_secs(1), Duration::from_secs(2));
    let how = how(&context.terminals, ramp_up, window);
    let outcome = drive(&database, &context, 64, &how);
    assert_eq!((outcome.fatal.as_ref(), outcome.errors()), (None, 0));
    let completed = outcome.operations();
    assert!(
        (1..3 * 330).contains(&completed),
        "{completed}, not 242/s at most"
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let peak_kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak_kib < 250_000_000 / 1024, "{peak}");
    assert_eq!(database.check().broken(), [0_u32; 0]);
}

/// Somebody locks a warehouse: payments there are abandoned after a second, on connections that are replaced; once the
/// lock is released everything continues and is consistent.
#[test]
fn a_transaction_stuck_on_a_lock_is_given_up() {
    let database = Database::loaded("postgres", 2);
    let context = context(&database, 12, Pacing::None);
    let (progress, stop) = (Progress::new(), AtomicBool::new(false));
    let wait_for = |happened: &dyn Fn() -> bool| {
        while !happened() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let how = Drive {
        operation_limit: Some(Duration::from_secs(1)),
        progress: Some(&progress),
        stop: &stop,
        ..how(
            &context.terminals,
            Duration::ZERO,
            Duration::from_secs(3600),
        )
    };
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(&|| progress.operations() > 0);
            let mut session = database.session();
            session.begin().unwrap();
            let lock = session.prepare("UPDATE warehouse SET w_tax = w_tax WHERE w_id = 1");
            session.execute(lock.unwrap(), &[]).unwrap();
            wait_for(&|| progress.errors() > 0);
            session.rollback().unwrap();
            let before = progress.operations();
            wait_for(&|| progress.operations() > before + 100);
            stop.store(true, Relaxed);
        });
        drive(&database, &context, 6, &how)
    });
    assert_eq!(outcome.fatal, None);
    assert!(outcome.interrupted);
    let total = outcome.total();
    assert!(
        total.timeouts >= 1 && total.timeouts == total.errors,
        "{total:?}"
    );
    assert_eq!(outcome.connections_lost, total.timeouts);
    assert_eq!(
        outcome.error_texts(),
        ["an operation took longer than its limit of 1 s"]
    );
    assert_eq!(database.check().broken(), [0_u32; 0]);
}

/// Processes of a server that are stopped until this is dropped.
struct Stopped(Vec<i32>);

impl Stopped {
    fn of(database: &Database) -> Self {
        let mut session = database.session();
        let rows = session.texts("SELECT pid FROM pg_stat_activity").unwrap();
        let pid = |row: &Vec<Option<String>>| row[0].as_ref().unwrap().parse().unwrap();
        let stopped = Self(rows.iter().map(pid).collect());
        stopped.signal(libc::SIGSTOP);
        stopped
    }

    fn signal(&self, signal: i32) {
        for pid in &self.0 {
            // SAFETY: a signal to a process of this test's own server; no memory is touched.
            unsafe { libc::kill(*pid, signal) };
        }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.signal(libc::SIGCONT);
    }
}

/// All processes of a server stand still from before a window of 3 s until 4 s after it began: nothing is done in it,
/// and all of the standstill is in the response times. Arrivals every 20 ms: four are in service, the others wait.
#[test]
fn a_server_that_stands_still_is_in_the_response_times() {
    let database = Database::loaded_with("postgres", 1, "&cluster_name=still");
    let context = context(&database, 4, Pacing::None);
    let pool = Clients::Nonblocking {
        clients: (0..4).map(|_| counter(&database, &context)).collect(),
        replace: None,
    };
    let (entered, goes_on) = std::sync::mpsc::channel();
    let entering = move || entered.send(()).unwrap();
    let stopped = Stopped::of(&database);
    let how = Drive {
        schedule: Schedule::Open {
            rate_per_s: 50.0,
            arrivals: Arrivals::Constant,
        },
        entering: Some(&entering),
        ..how(&context.terminals, Duration::ZERO, Duration::from_secs(3))
    };
    let outcome = std::thread::scope(|scope| {
        scope.spawn(move || {
            goes_on.recv().unwrap();
            std::thread::sleep(Duration::from_secs(4));
            drop(stopped);
        });
        load::drive(pool, &how)
    });
    assert_eq!((outcome.fatal.as_ref(), outcome.errors()), (None, 0));
    assert_eq!((outcome.operations(), outcome.unfinished), (0, 150));
    assert_eq!(outcome.due, 150);
    let response = outcome.total().response;
    assert_eq!(response.count(), 150);
    assert_eq!(response.count_above_us(3.9e6), 4);
    // The others have waited since their arrival, to the millisecond: number k for 3000 - 20 k ms.
    assert_eq!(response.count_above_us(990e3), 101);
    assert_eq!(database.check().broken(), [0_u32; 0]);
}
