//! A connection's service: whom it serves, and since when.

use super::scheduler::{Arrival, Scheduler};
use crate::account::Account;
use crate::client::Request;
use crate::recorder::Timing;

/// Leads one connection from user to user.
pub struct Service<'a> {
    scheduler: &'a Scheduler<'a>,
    arrival: Arrival,
    /// The user who is to be dealt with again, if there is one.
    user: Option<u32>,
    request: Request,
    free_ns: u64,
    started_ns: u64,
    /// Whether there is a connection.
    is_open: bool,
    /// Where its time went.
    pub account: Account,
}

impl<'a> Service<'a> {
    pub fn new(scheduler: &'a Scheduler<'a>) -> Self {
        Self {
            scheduler,
            arrival: Arrival {
                due_ns: 0,
                user: 0,
                kind: 0,
            },
            user: None,
            request: Request::default(),
            free_ns: 0,
            started_ns: 0,
            is_open: true,
            account: Account::new(&scheduler.window()),
        }
    }

    /// When the next arrival is due; `None` when there is none any more.
    #[inline]
    pub fn next(&mut self) -> Option<u64> {
        self.arrival = self.scheduler.next(self.user.take(), self.free_ns)?;
        Some(self.arrival.due_ns)
    }

    /// The arrival begins.
    #[inline]
    pub fn begin(&mut self, now_ns: u64) -> Request {
        self.started_ns = now_ns;
        self.request.user = self.arrival.user;
        self.request.kind = self.arrival.kind;
        self.request.next()
    }

    /// The arrival has ended: kind and times.
    #[inline]
    pub fn end(&mut self, now_ns: u64) -> (u8, Timing) {
        let timing = Timing {
            free_ns: self.free_ns,
            intended_ns: self.arrival.due_ns,
            start_ns: self.started_ns,
            end_ns: now_ns,
        };
        self.free_ns = now_ns;
        self.user = Some(self.arrival.user);
        (self.arrival.kind, timing)
    }

    /// Its last user leaves.
    pub fn dismiss(&mut self) {
        self.user = None;
    }

    /// The connection is lost: its last user goes to another one.
    pub fn abandon(&mut self) {
        self.is_open = false;
        if let Some(user) = self.user.take() {
            self.scheduler.give_back(user, self.free_ns);
        }
    }

    /// There is a connection again.
    pub fn reopen(&mut self, now_ns: u64) {
        (self.free_ns, self.is_open) = (now_ns, true);
    }

    /// The account when the drive has ended.
    pub fn closed(mut self, ended_ns: u64) -> Account {
        if self.is_open {
            self.account.idle(self.free_ns, ended_ns);
        }
        self.account
    }
}
