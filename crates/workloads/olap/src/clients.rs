//! Clients of one session: a user's queries.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use archive::Execution;
use engine::{Counters, Target};
use host::HostWatch;
use lab::point::fingerprint;
use load::{BlockingClient, Done, Failure};
use workload::exercise::{Worker, failure};

use super::Answer;
use super::answers::{Answers, Question};

pub(super) struct Stream {
    pub worker: Worker,
    pub questions: Vec<Question>,
    pub answers: Arc<Answers>,
    pub has_failed: bool,
}

impl Stream {
    fn question_index(&self, index: u64) -> usize {
        (index % self.questions.len().max(1) as u64) as usize
    }

    fn is_alone(&self) -> bool {
        self.questions.len() == 1
    }

    fn ask(&mut self, number: usize) -> std::result::Result<Done, Failure> {
        let question = &self.questions[number];
        let rows = self.worker.session.texts(&question.sql);
        let answer = Answer::of(rows.map_err(failure)?);
        let judged = self.answers.judge(question, &answer);
        judged.map_err(Failure::Operation)?;
        Ok(Done {
            rows: answer.rows.len() as u64,
            ..Done::default()
        })
    }
}

impl BlockingClient for Stream {
    fn operate(&mut self, request: load::Request) -> std::result::Result<Done, Failure> {
        // A repeated query that failed once is not repeated: it may take its whole limit each time.
        if self.is_alone() && self.has_failed {
            return Err(Failure::Exhausted);
        }
        let number = self.question_index(request.index);
        let outcome = self.ask(number);
        self.has_failed |= outcome.is_err();
        outcome.map_err(|failure| match failure {
            Failure::Operation(what) if !self.is_alone() => {
                Failure::Operation(format!("{}: {what}", self.questions[number].query.code()))
            }
            other => other,
        })
    }

    fn measurement_begins(&mut self) {
        self.worker.measurement_begins();
    }
}

/// Client for one user's queries in rounds, which records each execution.
pub(super) struct InRounds<'s> {
    pub stream: Stream,
    pub target: Arc<dyn Target>,
    pub watch: &'s HostWatch,
    pub executions: &'s Mutex<Vec<Execution>>,
}

struct Reading {
    engine: Counters,
    device_read_bytes: Option<u64>,
}

impl InRounds<'_> {
    fn reading(&mut self) -> Reading {
        let of_session = self.stream.worker.session.counters();
        let of_server = self.target.counters();
        Reading {
            engine: Counters {
                buffer_gets: of_session.buffer_gets.or(of_server.buffer_gets),
                pages_read: of_session.pages_read.or(of_server.pages_read),
                redo_bytes: None,
            },
            device_read_bytes: self.watch.device_read_bytes(),
        }
    }

    /// Record of one execution, from the counters before it.
    fn execution(&mut self, index: u64, before: &Reading, elapsed: Option<Duration>) -> Execution {
        let number = self.stream.question_index(index);
        let now = self.reading();
        let rise = |now: Option<u64>, before: Option<u64>| now?.checked_sub(before?);
        let question = &self.stream.questions[number];
        let session = self.stream.worker.session.as_mut();
        // A plan is optional: the execution counts without it.
        let plan = elapsed.and_then(|_| session.plan(&question.sql).ok().flatten());
        Execution {
            round: (index / self.stream.questions.len() as u64) as u32 + 1,
            statement: question.query.code(),
            elapsed_us: elapsed.map(|elapsed| elapsed.as_micros() as u64),
            plan: plan.map(|text| fingerprint(&[&text])),
            device_read_bytes: rise(now.device_read_bytes, before.device_read_bytes),
            buffer_gets: rise(now.engine.buffer_gets, before.engine.buffer_gets),
            pages_read: rise(now.engine.pages_read, before.engine.pages_read),
        }
    }
}

impl BlockingClient for InRounds<'_> {
    fn operate(&mut self, request: load::Request) -> std::result::Result<Done, Failure> {
        if self.stream.has_failed {
            return Err(Failure::Exhausted);
        }
        let index = request.index;
        let before = self.reading();
        let begun = Instant::now();
        let outcome = self.stream.operate(request);
        let elapsed = outcome.is_ok().then(|| begun.elapsed());
        let execution = self.execution(index, &before, elapsed);
        let executions = self.executions.lock();
        executions
            .unwrap_or_else(PoisonError::into_inner)
            .push(execution);
        outcome
    }

    fn measurement_begins(&mut self) {
        self.stream.measurement_begins();
    }
}
