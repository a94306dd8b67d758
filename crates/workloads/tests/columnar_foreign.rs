//! Databases that others have made: of any encoding and declaration, with tables that cannot be read, locked or broken.
//! One table never ends the others, and nothing is omitted without a reason.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[path = "common/lifting.rs"]
mod lifting;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ::postgres::local::PostgresServer;
use columnar::size::{Budget, SizeOptions, size};
use columnar::{Chosen, ColumnarError, Level, Lifted, Unfit, lift};
use engine::source::Source;
use engine::{Session, TargetUrl};
use engines::{open, open_source};
use lifting::{
    MARIADB, MYSQL, POSTGRES, file, labels, lifted, named, notes, of, options, out, server, unfit,
    valid, with,
};
use local_server::LocalServer;
use testing::Says;
use workload::loading::Event;

fn columns(lifted: &Lifted, label: &str) -> Vec<String> {
    let mut columns: Vec<String> = of(lifted, label).codecs.into_values().flatten().collect();
    columns.sort();
    columns
}

fn value(lifted: &Lifted, sql: &str) -> String {
    let target = lifted.store.target();
    let mut session = target.open_session().unwrap();
    let rows = session.texts(sql).unwrap();
    rows[0][0].clone().unwrap_or_default()
}

#[test]
fn columns_of_sqlite_as_people_declare_them() {
    let made = file(
        "sqlite",
        "CREATE TABLE a (id INTEGER PRIMARY KEY, doc JSON, u UUID, s STRING, ok BOOLEAN, at TIMESTAMP, d DATETIME, \
         m MONEY, plain, twice REAL GENERATED ALWAYS AS (m * 2) STORED, label TEXT AS ('#' || id) VIRTUAL); \
         INSERT INTO a (doc, u, s, ok, at, d, m, plain) VALUES ('{\"a\":1}', '0b9c7b1e', 'x', 'true', 1700000000, \
         1700000000.5, '12.50', x'00ff'); \
         CREATE TABLE strict (x ANY, n INT) STRICT; INSERT INTO strict VALUES ('one', 1), ('two', 2); \
         CREATE TABLE mixed (n INTEGER, ok BOOLEAN, b BLOB); \
         INSERT INTO mixed VALUES (1, 1, x'00'), ('two', 'yes', 'text')",
    );
    let source = made.source.as_ref();
    let (flags, _) = unfit(source, Level::None, Chosen::default());
    assert_eq!(flags, "-mixed:n,-mixed:ok,-mixed:b");
    for level in [Level::QueryHigh, Level::CapacityLow] {
        let lifted = valid(source, level, with(Unfit::Skip));
        assert_eq!(labels(&lifted), ["a", "strict"]);
        assert_eq!(lifted.left_out.len(), 1);
        assert_eq!(columns(&lifted, "a").len(), 11);
        let sum = value(&lifted, "SELECT (twice + \"at\" + d)::VARCHAR FROM a");
        assert_eq!(sum, "3400000025.5");
        let text = value(&lifted, "SELECT doc || u || s || ok || label FROM a");
        assert_eq!(text, "{\"a\":1}0b9c7b1extrue#1");
        let texts = valid(source, level, with(Unfit::Text));
        assert_eq!(labels(&texts), ["a", "mixed", "strict"]);
        let mixed = "SELECT string_agg(n || ok || b, ' ' ORDER BY n) FROM mixed";
        assert_eq!(value(&texts, mixed), "1100 twoyestext");
    }
    let notes = notes(&valid(source, Level::None, named(&["a"])), "a");
    assert!(
        notes.contains(&"doc: JSON, kept as text".to_owned()),
        "{notes:?}"
    );
}

#[test]
fn texts_of_utf16_and_of_no_encoding_at_all() {
    for encoding in ["UTF-16le", "UTF-16be"] {
        let made = format!(
            "PRAGMA encoding = '{encoding}'; CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('ä€😀'), (''), (NULL)"
        );
        let made = file("sqlite", &made);
        let lifted = valid(made.source.as_ref(), Level::QueryHigh, Chosen::default());
        assert_eq!(value(&lifted, "SELECT sum(strlen(v))::VARCHAR FROM t"), "9");
    }
    let made = file(
        "sqlite",
        "CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('fine'), (CAST(x'61ff62' AS TEXT)), (x'ff')",
    );
    let texts = valid(made.source.as_ref(), Level::None, with(Unfit::Text));
    let all = value(&texts, "SELECT string_agg(v, ' ' ORDER BY v) FROM t");
    assert_eq!(all, "FF a\u{fffd}b fine");
}

/// The page of a table is overwritten: the others can still be read.
#[test]
fn a_damaged_table_of_sqlite_ends_no_other() {
    let made = file(
        "sqlite",
        "CREATE TABLE bad (v TEXT); INSERT INTO bad VALUES ('VICTIM'); \
         CREATE TABLE good (v TEXT); INSERT INTO good VALUES ('y')",
    );
    let path = made.directory.path().join("t.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let at = bytes.windows(6).position(|part| part == b"VICTIM").unwrap() / page * page;
    bytes[at..at + page].fill(0xee);
    std::fs::write(&path, bytes).unwrap();
    let lifted = valid(made.source.as_ref(), Level::None, Chosen::default());
    assert_eq!(labels(&lifted), ["good"]);
    let out = out(&lifted);
    assert!(out[0].starts_with("bad is left out: "), "{out:?}");
    out[0].says("malformed");
}

#[test]
fn types_of_duckdb_that_a_column_store_has_no_room_for() {
    let made = file(
        "duckdb",
        "CREATE TABLE fine AS SELECT 99999999999999999999999999999999999999::HUGEINT AS h UNION ALL SELECT 9::HUGEINT * 10::HUGEINT ** 37; \
         CREATE TABLE huge AS SELECT 1 AS one, 170141183460469231731687303715884105727::HUGEINT AS h; \
         CREATE TABLE odd AS SELECT 340282366920938463463374607431768211455::UHUGEINT AS u, [1, 2] AS l, {'a': 1} AS s, \
         MAP {'k': 1} AS m, union_value(n := 1) AS un, 'x'::ENUM ('x', 'y') AS e, INTERVAL 1 MONTH AS iv, '0101'::BIT AS b, \
         'infinity'::TIMESTAMP AS t, '-infinity'::TIMESTAMPTZ AS tz, 'infinity'::DATE AS d, 'nan'::DOUBLE AS x, \
         '-inf'::FLOAT AS f, TIMESTAMP_NS '2020-01-01 00:00:00.123456789' AS ns, uuid() AS id, TIME '10:00' AS tm",
    );
    let source = made.source.as_ref();
    let (flags, message) = unfit(source, Level::None, Chosen::default());
    assert_eq!(flags, "-main.huge:h");
    message.says("row 1 of main.huge has 170141183460469231731687303715884105727");
    for level in Level::ALL {
        let skipped = valid(source, level, with(Unfit::Skip));
        assert_eq!(labels(&skipped), ["main.fine", "main.odd"]);
        assert_eq!(columns(&skipped, "main.odd").len(), 16);
        let texts = valid(source, level, with(Unfit::Text));
        let huge = value(&texts, "SELECT h FROM huge");
        assert_eq!(huge, "170141183460469231731687303715884105727");
    }
}

struct Server(LocalServer);

impl Server {
    fn start() -> Self {
        let url = engines::parse(POSTGRES).unwrap();
        Self(LocalServer::start_for(&PostgresServer, &url).unwrap())
    }

    fn url(&self, database: &str) -> TargetUrl {
        let folder = self.0.socket_directory().display().to_string();
        let (user, folder) = (self.0.superuser(), folder.replace('/', "%2F"));
        engines::parse(&format!("postgres://{user}@{folder}/{database}")).unwrap()
    }

    fn session(&self, database: &str) -> Box<dyn Session> {
        open(&self.url(database)).unwrap().open_session().unwrap()
    }

    fn source(&self, database: &str) -> Box<dyn Source> {
        open_source(&self.url(database)).unwrap_or_else(|e| panic!("{e}"))
    }
}

#[test]
fn databases_of_postgres_in_any_encoding() {
    let server = Server::start();
    let mut admin = server.session("postgres");
    // Valid text, and bytes without a meaning, in UTF-8 or at all.
    for (encoding, text, bytes, odd) in [
        ("LATIN1", "chr(228)", 2, None),
        ("EUC_JP", "U&'\\3042'", 3, None),
        ("WIN1252", "chr(128)", 3, Some("E'ab\\x81'")),
        ("SQL_ASCII", "E'\\xc3\\xa4'", 2, Some("E'ab\\xe9'")),
    ] {
        let name = encoding.to_lowercase();
        let made = format!(
            "CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        );
        admin.batch(&made).unwrap();
        let mut session = server.session(&name);
        session
            .batch(&format!(
                "CREATE TABLE public.good (id integer, v text, c char(9)); \
                 INSERT INTO public.good SELECT i, {text}, {text} FROM generate_series(1, 3000) i"
            ))
            .unwrap();
        if let Some(odd) = odd {
            let made = format!(
                "CREATE TABLE public.bad (id integer, w text, v text); INSERT INTO public.bad VALUES (1, 'x', 'fine'), (2, 'y', {odd})"
            );
            session.batch(&made).unwrap();
        }
        let source = server.source(&name);
        for unfit in [Unfit::Skip, Unfit::Text] {
            let lifted = valid(source.as_ref(), Level::QueryHigh, with(unfit));
            let sum = value(&lifted, "SELECT sum(strlen(v))::VARCHAR FROM good");
            assert_eq!(sum, (3000 * bytes).to_string(), "{encoding}");
            if odd.is_some() && unfit == Unfit::Text {
                let text = value(&lifted, "SELECT v FROM bad WHERE id = 2");
                assert!(text == "ab\\201" || text == "ab\\351", "{encoding}: {text}");
            } else if odd.is_some() {
                assert_eq!(labels(&lifted), ["public.good"]);
                out(&lifted)[0].says("row 2 of public.bad has a value in the column v text");
            }
        }
        match odd {
            None => _ = valid(source.as_ref(), Level::None, Chosen::default()),
            Some(_) => {
                let (flags, _) = unfit(source.as_ref(), Level::None, Chosen::default());
                assert_eq!(flags, "-public.bad:v", "{encoding}");
            }
        }
    }
}

#[test]
fn tables_of_postgres_that_cannot_be_read_end_no_other() {
    let server = Server::start();
    server
        .session("postgres")
        .batch(
            "CREATE TABLE public.good AS SELECT g FROM generate_series(1, 1000) g; \
             CREATE MATERIALIZED VIEW public.blank AS SELECT * FROM public.good WITH NO DATA; \
             CREATE TABLE public.bare (); CREATE VIEW public.fails AS SELECT 1 / (g - g) AS x FROM public.good; \
             CREATE EXTENSION file_fdw SCHEMA public; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw; \
             CREATE FOREIGN TABLE public.away (t text) SERVER files OPTIONS (filename '/nowhere/at/all'); \
             CREATE TABLE public.parted (k integer, t text) PARTITION BY LIST (k); \
             CREATE FOREIGN TABLE public.part PARTITION OF public.parted FOR VALUES IN (1) SERVER files \
             OPTIONS (filename '/nowhere/at/all')",
        )
        .unwrap();
    let source = server.source("postgres");
    let source = source.as_ref();
    let reasons = [
        ("away", "could not open file"),
        ("bare", "no columns"),
        ("blank", "REFRESH MATERIALIZED VIEW \"public\".\"blank\""),
        ("fails", "division by zero"),
        ("parted", "could not open file"),
    ];
    let check = |left_out: &[String]| {
        for (name, why) in reasons {
            let begin = format!("public.{name} is left out: ");
            let is_reported = |out: &&String| out.starts_with(&begin) && out.contains(why);
            let count = left_out.iter().filter(is_reported).count();
            assert_eq!(count, 1, "{name}: {left_out:?}");
        }
    };
    let all = named(&["good", "blank", "bare", "fails", "away", "parted"]);
    for level in [Level::QueryLow, Level::CapacityLow] {
        let lifted = valid(source, level, all.clone());
        assert_eq!(labels(&lifted), ["public.good"]);
        check(&out(&lifted));
    }
    let options = SizeOptions {
        chosen: all,
        levels: vec![Level::QueryHigh],
        budget: Budget::default(),
        seed: 1,
    };
    let sizes = size(source, &options, &AtomicBool::new(false), &|_| {}).unwrap();
    let messages: Vec<String> = sizes.left_out.iter().map(ToString::to_string).collect();
    check(&messages);
    assert_eq!(sizes.tables.len(), 1);
    let none = lifted(source, Level::None, named(&["blank"]))
        .err()
        .unwrap();
    assert!(none.to_string().contains("it is not populated"), "{none}");
}

/// Populates while `holder` has a lock, which it releases as soon as it is named.
fn lifted_past(source: &dyn Source, holder: Box<dyn Session>, release: &str) -> (Lifted, String) {
    let (holder, said) = (Mutex::new(holder), Mutex::new(String::new()));
    let tell = |event: Event<'_>| {
        if let Event::Note(note) = event
            && note.contains("lock: ")
        {
            note.clone_into(&mut said.lock().unwrap());
            holder.lock().unwrap().batch(release).unwrap();
        }
    };
    let stop = AtomicBool::new(false);
    let options = options(Level::QueryHigh, Chosen::default());
    let lifted = lift(source, &options, &stop, &tell);
    let lifted = lifted.unwrap_or_else(|e| panic!("{e}"));
    (lifted, said.into_inner().unwrap())
}

#[test]
fn a_lock_that_is_waited_for_is_named_with_its_session() {
    let server = Server::start();
    let mut holder = server.session("postgres");
    holder
        .batch("CREATE TABLE public.t AS SELECT generate_series(1, 9) i")
        .unwrap();
    holder.batch("BEGIN; LOCK TABLE public.t").unwrap();
    let source = server.source("postgres");
    let (lifted, said) = lifted_past(source.as_ref(), holder, "COMMIT");
    assert_eq!(labels(&lifted), ["public.t"]);
    assert!(said.starts_with("waiting for a lock: "), "{said}");
    said.says_all(&["t is locked by session ", "idle in transaction"]);

    // An interrupt does not wait for the lock.
    let mut holder = server.session("postgres");
    holder.batch("BEGIN; LOCK TABLE public.t").unwrap();
    let stop = AtomicBool::new(false);
    let tell = |event: Event<'_>| {
        if let Event::Note(_) = event {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let options = options(Level::QueryHigh, Chosen::default());
    let ended = lift(source.as_ref(), &options, &stop, &tell);
    assert!(matches!(ended, Err(ColumnarError::Interrupted)));
    holder.batch("COMMIT").unwrap();
}

#[test]
fn tables_of_mariadb_in_any_state() {
    let own = "CREATE SEQUENCE counter; CREATE TABLE versioned (a INTEGER) WITH SYSTEM VERSIONING; \
               INSERT INTO versioned VALUES (5); ANALYZE TABLE versioned";
    let (lifted, said) = tables_in_any_state(MARIADB, own, &["versioned"]);
    assert!(
        said[1].starts_with("counter is left out: it is a sequence"),
        "{said:?}"
    );
    let notes = notes(&lifted, "versioned");
    assert!(notes[0].contains("history"), "{notes:?}");
    notes.concat().omits("ANALYZE");
}

#[test]
fn tables_of_mysql_in_any_state() {
    tables_in_any_state(MYSQL, "DO 1", &[]);
}

/// Lifts tables of every kind, with those that one server alone has; what was lifted, and what was left out.
fn tables_in_any_state(url: &str, own: &str, own_labels: &[&str]) -> (Lifted, Vec<String>) {
    let target = server(url);
    let mut session = target.open_session().unwrap();
    session
        .batch(&format!(
            "CREATE TABLE latin (v VARCHAR(9) CHARACTER SET latin1, w VARCHAR(9) CHARACTER SET utf16, b VARBINARY(9)); \
             INSERT INTO latin VALUES ('ä€', 'ä😀', x'ff00'); \
             CREATE TABLE gone (a INTEGER); CREATE VIEW broken AS SELECT a FROM gone; DROP TABLE gone; \
             CREATE TABLE heap (a INTEGER) ENGINE = MyISAM; INSERT INTO heap VALUES (1); \
             CREATE TABLE derived (a INTEGER, twice INTEGER AS (a * 2) VIRTUAL, x VARCHAR(9) INVISIBLE); \
             INSERT INTO derived (a, x) VALUES (1, 'x'); {own}",
        ))
        .unwrap();
    let source = target.source().unwrap();
    let source = source.as_ref();
    let lifted = valid(source, Level::QueryHigh, Chosen::default());
    let common = ["dbdyno_tables", "derived", "heap", "latin"];
    assert_eq!(labels(&lifted), [&common[..], own_labels].concat());
    assert_eq!(value(&lifted, "SELECT v || w FROM latin"), "ä€ä😀");
    assert_eq!(columns(&lifted, "derived"), ["a", "twice", "x"]);
    let left_out = out(&lifted);
    assert!(
        left_out[0].starts_with("broken is left out: it is a view"),
        "{left_out:?}"
    );
    let named = valid(source, Level::None, named(&["broken", "heap"]));
    out(&named)[0].says("invalid table");

    session.batch("LOCK TABLES heap WRITE").unwrap();
    let (again, said) = lifted_past(source, session, "UNLOCK TABLES");
    assert_eq!(again.tables.len(), common.len() + own_labels.len());
    said.says_all(&["metadata lock", "Sleep"]);
    (lifted, left_out)
}
