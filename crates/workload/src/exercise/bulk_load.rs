//! Loads many rows in one transaction; the time includes flushing them to the data files.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use archive::Remark;
use engine::{Feature, Result};
use load::{BlockingClient, Done, Outcome};

use super::worker::{Worker, failure};
use super::{Bench, Exercise, Prepared, prepare_empty};
use crate::data::{ROW_BYTES, Rows};
use crate::expectation::{Expectation, Sizes};
use crate::tables;

pub const TABLE: &str = "dbdyno_load";

/// Codecs that do not compress. A segment of equal values is always stored as a constant (`version` is 0 in all rows),
/// and an engine may store no validity at all.
const PLAIN: [&str; 3] = ["uncompressed", "constant", "empty validity"];

fn is_plain(codec: &str) -> bool {
    PLAIN.iter().any(|plain| codec.eq_ignore_ascii_case(plain))
}

pub struct BulkLoad {
    bench: Bench,
    compressed: bool,
    /// Compression setting of the target before the test.
    usual: bool,
}

impl BulkLoad {
    pub fn new(bench: Bench, compressed: bool) -> Self {
        let usual = bench.target.compression();
        Self {
            bench,
            compressed,
            usual,
        }
    }

    fn can_compress(&self) -> bool {
        self.bench.target.lacks(Feature::Compression).is_none()
    }

    /// Detects a requested codec that the engine silently ignored.
    fn check_codecs(&self) -> Result<Option<Remark>> {
        let codecs = self.bench.target.storage_of(TABLE)?;
        let plain = codecs.keys().all(|codec| is_plain(codec));
        Ok(match (self.compressed, plain) {
            (true, true) => Some(Remark::NotCompressed),
            (false, false) if !codecs.is_empty() => Some(Remark::Compressed {
                codecs: codecs.keys().cloned().collect(),
            }),
            _ => None,
        })
    }
}

impl Exercise for BulkLoad {
    fn prepare(&mut self) -> Result<Prepared> {
        if self.can_compress() {
            self.bench.target.set_compression(self.compressed)?;
        }
        prepare_empty(&self.bench, "heap", TABLE)
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        let next = Arc::new(AtomicU64::new(1));
        (0..jobs)
            .map(|_| {
                let session = self.bench.target.open_session()?;
                // Number of the next row of all jobs together, so that no row is loaded twice.
                let (next, rows) = (Arc::clone(&next), self.bench.amount.rows);
                let worker = Worker::new(session, &self.bench.meter);
                Ok(worker.client(move |worker, _| {
                    let first = next.fetch_add(rows, Ordering::Relaxed);
                    let mut source = Rows::range(first, first + rows - 1, u64::MAX);
                    let loaded = worker.session.bulk_load(TABLE, &mut source);
                    let rows = loaded.map_err(failure)?;
                    worker.changed += rows;
                    Ok(Done {
                        rows,
                        ..Done::default()
                    })
                }))
            })
            .collect()
    }

    fn close(&mut self) -> Result<()> {
        self.bench.checkpoint()
    }

    fn verify(&mut self, outcome: &Outcome) -> Result<Vec<Remark>> {
        let mut session = self.bench.target.open_session()?;
        let found = tables::scan(session.as_mut(), TABLE)?;
        let committed = self.bench.meter.changed();
        let right = Expectation::Scan.answer(Sizes {
            table: committed,
            small: 0,
        });
        let mut reasons = Vec::new();
        // Rows are numbered without a gap only if every job finished its load.
        if outcome.errors() == 0 && !outcome.interrupted && found != right {
            reasons.push(Remark::LoadedRowsWrong { rows: committed });
        }
        reasons.extend(self.check_codecs()?);
        session.drop_table(TABLE)?;
        Ok(reasons)
    }

    fn row_bytes(&self) -> Option<u64> {
        Some(ROW_BYTES)
    }
}

impl Drop for BulkLoad {
    fn drop(&mut self) {
        if self.can_compress() {
            // The next load that depends on it sets it again, and fails if that is impossible.
            let _ = self.bench.target.set_compression(self.usual);
        }
    }
}
