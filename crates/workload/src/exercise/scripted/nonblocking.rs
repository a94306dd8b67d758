//! A job in an event loop, for engines whose answers can be awaited.

use std::os::fd::RawFd;

use load::{Done, Failure, NonblockingClient, Turn};
use target::{ErrorKind, Nonblocking, Request, Result, Sent, TargetError};

use super::client::Runner;
use super::hand::Hand;
use super::plan::{Ask, Opening};
use crate::transaction_error::TransactionError;

/// Runs the transactions of a script one after another without waiting.
pub struct Client {
    job: Runner,
    descriptor: RawFd,
    /// What was sent last.
    sent: Group,
    /// Whether a part of it is still to be sent.
    writing: bool,
    retries: u32,
    rows: u64,
}

/// What is under way.
#[derive(Debug)]
enum Group {
    Nothing,
    /// The group of this number of the transaction at hand.
    Of(usize),
    /// A rollback, and what comes after it: the failure, or the transaction once more.
    Rollback(Option<Failure>),
}

impl Client {
    /// The station of a job; `None` where the engine's calls block.
    pub fn new(mut job: Runner) -> Option<Self> {
        let descriptor = job.worker.session.nonblocking()?.descriptor();
        Some(Self {
            job,
            descriptor,
            sent: Group::Nothing,
            writing: false,
            retries: 0,
            rows: 0,
        })
    }

    fn session(&mut self) -> Result<&mut dyn Nonblocking> {
        self.job.worker.session.nonblocking().ok_or_else(blocks)
    }

    /// Sends the group `number` of the transaction at hand.
    #[inline]
    fn send_group(&mut self, number: usize) -> Turn {
        self.sent = Group::Of(number);
        let Runner { hand, worker, .. } = &mut self.job;
        let asked = match worker.session.nonblocking() {
            Some(session) => ask(hand, session, number),
            None => Err(TransactionError::Target(blocks())),
        };
        match asked {
            Ok(sent) => self.waits(sent),
            // Nothing of the group has left, but the transaction may have begun before.
            Err(wrong) => self.went_wrong(wrong),
        }
    }

    fn waits(&mut self, sent: Sent) -> Turn {
        self.writing = sent == Sent::Part;
        match self.writing {
            true => Turn::Writing,
            false => Turn::Reading,
        }
    }

    /// Everything that was sent was answered.
    #[inline]
    fn group_answered(&mut self) -> Turn {
        if let Group::Of(number) = self.sent {
            return self.answered(number);
        }
        match std::mem::replace(&mut self.sent, Group::Nothing) {
            Group::Rollback(failure) => self.after_rollback(failure, 0),
            Group::Of(_) | Group::Nothing => Turn::Reading,
        }
    }

    /// The group `number` was answered.
    #[inline]
    fn answered(&mut self, number: usize) -> Turn {
        match self.check(number) {
            Err(wrong) => return self.went_wrong(wrong),
            Ok(rows) => self.rows += rows,
        }
        let Runner { hand, tally, .. } = &mut self.job;
        let current = hand.current();
        if number + 1 < hand.ready().transactions[current].groups.len() {
            return self.send_group(number + 1);
        }
        tally.end(current, self.rows);
        self.sent = Group::Nothing;
        Turn::Finished(Ok(Done {
            rows: self.rows,
            retries: self.retries,
            ..Done::default()
        }))
    }

    /// Rows of a group, each statement's held against what is expected.
    #[inline]
    fn check(&mut self, number: usize) -> std::result::Result<u64, TransactionError> {
        let hand = &mut self.job.hand;
        if let Some(error) = hand.replies.take_error() {
            return Err(TransactionError::Target(error));
        }
        if hand.replies.rolled_back() {
            return Err(TransactionError::Effect(
                "wrong effect: what was to be committed was rolled back".into(),
            ));
        }
        let mut rows = 0;
        let group = &hand.ready().transactions[hand.current()].groups[number];
        for (at, ask) in group.iter().enumerate() {
            if let Ask::Statement(statement) = ask {
                let done = hand.replies.rows(at).unwrap_or(0);
                hand.check_rows(*statement, done)?;
                rows += done;
            }
        }
        Ok(rows)
    }

    /// The transaction cannot go on: it is rolled back, and begun anew after a conflict.
    #[cold]
    fn went_wrong(&mut self, wrong: TransactionError) -> Turn {
        let again = wrong.is_conflict() && self.retries < self.job.hand.ready().retries;
        let failure = (!again).then(|| wrong.into_failure(self.retries));
        if let Some(fatal @ Failure::Fatal(_)) = failure {
            self.sent = Group::Nothing;
            return Turn::Finished(Err(fatal));
        }
        let from = match self.sent {
            Group::Of(number) if self.is_autocommit() => number,
            _ => 0,
        };
        let session = match self.session() {
            Ok(session) => session,
            Err(error) => return self.broken(error),
        };
        if !session.in_transaction() {
            return self.after_rollback(failure, from);
        }
        let sent = session
            .queue(Request::Rollback)
            .and_then(|()| session.send());
        self.job.hand.replies.clear();
        self.job.hand.replies.awaits(None);
        self.sent = Group::Rollback(failure);
        match sent {
            Ok(sent) => self.waits(sent),
            Err(error) => self.broken(error),
        }
    }

    fn is_autocommit(&self) -> bool {
        let hand = &self.job.hand;
        hand.ready().transactions[hand.current()].opening == Opening::Autocommit
    }

    #[cold]
    fn after_rollback(&mut self, failure: Option<Failure>, from: usize) -> Turn {
        match failure {
            Some(failure) => {
                self.sent = Group::Nothing;
                Turn::Finished(Err(failure))
            }
            None => {
                self.retries += 1;
                if from == 0 {
                    self.rows = 0;
                }
                self.send_group(from)
            }
        }
    }

    #[cold]
    fn broken(&mut self, error: TargetError) -> Turn {
        self.sent = Group::Nothing;
        Turn::Finished(Err(
            TransactionError::Target(error).into_failure(self.retries)
        ))
    }

    /// Sends what is left and takes what has come; whether all of the group was answered.
    #[inline]
    fn exchange(&mut self) -> Result<Option<Turn>> {
        let writing = self.writing;
        let Runner { hand, worker, .. } = &mut self.job;
        let session = worker.session.nonblocking().ok_or_else(blocks)?;
        if writing {
            session.send()?;
        }
        let all = session.receive(&mut hand.replies)?;
        // An answer may have set free what follows it.
        let sent = match session.waits_for_room() {
            true => Sent::Part,
            false => Sent::All,
        };
        Ok((!all).then(|| self.waits(sent)))
    }
}

/// Encodes and sends a group.
#[inline]
fn ask(
    hand: &mut Hand,
    session: &mut dyn Nonblocking,
    number: usize,
) -> std::result::Result<Sent, TransactionError> {
    hand.replies.clear();
    let ready = std::sync::Arc::clone(hand.ready());
    let transaction = &ready.transactions[hand.current()];
    for ask in &transaction.groups[number] {
        let (request, kept) = match ask {
            Ask::Begin if transaction.opening == Opening::Read => (Request::BeginRead, None),
            Ask::Begin => (Request::Begin, None),
            Ask::Commit => (Request::Commit, None),
            Ask::Statement(statement) => {
                let handle = hand.handle(*statement);
                hand.with_parameters(*statement, |parameters| {
                    let request = Request::Execute(handle.statement, parameters);
                    session.queue(request).map_err(TransactionError::Target)
                })?;
                let kept = !transaction.statements[*statement].columns.is_empty();
                hand.replies.awaits(kept.then_some(*statement));
                continue;
            }
        };
        session.queue(request).map_err(TransactionError::Target)?;
        hand.replies.awaits(kept);
    }
    session.send().map_err(TransactionError::Target)
}

#[cold]
fn blocks() -> TargetError {
    TargetError::new(
        ErrorKind::Statement,
        "the session cannot be driven without waiting any more",
    )
}

impl NonblockingClient for Client {
    fn descriptor(&self) -> RawFd {
        self.descriptor
    }

    #[inline]
    fn begin(&mut self, _request: load::Request) -> Turn {
        self.job.hand.choose();
        self.job.tally.begin();
        (self.retries, self.rows) = (0, 0);
        self.send_group(0)
    }

    #[inline]
    fn ready(&mut self) -> Turn {
        match self.exchange() {
            Ok(Some(waits)) => return waits,
            Ok(None) => {}
            Err(error) => return self.broken(error),
        }
        self.group_answered()
    }

    #[inline]
    fn await_ready(&mut self) -> Option<Turn> {
        let Runner { hand, worker, .. } = &mut self.job;
        let session = worker.session.nonblocking()?;
        let came = session.await_replies(&mut hand.replies);
        Some(match came {
            Ok(()) => self.group_answered(),
            Err(error) => self.broken(error),
        })
    }

    fn measurement_begins(&mut self) {
        self.job.tally.measurement_begins();
    }
}
