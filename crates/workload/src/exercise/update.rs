//! Transactions that update rows by primary key; afterwards the sum of all versions proves them.

use archive::Remark;
use engine::{Result, Statement, TargetError, Value};
use load::{BlockingClient, Done, Outcome};
use stats::random::Random;

use super::worker::{Operated, Worker};
use super::{Bench, Exercise, Prepared, prepare_tables};
use crate::library::Table;
use crate::tables;

pub struct Update {
    bench: Bench,
    table: Table,
    checkpoint: bool,
    versions_before: u64,
}

impl Update {
    pub fn new(bench: Bench, table: Table, checkpoint: bool) -> Self {
        Self {
            bench,
            table,
            checkpoint,
            versions_before: 0,
        }
    }

    fn versions(&self) -> Result<u64> {
        let mut session = self.bench.target.open_session()?;
        let sql = format!("SELECT sum(version) FROM {}", self.table.name());
        Ok(tables::query(session.as_mut(), &sql)?.digest)
    }
}

impl Exercise for Update {
    fn prepare(&mut self) -> Result<Prepared> {
        let mut prepared = prepare_tables(&self.bench, &[self.table])?;
        self.versions_before = self.versions()?;
        if self.versions_before > 0 {
            prepared.state = "updated by earlier points, analysed".into();
        }
        self.bench.checkpoint()?;
        Ok(prepared)
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        let rows = self.bench.size.rows(self.table);
        let share = rows / u64::from(jobs);
        (0..u64::from(jobs))
            .map(|job| {
                let mut session = self.bench.target.open_session()?;
                let statement = session.prepare(self.bench.sql())?;
                let mut random = Random::stream(self.bench.seed, job);
                let (first, last) = (job * share + 1, (job + 1) * share);
                let mut keys = vec![0; self.bench.amount.rows as usize];
                let worker = Worker::new(session, &self.bench.meter);
                Ok(worker.client(move |worker, _| {
                    // The keys are chosen before the transaction, so that a retry updates the same rows.
                    keys.fill_with(|| random.range(first, last) as i64);
                    update(worker, statement, &keys)
                }))
            })
            .collect()
    }

    fn close(&mut self) -> Result<()> {
        if self.checkpoint {
            self.bench.checkpoint()
        } else {
            Ok(())
        }
    }

    fn verify(&mut self, outcome: &Outcome) -> Result<Vec<Remark>> {
        let mut reasons: Vec<Remark> = tables::proof(&self.bench, self.table)?
            .into_iter()
            .collect();
        let added = self.versions()?.wrapping_sub(self.versions_before);
        let committed = self.bench.meter.changed();
        if added != committed || committed < outcome.rows() {
            reasons.push(Remark::UpdatesWrong {
                found: added,
                committed,
                measured: outcome.rows(),
            });
        }
        Ok(reasons)
    }
}

fn update(worker: &mut Worker, statement: Statement, keys: &[i64]) -> Operated {
    let ((), retries) = worker.transact(|session| {
        for key in keys {
            let changed = session.execute(statement, &[Value::Int(*key)])?;
            if changed != 1 {
                return Err(TargetError::statement(format!(
                    "wrong effect: the update of key {key} changed {changed} rows instead of 1"
                )));
            }
        }
        Ok(())
    })?;
    let rows = keys.len() as u64;
    worker.changed += rows;
    Ok(Done {
        rows,
        retries,
        ..Done::default()
    })
}
