//! A client in an event loop, and the replacement of its connection.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use crate::cancellation::{Cancellation, ExitReason};
use crate::clock::{Clock, ns};
use crate::recorder::Recorder;
use crate::service::{Completion, Service};
use crate::{Done, Failure, NonblockingClient, Turn};

pub type Replacement<'o> = Result<Box<dyn NonblockingClient + 'o>, String>;

#[derive(Clone, Copy)]
pub struct Rules<'a> {
    pub limit: Option<Duration>,
    pub open: &'a AtomicUsize,
    pub until_ns: u64,
    pub clock: &'a Clock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It has an operation that is due at this time, since the common start.
    At(u64),
    Park,
    Mend,
    Leave(ExitReason),
}

pub struct Client<'a, 'o> {
    pub number: usize,
    pub service: Service<'a>,
    connection: Option<Box<dyn NonblockingClient + 'o>>,
    descriptor: RawFd,
    rules: Rules<'a>,
    overdue_ns: u64,
    parked: bool,
    /// Channel for requests for another connection, if there are replacements.
    replacements: Option<Sender<Sender<Replacement<'o>>>>,
    comes: Option<Receiver<Replacement<'o>>>,
}

impl<'a, 'o> Client<'a, 'o> {
    pub fn new(
        number: usize,
        connection: Box<dyn NonblockingClient + 'o>,
        service: Service<'a>,
        rules: Rules<'a>,
        replacements: Option<Sender<Sender<Replacement<'o>>>>,
    ) -> Self {
        Self {
            number,
            service,
            descriptor: connection.descriptor(),
            connection: Some(connection),
            rules,
            overdue_ns: u64::MAX,
            parked: false,
            replacements,
            comes: None,
        }
    }

    #[inline]
    pub fn started_ns(&self) -> u64 {
        self.service.started_ns()
    }

    pub fn descriptor(&self) -> RawFd {
        self.descriptor
    }

    /// The first step, and the step after each operation; after [`Next::Park`] it is called at the common start.
    #[inline]
    pub fn next(&mut self) -> Next {
        if self.parked {
            self.next_due()
        } else {
            self.warm_up()
        }
    }

    #[inline]
    fn next_due(&mut self) -> Next {
        let Some(due) = self.service.next() else {
            return Next::Leave(ExitReason::Over);
        };
        if due.enters {
            self.measurement_begins();
        }
        Next::At(due.at_ns)
    }

    #[cold]
    fn warm_up(&mut self) -> Next {
        self.parked = !self.service.ramps_up();
        if self.parked { Next::Park } else { Next::At(0) }
    }

    /// The measured window begins, at the next operation or at the common start, which is near.
    pub fn measurement_begins(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.measurement_begins();
        }
    }

    #[inline]
    pub fn begin(&mut self, now_ns: u64) -> Turn {
        let request = self.service.begin(now_ns);
        if let Some(limit) = self.rules.limit {
            self.overdue_ns = now_ns.saturating_add(ns(limit));
        }
        match &mut self.connection {
            Some(connection) => connection.begin(request),
            None => Turn::Reading,
        }
    }

    #[inline]
    pub fn ready(&mut self) -> Turn {
        match &mut self.connection {
            Some(connection) => connection.ready(),
            None => Turn::Reading,
        }
    }

    #[inline]
    pub fn await_ready(&mut self) -> Option<Turn> {
        match self.rules.limit {
            Some(_) => None,
            None => self.connection.as_mut()?.await_ready(),
        }
    }

    /// Records how and when the operation in progress ended, and whether the next one counts; returns the reason if
    /// the client leaves.
    #[inline]
    pub fn end(
        &mut self,
        now_ns: u64,
        counts_next: bool,
        result: Result<Done, Failure>,
        recorder: &mut Recorder,
        cancellation: &Cancellation,
    ) -> Option<ExitReason> {
        let ended = self.service.end(now_ns, counts_next, result.is_ok());
        match (result, ended) {
            (Ok(done), Completion::Measured(kind, timing)) => {
                self.service.account().completed(&timing, done.rows);
                recorder.completed(kind, &timing, &done);
                None
            }
            (Err(Failure::Operation(message)), Completion::Measured(kind, timing)) => {
                self.service.account().failed(&timing);
                recorder.failed(kind, &timing, &message);
                None
            }
            (Ok(_), Completion::Unmeasured) => None,
            (Err(failure), _) => self.service.give_up(failure, cancellation),
        }
    }

    pub fn is_overdue(&self, now_ns: u64) -> bool {
        now_ns > self.overdue_ns
    }

    /// Gives up the overdue operation in progress and its connection, which is no longer watched.
    #[cold]
    pub fn give_up(
        &mut self,
        now_ns: u64,
        recorder: &mut Recorder,
        cancellation: &Cancellation,
    ) -> Next {
        self.connection = None;
        if let Completion::Measured(kind, timing) = self.service.end(now_ns, true, false) {
            let limit = self.rules.limit.unwrap_or(Duration::MAX);
            self.service.account().failed(&timing);
            recorder.timed_out(kind, &timing, limit);
        }
        self.service.abandon();
        recorder.connection_lost();
        let (sender, receiver) = channel();
        let wanted = self.replacements.as_ref();
        match wanted.map(|wanted| wanted.send(sender)) {
            Some(Ok(())) => {
                self.rules.clock.sent();
                self.comes = Some(receiver);
                Next::Mend
            }
            Some(Err(_)) | None => self.lost(
                "connections that do not answer are closed",
                recorder,
                cancellation,
            ),
        }
    }

    /// The step after [`Next::Mend`]; `None` while there is none. The descriptor may have changed then.
    #[cold]
    pub fn mended(
        &mut self,
        now_ns: u64,
        recorder: &mut Recorder,
        cancellation: &Cancellation,
    ) -> Option<Next> {
        if now_ns >= self.rules.until_ns {
            return Some(Next::Leave(ExitReason::Over));
        }
        let came = self.comes.as_ref().map(Receiver::try_recv);
        match came {
            Some(Ok(Ok(connection))) => {
                self.descriptor = connection.descriptor();
                self.connection = Some(connection);
                self.service.reopen(now_ns);
                Some(self.next_due())
            }
            Some(Err(TryRecvError::Empty)) => None,
            Some(Ok(Err(why))) => Some(self.lost(&why, recorder, cancellation)),
            Some(Err(TryRecvError::Disconnected)) | None => Some(self.lost(
                "a replacement connection cannot be opened",
                recorder,
                cancellation,
            )),
        }
    }

    /// There is no other connection; the last client to find out ends the drive.
    #[cold]
    fn lost(&mut self, why: &str, recorder: &mut Recorder, cancellation: &Cancellation) -> Next {
        recorder.add_message(why, 0);
        if self.rules.open.fetch_sub(1, Relaxed) == 1 {
            cancellation.fail(format!("no connection is left: {why}"));
        }
        Next::Leave(ExitReason::Lost)
    }

    /// The client has left, and requests no more connections.
    pub fn finish(&mut self) {
        self.replacements = None;
    }
}
