//! The work of one client, on a thread as in an event loop: its next operation, and the account of its time.

use crate::Failure;
use crate::account::Account;
use crate::cancellation::{Cancellation, ExitReason};
use crate::client::Request;
use crate::schedule::{Pacer, Window};
use crate::scheduler::Scheduler;
use crate::timing::Timing;

pub struct Service<'a> {
    source: Source<'a>,
    /// Remaining operations of a job before the common start, as fast as it can.
    ramp_up: u64,
    window: Window,
    request: Request,
    due_ns: u64,
    is_measured: bool,
    /// True if the operation in progress comes before the common start.
    is_ramping: bool,
    entered: bool,
    free_ns: u64,
    /// True if operations from then on count.
    counts: bool,
    started_ns: u64,
    is_open: bool,
    account: Account,
}

enum Source<'a> {
    /// A job: a user with its own client.
    Own(Pacer<'a>),
    /// Users who share the clients, and the last one, if it is to be served again.
    Shared(&'a Scheduler<'a>, Option<u32>),
}

#[derive(Debug, Clone, Copy)]
pub struct Due {
    pub at_ns: u64,
    /// True if the client's measured window begins with it.
    pub enters: bool,
}

pub enum Completion {
    Measured(u8, Timing),
    Unmeasured,
}

impl<'a> Service<'a> {
    /// Service of a job, which begins with `ramp_up` operations.
    pub fn of_job(
        number: usize,
        pacer: Pacer<'a>,
        window: Window,
        counts: bool,
        ramp_up: u64,
    ) -> Self {
        let source = Source::Own(pacer);
        Self {
            ramp_up,
            request: Request::of_job(number as u32, 0),
            ..Self::new(source, window, counts)
        }
    }

    pub fn of_users(scheduler: &'a Scheduler<'a>, window: Window, counts: bool) -> Self {
        Self::new(Source::Shared(scheduler, None), window, counts)
    }

    /// `counts` is true if the first moment of the window counts.
    fn new(source: Source<'a>, window: Window, counts: bool) -> Self {
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

    /// True if an operation is to be executed before the common start.
    #[inline]
    pub fn ramps_up(&mut self) -> bool {
        self.is_ramping = self.ramp_up > 0;
        self.ramp_up = self.ramp_up.saturating_sub(1);
        self.is_ramping
    }

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
                // An operation that began before the window may end in it; `end` decides if it counts.
                (self.due_ns, self.is_measured) = (arrival.due_ns, true);
            }
        }
        let enters = !self.entered && self.due_ns >= self.window.from_ns;
        if enters {
            self.enter();
        }
        Some(Due {
            // In its own time a client may still be busy with an operation that has ended in real time.
            at_ns: self.due_ns.max(self.free_ns),
            enters,
        })
    }

    /// Takes the first user before the common start: a thread that wakes late would find that others had taken it. A
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

    #[inline]
    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// Ends the operation, completed or not; `counts_next` is true if the following one counts.
    #[inline]
    pub fn end(&mut self, now_ns: u64, counts_next: bool, is_completed: bool) -> Completion {
        if self.is_ramping {
            return Completion::Unmeasured;
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
            Completion::Measured(self.request.kind, timing)
        } else {
            Completion::Unmeasured
        }
    }

    #[inline]
    pub fn account(&mut self) -> &mut Account {
        &mut self.account
    }

    /// Reacts to a failure that ends the work of the client or of the drive.
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

    pub fn abandon(&mut self) {
        self.is_open = false;
        if let Source::Shared(scheduler, user) = &mut self.source
            && let Some(user) = user.take()
        {
            scheduler.give_back(user, self.free_ns);
        }
    }

    pub fn reopen(&mut self, now_ns: u64) {
        self.account.free(self.free_ns, now_ns);
        (self.free_ns, self.is_open) = (now_ns, true);
    }

    pub fn unserved(&self) -> u64 {
        match &self.source {
            Source::Own(pacer) => pacer.unserved(),
            Source::Shared(..) => 0,
        }
    }

    /// The account at the end of the drive. A client that was free stays so until the end of the window; a job ends
    /// with its last operation.
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
