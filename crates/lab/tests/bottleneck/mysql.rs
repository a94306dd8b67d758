//! MariaDB.

use std::sync::Arc;
use std::time::Duration;

use target::mysql::local::MariaDbServer;
use target::server::{LocalServer, ServerSpec};
use target::{Target, TargetUrl, Value};

use crate::common::{Judged, Work, burn, drive, my_turn, open};
use crate::way::long_way_to;

const SERVER: &str = "mysql+local:";

fn counted(judged: &Judged, class: &str) -> f64 {
    let of_class = judged.events.iter().filter(|e| e.class == class);
    let counted = of_class.filter(|e| e.source == "counted" && e.waits.is_some());
    counted.map(|e| e.share_pct).sum()
}

#[test]
fn processors_that_are_all_busy_with_the_jobs() {
    let _turn = my_turn();
    let judged = drive(&open(SERVER), 6, 2.5, 0, |session, _| {
        let loops = session.prepare("SELECT benchmark(300000, crc32('x'))")?;
        Ok(Box::new(move |session, _| {
            session.fetch(loops, &[]).map(drop)
        }))
    });
    judged.assert("cpu");
    let longest: Vec<&str> = judged.events[..2]
        .iter()
        .map(|e| e.event.as_str())
        .collect();
    assert!(longest.contains(&"DB CPU"), "{longest:?}");
}

#[test]
fn a_row_that_all_jobs_update() {
    let _turn = my_turn();
    let target = open(SERVER);
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE one (id INT PRIMARY KEY, n BIGINT); INSERT INTO one VALUES (1, 0)")
        .unwrap();
    let judged = drive(&target, 8, 2.5, 0, |session, _| {
        let update = session.prepare("UPDATE one SET n = n + 1 WHERE id = 1")?;
        let work: Work = Box::new(move |session, _| {
            session.begin()?;
            session.execute(update, &[])?;
            // The lock goes before the log is synced, so that a quick transaction waits for that alone.
            std::thread::sleep(Duration::from_millis(4));
            session.commit()
        });
        Ok(work)
    });
    judged.assert("lock");
    assert!(
        judged.bottleneck().1.contains("most in \"row locks\""),
        "{:?}",
        judged.bottleneck()
    );
    assert!(counted(&judged, "lock") > 40.0, "{:#?}", judged.events);
}

#[test]
fn a_table_that_somebody_has_locked() {
    let _turn = my_turn();
    let target = open(SERVER);
    let mut session = target.open_session().unwrap();
    session.batch("CREATE TABLE one (id INT)").unwrap();
    // One has the table and idles, three wait for it.
    let judged = drive(&target, 4, 2.0, 0, |_, _| {
        let work: Work = Box::new(move |session, _| {
            session.batch("LOCK TABLES one WRITE")?;
            session.batch("SELECT count(*) FROM one")?;
            std::thread::sleep(Duration::from_millis(20));
            session.batch("UNLOCK TABLES")
        });
        Ok(work)
    });
    judged.assert("lock");
    assert!(
        judged.bottleneck().1.contains("metadata lock"),
        "{:?}",
        judged.bottleneck()
    );
}

#[test]
fn commits_that_all_wait_for_the_log() {
    let _turn = my_turn();
    let target = open(SERVER);
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE log (job INT, n BIGINT)")
        .unwrap();
    // So many that nearly all wait for the log at any moment, also on a device that syncs quickly.
    let judged = drive(&target, 16, 3.0, 0, |session, job| {
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
    let background = &judged.held_back.background_events;
    let writes = background.iter().find(|e| e.event == "log writes").unwrap();
    assert!(writes.count.unwrap() > 0 && writes.mb.unwrap() > 0.0);
}

/// 26 rows a page: 6,000 pages, 400 MB, of which the buffer pool holds 24 and the page cache nothing. Large
/// pages let the device count for more than the processors, which may be busy with other things.
fn with_a_large_table() -> Arc<dyn Target> {
    let target = open("mysql+local:?innodb_buffer_pool_size=24M&innodb_page_size=64k");
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "CREATE TABLE big (id INT PRIMARY KEY, filler VARCHAR(2400) NOT NULL); \
             INSERT INTO big SELECT seq, repeat('x', 2400) FROM seq_1_to_150000",
        )
        .unwrap();
    target.checkpoint().unwrap();
    drop(session);
    target.cool().unwrap();
    target
}

#[test]
fn random_reads_of_a_table_that_is_not_in_memory() {
    let _turn = my_turn();
    let target = with_a_large_table();
    // A batch of lookups keeps the processors of a busy machine out of it.
    let judged = drive(&target, 2, 1.5, 0, |session, job| {
        let lookups = session.prepare(
            "SELECT STRAIGHT_JOIN CAST(sum(length(filler)) AS SIGNED) FROM seq_1_to_100 \
             JOIN big ON id = 1 + (seq + ?) * 40503 % 131072",
        )?;
        let work: Work = Box::new(move |session, index| {
            let start = i64::from(job) * 50_000 + index as i64 * 100;
            session.fetch(lookups, &[Value::Int(start)]).map(drop)
        });
        Ok(work)
    });
    judged.assert_or_crowded_out("device", "data read");
    assert!(counted(&judged, "data read") > 2.0, "{:#?}", judged.events);
    let figures = &judged.figures;
    assert!(figures.engine_read_iops.unwrap() > 0.0 && figures.read_iops.unwrap() > 0.0);
    assert!(judged.held_back.wait_histograms[0].counts.is_none());
    assert!(!judged.held_back.wait_histograms[0].remark.is_empty());
}

/// Most pages come by reading ahead, for which the session waits without a word of the server's.
#[test]
fn a_scan_of_a_table_that_is_not_in_memory_is_not_work() {
    let _turn = my_turn();
    let judged = drive(&with_a_large_table(), 1, 1.5, 0, |session, _| {
        let scan = session.prepare("SELECT count(*) FROM big WHERE filler LIKE 'y%'")?;
        Ok(Box::new(move |session, _| {
            session.fetch(scan, &[]).map(drop)
        }))
    });
    let share = |class: &str| -> f64 {
        let of_class = judged.events.iter().filter(|e| e.class == class);
        of_class.map(|e| e.share_pct).sum()
    };
    let waits = share("data read") + share("wait");
    assert!(waits > 5.0, "{:#?}", judged.events);
}

#[test]
fn a_client_that_works_itself() {
    let _turn = my_turn();
    let judged = drive(&open(SERVER), 1, 1.5, 0, |session, _| {
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
    let spec = ServerSpec::from_url(&MariaDbServer, &url).unwrap();
    let server = LocalServer::start(&MariaDbServer, &spec).unwrap();
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
        let sleep = session.prepare("SELECT sleep(0.05)")?;
        Ok(Box::new(move |session, _| {
            session.fetch(sleep, &[]).map(drop)
        }))
    });
    judged.assert("other wait");
    assert!(
        judged.bottleneck().1.contains("User sleep"),
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
    assert!(judged.note.unwrap().contains("process list"));
}
