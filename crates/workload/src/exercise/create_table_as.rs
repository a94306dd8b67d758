//! Creates tables from the rows of another one, each job from its share, compares them and drops them.

use archive::Remark;
use engine::{Result, SCHEMA_MARK, Session};
use load::{BlockingClient, Done, Outcome};

use super::worker::{Worker, failure, once};
use super::{Bench, Exercise, Prepared, prepare_tables};
use crate::data::ROW_BYTES;
use crate::expectation::{Expectation, Sizes};
use crate::library::Table;
use crate::tables;

/// Prefix of the tables; the number of the job follows.
const MADE: &str = "dbdyno_made_";

pub struct CreateTableAs {
    bench: Bench,
    table: Table,
    made: Vec<String>,
}

impl CreateTableAs {
    pub fn new(bench: Bench, table: Table) -> Self {
        Self {
            bench,
            table,
            made: Vec::new(),
        }
    }

    fn rows(&self) -> u64 {
        self.bench.size.rows(self.table)
    }

    fn share(&self, job: u32, jobs: u32) -> (u64, u64) {
        let before = |job: u32| self.rows() * u64::from(job) / u64::from(jobs);
        (before(job) + 1, before(job + 1))
    }
}

fn drop_left(session: &mut dyn Session) -> Result<()> {
    let left = session.relations()?;
    for name in left.keys().filter(|name| name.starts_with(MADE)) {
        session.drop_table(name)?;
    }
    Ok(())
}

impl Exercise for CreateTableAs {
    fn prepare(&mut self) -> Result<Prepared> {
        let mut session = self.bench.target.open_session()?;
        drop_left(session.as_mut())?;
        drop(session);
        self.bench.checkpoint()?;
        prepare_tables(&self.bench, &[self.table])
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        let mut clients: Vec<Box<dyn BlockingClient>> = Vec::new();
        for job in 0..jobs {
            let session = self.bench.target.open_session()?;
            let (first, last) = self.share(job, jobs);
            let name = format!("{MADE}{job}");
            let query = format!(
                "SELECT * FROM {SCHEMA_MARK}.{} WHERE id BETWEEN {first} AND {last}",
                self.table.name()
            );
            let rows = last + 1 - first;
            let (worker, made) = (Worker::new(session, &self.bench.meter), name.clone());
            clients.push(worker.client(move |worker, request| {
                once(request)?;
                let session = worker.session.as_mut();
                session.create_table_as(&made, &query).map_err(failure)?;
                worker.changed += rows;
                Ok(Done {
                    rows,
                    ..Done::default()
                })
            }));
            self.made.push(name);
        }
        Ok(clients)
    }

    fn close(&mut self) -> Result<()> {
        self.bench.checkpoint()
    }

    fn verify(&mut self, outcome: &Outcome) -> Result<Vec<Remark>> {
        let mut session = self.bench.target.open_session()?;
        let mut reasons = Vec::new();
        // Interrupted jobs made no complete table.
        if outcome.errors() == 0 && !outcome.interrupted {
            let each = self.made.iter().map(|name| format!("SELECT * FROM {name}"));
            let all = format!("({}) made", each.collect::<Vec<_>>().join(" UNION ALL "));
            let found = tables::scan(session.as_mut(), &all)?;
            let rows = self.rows();
            let right = Expectation::Scan.answer(Sizes {
                table: rows,
                small: 0,
            });
            if found != right {
                reasons.push(Remark::LoadedRowsWrong { rows });
            }
        }
        drop_left(session.as_mut())?;
        Ok(reasons)
    }

    fn row_bytes(&self) -> Option<u64> {
        Some(ROW_BYTES)
    }
}
