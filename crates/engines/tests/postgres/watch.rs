//! Waits and counters of servers of the oldest and the newest version at hand.

use std::time::{Duration, Instant};

use archive::{IoOperation, Purpose};
use engine::{Counted, ServerCounts, Tally, Target, Value, WaitClass};

const COMMITS: u64 = 20;

fn counted<'a>(counts: &'a ServerCounts, event: &str) -> &'a Counted {
    let found = counts.background.iter().find(|(_, e, _)| *e == event);
    &found
        .unwrap_or_else(|| panic!("no {event} in {counts:#?}"))
        .2
}

/// Statistics come late: the session that counted must be idle for a while, or end.
fn rise(target: &dyn Target) -> ServerCounts {
    let mut watch = target.watch().unwrap().unwrap();
    let before = watch.count().unwrap();
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE IF NOT EXISTS seen (n bigint)")
        .unwrap();
    let insert = session.prepare("INSERT INTO seen VALUES (?)").unwrap();
    for n in 0..COMMITS {
        session.begin().unwrap();
        session.execute(insert, &[Value::Int(n as i64)]).unwrap();
        session.commit().unwrap();
    }
    session.batch("DROP TABLE seen").unwrap();
    drop(session);
    target.checkpoint().unwrap();
    let begin = Instant::now();
    loop {
        let rise = watch.count().unwrap().since(&before);
        // The server's processes publish their counts one after another.
        let has = |name: &str, least: u64| counted(&rise, name).count.is_some_and(|n| n >= least);
        let all = has("log syncs", COMMITS)
            && has("checkpoints asked for or forced by log", 1)
            && has("pages written", 1);
        if all || begin.elapsed() > Duration::from_secs(10) {
            return rise;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn tells_its_own_work(url: &str) {
    let target = engines::open(&engines::parse(url).unwrap()).unwrap();
    let rise = rise(target.as_ref());
    let syncs = counted(&rise, "log syncs");
    assert!(syncs.count.unwrap() >= COMMITS, "{rise:#?}");
    assert!(syncs.time_ns.unwrap() > 0, "{rise:#?}");
    let checkpoints = counted(&rise, "checkpoints asked for or forced by log");
    assert!(checkpoints.count.unwrap() >= 1, "{rise:#?}");
    assert!(counted(&rise, "pages written").count.unwrap() > 0);
    let reads = rise.of_files(Purpose::Data, IoOperation::Read);
    assert!(reads.count.is_some() && reads.bytes.is_some(), "{rise:#?}");
    for purpose in [Purpose::Data, Purpose::Log] {
        let writes = rise.of_files(purpose, IoOperation::Write);
        assert!(
            writes.count.unwrap() > 0 && writes.bytes.unwrap() > 0,
            "{rise:#?}"
        );
    }
    let spilled = rise.of_files(Purpose::Temporary, IoOperation::Write);
    assert_eq!(spilled.bytes, Some(0), "{rise:#?}");
    assert!(
        rise.histograms
            .iter()
            .all(|h| h.counts.is_none() && !h.remark.is_empty())
    );
}

#[test]
fn version_15_tells_its_own_work() {
    tells_its_own_work("postgres+local:?version=15");
}

#[test]
fn version_18_tells_its_own_work() {
    tells_its_own_work("postgres+local:?version=18");
}

#[test]
fn a_session_is_seen_where_it_is() {
    let url = engines::parse("postgres+local:").unwrap();
    let target = engines::open(&url).unwrap();
    let mut watch = target.watch().unwrap().unwrap();
    let mut tally = Tally::default();
    watch.look(&mut tally).unwrap();
    assert!(
        tally.sessions.is_empty(),
        "an idle server has none at work: {tally:?}"
    );
    let mut session = target.open_session().unwrap();
    let pid = session.texts("SELECT pg_backend_pid()").unwrap();
    let sleeping = std::thread::spawn(move || session.batch("SELECT pg_sleep(3600)"));
    let event = (WaitClass::Other, "Timeout: PgSleep".to_owned());
    let begin = Instant::now();
    while !tally.sessions.contains_key(&event) {
        assert!(begin.elapsed() < Duration::from_secs(60), "{tally:?}");
        watch.look(&mut tally).unwrap();
    }
    assert!(watch.server_cpu_ns().unwrap() > 0);
    let mut killer = target.open_session().unwrap();
    let cancel = format!(
        "SELECT pg_cancel_backend({})",
        pid[0][0].as_deref().unwrap()
    );
    killer.batch(&cancel).unwrap();
    sleeping.join().unwrap().unwrap_err();
}

/// A table larger than the cache is read, and a sort spills: each is counted under its own purpose, and nowhere else.
fn tells_io_by_purpose(url: &str) {
    let target = engines::open(&engines::parse(url).unwrap()).unwrap();
    let mut session = target.open_session().unwrap();
    let large = "CREATE TABLE large AS SELECT n, repeat('x', 1000) AS filler \
                 FROM generate_series(1, 20000) n";
    session.batch(large).unwrap();
    // Runs in no transaction, so in no batch with others.
    session.batch("VACUUM large").unwrap();
    drop(session);
    target.checkpoint().unwrap();
    let mut watch = target.watch().unwrap().unwrap();
    // Earlier work is counted by then.
    std::thread::sleep(Duration::from_secs(2));
    let before = watch.count().unwrap();
    let mut session = target.open_session().unwrap();
    let spill = "SET max_parallel_workers_per_gather = 0; SET work_mem = '64kB'; \
                 SELECT count(*) FROM (SELECT filler || n FROM large ORDER BY 1 OFFSET 1) s";
    session.batch(spill).unwrap();
    // Its counts are told when it ends.
    drop(session);
    let begin = Instant::now();
    let rise = loop {
        let rise = watch.count().unwrap().since(&before);
        let moved = |purpose, operation| rise.of_files(purpose, operation).bytes.unwrap();
        let all = moved(Purpose::Data, IoOperation::Read) >= 20_000_000
            && moved(Purpose::Temporary, IoOperation::Write) >= 20_000_000;
        if all || begin.elapsed() > Duration::from_secs(10) {
            break rise;
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    let mb = |purpose, operation| {
        let bytes = rise.of_files(purpose, operation).bytes.unwrap();
        bytes as f64 / 1e6
    };
    let [read, write] = IoOperation::ALL;
    // The rows have 20 MB and pages a little more; hint bits may be written, with their pages in the log.
    assert!((20.0..30.0).contains(&mb(Purpose::Data, read)), "{rise:#?}");
    assert!(
        (20.0..60.0).contains(&mb(Purpose::Temporary, write)),
        "{rise:#?}"
    );
    assert!(mb(Purpose::Data, write) < 5.0, "{rise:#?}");
    assert!(mb(Purpose::Log, write) < 5.0, "{rise:#?}");
    let unknown = rise.files.iter().filter(|io| io.counted.is_err());
    let unknown: Vec<_> = unknown.map(|io| (io.purpose, io.operation)).collect();
    assert!(unknown.contains(&(Purpose::Temporary, read)), "{rise:#?}");
}

#[test]
fn version_15_tells_io_by_purpose() {
    tells_io_by_purpose("postgres+local:?version=15&shared_buffers=1MB");
}

#[test]
fn version_18_tells_io_by_purpose() {
    tells_io_by_purpose("postgres+local:?version=18&shared_buffers=1MB");
}
