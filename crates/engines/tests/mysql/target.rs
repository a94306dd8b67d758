//! The target as a whole: what it tells, its checkpoints, caches and compression.

use std::collections::BTreeMap;

use archive::Purpose;
use engine::{Cooled, Feature, Session, Target};
use local_server::ServerKind;

use crate::common::*;
use crate::networked::directory;
use testing::Says;

on_both! {
    it_tells_what_it_is,
    sessions_do_not_depend_on_the_servers_settings,
    a_checkpoint_leaves_nothing_in_the_log,
    a_cold_server_reads_from_its_files,
    a_secondary_schema_has_tables_of_the_same_names,
    a_server_of_others_is_lukewarm_at_best,
    compression_is_read_back,
    a_table_lies_where_the_url_says,
}

fn loaded(session: &mut dyn Session, table: &str, rows: i64) {
    session
        .batch(&format!(
            "CREATE TABLE {table} (id BIGINT NOT NULL, pad VARCHAR(240) NOT NULL)"
        ))
        .unwrap();
    session.bulk_load(table, &mut Rows(0..rows)).unwrap();
}

fn it_tells_what_it_is(kind: &Kind) {
    let target = kind.local("&innodb_io_capacity=321");
    let record = target.record();
    assert_eq!(record.name.as_str(), kind.scheme);
    assert_eq!(record.engine.as_str(), kind.server.about().title);
    let version = target.record().engine_version;
    assert!(version.contains('.') && !version.contains('-'), "{version}");
    let settings = &record.settings;
    for (name, value) in [
        ("innodb_page_size", "16384"),
        ("innodb_buffer_pool_size", "16777216"),
        ("innodb_flush_log_at_trx_commit", "1"),
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_io_capacity", "321"),
        ("large_pages", "OFF"),
    ] {
        assert_eq!(settings[name], value, "{name}");
    }
    assert!(
        settings
            .keys()
            .all(|name| name != "socket" && !name.ends_with("dir"))
    );
    // Told again it is the same, also after what dbdyno itself does to the server.
    target.checkpoint().unwrap();
    assert_eq!(&target.record().settings, settings);
    assert!(target.data_path().unwrap().is_dir());
    let told = target.server_directory().unwrap();
    let same = std::fs::canonicalize(target.data_path().unwrap()).unwrap();
    assert_eq!(std::fs::canonicalize(told).unwrap(), same);
    for feature in [
        Feature::ProceduralLanguage,
        Feature::Compression,
        Feature::ConcurrentWriters,
    ] {
        assert_eq!(target.lacks(feature), None);
    }
    let why = target.lacks(Feature::ParallelStatement).unwrap();
    assert!(why.contains("one thread") && target.set_threads(2).is_err());
}

fn sessions_do_not_depend_on_the_servers_settings(kind: &Kind) {
    let target = kind.local(
        "&default_time_zone=+05:00&sql_mode=ANSI&character_set_server=latin1\
         &collation_server=latin1_swedish_ci&transaction_isolation=SERIALIZABLE&autocommit=OFF",
    );
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE dbdyno_c (x VARCHAR(20) NOT NULL PRIMARY KEY)")
        .unwrap();
    session
        .batch("INSERT INTO dbdyno_c VALUES ('ä€'), ('A'), ('a')")
        .unwrap();
    let mut other = target.open_session().unwrap();
    assert_eq!(number(other.as_mut(), "SELECT count(*) FROM dbdyno_c"), 3);
    assert_eq!(
        number(
            other.as_mut(),
            "SELECT count(*) FROM dbdyno_c WHERE x = 'a'"
        ),
        1
    );
    let zone = "SELECT @@session.time_zone = '+00:00' AND @@session.tx_isolation = 'REPEATABLE-READ' \
         AND @@session.sql_mode LIKE '%STRICT_ALL_TABLES%'";
    assert_eq!(number(other.as_mut(), &kind.words(zone)), 1);
    assert!(
        other
            .batch("INSERT INTO dbdyno_c VALUES (repeat('x', 21))")
            .is_err()
    );
}

fn status(kind: &Kind, session: &mut dyn Session, name: &str) -> u64 {
    let sql = format!(
        "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status \
         WHERE variable_name = '{name}'"
    );
    number(session, &kind.words(&sql)) as u64
}

fn a_checkpoint_leaves_nothing_in_the_log(kind: &Kind) {
    let target = kind.local("");
    let mut session = target.open_session().unwrap();
    let before = target.counters();
    loaded(session.as_mut(), "dbdyno_t", 20_000);
    let added = target.counters().since(before);
    // Some 40 bytes a row, which are all in the log and all in pages.
    assert!(added.redo_bytes.unwrap() > 20_000 * 20, "{added:?}");
    assert!(added.buffer_gets.unwrap() > 20_000, "{added:?}");
    assert!(status(kind, session.as_mut(), "INNODB_CHECKPOINT_AGE") > 100_000);
    target.checkpoint().unwrap();
    assert!(status(kind, session.as_mut(), "INNODB_CHECKPOINT_AGE") < 10_000);
}

fn cooled(target: &dyn Target) -> Cooled {
    target.cool().unwrap()
}

/// Bytes that the server has read of the table's file; it reads others in the background.
fn read_of(session: &mut dyn Session, table: &str) -> u64 {
    let sql = format!(
        "SELECT CAST(sum(sum_number_of_bytes_read) AS SIGNED) FROM performance_schema.file_summary_by_instance \
         WHERE file_name LIKE '%/{table}.ibd'"
    );
    number(session, &sql) as u64
}

fn a_cold_server_reads_from_its_files(kind: &Kind) {
    // With its instruments, and room for far more than the table.
    let target = kind.opened(&format!("{}:?innodb_buffer_pool_size=64M", kind.scheme));
    let mut session = target.open_session().unwrap();
    loaded(session.as_mut(), "dbdyno_t", 20_000);
    let scan = "SELECT count(*), sum(length(pad)) FROM dbdyno_t";
    let right = ask(session.as_mut(), scan).unwrap();
    let warm = read_of(session.as_mut(), "dbdyno_t");
    assert_eq!(ask(session.as_mut(), scan).unwrap(), right);
    assert_eq!(read_of(session.as_mut(), "dbdyno_t"), warm);
    drop(session);
    // Files in memory cannot be forgotten, which a machine's /var/tmp may hold.
    match cooled(target.as_ref()) {
        Cooled::Cold => {}
        Cooled::Lukewarm(why) => assert!(why.contains("memory"), "{why}"),
    }
    let mut session = target.open_session().unwrap();
    assert_eq!(ask(session.as_mut(), scan).unwrap(), right);
    let read = read_of(session.as_mut(), "dbdyno_t");
    assert!(read > 500_000, "{read} bytes read");
}

/// Two tables of one name stand in one server.
fn a_secondary_schema_has_tables_of_the_same_names(kind: &Kind) {
    let target = kind.local("");
    let secondary = target.secondary_schema("more").unwrap();
    let mut sessions = [&target, &secondary].map(|place| place.open_session().unwrap());
    for (session, rows) in sessions.iter_mut().zip([2, 3]) {
        loaded(session.as_mut(), "dbdyno_same", rows);
    }
    let counts = sessions
        .each_mut()
        .map(|session| number(session.as_mut(), "SELECT count(*) FROM dbdyno_same"));
    assert_eq!(counts, [2, 3]);
    let tables = target.source().unwrap().tables().unwrap();
    let same = tables.iter().filter(|table| table.name == "dbdyno_same");
    assert_eq!(same.count(), 1);
    secondary.snapshot().err().unwrap().says("another database");
    // The server is the first target's as well, and outlives neither of them.
    drop((sessions, target));
    let mut session = secondary.open_session().unwrap();
    let count = number(session.as_mut(), "SELECT count(*) FROM dbdyno_same");
    assert_eq!(count, 3);
}

fn a_server_of_others_is_lukewarm_at_best(kind: &Kind) {
    let server = kind.server();
    let target = opened(&url_of(&server, "root", "dbdyno")).unwrap();
    let Cooled::Lukewarm(why) = cooled(target.as_ref()) else {
        panic!("a server that was not restarted is not cold")
    };
    assert!(why.contains("did not start"), "{why}");
    assert_eq!(target.data_path(), None);
    assert_eq!(target.server_process(), Some(Ok(server.pid().unwrap())));
    // The device under it is known all the same.
    let told = std::fs::canonicalize(target.server_directory().unwrap()).unwrap();
    let same = std::fs::canonicalize(server.data_directory()).unwrap();
    assert_eq!(told, same);
}

fn compression_is_read_back(kind: &Kind) {
    let target = kind.local("");
    let plain = BTreeMap::from([("uncompressed".to_owned(), 1)]);
    assert!(!target.compression());
    for (compressed, table) in [(true, "dbdyno_packed"), (false, "dbdyno_plain")] {
        target.set_compression(compressed).unwrap();
        let mut session = target.open_session().unwrap();
        let sql = format!(
            "CREATE TABLE {{schema}}.{table} (id BIGINT NOT NULL, pad VARCHAR(240) NOT NULL)"
        );
        session.create_table(table, &sql).unwrap();
        session.bulk_load(table, &mut Rows(0..100_000)).unwrap();
        target.checkpoint().unwrap();
        let stored = target.storage_of(table).unwrap();
        let holes = kind.words(
            "SELECT count(*) FROM information_schema.innodb_sys_tablespaces \
             WHERE allocated_size < file_size AND name LIKE 'dbdyno/%packed'",
        );
        if compressed && number(session.as_mut(), &holes) == 1 {
            assert!(stored.contains_key("page compression, zlib"), "{stored:?}");
        } else {
            // A file system without holes stores nothing smaller, and that is said.
            assert_eq!(stored, plain);
        }
    }
}

fn a_table_lies_where_the_url_says(kind: &Kind) {
    let parent = directory();
    let at = |name: &str| parent.path().join(name);
    let url = format!(
        "{}:{}?innodb_buffer_pool_size=16M&performance_schema=OFF&place.table.stock={}&place.table.copied={}",
        kind.scheme,
        at("data").display(),
        at("stock").display(),
        at("copied").display()
    );
    let target = kind.opened(&url);
    let mut session = target.open_session().unwrap();
    for table in ["stock", "item"] {
        let sql = format!("CREATE TABLE {{schema}}.{table} (id BIGINT PRIMARY KEY)");
        session.create_table(table, &sql).unwrap();
    }
    session.create_table_as("copied", "SELECT 1 AS id").unwrap();
    let file = |place: &str, table: &str| at(place).join(format!("data/dbdyno/{table}.ibd"));
    for (place, table) in [("stock", "stock"), ("data", "item"), ("copied", "copied")] {
        assert!(file(place, table).is_file(), "{table}");
    }
    let stock = (Purpose::Data, at("stock").join("data"));
    let paths = target.storage_paths().unwrap();
    assert!(paths.contains(&stock), "{paths:?}");
    let why = target.backup().err().unwrap();
    assert!(why.contains("(place.table.copied)"), "{why}");
    drop(session);
    drop(target);
    let target = opened(&url).unwrap();
    let mut session = target.open_session().unwrap();
    assert_eq!(number(session.as_mut(), "SELECT count(*) FROM copied"), 1);
    session.drop_table("stock").unwrap();
    assert!(!file("stock", "stock").exists());
}
