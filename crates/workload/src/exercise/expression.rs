//! Computes an expression in one statement: the tests of the processor.

use archive::Remark;
use engine::{Fetched, Result, Statement, Value};
use load::{BlockingClient, Done, Failure, Outcome};

use super::worker::{Operated, Worker, failure};
use super::{Bench, Exercise, Prepared};
use crate::library::Computation;

pub struct Expression {
    bench: Bench,
    computed: Computation,
    /// Input of the published size, if that is larger.
    published: Option<Computation>,
}

impl Expression {
    /// Computes the published input at the published size, and the smaller one, if any, at all others.
    pub fn new(bench: Bench, published: Computation, smaller: Option<Computation>) -> Self {
        let smaller = smaller.filter(|_| !bench.size.is_published());
        Self {
            bench,
            computed: smaller.unwrap_or(published),
            published: smaller.map(|_| published),
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
                let computed = self.computed;
                let worker = Worker::new(session, &self.bench.meter);
                Ok(worker.client(move |worker, _| compute(worker, statement, computed)))
            })
            .collect()
    }

    /// Note with the extrapolated time of the published input, if a smaller one was computed.
    fn notes(&self, outcome: &Outcome) -> Vec<Remark> {
        let service = outcome.total().service;
        let published = self.published.filter(|_| !service.is_empty());
        let smaller = published.map(|published| Remark::SmallerInput {
            input: self.computed.parameter.unsigned_abs(),
            input_published: published.parameter.unsigned_abs(),
            scaled_s: service.mean_us() / 1e6 * published.passes as f64
                / self.computed.passes as f64,
        });
        smaller.into_iter().collect()
    }

    fn operations_scale(&self) -> u64 {
        self.computed.passes
    }
}

fn compute(worker: &mut Worker, statement: Statement, computed: Computation) -> Operated {
    let found = (worker.session)
        .fetch(statement, &[Value::Int(computed.parameter)])
        .map_err(failure)?;
    let right = Fetched {
        rows: 1,
        digest: computed.answer as u64,
    };
    if found == right {
        return Ok(Done::default());
    }
    Err(Failure::Operation(format!(
        "wrong answer: the statement returned {} (in {} rows), expected {}",
        found.digest as i64, found.rows, computed.answer
    )))
}
