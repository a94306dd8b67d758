//! Computes something in one statement: the tests of the processor.

use archive::Remark;
use load::{BlockingClient, Done, Failure, Outcome};
use target::{Fetched, Result, Statement, Value};

use super::worker::{Worker, failure};
use super::{Bench, Exercise, Prepared};

pub struct Expression {
    bench: Bench,
    parameter: i64,
    passes: u64,
    answer: i64,
}

impl Expression {
    pub fn new(bench: Bench, parameter: i64, passes: u64, answer: i64) -> Self {
        Self {
            bench,
            parameter,
            passes,
            answer,
        }
    }
}

impl Exercise for Expression {
    fn prepare(&mut self) -> Result<Prepared> {
        self.bench.create_stored_code()?;
        Ok(Prepared {
            state: "no table".into(),
            cache: self.bench.test.definition.cache.state(),
            reasons: Vec::new(),
        })
    }

    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>> {
        (0..jobs)
            .map(|_| {
                let mut session = self.bench.target.open_session()?;
                let statement = session.prepare(self.bench.sql())?;
                Ok(Box::new(Computer {
                    worker: Worker::new(session, &self.bench.meter),
                    statement,
                    parameter: self.parameter,
                    answer: self.answer,
                }) as Box<dyn BlockingClient>)
            })
            .collect()
    }

    /// Every answer was compared when it came.
    fn verify(&mut self, _outcome: &Outcome) -> Result<Vec<Remark>> {
        Ok(Vec::new())
    }

    fn operations_scale(&self) -> u64 {
        self.passes
    }
}

struct Computer {
    worker: Worker,
    statement: Statement,
    parameter: i64,
    answer: i64,
}

impl BlockingClient for Computer {
    fn operate(&mut self, _request: load::Request) -> std::result::Result<Done, Failure> {
        let right = Fetched {
            rows: 1,
            digest: self.answer as u64,
        };
        let found = self
            .worker
            .session
            .fetch(self.statement, &[Value::Int(self.parameter)])
            .map_err(failure)?;
        if found != right {
            return Err(Failure::Operation(format!(
                "wrong answer: the statement returned {} (in {} rows), expected {}",
                found.digest as i64, found.rows, self.answer
            )));
        }
        Ok(Done {
            rows: 0,
            retries: 0,
            ..Done::default()
        })
    }

    fn measurement_begins(&mut self) {
        self.worker.measurement_begins();
    }
}
