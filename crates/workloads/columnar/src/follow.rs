//! Refresh of a copy: rows with keys in the changed ranges are read again and replace the old ones in one transaction.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use archive::Remark;
use column_store::Store;
use engine::Target;
use engine::source::{Digest, Reader, Source, SourceTable};
use load::{BlockingClient, Done, Failure};

use super::{ColumnarError, Result};

#[derive(Debug, Clone)]
pub struct Changed {
    pub table: SourceTable,
    /// Integer column that identifies rows.
    pub key: &'static str,
    pub keys: Range<u64>,
}

/// Applies committed changes of the source to a copy. Returns the rows that were read again.
///
/// # Errors
/// Of source or store; the copy is then unchanged.
pub fn follow(source: &dyn Source, store: &Store, changed: &[Changed]) -> Result<u64> {
    let mut reader = source.open_reader()?;
    let mut change = store.change()?;
    let mut rows = 0;
    for Changed { table, key, keys } in changed {
        let by_key = table.by(key).ok_or_else(|| {
            let label = table.label();
            ColumnarError::Unknown(format!("{label} has no column {key} of integers"))
        })?;
        rows += change.replace(table, key, keys.clone(), |take| {
            reader.read(&by_key, &Some(keys.clone()), take)
        })?;
    }
    change.commit()?;
    Ok(rows)
}

/// Differences between source and copy in the changed ranges; empty if they are equal.
pub fn differing(
    source: &dyn Source,
    store: &Store,
    changed: &[Changed],
) -> Result<Option<Remark>> {
    let copy = store.source();
    let described = copy.tables()?;
    let (mut here, mut there) = (source.open_reader()?, copy.open_reader()?);
    for Changed { table, key, keys } in changed {
        let copied = described.iter().find(|copied| copied.name == table.name);
        let (Some(from), Some(to)) = (table.by(key), copied.and_then(|copied| copied.by(key)))
        else {
            return Ok(Some(Remark::CopyOfTableMissing {
                table: table.label(),
            }));
        };
        let digest = |reader: &mut dyn Reader, table: &SourceTable| -> Result<Digest> {
            let mut digest = Digest::default();
            reader.read(table, &Some(keys.clone()), &mut |row| {
                digest.add(row);
                Ok(())
            })?;
            Ok(digest)
        };
        let (right, found) = (digest(here.as_mut(), &from)?, digest(there.as_mut(), &to)?);
        if right != found {
            return Ok(Some(Remark::NotFollowed {
                table: table.label(),
                rows: found.rows,
                checksum: format!("{:016x}", found.sum),
                rows_source: right.rows,
                checksum_source: format!("{:016x}", right.sum),
            }));
        }
    }
    Ok(None)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lag {
    /// Time from the commit at the source until the change was visible in the copy.
    pub took: Duration,
    pub rows: u64,
}

/// Changes the source and refreshes the copy: an operation ends when the change is visible in the copy.
pub struct Follower<'s> {
    pub change: Box<dyn BlockingClient + 's>,
    pub source: Arc<dyn Target>,
    pub store: Arc<Store>,
    pub changed: Vec<Changed>,
    /// One entry per commit at the source.
    pub lags: Arc<Mutex<Vec<Lag>>>,
}

impl BlockingClient for Follower<'_> {
    fn operate(&mut self, request: load::Request) -> std::result::Result<Done, Failure> {
        let done = self.change.operate(request)?;
        let committed = Instant::now();
        // A source reads one moment, and a refresh needs the current one.
        let source = self.source.source().map_err(workload::exercise::failure)?;
        let rows = follow(source.as_ref(), &self.store, &self.changed).map_err(failed)?;
        let took = committed.elapsed();
        let mut lags = self.lags.lock().unwrap_or_else(PoisonError::into_inner);
        lags.push(Lag { took, rows });
        Ok(done)
    }

    fn measurement_begins(&mut self) {
        self.change.measurement_begins();
    }
}

fn failed(error: ColumnarError) -> Failure {
    match error {
        ColumnarError::Target(error) => workload::exercise::failure(error),
        other => Failure::Operation(other.to_string()),
    }
}
