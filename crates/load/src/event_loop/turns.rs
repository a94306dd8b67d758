//! The loop of one thread: waits, lets clients whose answer has come go on, begins what is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::time::Duration;

use super::client::{Client, Doing, Next};
use super::poll::Poll;
use crate::clock::{self, Usage, UsageMeter, now_ns, ns, sleep_until};
use crate::gate::Ticket;
use crate::job::{Brake, Leaving};
use crate::recorder::Latencies;
use crate::schedule::Timetable;
use crate::station::Turn;

/// How often a loop looks at its own use of the processor.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Share of the time on the processor from which a loop is saturated and another thread is worth having.
const SATURATED: f64 = 0.85;

/// The clients of one thread.
pub struct Turns<'a, 'o> {
    pub clients: Vec<Client<'a, 'o>>,
    /// Processor time of the thread in the measured window.
    pub usage: Usage,
    /// Latencies of all clients of the thread.
    pub latencies: Latencies,
    meter: UsageMeter,
    before: Usage,
    poll: Poll,
    table: &'a Timetable,
    /// The common start; 0 before.
    origin_ns: u64,
    /// Clients by the time of their next step, those that wait alone.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    /// Clients that have something to do.
    active: usize,
    entered: bool,
    looked_ns: u64,
    looked: Usage,
}

/// Where a saturated loop finds help.
pub trait Relief<'a, 'o> {
    /// Whether one more thread may be begun; who is told so begins it.
    fn may_begin(&self) -> bool;
    /// Begins a thread for these clients, in the middle of their work.
    fn begin(&self, clients: Vec<Client<'a, 'o>>, origin_ns: u64);
}

impl<'a, 'o> Turns<'a, 'o> {
    /// A loop for these clients, on the thread that is going to run it.
    ///
    /// # Errors
    /// When the kernel has no descriptors for it; the clients are given back.
    pub fn new(
        clients: Vec<Client<'a, 'o>>,
        table: &'a Timetable,
    ) -> Result<Self, (LoopError, Vec<Client<'a, 'o>>)> {
        let watching = Poll::new().and_then(|poll| {
            for (place, client) in clients.iter().enumerate() {
                poll.watch(client.station.descriptor(), place, client.writing)?;
            }
            Ok(poll)
        });
        let poll = match watching {
            Ok(poll) => poll,
            Err(error) => return Err((LoopError(error), clients)),
        };
        Ok(Self {
            due: BinaryHeap::with_capacity(clients.len()),
            clients,
            usage: Usage::default(),
            latencies: Latencies::default(),
            meter: UsageMeter::of_this_thread(),
            before: Usage::default(),
            poll,
            table,
            origin_ns: 0,
            active: 0,
            entered: table.from_ns() == 0,
            looked_ns: 0,
            looked: Usage::default(),
        })
    }

    /// Ramps up, waits for the others, and works until the timetable ends.
    pub fn run(
        &mut self,
        ticket: Ticket,
        brake: &Brake,
        relief: &dyn Relief<'a, 'o>,
    ) -> Result<(), LoopError> {
        clock::sharpen_timers();
        for place in 0..self.clients.len() {
            let next = self.clients[place].warm_up();
            self.set(place, next);
        }
        self.turn_until_idle(brake, None)?;
        for client in &mut self.clients {
            if client.doing == Doing::Parked && self.table.from_ns() == 0 {
                client.station.measurement_begins();
            }
        }
        self.before = self.meter.read();
        let halted = || brake.pulled();
        let start = ticket.wait(halted);
        match start.filter(|at| sleep_until(*at, halted).is_some()) {
            Some(origin_ns) => self.origin_ns = origin_ns,
            None => {
                self.leave_all(brake);
                return Ok(());
            }
        }
        for place in 0..self.clients.len() {
            if self.clients[place].doing == Doing::Parked {
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
        relief: &dyn Relief<'a, 'o>,
    ) -> Result<(), LoopError> {
        clock::sharpen_timers();
        self.origin_ns = origin_ns;
        self.entered |= now_ns() >= origin_ns + self.table.from_ns();
        self.count_anew();
        self.before = self.meter.read();
        self.go_on(brake, relief)
    }

    fn go_on(&mut self, brake: &Brake, relief: &dyn Relief<'a, 'o>) -> Result<(), LoopError> {
        (self.looked_ns, self.looked) = (now_ns(), self.meter.read());
        self.turn_until_idle(brake, Some(relief))?;
        // The window is observed to its end, so that the rate may be divided by all of it.
        let was_over = |client: &Client| client.leaving == Leaving::Over;
        if let Some(until) = self
            .table
            .until_ns()
            .filter(|_| self.clients.iter().any(was_over))
        {
            let halted = || brake.pulled();
            if sleep_until(self.origin_ns + until, halted).is_none() {
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
        relief: Option<&dyn Relief<'a, 'o>>,
    ) -> Result<(), LoopError> {
        loop {
            if brake.pulled() {
                self.leave_waiting(brake);
            }
            let now = now_ns();
            self.begin_due(now, brake)?;
            if self.active == 0 {
                return Ok(());
            }
            if let Some(relief) = relief.filter(|_| now >= self.looked_ns + ns(LOOK_EVERY)) {
                self.look(now, relief)?;
            }
            if self.clients.len() == 1 && self.await_only_client(brake)? {
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
        let client = &mut self.clients[0];
        let works = matches!(client.doing, Doing::Working | Doing::RampUp);
        if !works || client.writing {
            return Ok(false);
        }
        match client.station.await_ready() {
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
            let turn = self.clients[place].begin(now_ns() - self.origin_ns);
            self.settle(place, turn, brake)?;
        }
        Ok(())
    }

    #[inline]
    fn ready(&mut self, place: usize, brake: &Brake) -> Result<(), LoopError> {
        let client = &mut self.clients[place];
        match client.doing {
            Doing::Working | Doing::RampUp => {
                let turn = client.station.ready();
                self.settle(place, turn, brake)
            }
            Doing::Waiting | Doing::Parked => {
                if let Turn::Finished(Err(crate::Failure::Fatal(message))) = client.station.ready()
                {
                    brake.fail(message);
                }
                Ok(())
            }
            Doing::Over => Ok(()),
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
        let now = now_ns();
        if self.origin_ns + at > now {
            return None;
        }
        self.due.pop();
        Some(self.clients[place].begin(now - self.origin_ns))
    }

    fn finished(
        &mut self,
        place: usize,
        result: Result<crate::Done, crate::Failure>,
        brake: &Brake,
    ) {
        self.active -= 1;
        let client = &mut self.clients[place];
        let was_ramp_up = client.doing == Doing::RampUp;
        let now = now_ns() - self.origin_ns;
        let left = client.end(now, result, &mut self.latencies, brake);
        match left {
            Some(why) => self.set(place, Next::Leave(why)),
            None if brake.pulled() => self.set(place, Next::Leave(stopped(brake))),
            None if was_ramp_up => {
                let next = self.clients[place].warm_up();
                self.set(place, next);
            }
            None => self.advance(place),
        }
    }

    #[inline]
    fn advance(&mut self, place: usize) {
        let (entered, before, meter) = (&mut self.entered, &mut self.before, &self.meter);
        let next = self.clients[place].advance(|| {
            if !std::mem::replace(entered, true) {
                *before = meter.read();
            }
        });
        self.set(place, next);
    }

    /// Puts a client where its next step has it.
    #[inline]
    fn set(&mut self, place: usize, next: Next) {
        let client = &mut self.clients[place];
        match next {
            Next::At(at_ns) => {
                client.doing = Doing::Waiting;
                client.due_ns = at_ns;
                self.due.push(Reverse((at_ns, place)));
                self.active += 1;
            }
            Next::Park => client.doing = Doing::Parked,
            Next::Leave(why) => {
                client.doing = Doing::Over;
                client.leaving = why;
            }
        }
    }

    fn want_room(&mut self, place: usize, wanted: bool) -> Result<(), LoopError> {
        let client = &mut self.clients[place];
        if client.writing == wanted {
            return Ok(());
        }
        client.writing = wanted;
        let descriptor = client.station.descriptor();
        let watched = self.poll.want_room(descriptor, place, wanted);
        watched.map_err(LoopError)
    }

    /// The drive was stopped: who waits leaves at once, who works when the operation in hand is over.
    #[cold]
    fn leave_waiting(&mut self, brake: &Brake) {
        while let Some(Reverse((_, place))) = self.due.pop() {
            self.active -= 1;
            self.set(place, Next::Leave(stopped(brake)));
        }
    }

    #[cold]
    fn leave_all(&mut self, brake: &Brake) {
        for client in &mut self.clients {
            client.doing = Doing::Over;
            if client.leaving != Leaving::Exhausted {
                client.leaving = stopped(brake);
            }
        }
    }

    /// Looks whether the thread is saturated, and hands half of its clients to another one if so.
    #[cold]
    fn look(&mut self, now: u64, relief: &dyn Relief<'a, 'o>) -> Result<(), LoopError> {
        let usage = self.meter.read();
        let busy = usage.since(&self.looked).cpu.as_nanos() as f64 / (now - self.looked_ns) as f64;
        (self.looked_ns, self.looked) = (now, usage);
        if busy < SATURATED || self.active < 2 || !relief.may_begin() {
            return Ok(());
        }
        let half = self.clients.len().div_ceil(2);
        let given: Vec<_> = self.clients.drain(half..).collect();
        for client in &given {
            let forgotten = self.poll.forget(client.station.descriptor());
            forgotten.map_err(LoopError)?;
        }
        relief.begin(given, self.origin_ns);
        self.count_anew();
        Ok(())
    }

    /// Counts who has something to do, and lays out the steps, after clients came or went.
    fn count_anew(&mut self) {
        self.due.clear();
        self.active = 0;
        for (place, client) in self.clients.iter().enumerate() {
            self.active += usize::from(!matches!(client.doing, Doing::Parked | Doing::Over));
            if client.doing == Doing::Waiting {
                self.due.push(Reverse((client.due_ns, place)));
            }
        }
    }
}

fn stopped(brake: &Brake) -> Leaving {
    match brake.failed.load(std::sync::atomic::Ordering::Relaxed) {
        true => Leaving::Failed,
        false => Leaving::Stopped,
    }
}

/// The kernel refuses what a loop needs.
#[derive(Debug, thiserror::Error)]
#[error(
    "the kernel refuses the driver's event loop ({0}): raise the limit of open files (ulimit -n) or use fewer jobs"
)]
pub struct LoopError(pub io::Error);
