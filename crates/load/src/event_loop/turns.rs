//! The loop of one thread: waits, continues clients whose answer has come, begins operations that are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::time::Duration;

use super::client::Next;
use super::poll::Poll;
use super::slot::{ClientSlot, ClientState};
use crate::cancellation::{Cancellation, ExitReason};
use crate::clock::{self, Clock, Usage, UsageMeter, ns};
use crate::recorder::Recorder;
use crate::schedule::Window;
use crate::start_barrier::Participant;
use crate::{Done, Failure, Turn};

/// Interval at which a loop checks its own use of the processor.
const CHECK_EVERY: Duration = Duration::from_millis(200);
/// Share of time on the processor from which a loop is saturated and another thread is worthwhile.
const SATURATED: f64 = 0.85;

pub struct Turns<'a, 'o> {
    pub slots: Vec<ClientSlot<'a, 'o>>,
    pub usage: Usage,
    pub recorder: Recorder<'a>,
    clock: Clock,
    meter: UsageMeter,
    before: Usage,
    poll: Poll,
    window: Window,
    origin_ns: u64,
    /// Beginning of the measured window, on the clock; never, once it has begun.
    enter_ns: u64,
    due: BinaryHeap<Reverse<(u64, usize)>>,
    pausing: BinaryHeap<Reverse<(u64, usize)>>,
    active: usize,
    checked_ns: u64,
    checked: Usage,
}

pub trait Relief<'a, 'o> {
    /// True if one more thread may start; the caller then must start it.
    fn may_begin(&self) -> bool;
    fn begin(&self, slots: Vec<ClientSlot<'a, 'o>>, origin_ns: u64);
}

impl<'a, 'o> Turns<'a, 'o> {
    /// A loop for these clients, on the thread that is going to run it. Fails if the kernel has no descriptors for
    /// it; the clients are returned.
    pub fn new(
        slots: Vec<ClientSlot<'a, 'o>>,
        window: Window,
        recorder: Recorder<'a>,
        clock: &Clock,
    ) -> Result<Self, (LoopError, Vec<ClientSlot<'a, 'o>>)> {
        let watching = Poll::new(clock).and_then(|poll| {
            for (index, slot) in slots.iter().enumerate() {
                if slot.watched {
                    poll.watch(slot.work.descriptor(), index, slot.writing)?;
                }
            }
            Ok(poll)
        });
        let poll = match watching {
            Ok(poll) => poll,
            Err(error) => return Err((LoopError(error), slots)),
        };
        Ok(Self {
            due: BinaryHeap::with_capacity(slots.len()),
            pausing: BinaryHeap::new(),
            slots,
            usage: Usage::default(),
            recorder,
            clock: clock.clone(),
            meter: clock.usage_meter(),
            before: Usage::default(),
            poll,
            window,
            origin_ns: 0,
            enter_ns: u64::MAX,
            active: 0,
            checked_ns: 0,
            checked: Usage::default(),
        })
    }

    pub fn run(
        &mut self,
        participant: Participant,
        cancellation: &Cancellation,
        relief: &dyn Relief<'a, 'o>,
    ) -> Result<(), LoopError> {
        clock::sharpen_timers();
        for index in 0..self.slots.len() {
            self.advance(index);
        }
        self.turn_until_idle(cancellation, None)?;
        for slot in &mut self.slots {
            if slot.state == ClientState::Parked && self.window.from_ns == 0 {
                slot.work.measurement_begins();
            }
        }
        self.before = self.meter.read();
        let halted = || cancellation.pulled();
        let start = participant.wait(halted);
        match start.filter(|at| self.clock.sleep_until(*at, halted).is_some()) {
            Some(origin_ns) => self.start(origin_ns),
            None => {
                self.leave_all(cancellation);
                return Ok(());
            }
        }
        for index in 0..self.slots.len() {
            if self.slots[index].state == ClientState::Parked {
                self.advance(index);
            }
        }
        self.go_on(cancellation, relief)
    }

    pub fn take_over(
        &mut self,
        origin_ns: u64,
        cancellation: &Cancellation,
        relief: &dyn Relief<'a, 'o>,
    ) -> Result<(), LoopError> {
        clock::sharpen_timers();
        self.before = self.meter.read();
        self.start(origin_ns);
        self.recount();
        self.go_on(cancellation, relief)
    }

    /// The common start is known. The usage before the window does not count; without a ramp-up by time it counts
    /// from the barrier, so that the wait for a processor is included.
    fn start(&mut self, origin_ns: u64) {
        self.origin_ns = origin_ns;
        let enter_ns = origin_ns.saturating_add(self.window.from_ns);
        if self.window.from_ns > 0 && self.clock.now_ns() < enter_ns {
            self.enter_ns = enter_ns;
        }
    }

    fn go_on(
        &mut self,
        cancellation: &Cancellation,
        relief: &dyn Relief<'a, 'o>,
    ) -> Result<(), LoopError> {
        (self.checked_ns, self.checked) = (self.clock.now_ns(), self.meter.read());
        self.turn_until_idle(cancellation, Some(relief))?;
        // The window lasts to its end, so that the rate may be divided by all of it.
        let was_over = |slot: &ClientSlot<'a, 'o>| slot.leaving == ExitReason::Over;
        if let Some(until) = self
            .window
            .until_ns
            .filter(|_| self.slots.iter().any(was_over))
        {
            let halted = || cancellation.pulled();
            if self
                .clock
                .sleep_until(self.origin_ns + until, halted)
                .is_none()
            {
                self.leave_all(cancellation);
            }
        }
        self.usage = self.meter.read().since(&self.before);
        Ok(())
    }

    fn turn_until_idle(
        &mut self,
        cancellation: &Cancellation,
        relief: Option<&dyn Relief<'a, 'o>>,
    ) -> Result<(), LoopError> {
        loop {
            if cancellation.pulled() {
                self.leave_waiting(cancellation);
            }
            let now = self.clock.now_ns();
            if now >= self.enter_ns {
                (self.enter_ns, self.before) = (u64::MAX, self.meter.read());
            }
            if !self.pausing.is_empty() {
                self.end_pauses(now, cancellation)?;
            }
            if self.clock.may_begin() {
                self.begin_due(now, cancellation)?;
            }
            if self.active == 0 {
                return Ok(());
            }
            if let Some(relief) = relief.filter(|_| now >= self.checked_ns + ns(CHECK_EVERY)) {
                self.check(now, cancellation, relief)?;
            }
            if self.slots.len() == 1 && self.await_only_client(cancellation)? {
                continue;
            }
            let first = [self.due.peek(), self.pausing.peek()].into_iter().flatten();
            let first = first.map(|Reverse((at, _))| self.origin_ns + at);
            let ready = self.poll.wait(first.min(), now).map_err(LoopError)?;
            for at in 0..ready {
                if let Some(index) = self.poll.client(at) {
                    self.ready(index, cancellation)?;
                }
            }
        }
    }

    /// Lets the only client of this thread wait for its answer; false if there is no answer to wait for, or it cannot
    /// wait.
    #[inline]
    fn await_only_client(&mut self, cancellation: &Cancellation) -> Result<bool, LoopError> {
        let slot = &mut self.slots[0];
        if slot.state != ClientState::Working || slot.writing {
            return Ok(false);
        }
        match slot.work.await_ready() {
            Some(turn) => self.settle(0, turn, cancellation).map(|()| true),
            None => Ok(false),
        }
    }

    /// Continues operations whose pause is over. An operation that was given up meanwhile has left its entry.
    #[cold]
    fn end_pauses(&mut self, now: u64, cancellation: &Cancellation) -> Result<(), LoopError> {
        let mut most = self.pausing.len();
        while let Some(Reverse((at, index))) = self.pausing.peek().copied() {
            if self.origin_ns + at > now || most == 0 {
                break;
            }
            most -= 1;
            self.pausing.pop();
            let slot = &mut self.slots[index];
            if slot.state == ClientState::Pausing && slot.due_ns == at {
                slot.state = ClientState::Working;
                let turn = slot.work.ready();
                self.settle(index, turn, cancellation)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn pause(&mut self, index: usize, pause: Duration) -> Result<(), LoopError> {
        let at_ns = (self.clock.now_ns() - self.origin_ns).saturating_add(ns(pause));
        let slot = &mut self.slots[index];
        (slot.state, slot.due_ns) = (ClientState::Pausing, at_ns);
        self.pausing.push(Reverse((at_ns, index)));
        self.want_room(index, false)
    }

    /// Begins what is due. An operation that fails at once is queued after all others, so that it cannot keep them
    /// from their turn.
    fn begin_due(&mut self, now: u64, cancellation: &Cancellation) -> Result<(), LoopError> {
        let mut most = self.due.len();
        while let Some(Reverse((at, index))) = self.due.peek().copied() {
            if self.origin_ns + at > now || most == 0 {
                break;
            }
            most -= 1;
            self.due.pop();
            let turn = self.begin(index, self.clock.now_ns());
            self.settle(index, turn, cancellation)?;
        }
        Ok(())
    }

    #[inline]
    fn begin(&mut self, index: usize, now: u64) -> Turn {
        let slot = &mut self.slots[index];
        slot.state = ClientState::Working;
        slot.work.begin(now - self.origin_ns)
    }

    #[inline]
    fn ready(&mut self, index: usize, cancellation: &Cancellation) -> Result<(), LoopError> {
        let slot = &mut self.slots[index];
        match slot.state {
            ClientState::Working => {
                let turn = slot.work.ready();
                self.settle(index, turn, cancellation)
            }
            ClientState::Waiting | ClientState::Parked => {
                if let Turn::Finished(Err(Failure::Fatal(message))) = slot.work.ready() {
                    cancellation.fail(message);
                }
                Ok(())
            }
            // A connection that breaks during a pause is noticed by the next request.
            ClientState::Pausing | ClientState::Mending | ClientState::Over => Ok(()),
        }
    }

    /// Handles the result of a turn: the client waits for its socket, or the operation is over and the next one
    /// begins as soon as it is due.
    #[inline]
    fn settle(
        &mut self,
        index: usize,
        turn: Turn,
        cancellation: &Cancellation,
    ) -> Result<(), LoopError> {
        let turn = match turn {
            Turn::Finished(result) => {
                self.finished(index, result, cancellation);
                match self.begin_at_once(index, cancellation) {
                    Some(turn) => turn,
                    None => return Ok(()),
                }
            }
            turn => turn,
        };
        match turn {
            Turn::Finished(result) => {
                self.finished(index, result, cancellation);
                Ok(())
            }
            Turn::Pausing(pause) => self.pause(index, pause),
            turn => self.want_room(index, turn == Turn::Writing),
        }
    }

    /// Begins the next operation without using the timer if it is already due.
    #[inline]
    fn begin_at_once(&mut self, index: usize, cancellation: &Cancellation) -> Option<Turn> {
        let Reverse((at, first)) = self.due.peek().copied()?;
        if first != index || cancellation.pulled() || !self.clock.may_begin() {
            return None;
        }
        let now = self.clock.now_ns();
        if self.origin_ns + at > now {
            return None;
        }
        self.due.pop();
        Some(self.begin(index, now))
    }

    fn finished(
        &mut self,
        index: usize,
        result: Result<Done, Failure>,
        cancellation: &Cancellation,
    ) {
        self.active -= 1;
        let work = &mut self.slots[index].work;
        let (now, counts) = self.clock.ended_ns(self.origin_ns + work.started_ns());
        match work.end(
            now - self.origin_ns,
            counts,
            result,
            &mut self.recorder,
            cancellation,
        ) {
            Some(why) => self.set(index, Next::Leave(why)),
            None if cancellation.pulled() => self.set(index, Next::Leave(cancellation.stopped())),
            None => self.advance(index),
        }
    }

    #[inline]
    fn advance(&mut self, index: usize) {
        let next = self.slots[index].work.next();
        self.set(index, next);
    }

    #[inline]
    fn set(&mut self, index: usize, next: Next) {
        let slot = &mut self.slots[index];
        match next {
            Next::At(at_ns) => {
                slot.state = ClientState::Waiting;
                slot.due_ns = at_ns;
                self.due.push(Reverse((at_ns, index)));
                self.active += 1;
            }
            Next::Park => slot.state = ClientState::Parked,
            Next::Mend => {
                slot.state = ClientState::Mending;
                self.active += 1;
            }
            Next::Leave(why) => {
                slot.state = ClientState::Over;
                slot.leaving = why;
            }
        }
    }

    fn want_room(&mut self, index: usize, wanted: bool) -> Result<(), LoopError> {
        let slot = &mut self.slots[index];
        if slot.writing == wanted {
            return Ok(());
        }
        slot.writing = wanted;
        let descriptor = slot.work.descriptor();
        let watched = self.poll.want_room(descriptor, index, wanted);
        watched.map_err(LoopError)
    }

    /// The drive was stopped: waiting clients leave at once, working ones after the operation in progress.
    #[cold]
    fn leave_waiting(&mut self, cancellation: &Cancellation) {
        self.due.clear();
        for index in 0..self.slots.len() {
            if matches!(
                self.slots[index].state,
                ClientState::Waiting | ClientState::Mending
            ) {
                self.active -= 1;
                self.set(index, Next::Leave(cancellation.stopped()));
            }
        }
    }

    #[cold]
    fn leave_all(&mut self, cancellation: &Cancellation) {
        for slot in &mut self.slots {
            slot.state = ClientState::Over;
            if slot.leaving != ExitReason::Exhausted {
                slot.leaving = cancellation.stopped();
            }
        }
    }

    /// Checks connections, and hands half of the clients to another thread if this one is saturated.
    #[cold]
    fn check(
        &mut self,
        now: u64,
        cancellation: &Cancellation,
        relief: &dyn Relief<'a, 'o>,
    ) -> Result<(), LoopError> {
        for index in 0..self.slots.len() {
            self.check_connection(index, now, cancellation)?;
        }
        let usage = self.meter.read();
        let busy =
            usage.since(&self.checked).cpu.as_nanos() as f64 / (now - self.checked_ns) as f64;
        (self.checked_ns, self.checked) = (now, usage);
        if busy < SATURATED || self.active < 2 || !relief.may_begin() {
            return Ok(());
        }
        let half = self.slots.len().div_ceil(2);
        let given: Vec<_> = self.slots.drain(half..).collect();
        for slot in given.iter().filter(|slot| slot.watched) {
            let forgotten = self.poll.forget(slot.work.descriptor());
            forgotten.map_err(LoopError)?;
        }
        relief.begin(given, self.origin_ns);
        self.recount();
        Ok(())
    }

    /// Separates a client from a connection that no longer answers, or gives it another one.
    fn check_connection(
        &mut self,
        index: usize,
        now: u64,
        cancellation: &Cancellation,
    ) -> Result<(), LoopError> {
        let slot = &mut self.slots[index];
        let (at, recorder) = (now - self.origin_ns, &mut self.recorder);
        let next = match slot.state {
            ClientState::Working | ClientState::Pausing if slot.work.is_overdue(at) => {
                let forgotten = self.poll.forget(slot.work.descriptor());
                forgotten.map_err(LoopError)?;
                (slot.watched, slot.writing) = (false, false);
                Some(slot.work.give_up(at, recorder, cancellation))
            }
            ClientState::Mending => match slot.work.mended(at, recorder, cancellation) {
                Some(next @ Next::At(_)) => {
                    let watched = self.poll.watch(slot.work.descriptor(), index, false);
                    watched.map_err(LoopError)?;
                    slot.watched = true;
                    Some(next)
                }
                next => next,
            },
            _ => None,
        };
        if let Some(next) = next {
            self.active -= 1;
            self.set(index, next);
        }
        Ok(())
    }

    fn recount(&mut self) {
        self.due.clear();
        self.pausing.clear();
        self.active = 0;
        for (index, slot) in self.slots.iter().enumerate() {
            self.active += usize::from(!matches!(
                slot.state,
                ClientState::Parked | ClientState::Over
            ));
            if slot.state == ClientState::Waiting {
                self.due.push(Reverse((slot.due_ns, index)));
            }
            if slot.state == ClientState::Pausing {
                self.pausing.push(Reverse((slot.due_ns, index)));
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error(
    "the kernel refuses the driver's event loop ({0}): raise the limit of open files (ulimit -n) or use fewer jobs or connections"
)]
pub struct LoopError(pub io::Error);
