//! Waits as the extension `pg_wait_sampling` counts them, against the same load as it is seen in
//! `pg_stat_activity`.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::{BulkRow, Result, RowSource, Session, Tally, Target, Value, WaitClass, Watch};
use local_server::LocalServer;

use crate::common::{Rows, local, number, opened, server_with, url_of};

const LOADED: &str = "&shared_preload_libraries=pg_wait_sampling";
const COUNTS: &str = "pg_wait_sampling_profile";

/// A session that runs statements on a thread of its own.
fn at_work(target: &dyn Target, statements: &'static str) -> JoinHandle<()> {
    let mut session = target.open_session().unwrap();
    std::thread::spawn(move || session.batch(statements).unwrap())
}

fn sessions(tally: &Tally, class: WaitClass) -> f64 {
    let of_class = tally.sessions.iter().filter(|((c, _), _)| *c == class);
    of_class.map(|(_, weight)| weight).sum()
}

fn all(tally: &Tally) -> f64 {
    tally.sessions.values().sum()
}

fn has_negative(tally: &Tally) -> bool {
    let weights = tally.sessions.values().chain(tally.background.values());
    weights.into_iter().any(|weight| *weight < 0.0)
}

/// Looks until so many sessions are at work.
fn wait_for(watch: &mut dyn Watch, wanted: f64) {
    let begin = Instant::now();
    loop {
        let mut tally = Tally::default();
        watch.look(&mut tally).unwrap();
        if (all(&tally) - wanted).abs() < 0.1 {
            return;
        }
        let waited = begin.elapsed();
        assert!(waited < Duration::from_secs(10), "{tally:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Averages of each watch over 2 seconds, both sampling the same load; `between` is called before each
/// look.
fn averages(watches: &mut [&mut Box<dyn Watch>], mut between: impl FnMut(u32)) -> Vec<Tally> {
    let begin = Instant::now();
    let mut windows: Vec<_> = watches
        .iter_mut()
        .map(|watch| {
            watch.begin().unwrap();
            (Tally::default(), Instant::now())
        })
        .collect();
    let mut number = 0;
    while begin.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(100));
        between(number);
        number += 1;
        for (watch, (sum, last)) in watches.iter_mut().zip(&mut windows) {
            let mut tally = Tally::default();
            watch.look(&mut tally).unwrap();
            assert!(!has_negative(&tally), "{tally:?}");
            sum.add_times(&tally, last.elapsed().as_secs_f64());
            *last = Instant::now();
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let average = |(sum, _): (Tally, Instant)| {
        let mut average = Tally::default();
        average.add_times(&sum, 1.0 / seconds);
        average
    };
    windows.into_iter().map(average).collect()
}

/// A server that dbdyno takes for somebody else's, the database in which the extension is, and another one.
struct Foreign {
    _server: LocalServer,
    with: Arc<dyn Target>,
    without: Arc<dyn Target>,
}

impl Foreign {
    fn start() -> Self {
        let server = server_with(LOADED);
        let url = url_of(&server, server.superuser(), "");
        let with = opened(&url).unwrap();
        let mut session = with.open_session().unwrap();
        session.batch("CREATE SCHEMA \"Waits\"").unwrap();
        session
            .batch("CREATE EXTENSION pg_wait_sampling SCHEMA \"Waits\"")
            .unwrap();
        session.batch("CREATE DATABASE other").unwrap();
        let without = opened(&url.replace("/postgres", "/other")).unwrap();
        Self {
            _server: server,
            with,
            without,
        }
    }
}

/// Four sessions that wait for a lock, three that sleep, one at work and two without a statement.
struct Load {
    holder: Box<dyn Session>,
    at_work: Vec<JoinHandle<()>>,
    _idle: Vec<Box<dyn Session>>,
}

impl Load {
    const LOCKED: f64 = 4.0;
    const ASLEEP: f64 = 3.0;
    const AT_WORK: f64 = 1.0;
    const ALL: f64 = 8.0;

    fn start(target: &dyn Target) -> Self {
        let mut holder = target.open_session().unwrap();
        holder
            .batch("CREATE TABLE dbdyno_one (n int); INSERT INTO dbdyno_one VALUES (1)")
            .unwrap();
        holder.begin().unwrap();
        let update = "UPDATE dbdyno_one SET n = n + 1";
        holder.batch(update).unwrap();
        let mut threads = Vec::new();
        for _ in 0..4 {
            threads.push(at_work(target, update));
        }
        for _ in 0..3 {
            threads.push(at_work(target, "SELECT pg_sleep(5)"));
        }
        let busy = "DO $$ DECLARE over timestamptz := clock_timestamp() + interval '5 s'; \
             BEGIN WHILE clock_timestamp() < over LOOP PERFORM 1; END LOOP; END $$";
        threads.push(at_work(target, busy));
        Self {
            holder,
            at_work: threads,
            _idle: (0..2).map(|_| target.open_session().unwrap()).collect(),
        }
    }

    fn end(mut self) {
        self.holder.rollback().unwrap();
        for thread in self.at_work {
            thread.join().unwrap();
        }
    }

    fn assert_seen(tally: &Tally) {
        for (class, expected) in [
            (WaitClass::Lock, Self::LOCKED),
            (WaitClass::Other, Self::ASLEEP),
            (WaitClass::Cpu, Self::AT_WORK),
            (WaitClass::Client, 0.0),
        ] {
            let found = sessions(tally, class);
            assert!((found - expected).abs() < 0.4, "{class:?}: {tally:#?}");
        }
        assert!((all(tally) - Self::ALL).abs() < 0.5, "{tally:#?}");
    }
}

#[test]
fn what_is_counted_is_what_is_seen() {
    let foreign = Foreign::start();
    let mut counting = foreign.with.watch().unwrap().unwrap();
    let mut seeing = foreign.without.watch().unwrap().unwrap();
    assert!(seeing.samples().is_none());
    let why = seeing.source();
    assert!(why.contains("not run in this database"), "{why}");
    let load = Load::start(foreign.with.as_ref());
    wait_for(seeing.as_mut(), Load::ALL);
    let averages = averages(&mut [&mut counting, &mut seeing], |_| {});
    load.end();
    averages.iter().for_each(Load::assert_seen);
    assert_eq!(counting.source(), COUNTS);
    // Nominally 200.
    let samples = counting.samples().unwrap();
    assert!((20..=400).contains(&samples), "{samples}");
}

#[test]
fn somebody_resets_the_counts_meanwhile() {
    let foreign = Foreign::start();
    let mut counting = foreign.with.watch().unwrap().unwrap();
    let mut seeing = foreign.without.watch().unwrap().unwrap();
    let mut somebody = foreign.with.open_session().unwrap();
    let load = Load::start(foreign.with.as_ref());
    wait_for(seeing.as_mut(), Load::ALL);
    let standing = "SELECT sum(count)::bigint FROM \"Waits\".pg_wait_sampling_profile";
    let mut falls = 0;
    let averages = averages(&mut [&mut counting], |look| {
        if look % 3 == 2 {
            let before = number(somebody.as_mut(), standing);
            let reset = "SELECT \"Waits\".pg_wait_sampling_reset_profile()";
            somebody.batch(reset).unwrap();
            std::thread::sleep(Duration::from_millis(30));
            falls += u32::from(number(somebody.as_mut(), standing) < before);
        }
    });
    load.end();
    assert!(falls >= 2, "{falls}");
    // That session's own work is in it.
    Load::assert_seen(&averages[0]);
    assert_eq!(counting.source(), COUNTS);
}

#[test]
fn what_was_done_until_the_end_is_told_though_the_session_has_ended() {
    let target = local(LOADED);
    let mut watch = target.watch().unwrap().unwrap();
    let mut session = target.open_session().unwrap();
    let before = Instant::now();
    watch.begin().unwrap();
    let begin = Instant::now();
    session.batch("SELECT pg_sleep(0.5)").unwrap();
    let asleep_s = begin.elapsed().as_secs_f64();
    drop(session);
    let mut tally = Tally::default();
    let shortest_s = begin.elapsed().as_secs_f64();
    assert!(watch.last_look(&mut tally).unwrap());
    let longest_s = before.elapsed().as_secs_f64();
    // The server's moments lie between question and answer, so its average is over one of these times.
    let sleeping = sessions(&tally, WaitClass::Other);
    assert!(sleeping * longest_s >= 0.4, "{longest_s}: {tally:?}");
    assert!(
        sleeping * shortest_s < asleep_s + 0.1,
        "{shortest_s}: {tally:?}"
    );
}

#[test]
fn on_a_server_of_its_own_dbdyno_makes_the_extension_and_forgets_old_counts() {
    let target = local(LOADED);
    let mut session = target.open_session().unwrap();
    let watch = target.watch().unwrap().unwrap();
    assert!(watch.samples().is_some());
    let places = "SELECT count(*) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace \
         WHERE extname = 'pg_wait_sampling' AND nspname = 'public'";
    assert_eq!(number(session.as_mut(), places), 1);
    let queries = "SELECT count(*) FROM pg_settings \
         WHERE name = 'pg_wait_sampling.profile_queries' AND setting = 'off'";
    assert_eq!(number(session.as_mut(), queries), 1);
    // A second watch finds it.
    assert!(target.watch().unwrap().unwrap().samples().is_some());
    // The collector costs something though nobody looks.
    let before_ns = watch.server_cpu_ns().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(before_ns > 0 && watch.server_cpu_ns().unwrap() > before_ns);
}

#[test]
fn without_it_looks_are_as_ever_and_say_why() {
    let plain = local("");
    let mut session = plain.open_session().unwrap();
    let watch = plain.watch().unwrap().unwrap();
    assert_eq!(watch.source().as_str(), "pg_stat_activity");
    assert_eq!(watch.samples(), None);
    let none = "SELECT count(*) FROM pg_extension WHERE extname = 'pg_wait_sampling'";
    assert_eq!(number(session.as_mut(), none), 0);
    for (setting, why) in [
        ("profile_pid=off", "profile_pid is off"),
        ("profile_period=200", "profile_period is 200 ms"),
    ] {
        let target = local(&format!("{LOADED}&pg_wait_sampling.{setting}"));
        let mut watch = target.watch().unwrap().unwrap();
        assert!(watch.source().contains(why), "{}", watch.source());
        let sleeping = at_work(target.as_ref(), "SELECT pg_sleep(0.5)");
        wait_for(watch.as_mut(), 1.0);
        sleeping.join().unwrap();
    }
}

#[test]
fn an_extension_that_is_taken_away_meanwhile_is_done_without() {
    let target = local(LOADED);
    let mut watch = target.watch().unwrap().unwrap();
    let sleeping = at_work(target.as_ref(), "SELECT pg_sleep(2)");
    watch.begin().unwrap();
    let mut session = target.open_session().unwrap();
    session.batch("DROP EXTENSION pg_wait_sampling").unwrap();
    wait_for(watch.as_mut(), 1.0);
    let source = watch.source();
    assert!(
        source.starts_with("pg_stat_activity (") && source.contains("not used"),
        "{source}"
    );
    assert!(!watch.last_look(&mut Tally::default()).unwrap());
    sleeping.join().unwrap();
}

/// Rows that come slowly.
struct Slowly(Rows);

impl RowSource for Slowly {
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        std::thread::sleep(Duration::from_millis(50));
        self.0.next_row(sink)
    }
}

#[test]
fn a_copy_that_waits_for_rows_waits_for_its_client_and_a_session_without_a_statement_does_not() {
    let target = local(LOADED);
    let mut watch = target.watch().unwrap().unwrap();
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE dbdyno_t (id bigint, text text)")
        .unwrap();
    let idle = averages(&mut [&mut watch], |_| {});
    assert!(all(&idle[0]) < 0.1, "{idle:?}");
    let loading = std::thread::spawn(move || session.append("dbdyno_t", &mut Slowly(Rows(0..80))));
    wait_for(watch.as_mut(), 1.0);
    let loads = averages(&mut [&mut watch], |_| {});
    assert_eq!(loading.join().unwrap().unwrap(), 80);
    let waited = sessions(&loads[0], WaitClass::Client);
    assert!((0.8..1.1).contains(&waited), "{loads:?}");
    assert_eq!(watch.source(), COUNTS);
}

#[test]
fn statements_with_parallel_workers_are_as_they_are_seen() {
    let target = local(LOADED);
    let mut session = target.open_session().unwrap();
    // A statement takes much longer than its client, which may wait for a processor between two of them.
    session
        .batch("CREATE TABLE dbdyno_n AS SELECT n FROM generate_series(1, 3000000) n")
        .unwrap();
    target.set_threads(3).unwrap();
    let mut session = target.open_session().unwrap();
    let sum = session.prepare("SELECT sum(n % ?) FROM dbdyno_n").unwrap();
    let mut watch = target.watch().unwrap().unwrap();
    let begin = Instant::now();
    let working = std::thread::spawn(move || {
        while begin.elapsed() < Duration::from_secs(4) {
            session.fetch(sum, &[Value::Int(7)]).unwrap();
        }
    });
    let seen = averages(&mut [&mut watch], |_| {});
    working.join().unwrap();
    let source = watch.source();
    assert!(source.ends_with("pg_stat_activity"), "{source}");
    // However many processes there are, it is one job.
    assert!((0.5..1.05).contains(&all(&seen[0])), "{seen:?}");
}
