//! Users over a pool of connections, against a real server.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::mock::Floor;
use load::{Counter, Counters, CrowdDrive, CrowdModel, CrowdOutcome, drive_crowd};
use workload::oltp::{
    self, Constants, Kind, Ledger, Metadata, Mode, Office, Pacing, Terminals, World,
};

use crate::common::*;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn office(database: &Database, users: u32, pacing: Pacing) -> Office {
    let mut session = database.session();
    let metadata = Metadata::of_whole(session.as_mut()).unwrap();
    oltp::note_transactions(session.as_mut()).unwrap();
    let world = World {
        warehouses: metadata.warehouses,
        constants: Constants::draw(3, metadata.c_last_load),
        pacing,
        run: 0xc0ffee,
    };
    Office {
        engine: database.engine.to_owned(),
        mode: Mode::Client,
        terminals: Arc::new(Terminals::new(world, users, 3)),
        ledger: Arc::new(Ledger::default()),
        journal: None,
    }
}

fn counter(database: &Database, office: &Office) -> Box<dyn Counter> {
    let counter = office.counter(database.target.as_ref()).unwrap();
    Box::new(counter.expect("the engine can be awaited"))
}

fn drive(
    database: &Database,
    office: &Office,
    connections: usize,
    how: &CrowdDrive,
) -> CrowdOutcome {
    let counters = Counters::Nonblocking {
        counters: (0..connections)
            .map(|_| counter(database, office))
            .collect(),
        replace: Some(Box::new(|| Ok(counter(database, office)))),
    };
    drive_crowd(office.terminals.as_ref(), counters, Kind::ALL.len(), how)
}

fn how(users: u32, ramp_up: Duration, window: Duration) -> CrowdDrive<'static> {
    CrowdDrive {
        users,
        model: CrowdModel::Closed,
        ramp_up,
        window,
        interval: Duration::from_secs(1),
        operation_limit: None,
        threads: 1..=1,
        seed: 1,
        entering: None,
        stop: &GO_ON,
        progress: None,
    }
}

/// 5000 users who key in and think as the specification says, 238 transactions a second, over 64 connections:
/// the driver takes less than 250 MB and is hardly ever late.
#[test]
fn five_thousand_users_share_sixty_four_connections() {
    let database = Database::postgres();
    database.load(&options(2)).unwrap();
    let users = 5000;
    let how = how(users, Duration::from_secs(1), Duration::from_secs(4));
    let mut late_pct = Vec::new();
    while late_pct.len() < 3 && late_pct.last().is_none_or(|pct| *pct >= 1.0) {
        let office = office(&database, users, Pacing::KeyingAndThinking);
        let floor = Floor::watch();
        let outcome = drive(&database, &office, 64, &how);
        let floor_pct = floor.end().late_pct();
        assert_eq!((outcome.fatal.as_ref(), outcome.errors()), (None, 0));
        let per_s = outcome.completed_per_s().unwrap();
        println!(
            "{per_s:.0}/s, late {:.2} % (of its own {:.2} %), response p95 {:.1} ms, driver {:?}",
            outcome.late_starts_pct().unwrap(),
            outcome.own_late_starts_pct().unwrap(),
            outcome.total().response.percentile_us(95.0) / 1e3,
            outcome.driver_threads,
        );
        assert!((150.0..330.0).contains(&per_s), "{per_s}/s, not about 238");
        late_pct.push(outcome.own_late_starts_pct().unwrap() - floor_pct);
    }
    assert!(
        late_pct.iter().any(|pct| *pct < 1.0),
        "late starts of its own beyond those of a thread that only waits, in %: {late_pct:?}"
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    println!("{peak}");
    let peak_kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak_kib < 250_000_000 / 1024, "{peak}");
    assert_eq!(database.check().broken(), [0_u32; 0]);
}

/// Somebody locks a warehouse for two seconds: who pays there is given up after one, on connections that are
/// replaced, and afterwards everything goes on and is consistent.
#[test]
fn a_transaction_stuck_on_a_lock_is_given_up() {
    let database = Database::postgres();
    database.load(&options(2)).unwrap();
    let office = office(&database, 12, Pacing::None);
    let how = CrowdDrive {
        operation_limit: Some(Duration::from_secs(1)),
        ..how(12, Duration::ZERO, Duration::from_secs(6))
    };
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(1));
            let mut session = database.session();
            session.begin().unwrap();
            let lock = session.prepare("UPDATE warehouse SET w_tax = w_tax WHERE w_id = 1");
            session.execute(lock.unwrap(), &[]).unwrap();
            std::thread::sleep(Duration::from_secs(2));
            session.rollback().unwrap();
        });
        drive(&database, &office, 6, &how)
    });
    assert_eq!(outcome.fatal, None);
    let total = outcome.total();
    assert!(
        total.timeouts >= 1 && total.timeouts == total.errors,
        "{total:?}"
    );
    assert_eq!(outcome.connections_lost, total.timeouts);
    assert_eq!(
        outcome.error_messages,
        ["an operation took longer than its limit of 1 s"]
    );
    let last = outcome.intervals.last().unwrap().total();
    assert!(last.response.count() > 10, "it goes on");
    assert_eq!(database.check().broken(), [0_u32; 0]);
}
