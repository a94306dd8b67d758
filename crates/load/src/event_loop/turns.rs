//! The loop of one thread: waits, lets clients whose answer has come go on, begins what is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::time::Duration;

use super::poll::Poll;
use super::{Doing, Next, Seat, Work};
use crate::clock::{self, Clock, Usage, UsageMeter, ns};
use crate::gate::Ticket;
use crate::job::{Brake, Leaving, stopped};
use crate::schedule::Window;
use crate::station::Turn;
use crate::{Done, Failure};

/// How often a loop looks at its own use of the processor.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Share of the time on the processor from which a loop is saturated and another thread is worth having.
const SATURATED: f64 = 0.85;

/// The clients of one thread.
pub struct Turns<W: Work> {
    pub seats: Vec<Seat<W>>,
    /// Processor time of the thread in the measured window.
    pub usage: Usage,
    /// What the thread writes down for all of them.
    pub book: W::Book,
    clock: Clock,
    meter: UsageMeter,
    before: Usage,
    poll: Poll,
    window: Window,
    /// The common start; 0 before.
    origin_ns: u64,
    /// When the measured window begins, on the clock; never, once it has.
    enter_ns: u64,
    /// Clients by the time of their next operation, those that wait alone.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    /// Clients that have something to do.
    active: usize,
    looked_ns: u64,
    looked: Usage,
}

/// Where a saturated loop finds help.
pub trait Relief<W> {
    /// Whether one more thread may be begun; who is told so begins it.
    fn may_begin(&self) -> bool;
    /// Begins a thread for these clients, in the middle of their work.
    fn begin(&self, seats: Vec<Seat<W>>, origin_ns: u64);
}

impl<W: Work> Turns<W> {
    /// A loop for these clients, on the thread that is going to run it.
    ///
    /// # Errors
    /// When the kernel has no descriptors for it; the clients are given back.
    pub fn new(
        seats: Vec<Seat<W>>,
        window: Window,
        book: W::Book,
        clock: &Clock,
    ) -> Result<Self, (LoopError, Vec<Seat<W>>)> {
        let watching = Poll::new(clock).and_then(|poll| {
            for (place, seat) in seats.iter().enumerate() {
                if seat.watched {
                    poll.watch(seat.work.descriptor(), place, seat.writing)?;
                }
            }
            Ok(poll)
        });
        let poll = match watching {
            Ok(poll) => poll,
            Err(error) => return Err((LoopError(error), seats)),
        };
        Ok(Self {
            due: BinaryHeap::with_capacity(seats.len()),
            seats,
            usage: Usage::default(),
            book,
            clock: clock.clone(),
            meter: clock.usage_meter(),
            before: Usage::default(),
            poll,
            window,
            origin_ns: 0,
            enter_ns: u64::MAX,
            active: 0,
            looked_ns: 0,
            looked: Usage::default(),
        })
    }

    /// Ramps up, waits for the others, and works until the window ends.
    pub fn run(
        &mut self,
        ticket: Ticket,
        brake: &Brake,
        relief: &dyn Relief<W>,
    ) -> Result<(), LoopError> {
        clock::sharpen_timers();
        for place in 0..self.seats.len() {
            self.advance(place);
        }
        self.turn_until_idle(brake, None)?;
        for seat in &mut self.seats {
            if seat.doing == Doing::Parked && self.window.from_ns == 0 {
                seat.work.measurement_begins();
            }
        }
        self.before = self.meter.read();
        let halted = || brake.pulled();
        let start = ticket.wait(halted);
        match start.filter(|at| self.clock.sleep_until(*at, halted).is_some()) {
            Some(origin_ns) => self.start(origin_ns),
            None => {
                self.leave_all(brake);
                return Ok(());
            }
        }
        for place in 0..self.seats.len() {
            if self.seats[place].doing == Doing::Parked {
                self.advance(place);
            }
        }
        self.go_on(brake, relief)
    }

    /// Takes over clients in the middle of their work, from a loop that had too many.
    pub fn take_over(
        &mut self,
        origin_ns: u64,
        brake: &Brake,
        relief: &dyn Relief<W>,
    ) -> Result<(), LoopError> {
        clock::sharpen_timers();
        self.before = self.meter.read();
        self.start(origin_ns);
        self.count_anew();
        self.go_on(brake, relief)
    }

    /// The common start is known. What a thread uses before the window begins is no part of it; without a
    /// ramp-up by time it counts from the gate, so that the wait for a processor is in it.
    fn start(&mut self, origin_ns: u64) {
        self.origin_ns = origin_ns;
        let enter_ns = origin_ns.saturating_add(self.window.from_ns);
        if self.window.from_ns > 0 && self.clock.now_ns() < enter_ns {
            self.enter_ns = enter_ns;
        }
    }

    fn go_on(&mut self, brake: &Brake, relief: &dyn Relief<W>) -> Result<(), LoopError> {
        (self.looked_ns, self.looked) = (self.clock.now_ns(), self.meter.read());
        self.turn_until_idle(brake, Some(relief))?;
        // The window is observed to its end, so that the rate may be divided by all of it.
        let was_over = |seat: &Seat<W>| seat.leaving == Leaving::Over;
        if let Some(until) = self
            .window
            .until_ns
            .filter(|_| self.seats.iter().any(was_over))
        {
            let halted = || brake.pulled();
            if self
                .clock
                .sleep_until(self.origin_ns + until, halted)
                .is_none()
            {
                self.leave_all(brake);
            }
        }
        self.usage = self.meter.read().since(&self.before);
        Ok(())
    }

    /// Turns until no client has anything to do.
    fn turn_until_idle(
        &mut self,
        brake: &Brake,
        relief: Option<&dyn Relief<W>>,
    ) -> Result<(), LoopError> {
        loop {
            if brake.pulled() {
                self.leave_waiting(brake);
            }
            let now = self.clock.now_ns();
            if now >= self.enter_ns {
                (self.enter_ns, self.before) = (u64::MAX, self.meter.read());
            }
            self.begin_due(now, brake)?;
            if self.active == 0 {
                return Ok(());
            }
            if let Some(relief) = relief.filter(|_| now >= self.looked_ns + ns(LOOK_EVERY)) {
                self.look(now, brake, relief)?;
            }
            if self.seats.len() == 1 && self.await_only_client(brake)? {
                continue;
            }
            let next = self.due.peek().map(|Reverse((at, _))| self.origin_ns + at);
            let ready = self.poll.wait(next, now).map_err(LoopError)?;
            for at in 0..ready {
                if let Some(place) = self.poll.client(at) {
                    self.ready(place, brake)?;
                }
            }
        }
    }

    /// Lets the only client of this thread wait for its answer; false when it has none to wait for, or cannot.
    #[inline]
    fn await_only_client(&mut self, brake: &Brake) -> Result<bool, LoopError> {
        let seat = &mut self.seats[0];
        if seat.doing != Doing::Working || seat.writing {
            return Ok(false);
        }
        match seat.work.await_ready() {
            Some(turn) => self.settle(0, turn, brake).map(|()| true),
            None => Ok(false),
        }
    }

    /// Begins what is due. An operation that fails on the spot comes back here behind all others, so that it
    /// cannot keep them from their turn.
    fn begin_due(&mut self, now: u64, brake: &Brake) -> Result<(), LoopError> {
        let mut most = self.due.len();
        while let Some(Reverse((at, place))) = self.due.peek().copied() {
            if self.origin_ns + at > now || most == 0 {
                break;
            }
            most -= 1;
            self.due.pop();
            let turn = self.begin(place, self.clock.now_ns());
            self.settle(place, turn, brake)?;
        }
        Ok(())
    }

    #[inline]
    fn begin(&mut self, place: usize, now: u64) -> Turn {
        let seat = &mut self.seats[place];
        seat.doing = Doing::Working;
        seat.work.begin(now - self.origin_ns)
    }

    #[inline]
    fn ready(&mut self, place: usize, brake: &Brake) -> Result<(), LoopError> {
        let seat = &mut self.seats[place];
        match seat.doing {
            Doing::Working => {
                let turn = seat.work.ready();
                self.settle(place, turn, brake)
            }
            Doing::Waiting | Doing::Parked => {
                if let Turn::Finished(Err(Failure::Fatal(message))) = seat.work.ready() {
                    brake.fail(message);
                }
                Ok(())
            }
            Doing::Mending | Doing::Over => Ok(()),
        }
    }

    /// What follows from a turn: the client waits for its socket, or the operation is over and the next one
    /// begins as soon as it is due.
    #[inline]
    fn settle(&mut self, place: usize, turn: Turn, brake: &Brake) -> Result<(), LoopError> {
        let turn = match turn {
            Turn::Finished(result) => {
                self.finished(place, result, brake);
                match self.begin_at_once(place, brake) {
                    Some(turn) => turn,
                    None => return Ok(()),
                }
            }
            turn => turn,
        };
        match turn {
            Turn::Finished(result) => {
                self.finished(place, result, brake);
                Ok(())
            }
            turn => self.want_room(place, turn == Turn::Writing),
        }
    }

    /// Begins the next operation without a detour over the timer when it is due already.
    #[inline]
    fn begin_at_once(&mut self, place: usize, brake: &Brake) -> Option<Turn> {
        let Reverse((at, first)) = self.due.peek().copied()?;
        if first != place || brake.pulled() {
            return None;
        }
        let now = self.clock.now_ns();
        if self.origin_ns + at > now {
            return None;
        }
        self.due.pop();
        Some(self.begin(place, now))
    }

    fn finished(&mut self, place: usize, result: Result<Done, Failure>, brake: &Brake) {
        self.active -= 1;
        let now = self.clock.now_ns() - self.origin_ns;
        let work = &mut self.seats[place].work;
        match work.end(now, result, &mut self.book, brake) {
            Some(why) => self.set(place, Next::Leave(why)),
            None if brake.pulled() => self.set(place, Next::Leave(stopped(brake))),
            None => self.advance(place),
        }
    }

    #[inline]
    fn advance(&mut self, place: usize) {
        let next = self.seats[place].work.next();
        self.set(place, next);
    }

    /// Puts a client where its next step has it.
    #[inline]
    fn set(&mut self, place: usize, next: Next) {
        let seat = &mut self.seats[place];
        match next {
            Next::At(at_ns) => {
                seat.doing = Doing::Waiting;
                seat.due_ns = at_ns;
                self.due.push(Reverse((at_ns, place)));
                self.active += 1;
            }
            Next::Park => seat.doing = Doing::Parked,
            Next::Mend => {
                seat.doing = Doing::Mending;
                self.active += 1;
            }
            Next::Leave(why) => {
                seat.doing = Doing::Over;
                seat.leaving = why;
            }
        }
    }

    fn want_room(&mut self, place: usize, wanted: bool) -> Result<(), LoopError> {
        let seat = &mut self.seats[place];
        if seat.writing == wanted {
            return Ok(());
        }
        seat.writing = wanted;
        let descriptor = seat.work.descriptor();
        let watched = self.poll.want_room(descriptor, place, wanted);
        watched.map_err(LoopError)
    }

    /// The drive was stopped: who waits leaves at once, who works when the operation in hand is over.
    #[cold]
    fn leave_waiting(&mut self, brake: &Brake) {
        self.due.clear();
        for place in 0..self.seats.len() {
            if matches!(self.seats[place].doing, Doing::Waiting | Doing::Mending) {
                self.active -= 1;
                self.set(place, Next::Leave(stopped(brake)));
            }
        }
    }

    #[cold]
    fn leave_all(&mut self, brake: &Brake) {
        for seat in &mut self.seats {
            seat.doing = Doing::Over;
            if seat.leaving != Leaving::Exhausted {
                seat.leaving = stopped(brake);
            }
        }
    }

    /// Looks after connections, and whether the thread is saturated: then it hands half of its clients to
    /// another one.
    #[cold]
    fn look(&mut self, now: u64, brake: &Brake, relief: &dyn Relief<W>) -> Result<(), LoopError> {
        for place in 0..self.seats.len() {
            self.look_after(place, now, brake)?;
        }
        let usage = self.meter.read();
        let busy = usage.since(&self.looked).cpu.as_nanos() as f64 / (now - self.looked_ns) as f64;
        (self.looked_ns, self.looked) = (now, usage);
        if busy < SATURATED || self.active < 2 || !relief.may_begin() {
            return Ok(());
        }
        let half = self.seats.len().div_ceil(2);
        let given: Vec<_> = self.seats.drain(half..).collect();
        for seat in given.iter().filter(|seat| seat.watched) {
            let forgotten = self.poll.forget(seat.work.descriptor());
            forgotten.map_err(LoopError)?;
        }
        relief.begin(given, self.origin_ns);
        self.count_anew();
        Ok(())
    }

    /// Parts a client from a connection that does not answer any more, or gives it another one.
    fn look_after(&mut self, place: usize, now: u64, brake: &Brake) -> Result<(), LoopError> {
        let seat = &mut self.seats[place];
        let (at, book) = (now - self.origin_ns, &mut self.book);
        let next = match seat.doing {
            Doing::Working if seat.work.is_overdue(at) => {
                let forgotten = self.poll.forget(seat.work.descriptor());
                forgotten.map_err(LoopError)?;
                (seat.watched, seat.writing) = (false, false);
                Some(seat.work.give_up(at, book, brake))
            }
            Doing::Mending => match seat.work.mended(at, book, brake) {
                Some(next @ Next::At(_)) => {
                    let watched = self.poll.watch(seat.work.descriptor(), place, false);
                    watched.map_err(LoopError)?;
                    seat.watched = true;
                    Some(next)
                }
                next => next,
            },
            _ => None,
        };
        if let Some(next) = next {
            self.active -= 1;
            self.set(place, next);
        }
        Ok(())
    }

    /// Counts who has something to do, and lays out the steps, after clients came or went.
    fn count_anew(&mut self) {
        self.due.clear();
        self.active = 0;
        for (place, seat) in self.seats.iter().enumerate() {
            self.active += usize::from(!matches!(seat.doing, Doing::Parked | Doing::Over));
            if seat.doing == Doing::Waiting {
                self.due.push(Reverse((seat.due_ns, place)));
            }
        }
    }
}

/// The kernel refuses what a loop needs.
#[derive(Debug, thiserror::Error)]
#[error(
    "the kernel refuses the driver's event loop ({0}): raise the limit of open files (ulimit -n) or use fewer jobs or connections"
)]
pub struct LoopError(pub io::Error);
