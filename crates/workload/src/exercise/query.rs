//! Queries over whole tables; every answer is compared with the one computed from the generator.

use archive::Remark;
use engine::{Fetched, Result, Statement};
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
        (0..jobs)
            .map(|_| {
                let mut session = self.bench.target.open_session()?;
                let statement = session.prepare(self.bench.sql())?;
                let worker = Worker::new(session, &self.bench.meter);
                Ok(Box::new(Asker {
                    worker,
                    statement,
                    right,
                    rows,
                }) as Box<dyn BlockingClient>)
            })
            .collect()
    }

    /// Every answer was compared on arrival.
    fn verify(&mut self, _outcome: &Outcome) -> Result<Vec<Remark>> {
        Ok(Vec::new())
    }

    fn row_bytes(&self) -> Option<u64> {
        (self.bench.test.definition.cache == Cache::Cold).then_some(ROW_BYTES)
    }

    fn device_read_bytes(&self, outcome: &Outcome) -> Option<u64> {
        // A column store may compress the table, but none reaches a fifth of the size here.
        Some(outcome.rows() * ROW_BYTES / 5)
    }
}

struct Asker {
    worker: Worker,
    statement: Statement,
    right: Fetched,
    rows: u64,
}

impl BlockingClient for Asker {
    fn operate(&mut self, _request: load::Request) -> std::result::Result<Done, Failure> {
        let found = self
            .worker
            .session
            .fetch(self.statement, &[])
            .map_err(failure)?;
        if found != self.right {
            return Err(Failure::Operation(format!(
                "wrong answer: the query returned {} rows with digest {:016x}, expected {} with {:016x}",
                found.rows, found.digest, self.right.rows, self.right.digest
            )));
        }
        Ok(Done {
            rows: self.rows,
            retries: 0,
            ..Done::default()
        })
    }

    fn measurement_begins(&mut self) {
        self.worker.measurement_begins();
    }
}
