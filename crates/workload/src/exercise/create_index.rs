//! Creates an index over a table, checks it and drops it.

use archive::Remark;
use engine::{Result, Value};
use load::{BlockingClient, Done, Outcome};

use super::worker::{Worker, failure, once};
use super::{Bench, Exercise, Prepared, prepare_tables};
use crate::data;
use crate::library::Table;
use crate::owned::with_schema;

const KEYS_PROVEN: u64 = 16;

pub struct CreateIndex {
    bench: Bench,
    table: Table,
}

impl CreateIndex {
    pub fn new(bench: Bench, table: Table) -> Self {
        Self { bench, table }
    }

    fn index_name(&self) -> String {
        format!("{}_made", self.table.name())
    }
}

impl Exercise for CreateIndex {
    fn prepare(&mut self) -> Result<Prepared> {
        let prepared = prepare_tables(&self.bench, &[self.table])?;
        // A killed run may have left one.
        let mut session = self.bench.target.open_session()?;
        session.drop_index_if_exists(self.table.name(), &self.index_name())?;
        drop(session);
        self.bench.checkpoint()?;
        Ok(prepared)
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        // An index of this name can be created only once.
        (0..jobs.min(1))
            .map(|_| {
                let session = self.bench.target.open_session()?;
                let sql = with_schema(session.as_ref(), self.bench.sql());
                let rows = self.bench.size.rows(self.table);
                let worker = Worker::new(session, &self.bench.meter);
                Ok(worker.client(move |worker, request| {
                    once(request)?;
                    worker.session.batch(&sql).map_err(failure)?;
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

    fn verify(&mut self, _outcome: &Outcome) -> Result<Vec<Remark>> {
        let rows = self.bench.size.rows(self.table);
        let mut session = self.bench.target.open_session()?;
        let sql = format!(
            "SELECT amount, day FROM {} WHERE skey = ?",
            self.table.name()
        );
        let lookup = session.prepare(&sql)?;
        let mut reasons = Vec::new();
        for key in (0..data::secondary_keys(rows)).take(KEYS_PROVEN as usize) {
            let found = session.fetch(lookup, &[Value::Int(key as i64)])?;
            if found != data::expect_secondary(key, rows) {
                reasons.push(Remark::IndexedRowsWrong { key });
            }
        }
        drop(session);
        let mut session = self.bench.target.open_session()?;
        // This fails if the index was not created.
        if let Err(error) = session.drop_index(self.table.name(), &self.index_name()) {
            reasons.push(Remark::IndexMissing {
                error: error.to_string(),
            });
        }
        Ok(reasons)
    }
}
