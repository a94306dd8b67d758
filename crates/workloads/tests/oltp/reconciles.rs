//! The log of acknowledged transactions, compared with tables that lost something, and with servers that were killed
//! under load.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::Target;
use load::{Clients, Drive, End, Outcome, Users};
use oltp::{ExecutorContext, Mode, Reconciled};
use stats::random::Random;

use crate::common::*;
use crate::loaded::directory_with;
use crate::users::{By, RUN, USERS, context, serve, world};
use testing::Says;

/// Runs transactions on a database; returns the log.
fn worked(database: &Database, directory: &Path, by: By) -> PathBuf {
    let path = directory.join(database.engine);
    let world = world(database, RUN);
    let journal = oltp::reconcile::begin(database.session().as_mut(), &path, &world).unwrap();
    let context = context(database, Mode::Client, world, Some(journal));
    let outcome = serve(database, &context, by, 2, 300);
    assert_eq!(outcome.error_texts(), Vec::<String>::new());
    path
}

fn held(database: &Database, path: &Path) -> Reconciled {
    oltp::reconcile(database.target.as_ref(), path).unwrap()
}

/// Losses are named, kind by kind.
fn losses_are_named(database: &Database, by: By) {
    let directory = tempfile::tempdir().unwrap();
    let path = worked(database, directory.path(), by);
    let whole = held(database, &path);
    assert!(whole.is_sound() && !whole.torn, "{whole:?}");
    let sides = [whole.orders, whole.payments, whole.deliveries];
    let are_right = sides
        .iter()
        .all(|side| side.acknowledged > 20 && side.unacknowledged == 0);
    assert!(are_right, "{sides:?}");
    let mut session = database.session();
    let session = session.as_mut();
    let order = "SELECT min(o_id * 1000 + o_w_id * 100 + o_d_id) FROM orders WHERE o_id > 300";
    let order: u32 = one(session, order).parse().unwrap();
    let (o, w, d) = (order / 1000, order / 100 % 10, order % 100);
    let of_order = format!("WHERE o_w_id = {w} AND o_d_id = {d} AND o_id = {o}");
    let c = one(session, &format!("SELECT o_c_id FROM orders {of_order}"));
    change_one(
        session,
        &format!("UPDATE orders SET o_c_id = 301 {of_order}"),
    );
    let mark = "SELECT min(h_data) FROM history WHERE h_data LIKE '00decade%'";
    let mark = one(session, mark);
    change_one(
        session,
        &format!("DELETE FROM history WHERE h_data = '{mark}'"),
    );
    let other =
        "UPDATE orders SET o_carrier_id = 11 WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 211";
    change_one(session, other);
    let lost = held(database, &path);
    assert!(!lost.is_sound(), "{lost:?}");
    let missing = [lost.orders, lost.payments, lost.deliveries].map(|side| side.missing);
    assert_eq!(missing, [1, 1, 1], "{lost:?}");
    assert_eq!(lost.payments.unacknowledged, -1);
    let said = lost.places.join("\n");
    said.says(&format!(
        "order {w}/{d}/{o} of customer {c} was acknowledged; the tables hold customer 301"
    ));
    said.says_all(&[&format!("payment {mark} of customer"), "hold none of none"]);
    said.says_all(&["delivery of order 1/1/211", "hold carrier 11"]);
    // An unacknowledged payment as well.
    let all = "DELETE FROM history WHERE h_data LIKE '00decade%'";
    session.batch(all).unwrap();
    for _ in 0..=lost.payments.acknowledged {
        session.batch("INSERT INTO history VALUES (1, 1, 1, 1, 1, '2026-01-02 00:00:00', 1, '00decadeffffff00000000')").unwrap();
    }
    let added = held(database, &path);
    assert_eq!(added.payments.missing, lost.payments.acknowledged);
    assert_eq!(added.payments.unacknowledged, 1);
}

#[test]
fn losses_are_named_on_sqlite() {
    losses_are_named(&Database::loaded("sqlite", 1), By::Blocking);
}

#[test]
fn losses_are_named_on_postgres() {
    losses_are_named(&Database::loaded("postgres", 1), By::EventLoop);
}

/// Kills of each server; `make faults` kills more often.
const KILLS_DEFAULT: u64 = 6;
/// A longer time without an acknowledgement is an error.
const PATIENCE: Duration = Duration::from_secs(60);

struct Victim {
    engine: &'static str,
    settings: &'static str,
    /// Settings that make its commits durable, with their expected values.
    durable: &'static [(&'static str, &'static str)],
    pid_file: fn(&Database) -> PathBuf,
}

const POSTGRES: Victim = Victim {
    engine: "postgres",
    settings: "version=15&shared_buffers=64MB&max_wal_size=1GB",
    durable: &[
        ("SHOW fsync", "on"),
        ("SHOW synchronous_commit", "on"),
        ("SHOW full_page_writes", "on"),
    ],
    pid_file: |database| database.target.data_path().unwrap().join("postmaster.pid"),
};
const MARIADB: Victim = Victim {
    engine: "mariadb",
    settings: "innodb_buffer_pool_size=64M&innodb_log_file_size=256M&performance_schema=OFF",
    durable: &[
        ("SELECT CAST(@@innodb_flush_log_at_trx_commit AS CHAR)", "1"),
        ("SELECT CAST(@@innodb_doublewrite AS CHAR)", "ON"),
    ],
    pid_file: |database| {
        one(
            database.session().as_mut(),
            "SELECT CAST(@@pid_file AS CHAR)",
        )
        .into()
    },
};

/// `kill -9` of the server and all its processes under load, in both modes in turn, at a random size of the log of
/// acknowledged transactions; after each, everything acknowledged is there, and nothing beyond the transactions in
/// flight.
fn nothing_acknowledged_is_lost(victim: &Victim) {
    let directory = directory_with(victim.engine, 1);
    let Victim {
        engine, settings, ..
    } = *victim;
    let kills = std::env::var("DBDYNO_KILLS").map_or(KILLS_DEFAULT, |n| n.parse().unwrap());
    let url = format!(
        "{engine}+local:{}/server?{settings}",
        directory.path().display()
    );
    let mut database = Database::running(engine, &url);
    let mut random = Random::new(std::process::id().into());
    let (mut acknowledged, mut in_flight) = (0, 0);
    for kill in 0..kills {
        let mode = [Mode::Client, Mode::Procedure][kill as usize % 2];
        let log = directory.path().join(format!("log-{kill}"));
        let moment_bytes = random.range(200, 4_000);
        let outcome = kill_under_load(victim, &database, mode, &log, moment_bytes);
        let moment = format!("{mode:?} after {moment_bytes} bytes");
        assert!(outcome.fatal.is_some(), "{moment}: {outcome:?}");
        // In this order, because the killed server owns the directory until it is dropped.
        drop(database);
        database = Database::running(engine, &url);
        let held = held(&database, &log);
        assert!(held.is_sound(), "{moment}: {held:?}");
        acknowledged += held.acknowledged();
        in_flight += held.orders.in_flight + held.payments.in_flight + held.deliveries.in_flight;
        if kill % 6 == 5 || kill + 1 == kills {
            let checked = database.check();
            assert!(checked.is_sound(), "{moment}: {checked:?}");
        }
    }
    println!(
        "{engine}: {acknowledged} transactions acknowledged, {in_flight} in flight at {kills} kills"
    );
    // A record has at most 53 bytes, and eight connections are at work at any moment.
    assert!(acknowledged >= 3 * kills && in_flight >= kills / 2);
}

#[test]
fn nothing_acknowledged_is_lost_by_a_killed_postgres() {
    nothing_acknowledged_is_lost(&POSTGRES);
}

#[test]
fn nothing_acknowledged_is_lost_by_a_killed_mariadb() {
    nothing_acknowledged_is_lost(&MARIADB);
}

#[test]
fn nothing_acknowledged_is_lost_by_a_killed_mysql() {
    nothing_acknowledged_is_lost(&Victim {
        engine: "mysql",
        settings: "innodb_buffer_pool_size=64M&innodb_redo_log_capacity=256M&performance_schema=OFF",
        ..MARIADB
    });
}

fn kill_under_load(
    victim: &Victim,
    database: &Database,
    mode: Mode,
    log: &Path,
    moment_bytes: u64,
) -> Outcome {
    static GO_ON: AtomicBool = AtomicBool::new(false);
    let target = database.target.as_ref();
    let mut session = database.session();
    for (sql, right) in victim.durable {
        assert_eq!(one(session.as_mut(), sql), *right, "{sql}");
    }
    oltp::procedures::install(target, database.engine).unwrap();
    let world = world(database, oltp::terminal::new_run());
    let journal = oltp::reconcile::begin(session.as_mut(), log, &world).unwrap();
    drop(session);
    let context = context(database, mode, world, Some(journal));
    let pool = (0..8).map(|_| counter(&context, target)).collect();
    let how = Drive {
        users: Users::Population {
            count: USERS,
            kinds: 5,
            population: context.terminals.as_ref(),
        },
        interval: Duration::from_millis(100),
        ..Drive::of_jobs(End::Time(2 * PATIENCE), &GO_ON)
    };
    let pid = std::fs::read_to_string((victim.pid_file)(database)).unwrap();
    let pid: u32 = pid.lines().next().unwrap().parse().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let size_bytes = || std::fs::metadata(log).unwrap().len();
            let (begin_bytes, begun) = (size_bytes(), Instant::now());
            while size_bytes() < begin_bytes + moment_bytes && begun.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
            kill_all(pid);
        });
        load::drive(Clients::nonblocking(pool), &how)
    })
}

fn counter(context: &ExecutorContext, target: &dyn Target) -> Box<dyn load::NonblockingClient> {
    let connection = context.nonblocking(target).unwrap();
    Box::new(connection.expect("the engine can be awaited"))
}

/// Kills a process and its children. It is stopped while they are looked up, so that it starts no more.
fn kill_all(parent: u32) {
    // SAFETY: the numbers are those of a server that this test started, and of processes of it.
    let signal = |pid: u32, signal| unsafe { libc::kill(pid as libc::pid_t, signal) };
    signal(parent, libc::SIGSTOP);
    let mine = children().remove(&parent).unwrap_or_default();
    for pid in mine.into_iter().chain([parent]) {
        signal(pid, libc::SIGKILL);
    }
}

fn children() -> BTreeMap<u32, Vec<u32>> {
    let mut found = BTreeMap::<u32, Vec<u32>>::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // The name is in parentheses and may contain anything.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let parent = rest.split_whitespace().nth(1).and_then(|p| p.parse().ok());
        let pid = entry.file_name().to_str().and_then(|p| p.parse().ok());
        if let (Some(parent), Some(pid)) = (parent, pid) {
            found.entry(parent).or_default().push(pid);
        }
    }
    found
}
