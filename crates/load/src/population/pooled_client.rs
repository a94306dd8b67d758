//! A connection of a population in an event loop, and how it is lost and replaced.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use super::scheduler::Scheduler;
use super::service::Service;
use crate::clock::{Clock, ns};
use crate::event_loop::{Next, Work};
use crate::job::{Cancellation, ExitReason};
use crate::recorder::Recorder;
use crate::{Done, Failure, NonblockingClient, Turn};

/// Another connection, or why there is none.
pub type Replacement<'o> = Result<Box<dyn NonblockingClient + 'o>, String>;

/// What all connections of a drive share.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// Longest time of one operation.
    pub limit: Option<Duration>,
    /// Connections that there are.
    pub open: &'a AtomicUsize,
    /// When nothing is begun any more.
    pub until_ns: u64,
    /// What tells the time.
    pub clock: &'a Clock,
}

/// A connection of a population.
pub struct PooledClient<'a, 'o> {
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

impl<'a, 'o> PooledClient<'a, 'o> {
    pub fn new(
        number: usize,
        connection: Box<dyn NonblockingClient + 'o>,
        scheduler: &'a Scheduler<'a>,
        rules: Rules<'a>,
        replacements: Option<Sender<Sender<Replacement<'o>>>>,
    ) -> Self {
        Self {
            number,
            service: Service::new(scheduler),
            descriptor: connection.descriptor(),
            connection: Some(connection),
            rules,
            overdue_ns: u64::MAX,
            parked: false,
            replacements,
            comes: None,
        }
    }

    fn next_visit(&mut self) -> Next {
        match self.service.next() {
            Some(due_ns) => Next::At(due_ns),
            None => Next::Leave(ExitReason::Over),
        }
    }

    /// There is no other connection; the last one to find out ends the drive.
    #[cold]
    fn lost(&mut self, why: &str, recorder: &mut Recorder, cancellation: &Cancellation) -> Next {
        recorder.add_message(why);
        if self.rules.open.fetch_sub(1, Relaxed) == 1 {
            cancellation.fail(format!("no connection is left to serve anyone: {why}"));
        }
        Next::Leave(ExitReason::Lost)
    }
}

impl Work for PooledClient<'_, '_> {
    fn descriptor(&self) -> RawFd {
        self.descriptor
    }

    #[inline]
    fn next(&mut self) -> Next {
        match std::mem::replace(&mut self.parked, true) {
            true => self.next_visit(),
            false => Next::Park,
        }
    }

    #[inline]
    fn begin(&mut self, now_ns: u64) -> Turn {
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
    fn ready(&mut self) -> Turn {
        match &mut self.connection {
            Some(connection) => connection.ready(),
            None => Turn::Reading,
        }
    }

    #[inline]
    fn await_ready(&mut self) -> Option<Turn> {
        match self.rules.limit {
            Some(_) => None,
            None => self.connection.as_mut()?.await_ready(),
        }
    }

    #[inline]
    fn end(
        &mut self,
        now_ns: u64,
        result: Result<Done, Failure>,
        recorder: &mut Recorder,
        cancellation: &Cancellation,
    ) -> Option<ExitReason> {
        let (kind, timing) = self.service.end(now_ns);
        match result {
            Ok(done) => {
                self.service.account.completed(&timing, done.rows);
                recorder.completed(kind, &timing, &done);
            }
            Err(Failure::Operation(message)) => {
                self.service.account.failed(&timing);
                recorder.failed(kind, &timing, &message);
            }
            Err(Failure::Exhausted) => self.service.dismiss(),
            Err(Failure::Fatal(message)) => {
                cancellation.fail(message);
                return Some(ExitReason::Failed);
            }
        }
        None
    }

    fn is_overdue(&self, now_ns: u64) -> bool {
        now_ns > self.overdue_ns
    }

    #[cold]
    fn give_up(
        &mut self,
        now_ns: u64,
        recorder: &mut Recorder,
        cancellation: &Cancellation,
    ) -> Next {
        self.connection = None;
        let (kind, timing) = self.service.end(now_ns);
        self.service.abandon();
        let limit = self.rules.limit.unwrap_or(Duration::MAX);
        self.service.account.failed(&timing);
        recorder.timed_out(kind, &timing, limit);
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

    #[cold]
    fn mended(
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
                Some(self.next_visit())
            }
            Some(Err(TryRecvError::Empty)) => None,
            Some(Ok(Err(why))) => Some(self.lost(&why, recorder, cancellation)),
            Some(Err(TryRecvError::Disconnected)) | None => {
                Some(self.lost("another connection cannot be had", recorder, cancellation))
            }
        }
    }

    fn finish(&mut self) {
        self.replacements = None;
    }
}
