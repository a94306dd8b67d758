//! One client of an event loop: its station, its way through the timetable and what is written down of it.

use crate::job::{Brake, Leaving};
use crate::recorder::{Latencies, Recorder, Timing};
use crate::schedule::{Pacer, Step};
use crate::station::{Station, Turn};
use crate::{Done, Failure};

/// What a client is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Operations before the common start, as fast as it can.
    RampUp,
    /// It waits for the common start.
    Parked,
    /// It waits for the time of its next step.
    Waiting,
    /// An operation is in hand.
    Working,
    /// It has left.
    Over,
}

/// What a client does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// An operation that is due at this time, since the common start.
    At(u64),
    /// It waits for the common start.
    Park,
    /// Nothing any more.
    Leave(Leaving),
}

/// A client of an event loop.
pub struct Client<'a, 'o> {
    /// Its number in the drive, from 0.
    pub number: u64,
    pub station: Box<dyn Station + 'o>,
    pub recorder: Recorder<'a>,
    pub doing: Doing,
    pub leaving: Leaving,
    /// Ticks it had to give up.
    pub unserved: u64,
    /// Whether its descriptor is watched for room to send.
    pub writing: bool,
    /// When its next step is due, since the common start.
    pub due_ns: u64,
    pacer: Pacer<'a>,
    step: Step,
    index: u64,
    free_ns: u64,
    started_ns: u64,
    ramp_up: u64,
    entered: bool,
}

impl<'a, 'o> Client<'a, 'o> {
    /// A client that begins with `ramp_up` operations. `entered` when the measured window begins with the
    /// common start.
    pub fn new(
        number: u64,
        station: Box<dyn Station + 'o>,
        recorder: Recorder<'a>,
        pacer: Pacer<'a>,
        ramp_up: u64,
        entered: bool,
    ) -> Self {
        Self {
            number,
            station,
            recorder,
            doing: Doing::Waiting,
            leaving: Leaving::Failed,
            unserved: 0,
            writing: false,
            due_ns: 0,
            pacer,
            step: Step {
                intended_ns: 0,
                measured: false,
            },
            index: 0,
            free_ns: 0,
            started_ns: 0,
            ramp_up,
            entered,
        }
    }

    /// What it does before the common start.
    pub fn warm_up(&self) -> Next {
        match self.ramp_up {
            0 => Next::Park,
            _ => Next::At(0),
        }
    }

    /// Its first step after the common start, or the next one. `entering` is called when the measured window
    /// begins for it in the middle of the schedule.
    pub fn advance(&mut self, entering: impl FnOnce()) -> Next {
        let Some(step) = self.pacer.next(self.free_ns) else {
            self.unserved = self.pacer.unserved();
            return Next::Leave(Leaving::Over);
        };
        if step.measured && !self.entered {
            self.entered = true;
            self.recorder.begin(self.free_ns);
            self.station.measurement_begins();
            entering();
        }
        self.step = step;
        Next::At(step.intended_ns)
    }

    /// Begins the operation that is due; `now_ns` since the common start.
    #[inline]
    pub fn begin(&mut self, now_ns: u64) -> Turn {
        self.started_ns = now_ns;
        self.doing = match self.ramp_up {
            0 => Doing::Working,
            _ => Doing::RampUp,
        };
        let index = self.index;
        self.index += 1;
        self.station.begin(index)
    }

    /// Writes down how the operation in hand ended; why the client leaves, if it does.
    #[inline]
    pub fn end(
        &mut self,
        now_ns: u64,
        result: Result<Done, Failure>,
        latencies: &mut Latencies,
        brake: &Brake,
    ) -> Option<Leaving> {
        let measured = self.doing == Doing::Working && self.step.measured;
        let timing = Timing {
            free_ns: self.free_ns,
            intended_ns: self.step.intended_ns,
            start_ns: self.started_ns,
            end_ns: now_ns,
        };
        match self.doing {
            Doing::RampUp => self.ramp_up -= 1,
            _ => self.free_ns = now_ns,
        }
        match result {
            Ok(done) if measured => {
                latencies.record(&timing);
                self.recorder.completed(&timing, done.rows, done.retries);
            }
            Err(Failure::Operation(message)) if measured => self.recorder.failed(&timing, message),
            Ok(_) | Err(Failure::Operation(_)) => {}
            Err(Failure::Exhausted) => return Some(Leaving::Exhausted),
            Err(Failure::Fatal(message)) => {
                brake.fail(message);
                return Some(Leaving::Failed);
            }
        }
        None
    }
}
