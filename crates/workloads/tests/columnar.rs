//! Column stores populated from real databases of every engine, at every level.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::sync::atomic::AtomicBool;

use columnar::{Chosen, ColumnarError, Level, LiftOptions, Lifted, lift};
use engine::source::Source;
use engine::{ErrorKind, Session};
use engines::{open, open_source};

const ROWS: i64 = 30_000;

fn options(level: Level) -> LiftOptions {
    LiftOptions {
        chosen: Chosen::default(),
        level,
        memory_bytes: Some(2_000_000_000),
        jobs: Some(2),
    }
}

fn lifted(source: &dyn Source, options: &LiftOptions) -> Result<Lifted, ColumnarError> {
    lift(source, options, &AtomicBool::new(false), &|_| {})
}

fn source(url: &str) -> Box<dyn Source> {
    open_source(&engines::parse(url).unwrap()).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs statements in a database of a file, as its owner would.
fn prepare(url: &str, statements: &[&str]) {
    let target = open(&engines::parse(url).unwrap()).unwrap();
    let mut session = target.open_session().unwrap();
    statements
        .iter()
        .for_each(|sql| session.batch(sql).unwrap());
    drop(session);
    target.checkpoint().unwrap();
}

/// Every level reproduces the table `dbdyno_t` of [`ROWS`] rows and reports its codecs.
fn all_levels(source: &dyn Source) {
    let mut sizes = Vec::new();
    for level in Level::ALL {
        let lifted = lifted(source, &options(level)).unwrap();
        let table = lifted.tables.iter().find(|t| t.name == "dbdyno_t").unwrap();
        assert_eq!(table.reasons, [], "{level}");
        assert_eq!(table.digest.rows, ROWS as u64);
        let empty = lifted
            .tables
            .iter()
            .find(|t| t.name == "dbdyno_empty")
            .unwrap();
        assert_eq!(empty.digest.rows, 0, "{level}");
        assert_eq!(empty.reasons, Vec::new(), "{level}");
        sizes.push((level, table.memory_bytes.unwrap()));
        let target = lifted.store.target();
        let mut session = target.open_session().unwrap();
        let sum = number(session.as_mut(), "SELECT sum(id)::BIGINT FROM dbdyno_t");
        assert_eq!(sum, ROWS * (ROWS - 1) / 2, "{level}");
        let outside = session.batch("COPY dbdyno_t TO '/tmp/dbdyno-must-not-be-there.csv'");
        assert!(outside.is_err(), "{level}: the store is not sealed");
    }
    let bytes = |level| sizes.iter().find(|(l, _)| *l == level).unwrap().1;
    assert!(bytes(Level::QueryLow) < bytes(Level::None), "{sizes:?}");
    assert!(
        bytes(Level::QueryHigh) < bytes(Level::QueryLow),
        "{sizes:?}"
    );
    assert!(bytes(Level::CapacityHigh) < bytes(Level::None), "{sizes:?}");
}

fn number(session: &mut dyn Session, sql: &str) -> i64 {
    let statement = session.prepare(sql).unwrap();
    session.fetch(statement, &[]).unwrap().digest as i64
}

#[test]
fn tables_of_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/t.db", dir.path().display());
    prepare(
        &url,
        &[
            "CREATE TABLE dbdyno_t (id INTEGER PRIMARY KEY, amount DECIMAL(12,2), day TEXT, word TEXT, \
             bytes BLOB, maybe REAL)",
            &format!(
                "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < {ROWS} - 1) \
                 INSERT INTO dbdyno_t SELECT n, n * 0.25, date('1992-01-01', (n % 2500) || ' days'), \
                 'word ' || (n % 7) || ' ä', CASE n % 3 WHEN 0 THEN NULL ELSE x'00ff' END, \
                 CASE n % 5 WHEN 0 THEN NULL ELSE n / 3.0 END FROM r"
            ),
            "CREATE TABLE dbdyno_empty (a INTEGER, b TEXT)",
        ],
    );
    let source = source(&url);
    assert_eq!(
        source.tables().unwrap()[1].columns[2].kind,
        Ok(engine::source::Kind::Date)
    );
    all_levels(source.as_ref());
}

#[test]
fn tables_of_duckdb() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("duckdb:{}/t.db", dir.path().display());
    prepare(
        &url,
        &[
            &format!(
                "CREATE TABLE dbdyno_t AS SELECT i AS id, (i % 7)::TINYINT AS tiny, \
                 (i * 0.25)::DECIMAL(12,2) AS amount, i::DECIMAL(30,5) AS wide, i::HUGEINT AS huge, \
                 DATE '1992-01-01' + (i % 2500)::INTEGER AS day, \
                 TIMESTAMP '2020-01-01' + to_seconds(i) AS moment, 'word ' || (i % 7) || ' ä' AS word, \
                 CASE i % 3 WHEN 0 THEN NULL ELSE '\\x00\\xFF'::BLOB END AS bytes, \
                 CASE i % 5 WHEN 0 THEN NULL ELSE i / 3.0::DOUBLE END AS maybe, [i, i + 1] AS list, \
                 uuid() AS id2, i::UBIGINT + 9223372036854775807 AS big, i % 2 = 0 AS even, \
                 TIME '00:00:01' AS time FROM range({ROWS}) r(i)"
            ),
            "CREATE TABLE dbdyno_empty (a INTEGER, b VARCHAR)",
        ],
    );
    let source = source(&url);
    let described = source.tables().unwrap();
    let table = described.iter().find(|t| t.name == "dbdyno_t").unwrap();
    assert!(table.disk_bytes.unwrap() > 0, "{table:?}");
    all_levels(source.as_ref());
}

#[test]
fn tables_of_postgres() {
    let target = open(&engines::parse("postgres+local:?version=15&shared_buffers=16MB").unwrap());
    let target = target.unwrap_or_else(|e| panic!("{e}"));
    let mut session = target.open_session().unwrap();
    session
        .batch(&format!(
            "CREATE TABLE dbdyno_t AS SELECT i::bigint AS id, (i % 7)::smallint AS small, \
             (i * 0.25)::numeric(12,2) AS amount, (-i)::numeric(30,5) AS wide, \
             date '1992-01-01' + i % 2500 AS day, timestamp '2020-01-01' + i * interval '1 s' AS moment, \
             timestamptz '2020-01-01' + i * interval '1 us' AS zoned, ('word ' || i % 7 || ' ä')::text AS word, \
             ('x' || i % 3)::char(9) AS padded, CASE i % 3 WHEN 0 THEN NULL ELSE '\\x00ff'::bytea END AS bytes, \
             CASE i % 5 WHEN 0 THEN NULL ELSE i / 3.0::float8 END AS maybe, '10.0.0.1'::inet AS net, \
             i % 2 = 0 AS even, time '00:00:01' AS time, 1.5::real AS real, 7::oid AS oid, \
             (CASE i % 2 WHEN 0 THEN 'infinity' ELSE '-infinity' END)::date AS never \
             FROM generate_series(0, {ROWS} - 1) i; \
             CREATE TABLE dbdyno_empty (a integer, b text)"
        ))
        .unwrap();
    let source = target.source().unwrap();
    all_levels(source.as_ref());
    session
        .batch("CREATE TABLE dbdyno_odd (n numeric)")
        .unwrap();
    let source = target.source().unwrap();
    let refused = lifted(source.as_ref(), &options(Level::None))
        .err()
        .unwrap();
    let message = refused.to_string();
    assert!(message.contains("dbdyno_odd.n (numeric: "), "{message}");
    let without = LiftOptions {
        chosen: Chosen {
            tables: vec!["dbdyno_t".into()],
            columns: vec!["-dbdyno_t.net".into()],
            ..Chosen::default()
        },
        ..options(Level::QueryHigh)
    };
    let lifted = lifted(source.as_ref(), &without).unwrap();
    assert_eq!(lifted.tables.len(), 1);
    assert!(
        !lifted.tables[0]
            .notes
            .iter()
            .any(|note| note.to_string().contains("net"))
    );
}

#[test]
fn tables_of_mariadb() {
    tables_of(
        "mariadb+local:?innodb_buffer_pool_size=16M&innodb_log_file_size=16M&performance_schema=OFF",
    );
}

#[test]
fn tables_of_mysql() {
    tables_of(
        "mysql+local:?innodb_buffer_pool_size=16M&innodb_redo_log_capacity=16M&performance_schema=OFF",
    );
}

fn tables_of(url: &str) {
    let target = match open(&engines::parse(url).unwrap()) {
        Err(error) if error.kind == ErrorKind::NotInstalled => testing::lacking(&error.message),
        opened => opened.unwrap(),
    };
    let mut session = target.open_session().unwrap();
    session
        .batch(&format!(
            "CREATE TABLE dbdyno_t (id BIGINT PRIMARY KEY, tiny TINYINT UNSIGNED, amount DECIMAL(12,2), \
             wide DECIMAL(30,5), day DATE, moment DATETIME(6), zoned TIMESTAMP NULL, word VARCHAR(20), padded CHAR(9), \
             bytes VARBINARY(9), maybe DOUBLE, big BIGINT UNSIGNED, bits BIT(5), year YEAR, time TIME, kind \
             ENUM('a','b')); \
             INSERT INTO dbdyno_t SELECT seq, seq % 7, seq * 0.25, -seq, date '1992-01-01' + INTERVAL (seq % 2500) DAY, \
             timestamp '2020-01-01 00:00:00.5' + INTERVAL seq SECOND, from_unixtime(1e9 + seq), \
             concat('word ', seq % 7, ' ä'), concat('x', seq % 3), if(seq % 3 = 0, NULL, x'00ff'), \
             if(seq % 5 = 0, NULL, seq / 3.0), 18446744073709551615 - seq, 9, 2020, '-25:00:00', 'b' \
             FROM (WITH RECURSIVE n (seq) AS (SELECT 0 UNION ALL SELECT seq + 1 FROM n WHERE seq < {}) SELECT seq FROM n) AS s; \
             CREATE TABLE dbdyno_empty (a INTEGER, b TEXT)",
            ROWS - 1
        ))
        .unwrap();
    all_levels(target.source().unwrap().as_ref());
}

#[test]
fn what_does_not_fit_is_refused_with_the_sizes() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/t.db", dir.path().display());
    prepare(
        &url,
        &[
            "CREATE TABLE dbdyno_t (a INTEGER, b TEXT)",
            "INSERT INTO dbdyno_t VALUES (1, 'x')",
        ],
    );
    let source = source(&url);
    let small = LiftOptions {
        memory_bytes: Some(1000),
        ..options(Level::None)
    };
    let message = lifted(source.as_ref(), &small).err().unwrap().to_string();
    assert!(message.contains("1.0 kB of memory"), "{message}");
    for (tables, columns, says) in [
        ("dbdyno_x", "", "did you mean \"dbdyno_t\""),
        ("dbdyno_t", "dbdyno_t.c", "did you mean"),
        ("dbdyno_t", "-dbdyno_t.a,-dbdyno_t.b", "no column of"),
    ] {
        let names = |list: &str| {
            list.split(',')
                .filter(|n| !n.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let options = LiftOptions {
            chosen: Chosen {
                tables: names(tables),
                columns: names(columns),
                ..Chosen::default()
            },
            ..options(Level::None)
        };
        let message = lifted(source.as_ref(), &options).err().unwrap().to_string();
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn an_interrupted_lift_ends() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/t.db", dir.path().display());
    prepare(
        &url,
        &[
            "CREATE TABLE dbdyno_t (a INTEGER)",
            "INSERT INTO dbdyno_t VALUES (1)",
        ],
    );
    let stopped = AtomicBool::new(true);
    let source = source(&url);
    let outcome = lift(source.as_ref(), &options(Level::None), &stopped, &|_| {});
    assert!(matches!(outcome.err(), Some(ColumnarError::Interrupted)));
}
