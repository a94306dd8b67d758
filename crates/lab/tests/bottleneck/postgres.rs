use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::postgres::local::PostgresServer;
use archive::{BackgroundEvent, Resource};
use engine::Value;
use local_server::LocalServer;

use crate::common::{
    Judged, Work, are_reads_of_the_device, commits, do_not_wait_for_the_log, drive,
    more_than_processors, my_turn, my_turn_on, open, repeat, wait_for_the_network, working_client,
};
use crate::way::long_way_to;
use testing::Says;

/// The buffers are too small for the table of the reads.
pub const SERVER: &str = "postgres+local:?shared_buffers=16MB";
const COUNTING: &str = "postgres+local:?version=15&shared_preload_libraries=pg_wait_sampling";

#[test]
fn processors_that_are_all_busy_with_the_jobs() {
    busy_processors(SERVER);
    let judged = busy_processors(COUNTING);
    let note = judged.note.unwrap().to_string();
    note.says("from pg_wait_sampling_profile,");
}

fn busy_processors(server: &str) -> Judged {
    let (_turn, target) = my_turn_on(server);
    let judged = repeat(
        &target,
        more_than_processors(),
        1.5,
        0,
        "SELECT sum(n % 7) FROM generate_series(1, 200000) n",
    );
    judged.assert(Resource::Cpu);
    assert!(judged.events[0].event.contains("CPU"));
    judged
}

#[test]
fn a_row_that_all_jobs_update() {
    row_of_all_jobs(SERVER);
    row_of_all_jobs(COUNTING);
}

fn row_of_all_jobs(server: &str) {
    let (_turn, target) = my_turn_on(server);
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "DROP TABLE IF EXISTS one; CREATE TABLE one (id int PRIMARY KEY, n bigint); \
             INSERT INTO one VALUES (1, 0)",
        )
        .unwrap();
    let judged = drive(&target, 8, 1.5, 0, |session, _| {
        let update = session.prepare("UPDATE one SET n = n + 1 WHERE id = 1")?;
        let work: Work = Box::new(move |session, _| {
            session.begin()?;
            session.execute(update, &[])?;
            session.commit()
        });
        Ok(work)
    });
    judged.assert(Resource::Lock);
    judged.assert_says("most in \"Lock: ");
    session.batch("DROP TABLE one").unwrap();
}

#[test]
fn commits_that_all_wait_for_a_slow_log() {
    let (turn, target) = my_turn_on(SERVER);
    let sync = Duration::from_millis(25);
    turn.slow_log(sync);
    let judged = commits(&target, 4);
    judged.assert(Resource::LogSync);
    let background = &judged.held_back.background_events;
    let syncs = background.iter().find(|e| e.event == "log syncs");
    let ms = syncs.and_then(BackgroundEvent::mean_ms).unwrap();
    assert!(ms >= sync.as_secs_f64() * 1e3, "{ms}");
}

/// The rest is work and wake-ups, of any size on this machine, and no network.
#[test]
fn commits_to_a_log_that_costs_nothing_wait_for_something_else() {
    let (turn, target) = my_turn_on(SERVER);
    turn.free_log();
    let judged = commits(&target, 4);
    do_not_wait_for_the_log(&judged);
}

#[test]
fn random_reads_of_a_table_that_comes_slowly_from_the_device() {
    let (turn, target) = my_turn_on(SERVER);
    let mut session = target.open_session().unwrap();
    // 3 rows per page: 13,000 pages, 105 MB.
    session
        .batch(
            "DROP TABLE IF EXISTS big; CREATE TABLE big (id int PRIMARY KEY, filler text); \
             ALTER TABLE big ALTER filler SET STORAGE PLAIN; \
             INSERT INTO big SELECT n, repeat('x', 2400) FROM generate_series(1, 40000) n",
        )
        .unwrap();
    target.checkpoint().unwrap();
    // Pages that have not reached the device cannot leave the page cache.
    testing::sync_all();
    turn.slow_reads(Duration::from_millis(5));
    let judged = drive(&target, 2, 1.5, 0, |session, job| {
        let lookups = session.prepare(
            "SELECT sum(length(filler))::text FROM generate_series(1, 20) n CROSS JOIN LATERAL \
             (SELECT filler FROM big WHERE id = 1 + (hashint8(n + ?) & 32767)) one",
        )?;
        let work: Work = Box::new(move |session, index| {
            let start = i64::from(job) * 100_000_000 + index as i64 * 20;
            session.fetch(lookups, &[Value::Int(start)]).map(drop)
        });
        Ok(work)
    });
    are_reads_of_the_device(&judged);
    session.batch("DROP TABLE big").unwrap();
}

/// A session reads a page and stays on it while a job wants to vacuum it.
#[test]
fn a_page_that_somebody_holds() {
    let (_turn, target) = my_turn_on(SERVER);
    let judged = drive(&target, 2, 1.5, 0, |session, job| {
        let table = format!("held_{job}");
        session.batch(&format!(
            "DROP TABLE IF EXISTS {table}; CREATE TABLE {table} (id bigint)"
        ))?;
        let reader = target.open_session()?;
        let reader = Arc::new(Mutex::new(reader));
        let work: Work = Box::new(move |session, index| {
            session.batch(&format!("INSERT INTO {table} VALUES ({index})"))?;
            let other = Arc::clone(&reader);
            let read = format!("BEGIN; DECLARE here CURSOR FOR SELECT * FROM {table}; FETCH here");
            other.lock().unwrap().batch(&read)?;
            let leaving = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(200));
                other.lock().unwrap().batch("COMMIT")
            });
            session.batch(&format!("VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) {table}"))?;
            leaving.join().unwrap()
        });
        Ok(work)
    });
    judged.assert(Resource::Latch);
    judged.assert_says("BufferPin");
}

#[test]
fn a_client_that_works_itself() {
    for server in [SERVER, COUNTING] {
        let (_turn, target) = my_turn_on(server);
        working_client(&target);
    }
}

#[test]
fn a_long_way_between_driver_and_server() {
    let _turn = my_turn();
    let url = engines::parse(SERVER).unwrap();
    let server = LocalServer::start_for(&PostgresServer, &url).unwrap();
    let port = long_way_to(&server.socket_path());
    let user = server.superuser();
    let target = open(&format!(
        "postgres://{user}@127.0.0.1:{port}/postgres?others=allow"
    ));
    wait_for_the_network(&target);
}

#[test]
fn sleeping_sessions() {
    let (_turn, target) = my_turn_on(SERVER);
    let judged = repeat(&target, 2, 1.5, 0, "SELECT pg_sleep(0.2)::text");
    judged.assert(Resource::OtherWait);
    judged.assert_says("PgSleep");
}

#[test]
fn nothing_on_an_idle_server() {
    let (_turn, target) = my_turn_on(SERVER);
    let judged = repeat(&target, 2, 2.0, 900, "SELECT 1");
    judged.assert(Resource::None);
    judged.assert_says("paused");
    judged.note.unwrap().to_string().says("pg_stat_activity");
}
