//! Appends incompressible blocks of 1 MiB, one per transaction: sequential write through the database.

use archive::Remark;
use engine::{Fetched, Result, Value};
use load::{BlockingClient, Done, Outcome};

use super::worker::Worker;
use super::{Bench, Exercise, Prepared, prepare_empty};
use crate::{data, tables};

pub const TABLE: &str = "dbdyno_blob";
/// The 1 MByte of the published tests.
const BLOCK_BYTES: usize = 1 << 20;
/// Jobs number their blocks in separate ranges.
const BLOCKS_PER_JOB: u64 = 1 << 32;
/// Blocks whose content is read back and compared.
const BLOCKS_PROVEN_MAX: u64 = 4;

pub struct BlobWrite {
    bench: Bench,
}

impl BlobWrite {
    pub fn new(bench: Bench) -> Self {
        Self { bench }
    }
}

impl Exercise for BlobWrite {
    fn prepare(&mut self) -> Result<Prepared> {
        prepare_empty(&self.bench, "blob", TABLE)
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        (0..u64::from(jobs))
            .map(|job| {
                let mut session = self.bench.target.open_session()?;
                let statement = session.prepare(&format!("INSERT INTO {TABLE} VALUES (?, ?)"))?;
                let mut block = vec![0; BLOCK_BYTES];
                data::incompressible(job, &mut block);
                let first = job * BLOCKS_PER_JOB;
                let worker = Worker::new(session, &self.bench.meter);
                Ok(worker.client(move |worker, request| {
                    stamp(request.index, &mut block);
                    let id = Value::Int((first + request.index) as i64);
                    let (_, retries) = worker.transact(|session| {
                        session.execute(statement, &[id, Value::Blob(&block)])
                    })?;
                    worker.changed += 1;
                    Ok(Done {
                        rows: 1,
                        retries,
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
        let count =
            tables::query(session.as_mut(), &format!("SELECT count(*) FROM {TABLE}"))?.digest;
        let committed = self.bench.meter.changed();
        let mut reasons = Vec::new();
        if count != committed || committed < outcome.rows() {
            reasons.push(Remark::BlocksWrong {
                found: count,
                committed,
            });
        }
        let read = session.prepare(&format!("SELECT payload FROM {TABLE} WHERE id = ?"))?;
        let mut block = vec![0; BLOCK_BYTES];
        // The blocks of the first job have the numbers from 0 on; only its count gives the last of them.
        let of_first_job = outcome.clients.first().map_or(0, |job| job.operations);
        for index in 0..BLOCKS_PROVEN_MAX.min(of_first_job) {
            data::incompressible(0, &mut block);
            stamp(index, &mut block);
            let mut right = Fetched { rows: 1, digest: 0 };
            right.add_text(0, &block);
            let found = session.fetch(read, &[Value::Int(index as i64)])?;
            // A block of a failed transaction is missing although the total is right.
            if outcome.errors() > 0 && found.rows == 0 {
                continue;
            }
            if found != right {
                reasons.push(Remark::BlockWrong { block: index });
            }
        }
        session.drop_table(TABLE)?;
        Ok(reasons)
    }

    fn row_bytes(&self) -> Option<u64> {
        Some(BLOCK_BYTES as u64)
    }
}

/// Makes each block differ from the one before at little cost, because the driver must not spend its time on random
/// numbers. The number is in every 4 KiB, so that deduplicating storage finds no equal pages.
fn stamp(index: u64, block: &mut [u8]) {
    for page in block.chunks_mut(4096) {
        page[..8].copy_from_slice(&index.to_le_bytes());
    }
}
