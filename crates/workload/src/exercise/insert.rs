//! Transactions that insert a few rows into an empty table with a primary key.

use archive::Remark;
use engine::{Fetched, Result, RowSource, Statement};
use load::{BlockingClient, Done, Outcome};

use super::worker::{Operated, Worker};
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
                let (mut next, rows) = (job * KEYS_PER_JOB + 1, self.bench.amount.rows);
                let worker = Worker::new(session, &self.bench.meter);
                Ok(worker.client(move |worker, _| {
                    // A key is not used again, even if its transaction failed.
                    let first = next;
                    next += rows;
                    insert(worker, statement, first, rows)
                }))
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

fn insert(worker: &mut Worker, statement: Statement, first: u64, rows: u64) -> Operated {
    let ((), retries) = worker.transact(|session| {
        let mut source = Rows::range(first, first + rows - 1, u64::MAX);
        while source.next_row(&mut |row| session.execute(statement, row).map(|_| ()))? {}
        Ok(())
    })?;
    worker.changed += rows;
    let amounts = (first..first + rows).map(|id| data::row(id, u64::MAX).amount as u64);
    worker.sum += amounts.sum::<u64>();
    Ok(Done {
        rows,
        retries,
        ..Done::default()
    })
}
