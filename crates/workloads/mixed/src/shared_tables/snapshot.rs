//! Session that runs each query in a snapshot of its own and verifies the snapshot.
//!
//! If an answer mixed rows of two moments, totals that the consistency conditions tie together would differ: each has a
//! statement of its own, and those over few rows run before and after the query. The users change these totals many
//! times per second, so they are equal on both sides of a query only in one snapshot.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ::load::Progress;
use column_store::SNAPSHOT;
use engine::{Result, Session, TargetError};
use olap::Answer;
use serde::Deserialize;

use super::query::{self, Query, is_alike};

/// Pair of totals that are equal in every snapshot.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    /// Number of the consistency condition from which it follows.
    number: u32,
    title: String,
    left: String,
    right: String,
    /// Over few rows: run before and after each query.
    #[serde(default)]
    quick: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Conditions {
    condition: Vec<Condition>,
}

fn conditions() -> &'static [Condition] {
    static PARSED: LazyLock<Vec<Condition>> = LazyLock::new(|| {
        let parsed = toml::from_str::<Conditions>(query::text("conditions.toml"));
        parsed
            .expect("the library is part of the program")
            .condition
    });
    &PARSED
}

pub struct QueryResult {
    pub answer: Answer,
    pub took: Duration,
    /// Age of a copy's rows when the query began.
    pub age: Option<Age>,
    /// Evidence that the rows were of more than one moment.
    pub torn: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age {
    /// Time since the source's snapshot.
    pub time: Duration,
    /// Transactions that users have completed since then.
    pub transactions: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Clock<'k> {
    /// Origin of the snapshot times.
    pub since: Instant,
    pub users: &'k Progress,
}

impl Clock<'_> {
    fn age(&self, of: Moment) -> Age {
        let now = self.since.elapsed();
        Age {
            time: now.saturating_sub(of.at),
            transactions: self.users.operations().saturating_sub(of.transactions),
        }
    }
}

/// Snapshot of the source from which a copy's rows come.
#[derive(Debug, Clone, Copy)]
struct Moment {
    at: Duration,
    /// Transactions that users had completed before.
    transactions: u64,
}

pub struct Snapshots<'k> {
    session: Box<dyn Session>,
    engine: String,
    /// Clock of a copy that follows its source.
    clock: Option<Clock<'k>>,
}

impl<'k> Snapshots<'k> {
    /// Uses the engine's syntax for snapshots.
    pub fn new(session: Box<dyn Session>, engine: &str, clock: Option<Clock<'k>>) -> Self {
        Self {
            session,
            engine: engine.to_owned(),
            clock,
        }
    }

    pub fn ask(&mut self, query: &Query) -> Result<QueryResult> {
        let sql = query.sql(&self.engine);
        let clock = self.clock;
        self.in_snapshot(|session| {
            let of = clock.map(|_| moment(session)).transpose()?;
            let (before, broken) = totals(session, |condition| condition.quick)?;
            let age = clock.zip(of).map(|(clock, of)| clock.age(of));
            let begun = Instant::now();
            let rows = session.texts(sql)?;
            let took = begun.elapsed();
            let (after, _) = totals(session, |condition| condition.quick)?;
            let moved = (before != after).then(|| {
                let [before, after] = [before, after].map(|all| all.join(", "));
                format!("totals were {before} before the query and {after} after it")
            });
            Ok(QueryResult {
                answer: Answer::of(rows),
                took,
                age,
                torn: broken.or(moved),
            })
        })
    }

    /// Checks all conditions; returns a sentence about the first violation.
    pub fn check(&mut self) -> Result<Option<String>> {
        self.in_snapshot(|session| totals(session, |_| true).map(|(_, broken)| broken))
    }

    fn in_snapshot<T>(&mut self, work: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T> {
        let session = self.session.as_mut();
        session.begin_snapshot()?;
        let done = work(session);
        let ended = match done {
            Ok(_) => session.commit(),
            // The first error is reported.
            Err(_) => session.rollback().or(Ok(())),
        };
        done.and_then(|done| ended.map(|()| done))
    }
}

/// Totals of each condition, and a sentence about the first violation.
fn totals(
    session: &mut dyn Session,
    is_checked: impl Fn(&Condition) -> bool,
) -> Result<(Vec<String>, Option<String>)> {
    let mut all = Vec::new();
    let mut broken = None;
    for condition in conditions()
        .iter()
        .filter(|condition| is_checked(condition))
    {
        let left = total(session, &condition.left)?;
        let right = total(session, &condition.right)?;
        if !is_alike(&left, &right) && broken.is_none() {
            let Condition { number, title, .. } = condition;
            broken = Some(format!("condition {number}, {title}: {left} and {right}"));
        }
        all.extend([left, right]);
    }
    Ok((all, broken))
}

fn moment(session: &mut dyn Session) -> Result<Moment> {
    let rows = session.texts(&format!("SELECT at_us, transactions FROM {SNAPSHOT}"))?;
    let cells = rows.into_iter().flatten();
    let numbers: Vec<u64> = cells.filter_map(|cell| cell?.parse().ok()).collect();
    match numbers[..] {
        [at_us, transactions] => Ok(Moment {
            at: Duration::from_micros(at_us),
            transactions,
        }),
        _ => Err(TargetError::statement(
            "the copy does not say of which moment it is",
        )),
    }
}

/// Only cell of an answer; 0 for a sum over no rows.
fn total(session: &mut dyn Session, sql: &str) -> Result<String> {
    let cell = session.texts(sql)?.into_iter().flatten().next();
    Ok(cell.flatten().unwrap_or_else(|| "0".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_those_of_order_entry() {
        let numbers: Vec<u32> = conditions().iter().map(|c| c.number).collect();
        assert_eq!(numbers, [1, 2, 4, 5, 7]);
        let quick = conditions().iter().filter(|condition| condition.quick);
        assert_eq!(quick.map(|c| c.number).collect::<Vec<_>>(), [1]);
    }

    const TABLES: &str = "CREATE TABLE warehouse (w_ytd REAL); CREATE TABLE district (d_ytd REAL, d_next_o_id INTEGER);
        CREATE TABLE orders (o_carrier_id INTEGER, o_ol_cnt INTEGER); CREATE TABLE new_order (no_o_id INTEGER);
        CREATE TABLE order_line (ol_delivery_d TEXT);
        INSERT INTO warehouse VALUES (30.5); INSERT INTO district VALUES (10.25, 2), (20.25, 1);
        INSERT INTO orders VALUES (NULL, 2); INSERT INTO new_order VALUES (1);
        INSERT INTO order_line VALUES (NULL), (NULL)";
    const PAYMENT: &str = "BEGIN; UPDATE warehouse SET w_ytd = w_ytd + 1; UPDATE district SET d_ytd = d_ytd + 0.5; COMMIT";

    fn database() -> (tempfile::TempDir, std::sync::Arc<dyn engine::Target>) {
        engines::before_first_use();
        let place = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", place.path().join("a.db").display());
        let target = engines::open(&engines::parse(&url).unwrap()).unwrap();
        target.open_session().unwrap().batch(TABLES).unwrap();
        (place, target)
    }

    #[test]
    fn half_a_transaction_is_found_by_its_totals() {
        let (_place, target) = database();
        let mut reader = Snapshots::new(target.open_session().unwrap(), "sqlite", None);
        let mut writer = target.open_session().unwrap();
        writer.batch(PAYMENT).unwrap();
        assert_eq!(reader.check().unwrap(), None);
        for (half, says) in [
            ("DELETE FROM order_line WHERE rowid = 1", "condition 4"),
            ("DELETE FROM new_order", "condition 5"),
            ("INSERT INTO orders VALUES (1, 0)", "condition 2"),
            ("UPDATE order_line SET ol_delivery_d = 'x'", "condition 7"),
            ("UPDATE district SET d_ytd = d_ytd + 1", "condition 1"),
        ] {
            writer.batch("BEGIN").unwrap();
            writer.batch(half).unwrap();
            let (_, broken) = totals(writer.as_mut(), |_| true).unwrap();
            writer.batch("ROLLBACK").unwrap();
            let broken = broken.unwrap_or_default();
            assert!(broken.starts_with(says), "{half}: {broken}");
        }
    }

    #[test]
    fn totals_stand_still_in_a_snapshot_and_move_without_one() {
        let (_place, target) = database();
        let mut reader = Snapshots::new(target.open_session().unwrap(), "sqlite", None);
        let mut writer = target.open_session().unwrap();
        let mut twice = |session: &mut dyn Session| {
            let (before, _) = totals(session, |_| true)?;
            writer.batch(PAYMENT)?;
            let (after, _) = totals(session, |_| true)?;
            Ok((before, after))
        };
        let (before, after) = reader.in_snapshot(&mut twice).unwrap();
        assert_eq!(before, after);
        let (before, after) = twice(target.open_session().unwrap().as_mut()).unwrap();
        assert_ne!(before, after);
    }
}
