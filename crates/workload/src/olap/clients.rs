//! What one session does: a user's queries, or refreshes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use load::{BlockingClient, Done, Failure};
use target::Session;

use super::answers::{Answers, Question};
use super::refresh::{Function, RefreshSet, Statements};
use super::{Answer, Scale};
use crate::exercise::{Worker, failure};

/// One user's queries.
pub(super) struct Stream {
    pub worker: Worker,
    pub questions: Vec<Question>,
    pub answers: Arc<Answers>,
    /// A query that is asked again and again is not, once it failed: it may take its whole limit each time.
    pub is_alone: bool,
    pub has_failed: bool,
}

impl Stream {
    fn ask(&mut self, place: usize) -> std::result::Result<Done, Failure> {
        let question = &self.questions[place];
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
        let index = request.index;
        if self.is_alone && self.has_failed {
            return Err(Failure::Exhausted);
        }
        let place = (index % self.questions.len().max(1) as u64) as usize;
        let outcome = self.ask(place);
        self.has_failed |= outcome.is_err();
        outcome.map_err(|failure| match failure {
            Failure::Operation(what) if !self.is_alone => {
                Failure::Operation(format!("{}: {what}", self.questions[place].query.code()))
            }
            other => other,
        })
    }

    fn measurement_begins(&mut self) {
        self.worker.measurement_begins();
    }
}

/// Carries out refresh functions, each in one transaction.
pub(super) struct Refresher<'s> {
    pub worker: Worker,
    pub statements: Statements,
    /// Each with the number of its set.
    pub functions: Vec<(Function, u32)>,
    pub scale: Scale,
    pub stop: &'s AtomicBool,
}

impl BlockingClient for Refresher<'_> {
    fn operate(&mut self, request: load::Request) -> std::result::Result<Done, Failure> {
        let index = request.index;
        let Some((function, number)) = self.functions.get(index as usize).copied() else {
            return Err(Failure::Exhausted);
        };
        let scale = self.scale;
        let set = RefreshSet { scale, number };
        let (statements, stop) = (&self.statements, self.stop);
        let work = |session: &mut dyn Session| statements.carry_out(session, function, set, stop);
        let (rows, retries) = self.worker.transact(work)?;
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
