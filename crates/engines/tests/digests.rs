//! Engines give the same digests of the same rows.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use engine::{RowSource, Session, Target, Value};

fn opened(url: &str) -> Arc<dyn Target> {
    engines::open(&engines::parse(url).unwrap()).unwrap_or_else(|e| panic!("{e}"))
}

/// Rows of a number and a text that looks random, so that it cannot be compressed away.
struct Rows(std::ops::Range<i64>);

impl Rows {
    fn text(n: i64) -> String {
        let mut x = (n as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        (0..(n as usize % 5))
            .map(|_| {
                x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                x ^= x >> 27;
                format!("{x:016x}")
            })
            .collect()
    }
}

impl RowSource for Rows {
    fn next_row(
        &mut self,
        sink: &mut dyn FnMut(&[Value<'_>]) -> engine::Result<()>,
    ) -> engine::Result<bool> {
        match self.0.next() {
            None => Ok(false),
            Some(n) => sink(&[
                Value::Int(n),
                Value::Int(n % 1000),
                Value::Text(&Rows::text(n)),
            ])
            .map(|()| true),
        }
    }
}

const CREATE: &str = "CREATE TABLE dbdyno_t (id BIGINT PRIMARY KEY, k INTEGER, pad TEXT)";

/// A session on a new `dbdyno_t` holding the rows of these numbers.
fn loaded(target: &dyn Target, rows: std::ops::Range<i64>) -> Box<dyn Session> {
    let mut session = target.open_session().unwrap();
    session.batch(CREATE).unwrap();
    let count = rows.end - rows.start;
    let loaded = session.bulk_load("dbdyno_t", &mut Rows(rows)).unwrap();
    assert_eq!(loaded, count as u64);
    session
}

#[test]
fn the_digests_are_those_of_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let duck = opened(&format!("duckdb:{}/t.db", dir.path().display()));
    let lite = opened(&format!("sqlite:{}/s.db", dir.path().display()));
    let mut sessions = [loaded(&*duck, 0..5000), loaded(&*lite, 0..5000)];
    for session in &mut sessions {
        session
            .batch(
                "INSERT INTO dbdyno_t VALUES (-1, 7, 'Käse, größer als zwölf'), (-2, 7, 'zwölf byte!'), \
                 (-3, NULL, NULL); UPDATE dbdyno_t SET pad = NULL WHERE id % 17 = 3",
            )
            .unwrap();
    }
    for (sql, parameters) in [
        ("SELECT * FROM dbdyno_t", &[][..]),
        ("SELECT pad, k, id FROM dbdyno_t", &[]),
        (
            "SELECT count(*), sum(id), sum(k), min(pad), max(pad) FROM dbdyno_t",
            &[],
        ),
        ("SELECT k, count(*), sum(id) FROM dbdyno_t GROUP BY k", &[]),
        ("SELECT id * 0.5e0 FROM dbdyno_t", &[]),
        (
            "SELECT id, pad FROM dbdyno_t WHERE id = ?",
            &[Value::Int(4711)],
        ),
        ("SELECT id, pad FROM dbdyno_t WHERE k = ?", &[Value::Int(7)]),
        (
            "SELECT id, pad FROM dbdyno_t WHERE id >= ? AND id < ?",
            &[Value::Int(100), Value::Int(132)],
        ),
        (
            "SELECT id FROM dbdyno_t WHERE pad = ?",
            &[Value::Text("zwölf byte!")],
        ),
        (
            "SELECT id FROM dbdyno_t WHERE id = ?",
            &[Value::Int(i64::MIN)],
        ),
    ] {
        let [a, b] = [0, 1].map(|i| {
            let statement = sessions[i].prepare(sql).unwrap();
            sessions[i].fetch(statement, parameters).unwrap()
        });
        assert_eq!(a, b, "{sql}");
    }
}
