//! Engines give the same digests of the same rows.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../duckdb/src/tests/rows.rs"]
mod rows;

use std::sync::Arc;

use engine::{Target, Value};
use rows::loaded;

fn opened(url: &str) -> Arc<dyn Target> {
    engines::open(&engines::parse(url).unwrap()).unwrap_or_else(|e| panic!("{e}"))
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
