use std::sync::Arc;
use std::time::Duration;

use ::mysql::local::MARIADB;
use archive::{EventSource, Resource};
use engine::{Target, Value};
use lab::bottleneck::NAMED_PCT_MIN;
use local_server::LocalServer;

use crate::common::{
    Judged, Work, are_reads_of_the_device, commits, do_not_wait_for_the_log, drive,
    more_than_processors, my_turn, my_turn_on, open, repeat, wait_for_the_network, working_client,
};
use crate::way::long_way_to;

/// The buffers hold all that these tests touch, including the undo pages of quick commits.
pub const SERVER: &str = "mariadb+local:?innodb_buffer_pool_size=96M&innodb_log_file_size=64M";

/// The buffers are too small for the table of the reads, which use plain reads, including read-ahead.
const SMALL_BUFFERS: &str = "mariadb+local:?innodb_buffer_pool_size=24M&innodb_page_size=64k&innodb_use_native_aio=OFF&innodb_log_file_size=64M";

fn counted(judged: &Judged, class: &str) -> f64 {
    let of_class = judged.events.iter().filter(|e| e.class.name() == class);
    let counted = of_class.filter(|e| e.source == EventSource::Counted && e.waits.is_some());
    counted.map(|e| e.share_pct).sum()
}

#[test]
fn processors_that_are_all_busy_with_the_jobs() {
    let (_turn, target) = my_turn_on(SERVER);
    let judged = repeat(
        &target,
        more_than_processors(),
        1.5,
        0,
        "SELECT benchmark(300000, crc32('x'))",
    );
    judged.assert(Resource::Cpu);
    assert!(judged.share_pct("CPU") > 0.0, "{judged:#?}");
}

#[test]
fn a_row_that_all_jobs_update() {
    let (_turn, target) = my_turn_on(SERVER);
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "DROP TABLE IF EXISTS one; CREATE TABLE one (id INT PRIMARY KEY, n BIGINT); \
             INSERT INTO one VALUES (1, 0)",
        )
        .unwrap();
    let judged = drive(&target, 8, 1.5, 0, |session, _| {
        let update = session.prepare("UPDATE one SET n = n + 1 WHERE id = 1")?;
        let work: Work = Box::new(move |session, _| {
            session.begin()?;
            session.execute(update, &[])?;
            // The lock is released before the log is synced, so that a quick transaction waits only for the lock.
            std::thread::sleep(Duration::from_millis(4));
            session.commit()
        });
        Ok(work)
    });
    judged.assert(Resource::Lock);
    judged.assert_says("most in \"row locks\"");
    assert!(counted(&judged, "lock") > 40.0, "{:#?}", judged.events);
}

#[test]
fn a_table_that_somebody_has_locked() {
    let (_turn, target) = my_turn_on(SERVER);
    let mut session = target.open_session().unwrap();
    session
        .batch("DROP TABLE IF EXISTS one; CREATE TABLE one (id INT)")
        .unwrap();
    // One job has the table and idles, three wait for it.
    let judged = drive(&target, 4, 1.5, 0, |_, _| {
        let work: Work = Box::new(move |session, _| {
            session.batch("LOCK TABLES one WRITE")?;
            session.batch("SELECT count(*) FROM one")?;
            std::thread::sleep(Duration::from_millis(20));
            session.batch("UNLOCK TABLES")
        });
        Ok(work)
    });
    judged.assert(Resource::Lock);
    judged.assert_says("metadata lock");
}

#[test]
fn commits_that_all_wait_for_a_slow_log() {
    let (turn, target) = my_turn_on(SERVER);
    turn.slow_log(Duration::from_millis(25));
    let judged = commits(&target, 8);
    judged.assert(Resource::LogSync);
    let background = &judged.held_back.background_events;
    let writes = background.iter().find(|e| e.event == "log writes").unwrap();
    assert!(writes.count.unwrap() > 0 && writes.mb.unwrap() > 0.0);
}

/// The rest is work and wake-ups, of any size on this machine, and no network. There is one job, so that none waits
/// for another's write of the log.
#[test]
fn commits_to_a_log_that_costs_nothing_wait_for_something_else() {
    let (turn, target) = my_turn_on(SERVER);
    turn.free_log();
    let judged = commits(&target, 1);
    do_not_wait_for_the_log(&judged);
}

/// 26 rows per page: 1,400 pages, 90 MB, of which the buffer pool holds 24 and the page cache none.
fn make_a_large_table(target: &Arc<dyn Target>) {
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "DROP TABLE IF EXISTS big; \
             CREATE TABLE big (id INT PRIMARY KEY, filler VARCHAR(2400) NOT NULL); \
             INSERT INTO big SELECT seq, repeat('x', 2400) FROM seq_1_to_36000",
        )
        .unwrap();
    target.checkpoint().unwrap();
}

#[test]
fn random_reads_of_a_table_that_comes_slowly_from_the_device() {
    let (turn, target) = my_turn_on(SMALL_BUFFERS);
    make_a_large_table(&target);
    turn.slow_reads(Duration::from_millis(5));
    let judged = drive(&target, 2, 1.5, 0, |session, job| {
        let lookups = session.prepare(
            "SELECT STRAIGHT_JOIN CAST(sum(length(filler)) AS SIGNED) FROM seq_1_to_20 \
             JOIN big ON id = 1 + (seq + ?) * 40503 % 32768",
        )?;
        let work: Work = Box::new(move |session, index| {
            let start = i64::from(job) * 50_000 + index as i64 * 20;
            session.fetch(lookups, &[Value::Int(start)]).map(drop)
        });
        Ok(work)
    });
    are_reads_of_the_device(&judged);
    assert!(
        counted(&judged, "data read") >= NAMED_PCT_MIN,
        "{judged:#?}"
    );
}

/// Most pages come by read-ahead, for which the session waits without the server reporting it.
#[test]
fn a_scan_of_a_table_that_comes_slowly_from_the_device_is_not_work() {
    let (turn, target) = my_turn_on(SMALL_BUFFERS);
    make_a_large_table(&target);
    turn.slow_reads(Duration::from_millis(5));
    let judged = repeat(
        &target,
        1,
        1.5,
        0,
        "SELECT count(*) FROM big WHERE filler LIKE 'y%'",
    );
    let waits_pct = judged.share_pct("data read") + judged.share_pct("wait");
    assert!(waits_pct > judged.share_pct("CPU"), "{judged:#?}");
}

#[test]
fn a_client_that_works_itself() {
    let (_turn, target) = my_turn_on(SERVER);
    working_client(&target);
}

#[test]
fn a_long_way_between_driver_and_server() {
    let _turn = my_turn();
    let url = engines::parse(SERVER).unwrap();
    let server = LocalServer::start_for(&MARIADB, &url).unwrap();
    let mut stage = open(&format!(
        "mysql://root@localhost/dbdyno?socket={}",
        server.socket_path().display()
    ))
    .open_session()
    .unwrap();
    stage
        .batch("CREATE USER far@localhost IDENTIFIED BY 'away'; GRANT ALL ON *.* TO far@localhost")
        .unwrap();
    drop(stage);
    let port = long_way_to(&server.socket_path());
    let target = open(&format!(
        "mysql://far:away@127.0.0.1:{port}/dbdyno?others=allow"
    ));
    wait_for_the_network(&target);
}

#[test]
fn sleeping_sessions() {
    let (_turn, target) = my_turn_on(SERVER);
    let judged = repeat(&target, 2, 1.5, 0, "SELECT sleep(0.2)");
    judged.assert(Resource::OtherWait);
    judged.assert_says("User sleep");
}

#[test]
fn nothing_on_an_idle_server() {
    let (_turn, target) = my_turn_on(SERVER);
    let judged = repeat(&target, 2, 2.0, 900, "SELECT 1");
    judged.assert(Resource::None);
    judged.assert_says("paused");
    assert!(judged.note.unwrap().to_string().contains("process list"));
}
