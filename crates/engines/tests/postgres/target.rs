//! The database as a whole: counters, cache, threads, settings.

use engine::{Cooled, Feature, Session};

use crate::common::*;
use testing::Says;

#[test]
fn what_sessions_do_is_counted() {
    let target = local("");
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE dbdyno_t (id BIGINT, pad TEXT)")
        .unwrap();
    let before = target.counters();
    session
        .bulk_load("dbdyno_t", &mut Rows(0..100_000))
        .unwrap();
    session.analyse("dbdyno_t").unwrap();
    let redo = target.counters().since(before).redo_bytes.unwrap();
    assert!(redo > 2_000_000, "{redo}");
    session.counters();
    let before = target.counters();
    ask(session.as_mut(), "SELECT count(*) FROM dbdyno_t").unwrap();
    session.counters();
    let gets = target.counters().since(before).buffer_gets.unwrap();
    let pages = number(
        session.as_mut(),
        "SELECT relpages FROM pg_class WHERE relname = 'dbdyno_t'",
    );
    assert!(
        gets as i64 >= pages && pages > 500,
        "{gets} gets of {pages} pages"
    );
    // Inside a transaction nothing is published, and nothing breaks.
    session.begin().unwrap();
    session.counters();
    session.commit().unwrap();
}

#[test]
fn a_cold_server_has_its_data_and_nothing_in_memory() {
    let target = local("");
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE dbdyno_t (id BIGINT, pad TEXT)")
        .unwrap();
    session.bulk_load("dbdyno_t", &mut Rows(0..1000)).unwrap();
    drop(session);
    target.checkpoint().unwrap();
    let cooled = target.cool().unwrap();
    // Without the rights to empty the kernel's cache the reason is told.
    assert!(match &cooled {
        Cooled::Cold => true,
        Cooled::Lukewarm(why) => !why.is_empty(),
    });
    let before = target.counters();
    let mut session = target.open_session().unwrap();
    assert_eq!(
        number(session.as_mut(), "SELECT count(*) FROM dbdyno_t"),
        1000
    );
    let read = "SELECT heap_blks_read FROM pg_statio_user_tables WHERE relname = 'dbdyno_t'";
    session.counters();
    assert!(number(session.as_mut(), read) > 0);
    assert!(target.counters().since(before).buffer_gets.is_some());
    assert!(target.data_path().unwrap().join("PG_VERSION").exists());
}

#[test]
fn threads_and_settings_are_those_of_the_session() {
    let target = local("&timezone=Asia/Tokyo&datestyle=German&statement_timeout=1ms&work_mem=8MB");
    let setting = |name: &str| {
        let mut session = target.open_session().unwrap();
        number(
            session.as_mut(),
            &format!("SELECT current_setting('{name}')::int"),
        )
    };
    assert_eq!(target.threads(), 1);
    assert_eq!(setting("max_parallel_workers_per_gather"), 0);
    target.set_threads(3).unwrap();
    assert_eq!(target.threads(), 3);
    assert_eq!(setting("max_parallel_workers_per_gather"), 2);
    assert_eq!(setting("max_parallel_maintenance_workers"), 2);
    workers_really_start(&target);
    assert!(target.set_threads(0).is_err());
    let message = target.set_threads(1000).unwrap_err().message;
    assert!(message.contains("max_parallel_workers"), "{message}");
    // Whatever the server is set to, language of dates and limits of time are dbdyno's.
    let mut session = target.open_session().unwrap();
    let is_ours = "SELECT (current_setting('TimeZone') = 'UTC')::int";
    assert_eq!(number(session.as_mut(), is_ours), 1);
    ask(session.as_mut(), "SELECT pg_sleep(0.05)::text").unwrap();
    drop(session);
    let record = target.record();
    assert_eq!(record.name.as_str(), "postgres+local");
    assert_eq!(record.engine.as_str(), "PostgreSQL");
    assert!(record.engine_version.starts_with("15."));
    for (name, value) in [
        ("work_mem", "8MB"),
        ("shared_buffers", "16MB"),
        ("block_size", "8192"),
        ("full_page_writes", "on"),
    ] {
        assert_eq!(record.settings[name], value, "{name}");
    }
    assert!(
        !record.settings.contains_key("search_path"),
        "it is dbdyno's own"
    );
    assert!(target.lacks(Feature::Compression).unwrap().contains("2 kB"));
    assert!(target.lacks(Feature::ParallelStatement).is_none());
}

/// A plan that promises workers may get none; the table is far below the server's own threshold.
fn workers_really_start(target: &std::sync::Arc<dyn engine::Target>) {
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE dbdyno_p (id BIGINT, pad TEXT)")
        .unwrap();
    session
        .bulk_load("dbdyno_p", &mut Rows(0..200_000))
        .unwrap();
    session.analyse("dbdyno_p").unwrap();
    session
        .batch(
            "CREATE FUNCTION dbdyno_plan() RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN \
             QUERY EXECUTE 'EXPLAIN ANALYZE SELECT count(*), sum(length(pad)) FROM dbdyno_p'; END $$",
        )
        .unwrap();
    let launched =
        "SELECT count(*) FROM dbdyno_plan() AS line WHERE line LIKE '%Workers Launched: 2%'";
    assert_eq!(number(session.as_mut(), launched), 1);
}

#[test]
fn the_limit_of_connections_is_a_clear_sentence() {
    let target = local("&max_connections=8&superuser_reserved_connections=0&max_wal_senders=0");
    let mut sessions = Vec::new();
    let error = loop {
        assert!(sessions.len() < 8, "no limit was met");
        match target.open_session() {
            Ok(session) => sessions.push(session),
            Err(error) => break error,
        }
    };
    assert!(sessions.len() > 4, "{}", sessions.len());
    assert_eq!(error.kind, engine::ErrorKind::Statement);
    assert!(error.message.contains("max_connections"), "{error}");
    // The others go on.
    assert_eq!(number(sessions[0].as_mut(), "SELECT 1"), 1);
}

/// A table larger than the server's memory limit comes from the device each time: neither
/// the kernel's cache nor what the load left there may serve it.
#[test]
fn a_table_larger_than_the_memory_is_read_from_the_device_twice() {
    let url = "postgres+local:?version=15&shared_buffers=16MB&memory=192MiB&max_wal_size=256MB";
    // SAFETY: asks the kernel for a number.
    if unsafe { libc::geteuid() } != 0 && std::env::var_os("DBDYNO_CGROUP").is_none() {
        let message = refused(url).message;
        message.says("cannot limit the server's memory");
        testing::skip!("{message}");
    }
    const TABLE_BYTES: i64 = 400 << 20;
    let target = opened(url).unwrap();
    let mut session = target.open_session().unwrap();
    let rows = TABLE_BYTES / 1000;
    session
        .batch(&format!(
            "CREATE UNLOGGED TABLE dbdyno_wide (id BIGINT, pad TEXT); INSERT INTO dbdyno_wide \
             SELECT i, repeat('x', 960) FROM generate_series(1, {rows}) AS i"
        ))
        .unwrap();
    session.analyse("dbdyno_wide").unwrap();
    drop(session);
    target.cool().unwrap();
    let mut session = target.open_session().unwrap();
    let pid = number(session.as_mut(), "SELECT pg_backend_pid()");
    for scan in 1..=2 {
        let before = read_bytes(pid);
        let sum = number(session.as_mut(), "SELECT sum(length(pad)) FROM dbdyno_wide");
        assert_eq!(sum, rows * 960);
        let read = read_bytes(pid) - before;
        assert!(
            read > TABLE_BYTES / 2,
            "scan {scan} read {read} bytes from the device"
        );
    }
}

/// The server's processor time is found by this number.
#[test]
fn the_servers_first_process_is_found() {
    let own = local("");
    let mut session = own.open_session().unwrap();
    let parent = |session: &mut dyn Session| {
        let pid = number(session, "SELECT pg_backend_pid()");
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        line.unwrap().trim().parse::<u32>().unwrap()
    };
    assert_eq!(own.server_process(), Some(Ok(parent(session.as_mut()))));

    let server = server();
    let target = opened(&url_of(&server, "dbdyno", "")).unwrap();
    assert_eq!(target.server_process(), Some(Ok(server.pid().unwrap())));

    // An address of its own, because the usual port of the usual one may be somebody's.
    let [.., high, low] = std::process::id().to_be_bytes();
    let address = format!("127.83.{high}.{low}");
    let mut session = target.open_session().unwrap();
    session
        .batch(&format!("ALTER SYSTEM SET listen_addresses = '{address}'"))
        .unwrap();
    let rules = "local all all trust\nhost all all 127.0.0.0/8 trust\n";
    std::fs::write(server.data_directory().join("pg_hba.conf"), rules).unwrap();
    drop(session);
    drop(target);
    server.restart().unwrap();
    let target = opened(&format!("postgres://dbdyno@{address}/postgres")).unwrap();
    assert_eq!(target.server_process(), Some(Ok(server.pid().unwrap())));
    drop(target);

    let port = port_of(server.socket_path());
    let target = opened(&format!("postgres://dbdyno@127.0.0.1:{port}/postgres")).unwrap();
    let reason = target.server_process().unwrap().unwrap_err();
    assert!(reason.contains("tunnel"), "{reason}");
}

fn read_bytes(pid: i64) -> i64 {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    let line = io
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    line.unwrap().parse().unwrap()
}
