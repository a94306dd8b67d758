//! When operations are meant to start: the models of load, and the arithmetic behind them.
//!
//! Nothing here reads a clock or sleeps. Times are nanoseconds since the common start of the jobs, so
//! that any loop (threads, epoll) can follow the same timetable and tests can check it to the nanosecond.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::clock::ns;
use stats::random::{Random, exponential_of, mix};

/// An exponential think time is cut at this many times its mean (as TPC-C does), so that no user falls asleep.
pub const THINK_MEANS_MAX: f64 = 10.0;
/// Greatest rate of an open schedule; beyond it ticks would be closer than a clock reading costs.
pub const RATE_PER_S_MAX: f64 = 10_000_000.0;
/// Bounds of the time in which ticks that are overdue at the end are still carried out:
/// as long as the measured window, but at least and at most this.
pub const DRAIN_BOUNDS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// Every job starts its next operation when the previous one has ended and it has thought.
    Closed {
        /// The pause after each operation.
        think: Think,
    },
    /// Operations arrive at a rate, whatever the target does; a free job takes the next one.
    Open {
        /// Operations per second of all jobs together.
        rate_per_s: f64,
        arrivals: Arrivals,
    },
    /// Sessions arrive at a rate; within a session operations follow each other as in a closed model.
    SemiOpen {
        /// Sessions per second of all jobs together.
        sessions_per_s: f64,
        arrivals: Arrivals,
        operations_per_session: u32,
        /// The pause between two operations of a session.
        think: Think,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly: tick *i* at *i* / rate.
    Constant,
    /// At random: gaps are exponential, as of many users who do not know of each other.
    Poisson,
}

/// The pause of a virtual user between two operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    None,
    /// Always the same.
    Constant(Duration),
    /// Exponential, cut at [`THINK_MEANS_MAX`] times the mean.
    Exponential {
        mean: Duration,
    },
}

/// What is done before measuring starts, and never recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RampUp {
    None,
    /// Every job does so many operations as fast as it can; then all meet, and start together.
    Operations {
        per_job: u64,
    },
    /// The schedule runs for so long before what it starts counts.
    Time(Duration),
}

impl RampUp {
    /// Operations that every job does before the common start.
    pub(crate) fn operations(&self) -> u64 {
        match self {
            RampUp::Operations { per_job } => *per_job,
            RampUp::None | RampUp::Time(_) => 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// After a fixed amount of work. In an open model the jobs share the sum of it.
    Operations { per_job: u64 },
    /// After a fixed time; what was due before is still carried out (see [`DRAIN_BOUNDS`]).
    Time(Duration),
}

/// Why a schedule cannot be followed.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ScheduleError {
    /// Zero, negative, infinite or beyond [`RATE_PER_S_MAX`].
    #[error("the rate {0} per second cannot be scheduled: give more than 0 and at most 10000000")]
    Rate(f64),
    /// A session without operations never ends.
    #[error("a session needs at least one operation: set operations_per_session to 1 or more")]
    EmptySession,
}

impl Schedule {
    /// Whether the schedule can be followed; to be asked before any target is touched.
    ///
    /// # Errors
    /// A rate out of range, or a session without operations.
    pub fn check(&self) -> Result<(), ScheduleError> {
        let (rate, operations) = match *self {
            Schedule::Closed { .. } => return Ok(()),
            Schedule::Open { rate_per_s, .. } => (rate_per_s, 1),
            Schedule::SemiOpen {
                sessions_per_s,
                operations_per_session,
                ..
            } => (sessions_per_s, operations_per_session),
        };
        if !(rate > 0.0 && rate <= RATE_PER_S_MAX) {
            return Err(ScheduleError::Rate(rate));
        }
        if operations == 0 {
            return Err(ScheduleError::EmptySession);
        }
        Ok(())
    }
}

impl Think {
    /// The next pause, in nanoseconds.
    #[inline]
    pub fn draw_ns(&self, random: &mut Random) -> u64 {
        match *self {
            Think::None => 0,
            Think::Constant(pause) => ns(pause),
            Think::Exponential { mean } => {
                let mean_ns = ns(mean) as f64;
                random.exponential(mean_ns).min(THINK_MEANS_MAX * mean_ns) as u64
            }
        }
    }

    /// What is left of a pause at a moment that has nothing to do with it, as the start of a drive for a time: with it, and
    /// not with an operation of every job, the first moment is like any other. Of a constant pause every rest is equally
    /// likely, of an exponential one the rest is again exponential (but for the few longest pauses).
    fn draw_rest_ns(&self, random: &mut Random) -> u64 {
        match *self {
            Think::None | Think::Exponential { .. } => self.draw_ns(random),
            Think::Constant(pause) => (random.unit() * ns(pause) as f64) as u64,
        }
    }
}

/// One arrival process, shared by all jobs and without a lock.
///
/// It is shared, rather than one process of rate/J per job, for two reasons. With their own processes the
/// ticks of a stalled job would wait while its neighbours sit idle: J queues with one server each instead
/// of one queue with J servers, which overstates the waiting. And the ticks would depend on the number of
/// jobs, so that two numbers of jobs could not be compared under the very same arrivals.
#[derive(Debug)]
pub struct Ticks {
    rate_per_s: f64,
    arrivals: Arrivals,
    seed: u64,
    /// Constant: the number of the next tick. Poisson: the time of the last one.
    state: AtomicU64,
}

impl Ticks {
    /// The process of a rate that [`Schedule::check`] accepts.
    pub fn new(rate_per_s: f64, arrivals: Arrivals, seed: u64) -> Self {
        Self {
            rate_per_s,
            arrivals,
            seed: mix(seed),
            state: AtomicU64::new(0),
        }
    }

    /// Takes the next tick: its time since the common start. Every tick goes to exactly one caller.
    #[inline]
    pub fn take_ns(&self) -> u64 {
        match self.arrivals {
            Arrivals::Constant => {
                let tick = self.state.fetch_add(1, Relaxed);
                (tick as f64 * 1e9 / self.rate_per_s).round() as u64
            }
            Arrivals::Poisson => self.take_poisson(),
        }
    }

    /// The gap after a tick is drawn from the tick's own time, so that the whole state of the process is
    /// one number, and one compare-and-swap hands out a tick. Gaps of at least 1 ns keep the times distinct.
    fn take_poisson(&self) -> u64 {
        let mut last = self.state.load(Relaxed);
        loop {
            let gap = exponential_of(mix(self.seed ^ mix(last)), 1e9 / self.rate_per_s);
            let next = last + (gap.round() as u64).max(1);
            match self
                .state
                .compare_exchange_weak(last, next, Relaxed, Relaxed)
            {
                Ok(_) => return next,
                Err(now) => last = now,
            }
        }
    }
}

/// The measured window, in nanoseconds since the common start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its start; what comes before is ramp-up.
    pub from_ns: u64,
    /// Its end; `None` when the amount of work ends it.
    pub until_ns: Option<u64>,
    /// Whether what is due in it is carried out behind it and counts all the same.
    pub is_drained: bool,
}

impl Window {
    /// When nothing is due any more.
    pub fn ends_ns(&self) -> u64 {
        self.until_ns.unwrap_or(u64::MAX)
    }

    /// When nothing counts any more.
    pub fn counts_until_ns(&self) -> u64 {
        if self.is_drained {
            u64::MAX
        } else {
            self.ends_ns()
        }
    }
}

/// What all jobs of a drive share: the schedule, the measured window and what is left of it.
#[derive(Debug)]
pub struct Timetable {
    schedule: Schedule,
    seed: u64,
    from_ns: u64,
    until_ns: u64,
    /// Past this time an overdue tick is given up and counted.
    drained_ns: u64,
    per_job: u64,
    /// Measured operations of all jobs together, in models where the jobs share the work.
    all_jobs: u64,
    begun: AtomicU64,
    ticks: Option<Ticks>,
}

impl Timetable {
    /// The timetable of one drive.
    ///
    /// # Errors
    /// As [`Schedule::check`].
    pub fn new(
        schedule: Schedule,
        ramp_up: RampUp,
        end: End,
        jobs: usize,
        seed: u64,
    ) -> Result<Self, ScheduleError> {
        schedule.check()?;
        let from_ns = match ramp_up {
            RampUp::Time(time) => ns(time),
            RampUp::None | RampUp::Operations { .. } => 0,
        };
        let (until_ns, drain_ns, per_job) = match end {
            End::Operations { per_job } => (u64::MAX, 0, per_job),
            End::Time(time) => {
                let drain = time.clamp(DRAIN_BOUNDS.0, DRAIN_BOUNDS.1);
                (from_ns.saturating_add(ns(time)), ns(drain), u64::MAX)
            }
        };
        let ticks = match schedule {
            Schedule::Closed { .. } => None,
            Schedule::Open {
                rate_per_s: rate,
                arrivals,
            }
            | Schedule::SemiOpen {
                sessions_per_s: rate,
                arrivals,
                ..
            } => Some(Ticks::new(rate, arrivals, seed)),
        };
        Ok(Self {
            schedule,
            seed,
            from_ns,
            until_ns,
            drained_ns: until_ns.saturating_add(drain_ns),
            per_job,
            all_jobs: per_job.saturating_mul(jobs as u64),
            begun: AtomicU64::new(0),
            ticks,
        })
    }

    /// Start of the measured window: what is meant to start before is ramp-up.
    pub fn from_ns(&self) -> u64 {
        self.from_ns
    }

    /// End of the measured window; `None` when the amount of work ends it.
    pub fn until_ns(&self) -> Option<u64> {
        (self.until_ns != u64::MAX).then_some(self.until_ns)
    }

    pub fn window(&self) -> Window {
        Window {
            from_ns: self.from_ns,
            until_ns: self.until_ns(),
            is_drained: true,
        }
    }

    /// The steps of job number `job` through this timetable.
    pub fn pacer(&self, job: u64) -> Pacer<'_> {
        Pacer {
            table: self,
            random: Random::stream(self.seed, job),
            begun: 0,
            begun_measured: 0,
            session_left: None,
            unserved: 0,
        }
    }
}

/// The next operation of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// When it is meant to start; in the past when the job comes late to it.
    pub intended_ns: u64,
    pub measured: bool,
}

/// Leads one job through the timetable.
#[derive(Debug)]
pub struct Pacer<'a> {
    table: &'a Timetable,
    random: Random,
    /// Operations this job was given, ramp-up included.
    begun: u64,
    /// Those of them that count.
    begun_measured: u64,
    /// Operations left of the session at hand, in a semi-open model.
    session_left: Option<u32>,
    unserved: u64,
}

impl Pacer<'_> {
    /// The next operation of a job that is free since `free_ns` (at first: since the common start, 0);
    /// `None` when its part is done.
    #[inline]
    pub fn next(&mut self, free_ns: u64) -> Option<Step> {
        let intended_ns = match self.table.schedule {
            Schedule::Closed { think } => free_ns.saturating_add(match self.begun {
                // A part of the work that a job has to do is no moment among many.
                0 if self.table.until_ns == u64::MAX => 0,
                0 => think.draw_rest_ns(&mut self.random),
                _ => think.draw_ns(&mut self.random),
            }),
            Schedule::Open { .. } => self.tick(free_ns)?,
            Schedule::SemiOpen {
                operations_per_session,
                think,
                ..
            } => self.of_session(free_ns, operations_per_session, think)?,
        };
        let measured = intended_ns >= self.table.from_ns;
        if intended_ns >= self.table.until_ns || (measured && !self.may_begin()) {
            return None;
        }
        self.begun += 1;
        Some(Step {
            intended_ns,
            measured,
        })
    }

    /// Ticks that were due in the window and given up because the time to drain was over.
    pub fn unserved(&self) -> u64 {
        self.unserved
    }

    /// The next tick that is still to be carried out.
    fn tick(&mut self, free_ns: u64) -> Option<u64> {
        let ticks = self.table.ticks.as_ref()?;
        loop {
            let tick = ticks.take_ns();
            if tick >= self.table.until_ns || free_ns < self.table.drained_ns {
                return Some(tick);
            }
            self.unserved += u64::from(tick >= self.table.from_ns);
        }
    }

    /// The next operation of the session at hand, or the first of the next one. A session ends with the
    /// window: an operation meant for later would not count, and the job may have overdue arrivals to see.
    fn of_session(&mut self, free_ns: u64, operations: u32, think: Think) -> Option<u64> {
        if let Some(left) = self.session_left.filter(|left| *left > 0) {
            let intended = free_ns.saturating_add(think.draw_ns(&mut self.random));
            if intended < self.table.until_ns {
                self.session_left = Some(left - 1);
                return Some(intended);
            }
        }
        self.session_left = Some(operations.saturating_sub(1));
        self.tick(free_ns)
    }

    /// Whether a fixed amount of work has one more operation to give.
    fn may_begin(&mut self) -> bool {
        match self.table.schedule {
            _ if self.table.per_job == u64::MAX => true,
            Schedule::Closed { .. } => {
                self.begun_measured += 1;
                self.begun_measured <= self.table.per_job
            }
            Schedule::Open { .. } | Schedule::SemiOpen { .. } => {
                self.table.begun.fetch_add(1, Relaxed) < self.table.all_jobs
            }
        }
    }
}
