//! A server's waits and counters of its own work.

use std::time::{Duration, Instant};

use archive::{IoOperation, IoUnknown, Purpose, Unseen};
use engine::{Counted, ServerCounts, Tally, Target, Value, WaitClass};

use crate::common::*;

on_both! {
    it_tells_its_own_work,
    waits_that_cannot_be_seen_are_not_counted,
    a_session_is_seen_where_it_is,
}

const COMMITS: u64 = 20;

fn counted<'a>(counts: &'a ServerCounts, event: &str) -> &'a Counted {
    let found = counts.background.iter().find(|(_, e, _)| *e == event);
    &found
        .unwrap_or_else(|| panic!("no {event} in {counts:#?}"))
        .2
}

fn waits(counts: &ServerCounts, class: WaitClass) -> Option<&Counted> {
    let found = counts.waits.iter().find(|(c, ..)| *c == class);
    found.map(|(_, _, counted)| counted)
}

fn weight(tally: &Tally, class: WaitClass) -> f64 {
    let of_class = tally.sessions.iter().filter(|((c, _), _)| *c == class);
    of_class.map(|(_, weight)| weight).sum()
}

/// Increase by some commits, a read of a table that is not in memory, and a checkpoint.
fn rise(target: &dyn Target) -> ServerCounts {
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE seen (n BIGINT PRIMARY KEY, pad VARCHAR(40))")
        .unwrap();
    session.bulk_load("seen", &mut Rows(1000..50_000)).unwrap();
    drop(session);
    target.cool().unwrap();
    let mut watch = target.watch().unwrap().unwrap();
    let before = watch.count().unwrap();
    let mut session = target.open_session().unwrap();
    number(session.as_mut(), "SELECT count(*) FROM seen WHERE pad = ''");
    let insert = session.prepare("INSERT INTO seen VALUES (?, '')").unwrap();
    for n in 0..COMMITS {
        session.begin().unwrap();
        session.execute(insert, &[Value::Int(n as i64)]).unwrap();
        session.commit().unwrap();
    }
    target.checkpoint().unwrap();
    watch.count().unwrap().since(&before)
}

fn it_tells_its_own_work(kind: &Kind) {
    let target = kind.opened(&format!("{}:?innodb_buffer_pool_size=16M", kind.scheme));
    let rise = rise(target.as_ref());
    let writes = counted(&rise, "log writes");
    assert!(writes.count.unwrap() >= COMMITS && writes.bytes.unwrap() > 0);
    assert!(counted(&rise, "syncs").count.unwrap() >= COMMITS);
    assert!(counted(&rise, "pages written").bytes.unwrap() > 0);
    let reads = rise.of_files(Purpose::Data, IoOperation::Read);
    assert!(reads.count.unwrap() > 0 && reads.bytes.unwrap() > 1_000_000);
    let written = |purpose| rise.of_files(purpose, IoOperation::Write).bytes.unwrap();
    assert!(written(Purpose::Data) > 0 && written(Purpose::Log) > 0);
    let reads = waits(&rise, WaitClass::DataRead).unwrap();
    assert!(reads.count.unwrap() > 0 && reads.time_ns.unwrap() > 0);
    let locks = waits(&rise, WaitClass::Lock).unwrap();
    assert_eq!((locks.count, locks.time_ns), (Some(0), Some(0)));
    assert!(
        rise.histograms
            .iter()
            .all(|h| h.counts.is_none() && !h.remark.is_empty())
    );
}

/// Both without the server's instruments, and for a user who may not read them.
fn waits_that_cannot_be_seen_are_not_counted(kind: &Kind) {
    let plain = kind.local("");
    let rise = rise(plain.as_ref());
    assert_eq!(waits(&rise, WaitClass::DataRead), None);
    assert!(waits(&rise, WaitClass::Lock).unwrap().count.is_some());
    assert_eq!(plain.record().rights_missing, None);

    let server = kind.server_with("&performance_schema=ON");
    stage(&server)
        .batch(&kind.words(
            "CREATE USER strong@localhost; GRANT ALL ON dbdyno.* TO strong@localhost; \
             GRANT SUPER, PROCESS ON *.* TO strong@localhost",
        ))
        .unwrap();
    let target = opened(&url_of(&server, "strong", "dbdyno")).unwrap();
    let missing = target.record().rights_missing.unwrap();
    assert_eq!(missing.unseen, [Unseen::DataFileWaits]);
    let grant = "GRANT SELECT ON performance_schema.* TO 'strong'@'localhost'";
    assert_eq!(missing.grant, grant);
    let counts = target.watch().unwrap().unwrap().count().unwrap();
    assert_eq!(waits(&counts, WaitClass::DataRead), None);
    assert!(
        counts
            .of_files(Purpose::Data, IoOperation::Read)
            .count
            .is_some()
    );
    let temporary = counts
        .files
        .iter()
        .find(|io| io.purpose == Purpose::Temporary);
    assert_eq!(temporary.unwrap().counted, Err(IoUnknown::NotCounted));
}

fn a_session_is_seen_where_it_is(kind: &Kind) {
    let target = kind.opened(&format!("{}:?innodb_buffer_pool_size=16M", kind.scheme));
    let mut watch = target.watch().unwrap().unwrap();
    let mut tally = Tally::default();
    let mut session = target.open_session().unwrap();
    // The first look at a session says nothing yet.
    for _ in 0..3 {
        tally.clear();
        watch.look(&mut tally).unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(
        tally.sessions.values().sum::<f64>().abs() < 0.1,
        "an idle server has none at work: {tally:?}"
    );
    for (sql, class) in [
        ("SELECT sleep(60)", WaitClass::Other),
        ("SELECT benchmark(1000000000, crc32('x'))", WaitClass::Cpu),
    ] {
        let id = number(session.as_mut(), "SELECT connection_id()");
        let busy = std::thread::spawn(move || {
            let ended = session.batch(sql);
            (session, ended)
        });
        let begin = Instant::now();
        tally.clear();
        while weight(&tally, class) < 0.3 {
            assert!(begin.elapsed() < Duration::from_secs(20), "{tally:?}");
            tally.clear();
            watch.look(&mut tally).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        // Of one look nothing more can be said: the kernel counts a wait for a processor when it is over, so that it is
        // missing from the look in which it began and too much in a later one. Of many it can.
        tally.clear();
        for _ in 0..50 {
            watch.look(&mut tally).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        let (own, rest) = (weight(&tally, class), weight(&tally, WaitClass::Blocked));
        assert!(own > 25.0 && rest < 10.0, "{tally:?}");
        let mut killer = target.open_session().unwrap();
        killer.batch(&format!("KILL QUERY {id}")).unwrap();
        let (back, _ended) = busy.join().unwrap();
        session = back;
    }
    assert!(watch.server_cpu_ns().unwrap() > 0);
}
