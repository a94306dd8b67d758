//! The models of load: the times at which operations are meant to start.
//!
//! Nothing here reads a clock or sleeps. Times are nanoseconds since the common start of the jobs, so that any loop
//! (threads, epoll) can follow the same timetable and tests can check it to the nanosecond.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::clock::ns;
use stats::random::{Random, exponential_of, mix};

/// An exponential think time is cut at this many times its mean (as TPC-C does), so that no user pauses for ever.
pub const THINK_MEANS_MAX: f64 = 10.0;
/// Greatest rate of an open schedule; beyond it ticks would be closer than the cost of a clock reading.
pub const RATE_PER_S_MAX: f64 = 10_000_000.0;
/// Bounds of the time in which ticks that are overdue at the end are still executed: as long as the measured window,
/// but at least and at most this.
pub const DRAIN_BOUNDS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// Every job starts its next operation when the previous one has ended and its think time is over.
    Closed { think: Think },
    /// Operations arrive at a rate, whatever the target does; a free job takes the next one.
    Open { rate_per_s: f64, arrivals: Arrivals },
    /// Sessions arrive at a rate; within a session operations follow each other as in a closed model.
    SemiOpen {
        sessions_per_s: f64,
        arrivals: Arrivals,
        operations_per_session: u32,
        think: Think,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    Constant,
    /// At random: gaps are exponential, as of many independent users.
    Poisson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    None,
    Constant(Duration),
    /// Exponential, cut at [`THINK_MEANS_MAX`] times the mean.
    Exponential {
        mean: Duration,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RampUp {
    None,
    /// Every job executes this many operations as fast as it can; then all meet, and start together.
    Operations {
        per_job: u64,
    },
    /// The schedule runs for this time before its operations count.
    Time(Duration),
}

impl RampUp {
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
    /// After a fixed time; operations that were due before are still executed (see [`DRAIN_BOUNDS`]).
    Time(Duration),
}

#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ScheduleError {
    #[error("the rate {0} per second cannot be scheduled: give more than 0 and at most 10000000")]
    Rate(f64),
    #[error("a session needs at least one operation: set operations_per_session to 1 or more")]
    EmptySession,
}

impl Schedule {
    /// Checks that the schedule can be followed, before any target is touched. Fails on a rate out of range, or a
    /// session without operations.
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

    /// The rest of a pause at an unrelated moment, such as the start of a drive for a time: with it, instead of an
    /// operation of every job, the first moment is like any other. Of a constant pause every rest is equally likely,
    /// of an exponential one the rest is again exponential (except for the few longest pauses).
    fn draw_rest_ns(&self, random: &mut Random) -> u64 {
        match *self {
            Think::None | Think::Exponential { .. } => self.draw_ns(random),
            Think::Constant(pause) => (random.unit() * ns(pause) as f64) as u64,
        }
    }
}

/// One arrival process, shared by all jobs and without a lock.
///
/// It is shared, rather than one process of rate/J per job, for two reasons. With their own processes the ticks of a
/// stalled job would wait while its neighbours are idle: J queues with one server each instead of one queue with J
/// servers, which overstates the waiting. And the ticks would depend on the number of jobs, so that two numbers of
/// jobs could not be compared under the same arrivals.
#[derive(Debug)]
pub struct Ticks {
    rate_per_s: f64,
    arrivals: Arrivals,
    seed: u64,
    /// Constant: the number of the next tick. Poisson: the time of the last one.
    state: AtomicU64,
}

impl Ticks {
    pub fn new(rate_per_s: f64, arrivals: Arrivals, seed: u64) -> Self {
        Self {
            rate_per_s,
            arrivals,
            seed: mix(seed),
            state: AtomicU64::new(0),
        }
    }

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

    /// The gap after a tick is drawn from the tick's own time, so that the state of the process is one number, and
    /// one compare-and-swap hands out a tick. Gaps of at least 1 ns keep the times distinct.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from_ns: u64,
    /// Its end; `None` if the amount of work ends it.
    pub until_ns: Option<u64>,
    /// True if operations due in it are executed after its end and still count.
    pub is_drained: bool,
}

impl Window {
    pub fn ends_ns(&self) -> u64 {
        self.until_ns.unwrap_or(u64::MAX)
    }

    pub fn counts_until_ns(&self) -> u64 {
        if self.is_drained {
            u64::MAX
        } else {
            self.ends_ns()
        }
    }
}

/// The shared state of all jobs of a drive: the schedule, the measured window and the remaining work.
#[derive(Debug)]
pub struct Timetable {
    schedule: Schedule,
    seed: u64,
    from_ns: u64,
    until_ns: u64,
    drained_ns: u64,
    per_job: u64,
    /// Measured operations of all jobs together, in models in which the jobs share the work.
    all_jobs: u64,
    begun: AtomicU64,
    ticks: Option<Ticks>,
}

impl Timetable {
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

    pub fn from_ns(&self) -> u64 {
        self.from_ns
    }

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Intended start; in the past if the job is late.
    pub intended_ns: u64,
    pub measured: bool,
}

#[derive(Debug)]
pub struct Pacer<'a> {
    table: &'a Timetable,
    random: Random,
    /// Operations given to this job, ramp-up included.
    begun: u64,
    begun_measured: u64,
    /// Remaining operations of the current session, in a semi-open model.
    session_left: Option<u32>,
    unserved: u64,
}

impl Pacer<'_> {
    /// The next operation of a job that is free since `free_ns` (at first: since the common start, 0); `None` if its
    /// part is done.
    #[inline]
    pub fn next(&mut self, free_ns: u64) -> Option<Step> {
        let intended_ns = match self.table.schedule {
            Schedule::Closed { think } => free_ns.saturating_add(match self.begun {
                // A job with a fixed amount of work begins with an operation.
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

    /// Number of ticks that were due in the window and given up because the time to drain was over.
    pub fn unserved(&self) -> u64 {
        self.unserved
    }

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

    /// The next operation of the current session, or the first of the next one. A session ends with the window: a
    /// later operation would not count, and the job may have overdue arrivals to serve.
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
