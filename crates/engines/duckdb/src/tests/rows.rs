//! Rows for tests of engines, shared with those of several engines.

use engine::{RowSource, Session, Target, Value};

/// Rows of a number and a text that looks random, so that it cannot be compressed away.
pub struct Rows(pub std::ops::Range<i64>);

impl Rows {
    pub fn text(n: i64) -> String {
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

pub const CREATE: &str = "CREATE TABLE dbdyno_t (id BIGINT PRIMARY KEY, k INTEGER, pad TEXT)";

/// A session on a new `dbdyno_t` holding the rows of these numbers.
pub fn loaded(target: &dyn Target, rows: std::ops::Range<i64>) -> Box<dyn Session> {
    let mut session = target.open_session().unwrap();
    session.batch(CREATE).unwrap();
    let count = rows.end - rows.start;
    let loaded = session.bulk_load("dbdyno_t", &mut Rows(rows)).unwrap();
    assert_eq!(loaded, count as u64);
    session
}
