//! Transactions that insert a few rows into an empty table with a primary key.

use archive::Remark;
use engine::{Fetched, Result, RowSource, Statement};
use load::{BlockingClient, Done, Failure, Outcome};

use super::worker::Worker;
use super::{Bench, Exercise, Prepared, prepare_empty};
use crate::data::{self, Rows};
use crate::tables;

pub const TABLE: &str = "dbdyno_insert";
/// Jobs insert into separate key ranges, so that they do not wait for each other's rows.
const KEYS_PER_JOB: u64 = 1 << 40;

pub struct Insert {
    bench: Bench,
}

impl Insert {
    pub fn new(bench: Bench) -> Self {
        Self { bench }
    }
}

impl Exercise for Insert {
    fn prepare(&mut self) -> Result<Prepared> {
        prepare_empty(&self.bench, "bench", TABLE)
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        (0..u64::from(jobs))
            .map(|job| {
                let mut session = self.bench.target.open_session()?;
                let statement = session.prepare(&format!(
                    "INSERT INTO {TABLE} VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                ))?;
                Ok(Box::new(Inserter {
                    worker: Worker::new(session, &self.bench.meter),
                    statement,
                    next: job * KEYS_PER_JOB + 1,
                    rows: self.bench.amount.rows,
                }) as Box<dyn BlockingClient>)
            })
            .collect()
    }

    fn verify(&mut self, outcome: &Outcome) -> Result<Vec<Remark>> {
        let mut session = self.bench.target.open_session()?;
        let sql = format!("SELECT count(*), sum(amount) FROM {TABLE}");
        let found = tables::query(session.as_mut(), &sql)?;
        let committed = self.bench.meter.changed();
        let mut right = Fetched { rows: 1, digest: 0 };
        right.add_int(0, committed as i64);
        right.add_int(1, self.bench.meter.sum() as i64);
        session.drop_table(TABLE)?;
        let mut reasons = Vec::new();
        if found != right || committed < outcome.rows() {
            reasons.push(Remark::InsertedRowsWrong { rows: committed });
        }
        Ok(reasons)
    }
}

struct Inserter {
    worker: Worker,
    statement: Statement,
    next: u64,
    rows: u64,
}

impl BlockingClient for Inserter {
    fn operate(&mut self, _request: load::Request) -> std::result::Result<Done, Failure> {
        let (statement, first, rows) = (self.statement, self.next, self.rows);
        // A key is not used again, even if its transaction failed.
        self.next += rows;
        let ((), retries) = self.worker.transact(|session| {
            let mut source = Rows::range(first, first + rows - 1, u64::MAX);
            while source.next_row(&mut |row| session.execute(statement, row).map(|_| ()))? {}
            Ok(())
        })?;
        self.worker.changed += rows;
        self.worker.sum += (first..first + rows)
            .map(|id| data::row(id, u64::MAX).amount as u64)
            .sum::<u64>();
        Ok(Done {
            rows,
            retries,
            ..Done::default()
        })
    }

    fn measurement_begins(&mut self) {
        self.worker.measurement_begins();
    }
}
