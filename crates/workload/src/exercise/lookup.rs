//! Reads rows by primary or secondary key; every row is compared with the generator's.

use std::sync::Arc;

use engine::{Fetched, Result, Session, Statement, TargetError, Value};
use load::{BlockingClient, Done, Failure, Outcome};
use stats::random::{Permutation, Random};

use super::worker::{Operated, Worker, failure};
use super::{Bench, Exercise, Prepared, prepare_tables};
use crate::data;
use crate::library::{Keys, Table};

/// Smallest block that a cold lookup can read.
const BLOCK_BYTES: u64 = 4096;

pub struct Lookup {
    bench: Bench,
    table: Table,
    keys: Keys,
    rows_per_block: u64,
    transaction: bool,
}

impl Lookup {
    pub fn new(
        bench: Bench,
        table: Table,
        keys: Keys,
        rows_per_block: Option<u64>,
        transaction: bool,
    ) -> Self {
        let rows_per_block = rows_per_block.unwrap_or(1).max(1);
        Self {
            bench,
            table,
            keys,
            rows_per_block,
            transaction,
        }
    }

    fn choice(&self, job: u32, jobs: u32, answers: &Arc<[Fetched]>) -> Choice {
        let rows = self.bench.size.rows(self.table);
        match self.keys {
            Keys::Primary => Choice::Primary {
                random: Random::stream(self.bench.seed, u64::from(job)),
                rows,
            },
            Keys::Secondary => Choice::Secondary {
                random: Random::stream(self.bench.seed, u64::from(job)),
                answers: Arc::clone(answers),
            },
            Keys::EachBlockOnce => Choice::EachBlockOnce {
                blocks: Permutation::new(rows / self.rows_per_block, self.bench.seed),
                rows_per_block: self.rows_per_block,
                rows,
                next: u64::from(job),
                stride: u64::from(jobs),
            },
        }
    }
}

impl Exercise for Lookup {
    fn prepare(&mut self) -> Result<Prepared> {
        prepare_tables(&self.bench, &[self.table])
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        let rows = self.bench.size.rows(self.table);
        let answers: Arc<[Fetched]> = match self.keys {
            Keys::Secondary => (0..data::secondary_keys(rows))
                .map(|key| data::expect_secondary(key, rows))
                .collect(),
            _ => Arc::new([]),
        };
        (0..jobs)
            .map(|job| {
                let mut session = self.bench.target.open_session()?;
                let statement = session.prepare(self.bench.sql())?;
                let mut reader = Reader {
                    statement,
                    choice: self.choice(job, jobs, &answers),
                    lookups: self.bench.amount.rows,
                    transaction: self.transaction,
                    keys: Vec::with_capacity(self.bench.amount.rows as usize),
                };
                let worker = Worker::new(session, &self.bench.meter);
                Ok(worker.client(move |worker, _| reader.operate(worker.session.as_mut())))
            })
            .collect()
    }

    fn device_read_bytes(&self, outcome: &Outcome) -> Option<u64> {
        Some(outcome.rows() * BLOCK_BYTES)
    }
}

enum Choice {
    Primary {
        random: Random,
        rows: u64,
    },
    Secondary {
        random: Random,
        answers: Arc<[Fetched]>,
    },
    EachBlockOnce {
        blocks: Permutation,
        rows_per_block: u64,
        rows: u64,
        next: u64,
        stride: u64,
    },
}

impl Choice {
    /// Next key with its answer; `None` when the keys are used up.
    #[inline]
    fn next(&mut self) -> Option<(i64, Fetched)> {
        match self {
            Choice::Primary { random, rows } => {
                let id = random.range(1, *rows);
                Some((id as i64, data::expect_lookup(id, *rows)))
            }
            Choice::Secondary { random, answers } => {
                let key = random.below(answers.len() as u64);
                Some((key as i64, answers[key as usize]))
            }
            Choice::EachBlockOnce {
                blocks,
                rows_per_block,
                rows,
                next,
                stride,
            } => {
                let block = blocks.at(*next)?;
                *next += *stride;
                let id = block * *rows_per_block
                    + 1
                    + data::row(block + 1, *rows).grp as u64 % *rows_per_block;
                Some((id as i64, data::expect_lookup(id, *rows)))
            }
        }
    }
}

struct Reader {
    statement: Statement,
    choice: Choice,
    lookups: u64,
    transaction: bool,
    keys: Vec<(i64, Fetched)>,
}

enum Wrong {
    Target(TargetError),
    Answer(i64, Fetched),
}

impl Reader {
    fn read_all(&self, session: &mut dyn Session) -> std::result::Result<u64, Wrong> {
        if self.transaction {
            session.begin_read().map_err(Wrong::Target)?;
        }
        let mut rows = 0;
        for (key, right) in &self.keys {
            let found = session
                .fetch(self.statement, &[Value::Int(*key)])
                .map_err(Wrong::Target)?;
            if found != *right {
                return Err(Wrong::Answer(*key, found));
            }
            rows += found.rows;
        }
        if self.transaction {
            session.commit().map_err(Wrong::Target)?;
        }
        Ok(rows)
    }

    fn operate(&mut self, session: &mut dyn Session) -> Operated {
        self.keys.clear();
        for _ in 0..self.lookups {
            match self.choice.next() {
                Some(key) => self.keys.push(key),
                None => break,
            }
        }
        if self.keys.is_empty() {
            return Err(Failure::Exhausted);
        }
        match self.read_all(session) {
            Ok(rows) => Ok(Done {
                rows,
                ..Done::default()
            }),
            Err(wrong) => {
                if self.transaction {
                    session.rollback().map_err(failure)?;
                }
                Err(match wrong {
                    Wrong::Target(error) => failure(error),
                    Wrong::Answer(key, found) => Failure::Operation(format!(
                        "wrong answer: the row{} of key {key} {} not as loaded",
                        if found.rows == 1 { "" } else { "s" },
                        if found.rows == 1 { "is" } else { "are" },
                    )),
                })
            }
        }
    }
}
