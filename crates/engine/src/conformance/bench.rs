//! Shared by the checks: the target, a table of their own, and how they end.

use std::fmt::Debug;
use std::time::Duration;

use crate::engine::TypeNames;
use crate::{
    BulkRow, ErrorKind, Result, RowSource, SCHEMA_MARK, Session, Target, TargetError, Value,
};

/// A statement of the suite that takes longer waits for something that does not come.
pub(super) const STATEMENT_TIME_MAX: Duration = Duration::from_secs(20);
/// More often no transaction of the suite meets another.
const RETRIES_MAX: u32 = 500;

/// How a check ends unless it passes.
#[derive(Debug)]
pub(super) enum Miss {
    Failed {
        expected: String,
        seen: String,
    },
    /// The engine says itself that it does not do this.
    NotOffered(String),
}

/// A check passes, or says what is missing.
pub(super) type Checked = std::result::Result<(), Miss>;

impl From<TargetError> for Miss {
    fn from(error: TargetError) -> Self {
        Self::Failed {
            expected: "no error".into(),
            seen: error.message,
        }
    }
}

pub(super) fn failed(expected: impl Into<String>, seen: impl Into<String>) -> Miss {
    Miss::Failed {
        expected: expected.into(),
        seen: seen.into(),
    }
}

/// Compares what was seen of something.
pub(super) fn same<T: PartialEq + Debug>(what: &str, expected: T, seen: T) -> Checked {
    if expected == seen {
        Ok(())
    } else {
        Err(failed(format!("{what}: {expected:?}"), format!("{seen:?}")))
    }
}

pub(super) struct Bench<'a> {
    pub target: &'a dyn Target,
    pub names: TypeNames,
    pub is_server: bool,
}

impl Bench<'_> {
    /// An embedded engine may offer less; a server that refuses has failed, because those that are
    /// known do it.
    pub(super) fn offered<T>(&self, offer: Result<T>) -> std::result::Result<T, Miss> {
        offer.map_err(|error| match error.kind {
            ErrorKind::Statement if !self.is_server => Miss::NotOffered(error.message),
            _ => error.into(),
        })
    }

    /// One more session, in which no statement waits for ever where the engine can end it.
    pub(super) fn session(&self) -> Result<Box<dyn Session>> {
        let mut session = self.target.open_session()?;
        // An engine that cannot has limits of its own: the check on them says so.
        let _ = session.limit_statements(Some(STATEMENT_TIME_MAX));
        Ok(session)
    }

    /// Does something with a table that is there meanwhile; its name in statements is the second argument.
    pub(super) fn with_table(
        &self,
        name: &str,
        columns: &str,
        work: impl FnOnce(&mut dyn Session, &str) -> Checked,
    ) -> Checked {
        let mut session = self.session()?;
        // A suite that was killed leaves tables.
        session.drop_table(name)?;
        let sql = format!("CREATE TABLE {SCHEMA_MARK}.{name} ({columns})");
        session.create_table(name, &sql)?;
        let table = format!("{}.{name}", session.schema());
        let outcome = work(session.as_mut(), &table);
        // A transaction that a failed check left open ends with its session.
        drop(session);
        let dropped = self.session().and_then(|mut it| it.drop_table(name));
        outcome?;
        same("the table was dropped", true, dropped?)
    }

    /// The same with rows of two numbers, from 1 and 0.
    pub(super) fn with_rows(
        &self,
        name: &str,
        count: i64,
        work: impl FnOnce(&mut dyn Session, &str) -> Checked,
    ) -> Checked {
        let columns = "id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL";
        self.with_table(name, columns, |session, table| {
            session.bulk_load(name, &mut Numbers(1..count + 1))?;
            work(session, table)
        })
    }
}

/// The one number that a query gives.
pub(super) fn number(session: &mut dyn Session, sql: &str) -> std::result::Result<i64, Miss> {
    let statement = session.prepare(sql)?;
    let found = session.fetch(statement, &[])?;
    same("rows", 1, found.rows)?;
    Ok(found.digest as i64)
}

/// Does something in a transaction, again as often as another one is in the way.
pub(super) fn in_transaction(
    session: &mut dyn Session,
    mut work: impl FnMut(&mut dyn Session) -> Result<()>,
) -> Result<()> {
    let mut tries = 0;
    loop {
        let mut attempt = || -> Result<()> {
            session.begin()?;
            work(session)?;
            session.commit()
        };
        match attempt() {
            Err(error) if error.is_conflict() && tries < RETRIES_MAX => {
                session.rollback()?;
                tries += 1;
                std::thread::sleep(Duration::from_millis(1 + u64::from(tries % 7)));
            }
            Err(error) => {
                // The first error is the one to tell.
                let _ = session.rollback();
                return Err(error);
            }
            Ok(()) => return Ok(()),
        }
    }
}

/// Rows `(id, 0)`.
pub(super) struct Numbers(pub std::ops::Range<i64>);

impl RowSource for Numbers {
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        let Some(id) = self.0.next() else {
            return Ok(false);
        };
        sink(&[Value::Int(id), Value::Int(0)])?;
        Ok(true)
    }
}

pub(super) struct Rows<'a>(pub std::slice::Iter<'a, Vec<Value<'a>>>);

impl RowSource for Rows<'_> {
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        match self.0.next() {
            None => Ok(false),
            Some(row) => sink(row).map(|()| true),
        }
    }
}
