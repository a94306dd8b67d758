//! Unusual tables: tiny, with long texts, of any name, views, child tables, ancient dates, unsupported values.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[path = "common/lifting.rs"]
mod lifting;

use ::postgres::local::PostgresServer;
use archive::Remark;
use columnar::{Chosen, Level, Unfit};
use engines::{open, open_source};
use lifting::{POSTGRES, file, labels, lifted, named, notes, of, out, server, unfit, valid, with};
use local_server::LocalServer;
use testing::Says;

/// So many rows as a common table r(n).
fn rows(count: u32) -> String {
    format!(
        "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < {count} - 1) "
    )
}

#[test]
fn long_texts_take_the_memory_that_they_take() {
    const BYTES: u64 = 60 * 400_000 + 500 * 9_000;
    let file = file(
        "sqlite",
        &format!(
            "CREATE TABLE few (id INTEGER, t TEXT); CREATE TABLE many (id INTEGER, t TEXT); \
             INSERT INTO few {} SELECT n, hex(randomblob(200000)) FROM r; \
             INSERT INTO many {} SELECT n, hex(randomblob(4500)) FROM r",
            rows(60),
            rows(500),
        ),
    );
    for level in Level::ALL {
        let lifted = valid(file.source.as_ref(), level, Chosen::default());
        assert_eq!(lifted.doubt, None, "{level}");
        let bytes = lifted.bytes().unwrap();
        // Random hexadecimal digits compress to a half, never less.
        let least = if level == Level::None {
            BYTES
        } else {
            BYTES * 4 / 10
        };
        assert!(bytes >= least, "{level}: {bytes} of {BYTES}");
        let engine = lifted.store.allocated_bytes().unwrap();
        assert_eq!(engine, bytes, "{level}: the engine's total is the tables'");
        assert!(
            of(&lifted, "many").memory_bytes.unwrap() >= least / 8,
            "{level}"
        );
        let factor = lifted.compress_factor().unwrap();
        assert!((0.4..3.0).contains(&factor), "{level}: {factor}");
    }
}

#[test]
fn a_table_too_small_to_pack_is_no_failed_level() {
    let file = file(
        "sqlite",
        &format!(
            "CREATE TABLE k3 (k INTEGER, x REAL); INSERT INTO k3 VALUES (3, 0.1); \
             CREATE TABLE k17 (k INTEGER, t TEXT); INSERT INTO k17 {} SELECT n * n * n, hex(randomblob(9)) FROM r; \
             CREATE TABLE noise (k INTEGER, x REAL, t TEXT); \
             INSERT INTO noise {} SELECT random(), random() / 3e7, hex(randomblob(16)) FROM r",
            rows(17),
            rows(9000),
        ),
    );
    for level in Level::ALL {
        let lifted = valid(file.source.as_ref(), level, Chosen::default());
        assert_eq!(of(&lifted, "k3").compress_factor(), None, "{level}");
        let tiny = valid(file.source.as_ref(), level, named(&["k3", "k17"]));
        if level < Level::CapacityLow {
            assert_eq!(
                tiny.compress_factor(),
                None,
                "{level}: both say nothing, and so do both"
            );
        }
    }
}

#[test]
fn any_name_that_a_source_allows() {
    let file = file(
        "sqlite",
        "CREATE TABLE \"a.b\" (\"x.y\" INTEGER, \"q\"\"t\" TEXT, \"rowid\" TEXT); \
         INSERT INTO \"a.b\" VALUES (1, 'x', 'y'), (2, 'y', 'z'); \
         CREATE TABLE \"it's \"\"it\"\"\" (\"select\" INTEGER, \"\" TEXT); INSERT INTO \"it's \"\"it\"\"\" VALUES (1, 'ä'); \
         CREATE TABLE dbdyno_staged_0 (a INTEGER); INSERT INTO dbdyno_staged_0 VALUES (7); \
         CREATE TABLE dbdyno_control (a INTEGER); INSERT INTO dbdyno_control VALUES (8)",
    );
    for level in Level::ALL {
        let lifted = valid(file.source.as_ref(), level, Chosen::default());
        assert_eq!(
            labels(&lifted),
            ["a.b", "dbdyno_control", "dbdyno_staged_0", "it's \"it\""]
        );
        let columns = of(&lifted, "a.b").codecs;
        let mut columns: Vec<String> = columns.into_values().flatten().collect();
        columns.sort();
        assert_eq!(columns, ["q\"t", "rowid", "x.y"], "{level}");
    }
    let one = valid(file.source.as_ref(), Level::QueryHigh, named(&["a.b"]));
    assert_eq!(labels(&one), ["a.b"]);
}

#[test]
fn tables_and_views_of_duckdb() {
    let file = file(
        "duckdb",
        "CREATE TABLE t AS SELECT i, 'word ' || i % 3 AS w FROM range(5000) r(i); \
         CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 1 AS one; \
         CREATE TABLE \"quo\"\"te.d\" AS SELECT 2 AS two; CREATE VIEW v AS SELECT i FROM t WHERE i < 10; \
         CREATE TABLE own (rowid INTEGER); INSERT INTO own VALUES (5), (5)",
    );
    for level in [Level::QueryLow, Level::CapacityLow] {
        let lifted = valid(file.source.as_ref(), level, Chosen::default());
        assert_eq!(
            labels(&lifted),
            ["main.own", "main.quo\"te.d", "main.t", "s.t"]
        );
        assert_eq!(of(&lifted, "s.t").digest.rows, 1);
        assert_eq!(lifted.left_out.len(), 1);
        let out = lifted.left_out[0].to_string();
        assert!(out.starts_with("main.v is left out: it is a view"), "{out}");
        let view = valid(file.source.as_ref(), level, named(&["v"]));
        assert_eq!(of(&view, "main.v").digest.rows, 10);
        assert_eq!(view.disk_bytes(), None);
    }
}

#[test]
fn tables_are_named_by_patterns_and_left_out() {
    let file = file(
        "sqlite",
        "CREATE TABLE keep (a INTEGER); CREATE TABLE tmp_1 (a INTEGER); CREATE TABLE tmp_2 (a INTEGER)",
    );
    let of = |tables: &[&str]| lifted(file.source.as_ref(), Level::None, named(tables));
    assert_eq!(labels(&of(&["-tmp_*"]).unwrap()), ["keep"]);
    assert_eq!(labels(&of(&["tmp_?", "-tmp_1"]).unwrap()), ["tmp_2"]);
    assert_eq!(labels(&of(&["keep", "tmp_2"]).unwrap()), ["keep", "tmp_2"]);
    for (wrong, says) in [
        ("-tmp_3", "no table \"tmp_3\""),
        ("-*", "no selected table"),
    ] {
        let message = of(&[wrong]).err().unwrap().to_string();
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn values_that_no_level_can_hold_end_nothing_when_it_is_said_so() {
    let file = file(
        "sqlite",
        "CREATE TABLE fine (a INTEGER); INSERT INTO fine VALUES (1), (2); \
         CREATE TABLE mixed (a INTEGER, b REAL); INSERT INTO mixed VALUES (1, 1.5), ('n/a', 2.5), (3, 'none'); \
         CREATE TABLE untyped (a, b INTEGER, c); INSERT INTO untyped VALUES (1, 2, 'x'), ('y', 3, NULL); \
         CREATE TABLE broken (t TEXT); INSERT INTO broken VALUES (CAST(x'ff41' AS TEXT))",
    );
    let lifted = |unfit| lifted(file.source.as_ref(), Level::QueryHigh, with(unfit));
    let source = file.source.as_ref();
    let (flags, all_at_once) = unfit(source, Level::QueryHigh, with(Unfit::Fail));
    assert_eq!(flags, "-untyped:a,-broken:t,-mixed:a,-mixed:b");
    all_at_once.says_all(&[
        "untyped.a (a column without a type may contain values of any type)",
        "row 1 of broken has text that is not UTF-8 in the column t TEXT",
        "row 3 of mixed has the text \"none\" in the column b REAL",
        "leave them out",
    ]);
    let without = Chosen {
        columns: vec!["-untyped.a".into()],
        tables: vec!["-broken".into()],
        ..Chosen::default()
    };
    let (_, value) = unfit(source, Level::None, without);
    value.says("mixed.a (SQLite: row 2 of mixed has the text \"n/a\" in the column a INTEGER)");

    let skipped = lifted(Unfit::Skip).unwrap();
    assert_eq!(labels(&skipped), ["fine", "untyped"]);
    assert!(skipped.is_valid());
    let out: Vec<&str> = skipped.left_out.iter().map(|out| &*out.name).collect();
    assert_eq!(out, ["untyped.a", "broken", "mixed"]);
    assert_eq!(skipped.doubt, None);

    for level in Level::ALL {
        let texts = valid(file.source.as_ref(), level, with(Unfit::Text));
        assert_eq!(texts.tables.len(), 4);
        let mixed = of(&texts, "mixed");
        assert_eq!(mixed.digest.rows, 3);
        assert_eq!(
            notes(&texts, "mixed"),
            ["a: INTEGER, kept as text", "b: REAL, kept as text"]
        );
    }
}

/// More columns than an engine returns in one row of counts and sums.
#[test]
fn tables_of_many_columns() {
    const COLUMNS: usize = 900;
    let columns: Vec<String> = (0..COLUMNS).map(|n| format!("c{n} integer")).collect();
    let values: Vec<String> = (0..COLUMNS).map(|n| n.to_string()).collect();
    let made = format!(
        "CREATE TABLE wide ({}); INSERT INTO wide VALUES ({values}), ({values})",
        columns.join(", "),
        values = values.join(", "),
    );
    let sqlite = file("sqlite", &made);
    let duckdb = file("duckdb", &made);
    let target = server(POSTGRES);
    target.open_session().unwrap().batch(&made).unwrap();
    let postgres = target.source().unwrap();
    for source in [sqlite.source, duckdb.source, postgres] {
        let lifted = valid(source.as_ref(), Level::CapacityLow, Chosen::default());
        let table = &lifted.tables[0];
        assert_eq!(table.digest.rows, 2, "{}", source.title());
        let columns: usize = table.codecs.values().map(Vec::len).sum();
        assert_eq!(columns, COLUMNS, "{}", source.title());
    }
}

#[test]
fn what_a_user_may_not_read_is_told() {
    let url = engines::parse(POSTGRES).unwrap();
    let server = LocalServer::start_for(&PostgresServer, &url).unwrap();
    let folder = server.socket_directory().display().to_string();
    let url_of = |user: &str| {
        let url = format!("postgres://{user}@{}/postgres", folder.replace('/', "%2F"));
        engines::parse(&url).unwrap()
    };
    let owner = open(&url_of(server.superuser())).unwrap();
    owner
        .open_session()
        .unwrap()
        .batch(
            "CREATE ROLE plain LOGIN; CREATE TABLE public.staff (salary integer, id integer, name text); \
             INSERT INTO public.staff SELECT i, i, 'n' || i FROM generate_series(1, 3000) i; \
             GRANT SELECT (id, name) ON public.staff TO plain; CREATE TABLE public.hidden (id integer); \
             INSERT INTO public.hidden VALUES (1), (2); ALTER TABLE public.hidden ENABLE ROW LEVEL SECURITY; \
             GRANT SELECT ON public.hidden TO plain; CREATE TABLE public.theirs (id integer)",
        )
        .unwrap();
    drop(owner);
    let source = open_source(&url_of("plain")).unwrap();
    for level in [Level::None, Level::CapacityLow] {
        let lifted = valid(source.as_ref(), level, Chosen::default());
        assert_eq!(labels(&lifted), ["public.hidden", "public.staff"]);
        let staff = of(&lifted, "public.staff");
        assert_eq!((staff.digest.rows, staff.disk_bytes), (3000, None));
        assert_eq!(
            out(&lifted),
            [
                "public.theirs is left out: this user may not read it; GRANT SELECT ON \"public\".\"theirs\"",
                "public.staff.salary is left out: this user may not read it"
            ]
        );
        let hidden = of(&lifted, "public.hidden");
        assert_eq!((hidden.digest.rows, hidden.disk_bytes), (0, None));
        hidden.notes[0].to_string().says("row security is active");
    }
    drop(source);
    let whole = open_source(&url_of(server.superuser())).unwrap();
    let lifted = valid(whole.as_ref(), Level::None, named(&["hidden", "staff"]));
    let hidden = of(&lifted, "public.hidden");
    assert_eq!((hidden.digest.rows, hidden.notes.len()), (2, 0));
    assert!(lifted.left_out.is_empty());
}

#[test]
fn odd_tables_of_postgres() {
    let target = server(POSTGRES);
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "CREATE TABLE parent (id integer, t text); CREATE TABLE child (more integer) INHERITS (parent); \
             INSERT INTO parent SELECT i, 'p' || i FROM generate_series(1, 3000) i; \
             INSERT INTO child SELECT i, 'c' || i, i FROM generate_series(1, 1000) i; \
             CREATE TABLE parted (id integer, t text) PARTITION BY RANGE (id); \
             CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10); \
             CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20); \
             INSERT INTO parted SELECT i, 'x' FROM generate_series(0, 19) i; \
             CREATE TABLE \"Foo\" (a integer, \"A\" integer); CREATE TABLE foo (a integer); \
             INSERT INTO \"Foo\" VALUES (1, 2); INSERT INTO foo VALUES (3); \
             CREATE TABLE dates (d date); INSERT INTO dates VALUES ('0044-03-15 BC'), ('infinity'), ('2024-02-29'); \
             CREATE VIEW vw AS SELECT id FROM parent; \
             CREATE TABLE nans (n numeric(38,10), m numeric); INSERT INTO nans VALUES (1.5, 2), ('NaN', 3)",
        )
        .unwrap();
    let source = target.source().unwrap();
    let source = source.as_ref();
    let schema = source.tables().unwrap()[0].schema.clone();
    let label = |name: &str| format!("{schema}.{name}");
    let without = named(&["-nans"]);
    for level in Level::ALL {
        let lifted = valid(source, level, without.clone());
        let rows = |name| of(&lifted, &label(name)).digest.rows;
        assert_eq!([rows("parent"), rows("child")], [3000, 1000]);
        assert_eq!(rows("parted"), 20);
        assert_eq!([rows("Foo"), rows("foo")], [1, 1]);
        let out = out(&lifted);
        assert!(out[0].starts_with(&label("vw is left out")), "{out:?}");
    }
    let view = valid(source, Level::QueryHigh, named(&["vw"]));
    assert_eq!(
        of(&view, &label("vw")).digest.rows,
        4000,
        "what the view says"
    );
    let texts = Chosen {
        tables: vec!["nans".into()],
        ..with(Unfit::Text)
    };
    let texts = valid(source, Level::QueryHigh, texts);
    assert_eq!(of(&texts, &label("nans")).digest.rows, 2);
    let skipped = valid(source, Level::QueryHigh, with(Unfit::Skip));
    let out: Vec<&str> = skipped.left_out.iter().map(|out| &*out.name).collect();
    assert_eq!(out, [label("vw"), label("nans.m"), label("nans")]);
    assert!(skipped.left_out[2].why.contains("column n numeric(38,10)"));
}

#[test]
fn odd_tables_of_mariadb() {
    let url = "mariadb+local:?innodb_buffer_pool_size=16M&innodb_log_file_size=16M&performance_schema=OFF";
    let target = open(&engines::parse(url).unwrap()).unwrap_or_else(|e| panic!("{e}"));
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "CREATE TABLE MiXed (a INTEGER, b TEXT); CREATE TABLE mixed (a INTEGER); \
             INSERT INTO MiXed VALUES (1, 'x'), (2, 'y'); INSERT INTO mixed VALUES (3); \
             CREATE TABLE `back``tick.d` (`c``d` INTEGER); INSERT INTO `back``tick.d` VALUES (4); \
             CREATE TABLE versioned (a INTEGER) WITH SYSTEM VERSIONING; INSERT INTO versioned VALUES (5); \
             UPDATE versioned SET a = 6; CREATE VIEW vw AS SELECT a FROM mixed; \
             CREATE TABLE kinds (s SET('a', 'b'), e ENUM('x', 'y'), u UUID, i INET6); \
             INSERT INTO kinds VALUES ('a,b', 'y', '123e4567-e89b-12d3-a456-426655440000', '::1'); \
             CREATE TABLE stale (id INTEGER PRIMARY KEY, t VARCHAR(40)) STATS_AUTO_RECALC=0; \
             INSERT INTO stale SELECT seq, concat('some words ', seq) FROM seq_1_to_30000; \
             CREATE TABLE zero (d DATE, g POINT); SET sql_mode = ''; \
             INSERT INTO zero VALUES ('2020-01-01', ST_PointFromText('POINT(1 2)')), ('0000-00-00', NULL)",
        )
        .unwrap();
    let source = target.source().unwrap();
    let source = source.as_ref();
    let lifted = valid(source, Level::QueryHigh, named(&["-zero"]));
    let rows = |label| of(&lifted, label).digest.rows;
    assert_eq!(
        [rows("MiXed"), rows("mixed"), rows("back`tick.d")],
        [2, 1, 1]
    );
    assert_eq!(rows("versioned"), 1);
    let kinds = of(&lifted, "kinds").notes;
    let as_texts = kinds
        .iter()
        .filter(|note| note.to_string().ends_with("kept as text"));
    assert_eq!(as_texts.count(), 4, "{kinds:?}");
    assert_eq!(lifted.left_out.len(), 1, "{:?}", lifted.left_out);
    let stale = of(&lifted, "stale");
    assert_eq!((stale.disk_bytes, stale.compress_factor()), (None, None));
    assert_eq!(stale.notes[0], Remark::StatisticsOutdated);
    assert_eq!(lifted.compress_factor(), None);
    session.batch("ANALYZE TABLE stale").unwrap();
    let lifted = valid(source, Level::QueryHigh, named(&["stale"]));
    assert!(of(&lifted, "stale").disk_bytes.unwrap() > 500_000);
    let texts = Chosen {
        tables: vec!["zero".into()],
        ..with(Unfit::Text)
    };
    let texts = valid(source, Level::QueryHigh, texts);
    assert_eq!(of(&texts, "zero").digest.rows, 2);
    let skipped = valid(source, Level::QueryHigh, with(Unfit::Skip));
    let out: Vec<&str> = skipped.left_out.iter().map(|out| &*out.name).collect();
    assert_eq!(out, ["vw", "zero.g", "zero"]);
}
