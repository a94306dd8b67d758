//! A client in an event loop, and how its connection is lost and replaced.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use crate::cancellation::{Cancellation, ExitReason};
use crate::clock::{Clock, ns};
use crate::recorder::Recorder;
use crate::service::{Ended, Service};
use crate::{Done, Failure, NonblockingClient, Turn};

/// Another connection, or why there is none.
pub type Replacement<'o> = Result<Box<dyn NonblockingClient + 'o>, String>;

/// What all clients of a drive share.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// Longest time of one operation.
    pub limit: Option<Duration>,
    pub open: &'a AtomicUsize,
    /// When nothing is begun any more.
    pub until_ns: u64,
    pub clock: &'a Clock,
}

/// What a client does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// An operation that is due at this time, since the common start.
    At(u64),
    /// It waits for the common start.
    Park,
    /// It waits for another connection.
    Mend,
    Leave(ExitReason),
}

/// A client and its connection.
pub struct Client<'a, 'o> {
    /// Its number in the drive, from 0.
    pub number: usize,
    pub service: Service<'a>,
    connection: Option<Box<dyn NonblockingClient + 'o>>,
    descriptor: RawFd,
    rules: Rules<'a>,
    /// When the operation in hand must be over.
    overdue_ns: u64,
    /// Whether it has come to the common start.
    parked: bool,
    /// Where another connection is asked for, if there are any.
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

    /// When the operation in hand began, since the common start.
    #[inline]
    pub fn started_ns(&self) -> u64 {
        self.service.started_ns()
    }

    /// The descriptor that is watched.
    pub fn descriptor(&self) -> RawFd {
        self.descriptor
    }

    /// What comes first, and after each operation; after [`Next::Park`] it is asked at the common start.
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

    /// What it does before the common start.
    #[cold]
    fn warm_up(&mut self) -> Next {
        self.parked = !self.service.ramps_up();
        if self.parked { Next::Park } else { Next::At(0) }
    }

    /// The measured window begins, with what is next or with the common start, which is near.
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

    /// The descriptor has become ready, see [`NonblockingClient::ready`].
    #[inline]
    pub fn ready(&mut self) -> Turn {
        match &mut self.connection {
            Some(connection) => connection.ready(),
            None => Turn::Reading,
        }
    }

    /// Waits for the answer, see [`NonblockingClient::await_ready`].
    #[inline]
    pub fn await_ready(&mut self) -> Option<Turn> {
        match self.rules.limit {
            Some(_) => None,
            None => self.connection.as_mut()?.await_ready(),
        }
    }

    /// Writes down how the operation in hand ended, when, and whether what follows counts; why the client leaves, if it does.
    #[inline]
    pub fn end(
        &mut self,
        ended: (u64, bool),
        result: Result<Done, Failure>,
        recorder: &mut Recorder,
        cancellation: &Cancellation,
    ) -> Option<ExitReason> {
        let ended = self.service.end(ended, result.is_ok());
        match (result, ended) {
            (Ok(done), Ended::Measured(kind, timing)) => {
                self.service.account().completed(&timing, done.rows);
                recorder.completed(kind, &timing, &done);
                None
            }
            (Err(Failure::Operation(message)), Ended::Measured(kind, timing)) => {
                self.service.account().failed(&timing);
                recorder.failed(kind, &timing, &message);
                None
            }
            (Ok(_), Ended::Unmeasured) => None,
            (Err(failure), _) => self.service.give_up(failure, cancellation),
        }
    }

    /// Whether the operation in hand has taken too long.
    pub fn is_overdue(&self, now_ns: u64) -> bool {
        now_ns > self.overdue_ns
    }

    /// Gives up the overdue operation in hand with its connection, which is watched no longer.
    #[cold]
    pub fn give_up(
        &mut self,
        now_ns: u64,
        recorder: &mut Recorder,
        cancellation: &Cancellation,
    ) -> Next {
        self.connection = None;
        if let Ended::Measured(kind, timing) = self.service.end((now_ns, true), false) {
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

    /// What comes after [`Next::Mend`]; `None` while nothing does. There may be another descriptor then.
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

    /// There is no other connection; the last one to find out ends the drive.
    #[cold]
    fn lost(&mut self, why: &str, recorder: &mut Recorder, cancellation: &Cancellation) -> Next {
        recorder.add_message(why);
        if self.rules.open.fetch_sub(1, Relaxed) == 1 {
            cancellation.fail(format!("no connection is left: {why}"));
        }
        Next::Leave(ExitReason::Lost)
    }

    /// It has left, and asks for no connection any more.
    pub fn finish(&mut self) {
        self.replacements = None;
    }
}
