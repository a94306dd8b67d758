//! What one client does, on a thread as in an event loop: whose operation is next, and where its time went.

use crate::Failure;
use crate::account::Account;
use crate::cancellation::{Cancellation, ExitReason};
use crate::client::Request;
use crate::schedule::{Pacer, Window};
use crate::scheduler::Scheduler;
use crate::timing::Timing;

/// Leads one client from operation to operation.
pub struct Service<'a> {
    source: Source<'a>,
    /// Operations of a job before the common start that are still to be done, as fast as it can.
    ramp_up: u64,
    window: Window,
    request: Request,
    due_ns: u64,
    is_measured: bool,
    /// Whether the operation in hand comes before the common start.
    is_ramping: bool,
    /// Whether it has come to the measured window.
    entered: bool,
    free_ns: u64,
    /// Whether what it does from then on counts.
    counts: bool,
    started_ns: u64,
    /// Whether there is a connection.
    is_open: bool,
    account: Account,
}

/// Whose operations a client carries out.
enum Source<'a> {
    /// A job: a user with a client of its own.
    Own(Pacer<'a>),
    /// Users who share the clients, and the one who is to be dealt with again, if there is one.
    Shared(&'a Scheduler<'a>, Option<u32>),
}

/// An operation that is due.
#[derive(Debug, Clone, Copy)]
pub struct Due {
    /// When, since the common start.
    pub at_ns: u64,
    /// Whether the client's measured window begins with it.
    pub enters: bool,
}

/// How an operation ended, as far as it is to be written down.
pub enum Ended {
    Measured(u8, Timing),
    /// It was a part of the ramp-up.
    Unmeasured,
}

impl<'a> Service<'a> {
    /// Of a job, which begins with `ramp_up` operations.
    pub fn of_job(number: usize, pacer: Pacer<'a>, window: (Window, bool), ramp_up: u64) -> Self {
        let source = Source::Own(pacer);
        Self {
            ramp_up,
            request: Request::of_job(number as u32, 0),
            ..Self::new(source, window)
        }
    }

    /// Of users who share clients.
    pub fn of_users(scheduler: &'a Scheduler<'a>, window: (Window, bool)) -> Self {
        Self::new(Source::Shared(scheduler, None), window)
    }

    /// In a window, and whether its first moment counts.
    fn new(source: Source<'a>, (window, counts): (Window, bool)) -> Self {
        Self {
            source,
            ramp_up: 0,
            window,
            request: Request::default(),
            due_ns: 0,
            is_measured: false,
            is_ramping: false,
            // Without a ramp-up by time the window begins with the common start.
            entered: window.from_ns == 0,
            free_ns: 0,
            counts,
            started_ns: 0,
            is_open: true,
            account: Account::new(&window),
        }
    }

    /// Whether there is an operation to be done before the common start.
    #[inline]
    pub fn ramps_up(&mut self) -> bool {
        self.is_ramping = self.ramp_up > 0;
        self.ramp_up = self.ramp_up.saturating_sub(1);
        self.is_ramping
    }

    /// What is due next; `None` when nothing is any more.
    #[inline]
    pub fn next(&mut self) -> Option<Due> {
        match &mut self.source {
            Source::Own(pacer) => {
                let step = pacer.next(self.free_ns)?;
                (self.due_ns, self.is_measured) = (step.intended_ns, step.measured);
            }
            Source::Shared(scheduler, user) => {
                let arrival = scheduler.next(user.take(), self.free_ns)?;
                (self.request.user, self.request.kind) = (arrival.user, arrival.kind);
                // What began before the window may end in it: what counts is found when it has ended.
                (self.due_ns, self.is_measured) = (arrival.due_ns, true);
            }
        }
        let enters = !self.entered && self.due_ns >= self.window.from_ns;
        if enters {
            self.enter();
        }
        Some(Due {
            // In time of its own a client may still be busy with what has ended in real time.
            at_ns: self.due_ns.max(self.free_ns),
            enters,
        })
    }

    /// Takes the first user up before the common start: a thread that wakes late there would find that others did. A
    /// job has no others.
    pub fn first(&mut self) -> Option<Option<Due>> {
        match self.source {
            Source::Own(_) => None,
            Source::Shared(..) => Some(self.next()),
        }
    }

    #[cold]
    fn enter(&mut self) {
        self.entered = true;
        if let Source::Own(_) = self.source {
            self.account.begin(self.free_ns);
        }
    }

    #[inline]
    pub fn begin(&mut self, now_ns: u64) -> Request {
        self.started_ns = now_ns;
        self.request.next()
    }

    /// When the operation in hand began.
    #[inline]
    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// The operation has ended, well or not; what follows counts or does not.
    #[inline]
    pub fn end(&mut self, (now_ns, counts_next): (u64, bool), is_completed: bool) -> Ended {
        if self.is_ramping {
            return Ended::Unmeasured;
        }
        let timing = Timing {
            free_ns: self.free_ns,
            intended_ns: self.due_ns,
            start_ns: self.started_ns,
            end_ns: now_ns,
        };
        self.free_ns = now_ns;
        let counts = std::mem::replace(&mut self.counts, counts_next);
        if counts {
            self.account.begun(&timing, is_completed);
        }
        if let Source::Shared(_, user) = &mut self.source {
            *user = Some(self.request.user);
        }
        if self.is_measured && counts {
            Ended::Measured(self.request.kind, timing)
        } else {
            Ended::Unmeasured
        }
    }

    #[inline]
    pub fn account(&mut self) -> &mut Account {
        &mut self.account
    }

    /// What becomes of the client when there is no work left, or the drive cannot go on.
    #[cold]
    pub fn give_up(&mut self, failure: Failure, cancellation: &Cancellation) -> Option<ExitReason> {
        match (failure, &mut self.source) {
            (Failure::Fatal(message), _) => {
                cancellation.fail(message);
                Some(ExitReason::Failed)
            }
            (Failure::Exhausted, Source::Own(_)) => Some(ExitReason::Exhausted),
            (Failure::Exhausted, Source::Shared(_, user)) => {
                *user = None;
                None
            }
            (Failure::Operation(_), _) => None,
        }
    }

    /// The connection is lost: its last user goes to another one.
    pub fn abandon(&mut self) {
        self.is_open = false;
        if let Source::Shared(scheduler, user) = &mut self.source
            && let Some(user) = user.take()
        {
            scheduler.give_back(user, self.free_ns);
        }
    }

    /// There is a connection again.
    pub fn reopen(&mut self, now_ns: u64) {
        self.account.free(self.free_ns, now_ns);
        (self.free_ns, self.is_open) = (now_ns, true);
    }

    /// Ticks that a job had to give up.
    pub fn unserved(&self) -> u64 {
        match &self.source {
            Source::Own(pacer) => pacer.unserved(),
            Source::Shared(..) => 0,
        }
    }

    /// The account when the drive has ended. Who stood free then did so until the end of the window; a job ends with its
    /// last operation.
    pub fn closed(mut self, ended_ns: u64) -> Account {
        if self.is_open && !self.window.is_drained {
            self.account.idle(self.free_ns, ended_ns);
        }
        if self.counts {
            self.account.free(self.free_ns, ended_ns);
        }
        self.account
    }
}
