//! PostgreSQL.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use target::postgres::local::PostgresServer;
use target::server::{LocalServer, ServerSpec};
use target::{TargetUrl, Value};

use crate::common::{Judged, Work, burn, drive, my_turn, open};
use crate::way::long_way_to;

const SERVER: &str = "postgres+local:";
/// One that counts waits itself.
const COUNTING: &str = "postgres+local:?version=15&shared_preload_libraries=pg_wait_sampling";

#[test]
fn processors_that_are_all_busy_with_the_jobs() {
    let _turn = my_turn();
    busy_processors(SERVER);
}

#[test]
fn processors_that_are_all_busy_as_the_server_counts_it() {
    let _turn = my_turn();
    let judged = busy_processors(COUNTING);
    assert!(
        judged
            .note
            .unwrap()
            .contains("from pg_wait_sampling_profile,")
    );
}

fn busy_processors(server: &str) -> Judged {
    let judged = drive(&open(server), 6, 2.5, 0, |session, _| {
        let loops = session.prepare("SELECT sum(n % 7) FROM generate_series(1, 200000) n")?;
        Ok(Box::new(move |session, _| {
            session.fetch(loops, &[]).map(drop)
        }))
    });
    judged.assert("cpu");
    assert!(judged.events[0].event.contains("CPU"));
    judged
}

#[test]
fn a_row_that_all_jobs_update() {
    let _turn = my_turn();
    row_of_all_jobs(SERVER);
}

#[test]
fn a_row_that_all_jobs_update_as_the_server_counts_it() {
    let _turn = my_turn();
    row_of_all_jobs(COUNTING);
}

fn row_of_all_jobs(server: &str) {
    let target = open(server);
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE one (id int PRIMARY KEY, n bigint); INSERT INTO one VALUES (1, 0)")
        .unwrap();
    let judged = drive(&target, 8, 2.5, 0, |session, _| {
        let update = session.prepare("UPDATE one SET n = n + 1 WHERE id = 1")?;
        let work: Work = Box::new(move |session, _| {
            session.begin()?;
            session.execute(update, &[])?;
            session.commit()
        });
        Ok(work)
    });
    judged.assert("lock");
    assert!(
        judged.bottleneck().1.contains("most in \"Lock: "),
        "{:?}",
        judged.bottleneck()
    );
    session.batch("DROP TABLE one").unwrap();
}

#[test]
fn commits_that_all_wait_for_the_log() {
    let _turn = my_turn();
    let target = open(SERVER);
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE log (job int, n bigint)")
        .unwrap();
    let judged = drive(&target, 4, 3.0, 0, |session, job| {
        let insert = session.prepare("INSERT INTO log VALUES (?, ?)")?;
        let work: Work = Box::new(move |session, index| {
            let values = [Value::Int(i64::from(job)), Value::Int(index as i64)];
            session.begin()?;
            session.execute(insert, &values)?;
            session.commit()
        });
        Ok(work)
    });
    judged.assert_or_crowded_out("log sync", "log sync");
    let syncs = judged
        .held_back
        .background_events
        .iter()
        .find(|e| e.event == "log syncs");
    let ms = syncs.and_then(archive::BackgroundEvent::mean_ms).unwrap();
    assert!(ms > 0.0 && ms < 1000.0, "{ms}");
    session.batch("DROP TABLE log").unwrap();
}

#[test]
fn random_reads_of_a_table_that_is_not_in_memory() {
    let _turn = my_turn();
    let target = open("postgres+local:?shared_buffers=16MB");
    let mut session = target.open_session().unwrap();
    // 3 rows a page: 50,000 pages, 400 MB.
    session
        .batch(
            "CREATE TABLE big (id int PRIMARY KEY, filler text); \
             ALTER TABLE big ALTER filler SET STORAGE PLAIN; \
             INSERT INTO big SELECT n, repeat('x', 2400) FROM generate_series(1, 150000) n",
        )
        .unwrap();
    target.checkpoint().unwrap();
    drop(session);
    target.cool().unwrap();
    // A batch of lookups keeps the processors of a busy machine out of it.
    let judged = drive(&target, 2, 1.5, 0, |session, job| {
        let lookups = session.prepare(
            "SELECT sum(length(filler))::text FROM generate_series(1, 100) n CROSS JOIN LATERAL \
             (SELECT filler FROM big WHERE id = 1 + (hashint8(n + ?) & 131071)) one",
        )?;
        let work: Work = Box::new(move |session, index| {
            let start = i64::from(job) * 100_000_000 + index as i64 * 100;
            session.fetch(lookups, &[Value::Int(start)]).map(drop)
        });
        Ok(work)
    });
    judged.assert_or_crowded_out("device", "data read");
    let figures = &judged.figures;
    assert!(figures.engine_read_iops.unwrap() > 0.0 && figures.read_iops.unwrap() > 0.0);
    assert!(judged.held_back.wait_histograms[0].counts.is_none());
    assert!(!judged.held_back.wait_histograms[0].remark.is_empty());
}

/// Somebody reads a page and stays on it while a job wants to clean it up.
#[test]
fn a_page_that_somebody_holds() {
    let _turn = my_turn();
    let target = open(SERVER);
    let judged = drive(&target, 2, 2.0, 0, |session, job| {
        let table = format!("held_{job}");
        session.batch(&format!("CREATE TABLE {table} (id bigint)"))?;
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
    judged.assert("latch");
    assert!(
        judged.bottleneck().1.contains("BufferPin"),
        "{:?}",
        judged.bottleneck()
    );
}

#[test]
fn a_client_that_works_itself() {
    let _turn = my_turn();
    working_client(SERVER);
}

#[test]
fn a_client_that_works_itself_as_the_server_counts_it() {
    let _turn = my_turn();
    working_client(COUNTING);
}

fn working_client(server: &str) {
    let judged = drive(&open(server), 1, 1.5, 0, |session, _| {
        let one = session.prepare("SELECT 1")?;
        let work: Work = Box::new(move |session, _| {
            session.fetch(one, &[])?;
            burn(Duration::from_millis(3));
            Ok(())
        });
        Ok(work)
    });
    judged.assert("driver");
}

#[test]
fn a_long_way_between_driver_and_server() {
    let _turn = my_turn();
    let url = TargetUrl::parse(SERVER).unwrap();
    let spec = ServerSpec::from_url(&PostgresServer, &url).unwrap();
    let server = LocalServer::start(&PostgresServer, &spec).unwrap();
    let port = long_way_to(&server.socket_path());
    let user = server.superuser();
    let target = open(&format!(
        "postgres://{user}@127.0.0.1:{port}/postgres?others=allow"
    ));
    let judged = drive(&target, 2, 1.5, 0, |session, _| {
        let one = session.prepare("SELECT 1")?;
        Ok(Box::new(move |session, _| {
            session.fetch(one, &[]).map(drop)
        }))
    });
    // What the machine's processors do is of no account: the jobs are not on them.
    judged.assert("network");
}

#[test]
fn sleeping_sessions() {
    let _turn = my_turn();
    let judged = drive(&open(SERVER), 2, 1.5, 0, |session, _| {
        let sleep = session.prepare("SELECT pg_sleep(0.05)::text")?;
        Ok(Box::new(move |session, _| {
            session.fetch(sleep, &[]).map(drop)
        }))
    });
    judged.assert("other wait");
    assert!(
        judged.bottleneck().1.contains("PgSleep"),
        "{:?}",
        judged.bottleneck()
    );
}

#[test]
fn nothing_on_an_idle_server() {
    let _turn = my_turn();
    let judged = drive(&open(SERVER), 2, 2.0, 100, |session, _| {
        let one = session.prepare("SELECT 1")?;
        Ok(Box::new(move |session, _| {
            session.fetch(one, &[]).map(drop)
        }))
    });
    judged.assert("none");
    assert!(
        judged.bottleneck().1.contains("paused"),
        "{:?}",
        judged.bottleneck()
    );
    assert!(judged.note.unwrap().contains("pg_stat_activity"));
}
