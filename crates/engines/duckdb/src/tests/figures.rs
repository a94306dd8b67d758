//! Rows are read as stored, in every type, and without memory.

use super::*;
use engine::{Fetched, RowSource, Value, cell_digest};

#[test]
fn every_type_has_its_digest() {
    let target = target("duckdb:");
    let mut session = target.open_session().unwrap();
    for (expression, value) in [
        ("true", 1),
        ("(-8)::TINYINT", -8),
        ("(-800)::SMALLINT", -800),
        ("(-80000)::INTEGER", -80_000),
        ("(-80000000000)::BIGINT", -80_000_000_000),
        ("200::UTINYINT", 200),
        ("60000::USMALLINT", 60_000),
        ("4000000000::UINTEGER", 4_000_000_000),
        ("18446744073709551615::UBIGINT", -1),
        ("(-5)::HUGEINT", -5),
        ("sum(7::BIGINT)", 7),
        ("12.34::DECIMAL(4,2)", 1234),
        ("12.34::DECIMAL(9,2)", 1234),
        ("12.34::DECIMAL(18,2)", 1234),
        ("(-12.34)::DECIMAL(38,2)", -1234),
        ("DATE '1970-01-11'", 10),
        ("1.5::DOUBLE", 1.5f64.to_bits() as i64),
        ("1.5::FLOAT", 1.5f64.to_bits() as i64),
        ("NULL", 0),
        ("NULL::BIGINT", 0),
        ("NULL::VARCHAR", 0),
    ] {
        let got = digest(&mut *session, &format!("SELECT {expression}"));
        assert_eq!(got, cell_digest(0, value), "{expression}");
    }
    let mut expected = Fetched::default();
    expected.add_text(0, b"\x00\xff");
    assert_eq!(
        digest(&mut *session, "SELECT '\\x00\\xFF'::BLOB"),
        expected.digest
    );
}

#[test]
fn all_loadable_types_come_back() {
    let target = target("duckdb:");
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "CREATE TABLE dbdyno_w (a TINYINT, b SMALLINT, c INTEGER, d BIGINT, e UBIGINT, f HUGEINT, \
             g DOUBLE, h BOOLEAN, i VARCHAR, j BLOB)",
        )
        .unwrap();
    struct One(bool);
    impl RowSource for One {
        fn next_row(
            &mut self,
            sink: &mut dyn FnMut(&[Value<'_>]) -> engine::Result<()>,
        ) -> engine::Result<bool> {
            if self.0 {
                return Ok(false);
            }
            self.0 = true;
            let mut row = vec![Value::Int(-1); 7];
            row[4] = Value::Int(i64::MAX);
            row.extend([
                Value::Int(1),
                Value::Text("zwölf bytes und mehr"),
                Value::Blob(b"\xff\0"),
            ]);
            sink(&row).map(|()| true)
        }
    }
    session.bulk_load("dbdyno_w", &mut One(false)).unwrap();
    let same = "SELECT count(*) FROM dbdyno_w WHERE a = -1 AND b = -1 AND c = -1 AND d = -1 \
        AND e = 9223372036854775807 AND f = -1 AND g = -1 AND h AND i = 'zwölf bytes und mehr' \
        AND j = '\\xFF\\x00'::BLOB";
    assert_eq!(digest(&mut *session, same), 1);
}

#[test]
fn execute_counts_changed_rows_and_takes_all_parameters() {
    let target = target("duckdb:");
    let mut session = loaded(&*target, 0..3000);
    let update = session
        .prepare("UPDATE dbdyno_t SET k = ? WHERE id < ?")
        .unwrap();
    let changed = session
        .execute(update, &[Value::Int(5), Value::Int(32)])
        .unwrap();
    assert_eq!(changed, 32);
    // DuckDB itself would silently take the missing one from the execution before.
    let error = session.execute(update, &[Value::Int(6)]).unwrap_err();
    assert!(
        error.message.contains("2 parameters, but 1 were given"),
        "{error}"
    );
    // A value too wide for the column is compared, not cut.
    let find = session
        .prepare("SELECT id FROM dbdyno_t WHERE k = ?")
        .unwrap();
    let wide = Value::Int(5 + (1 << 32));
    assert_eq!(session.fetch(find, &[wide]).unwrap().rows, 0);
}

#[test]
fn sessions_write_disjoint_keys_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let target = file_target(&dir);
    drop(loaded(&*target, 0..1000));
    let work = &|job: i64| {
        let mut session = target.open_session().unwrap();
        let update = session
            .prepare("UPDATE dbdyno_t SET k = k + 1 WHERE id = ?")
            .unwrap();
        for n in 0..50 {
            session.begin().unwrap();
            let changed = session
                .execute(update, &[Value::Int(job * 100 + n)])
                .unwrap();
            assert_eq!(changed, 1);
            session.commit().unwrap();
        }
    };
    let mut session = target.open_session().unwrap();
    let before = digest(&mut *session, "SELECT sum(k) FROM dbdyno_t");
    std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..4).map(|job| scope.spawn(move || work(job))).collect();
        jobs.into_iter().for_each(|job| job.join().unwrap());
    });
    let after = digest(&mut *session, "SELECT sum(k) FROM dbdyno_t");
    assert_eq!(after, before + 200);
}

#[test]
fn results_are_released() {
    let target = target("duckdb:");
    let mut session = target.open_session().unwrap();
    let one = session
        .prepare("SELECT ?::BIGINT, 'a text that is too long to be inlined'")
        .unwrap();
    let mut fetch_all = |count: i64| {
        for n in 0..count {
            assert_eq!(session.fetch(one, &[Value::Int(n)]).unwrap().rows, 1);
        }
    };
    fetch_all(10_000);
    let before = resident_bytes();
    fetch_all(100_000);
    let grown = resident_bytes().saturating_sub(before);
    // A result holds a chunk of at least 2048 × 8 bytes a column: kept, they would be gigabytes.
    // The rest is what the tests running beside this one need.
    assert!(grown < 600_000_000, "grown by {grown} bytes");
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn the_pool_can_be_set_and_is_read_back() {
    let target = target("duckdb:?threads=3&memory_limit_mb=500");
    assert_eq!(target.threads(), 3);
    target.set_threads(5).unwrap();
    assert_eq!(target.threads(), 5);
    assert!(target.set_threads(0).is_err());
    let record = target.record();
    assert_eq!(record.settings["threads"], "5");
    assert_eq!(record.settings["memory_limit"], "476.8 MiB");
    assert_eq!(record.settings["enable_external_access"], "false");
    assert_eq!(record.settings["temp_directory"], "");
    assert!(record.engine_version.contains('.'));
}

#[test]
fn memory_databases_do_not_collide() {
    let (a, b) = (target("duckdb:"), target("duckdb:"));
    a.open_session().unwrap().batch(CREATE).unwrap();
    let find = "SELECT * FROM dbdyno_t";
    assert!(b.open_session().unwrap().prepare(find).is_err());
    assert!(a.open_session().unwrap().prepare(find).is_ok());
    assert_eq!(a.counters().redo_bytes, None);
    assert!(a.lacks(engine::Feature::Storage).is_some());
}

/// A script counts rows of any types; only what it keeps has to be a number or a text.
#[test]
fn rows_of_every_type_are_counted() {
    let target = target("duckdb:");
    let mut session = target.open_session().unwrap();
    let all = session.prepare("SELECT * FROM test_all_types()").unwrap();
    assert_eq!(session.fetch(all, &[]).unwrap().rows, 3);
    for expression in ["[1, 2]", "now()", "INTERVAL 1 DAY", "{'a': 1}", "uuid()"] {
        let one = session.prepare(&format!("SELECT {expression}")).unwrap();
        assert_eq!(session.fetch(one, &[]).unwrap().rows, 1, "{expression}");
    }
    let mut first = engine::nonblocking::FirstRow::default();
    let mixed =
        "SELECT now(), 7, [1], uuid(), INTERVAL 1 DAY UNION ALL SELECT now(), 8, [], uuid(), NULL";
    let mixed = session.prepare(mixed).unwrap();
    assert_eq!(session.fetch_first(mixed, &[], &mut first).unwrap(), 2);
    assert_eq!(first.value(0), None);
    assert_eq!(first.value(1), Some(Value::Int(7)));
}
