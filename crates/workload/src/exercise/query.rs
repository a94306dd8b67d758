//! Queries over whole tables; every answer is compared with the one computed from the generator.

use engine::{Fetched, Result};
use load::{BlockingClient, Done, Failure, Outcome};

use super::worker::{Worker, failure};
use super::{Bench, Exercise, Prepared, prepare_tables};
use crate::data::ROW_BYTES;
use crate::expectation::{Expectation, Sizes};
use crate::library::{Cache, Table};
use crate::volume::tables_of_query;

pub struct Query {
    bench: Bench,
    table: Table,
    answer: Expectation,
}

impl Query {
    pub fn new(bench: Bench, table: Table, answer: Expectation) -> Self {
        Self {
            bench,
            table,
            answer,
        }
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            table: self.bench.size.rows(self.table),
            small: self.bench.size.small,
        }
    }
}

impl Exercise for Query {
    fn prepare(&mut self) -> Result<Prepared> {
        prepare_tables(&self.bench, &tables_of_query(self.table, self.answer))
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        let right = self.answer.answer(self.sizes());
        let rows = self.answer.rows_processed(self.sizes());
        let is_cold = self.bench.test.definition.cache == Cache::Cold;
        (0..jobs)
            .map(|_| {
                let mut passes = 0;
                let mut session = self.bench.target.open_session()?;
                let statement = session.prepare(self.bench.sql())?;
                let worker = Worker::new(session, &self.bench.meter);
                Ok(worker.client(move |worker, _| {
                    // The first pass brings the table into memory, so that a second would measure the cache.
                    if is_cold && passes > 0 {
                        return Err(Failure::Exhausted);
                    }
                    passes += 1;
                    let found = worker.session.fetch(statement, &[]).map_err(failure)?;
                    compare(found, right)?;
                    Ok(Done {
                        rows,
                        ..Done::default()
                    })
                }))
            })
            .collect()
    }

    fn row_bytes(&self) -> Option<u64> {
        (self.bench.test.definition.cache == Cache::Cold).then_some(ROW_BYTES)
    }

    fn device_read_bytes(&self, outcome: &Outcome) -> Option<u64> {
        // A column store may compress the table, but none reaches a fifth of the size here.
        Some(outcome.rows() * ROW_BYTES / 5)
    }
}

fn compare(found: Fetched, right: Fetched) -> std::result::Result<(), Failure> {
    if found == right {
        return Ok(());
    }
    Err(Failure::Operation(format!(
        "wrong answer: the query returned {} rows with digest {:016x}, expected {} with {:016x}",
        found.rows, found.digest, right.rows, right.digest
    )))
}
