//! Drives jobs and virtual users on a schedule and records what they feel; knows no SQL.
//!
//! - [`drive()`] puts every job on its own thread, ramps up, starts all of them together and returns an
//!   [`Outcome`]: service time (start → end) and response time (intended start → end) as two histograms,
//!   each client's own account, and the proof that the driver itself was not what was measured.
//! - [`drive_nonblocking`] does the same with many clients on one thread, for targets whose answers can be awaited.
//! - [`population`] drives users, of whom there may be thousands, over a pool of connections.
//! - [`search`] finds the highest rate that holds an [`Objective`], and [`slo_search`] carries it out; [`UserSteps`] are the steps of a ramp.
//! - [`schedule`] says when operations are meant to start and [`recorder`] what is written down of them.
//!   Neither knows of threads, so that both follow and record in the very same way.
//! - [`mock`] is a target whose latency and stalls are programmed.
//!
//! ```
//! use std::{sync::atomic::AtomicBool, time::Duration};
//! use load::{Drive, End, RampUp, Schedule, Think, drive, mock::Mock};
//!
//! let stop = AtomicBool::new(false);
//! let outcome = drive(Mock::new().sessions(2), &Drive {
//!     schedule: Schedule::Closed { think: Think::None },
//!     ramp_up: RampUp::Operations { per_job: 10 },
//!     end: End::Operations { per_job: 100 },
//!     interval: Duration::from_secs(1),
//!     seed: 1,
//!     stop: &stop,
//!     progress: None,
//!     clock: load::Clock::Monotonic,
//! });
//! assert_eq!((outcome.operations(), outcome.total().response.count()), (200, 200));
//! ```

pub mod account;
pub mod clock;
pub mod coarse;
mod drive;
mod event_loop;
mod gate;
mod job;
pub mod mock;
mod objective;
pub mod outcome;
pub mod population;
mod ramp;
pub mod recorder;
pub mod schedule;
pub mod search;
pub mod series;
pub mod slo_search;
mod station;
mod timing;

pub use clock::{Clock, VirtualClock};
pub use drive::{Drive, JOBS_MAX, drive};
pub use event_loop::drive_nonblocking;
pub use objective::{ERRORS_PCT_MAX, Held, Objective, ObjectiveError, Window};
pub use outcome::{ClientOutcome, DriverThreads, KindOutcome, Outcome};
pub use population::{
    BlockingConnection, ConnectionPool, NextOperation, NonblockingConnection, PopulationDrive,
    PopulationModel, UserPopulation, drive_population,
};
pub use ramp::{STEPS_MAX, UserSteps, UserStepsError};
pub use recorder::Progress;
pub use schedule::{Arrivals, End, RampUp, Schedule, ScheduleError, Think};
pub use series::{Interval, KindInterval};
pub use station::{NonblockingClient, Turn};

/// One job's hands: does one operation after another.
pub trait BlockingClient: Send {
    /// Does operation number `index` of this job. Indices rise by one over ramp-up and measurement
    /// alike, so that what must not repeat (a key to insert, a key without replacement) does not.
    ///
    /// # Errors
    /// A [`Failure`], which says what becomes of the job.
    fn operate(&mut self, index: u64) -> Result<Done, Failure>;

    /// Called once when the ramp-up of this job is over, so that a client that reads counters of
    /// its own can leave the ramp-up out of them too. Nothing by default.
    fn measurement_begins(&mut self) {}
}

/// What a completed operation amounts to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Rows read or written.
    pub rows: u64,
    /// How often it had to be begun anew (deadlock, conflict, busy).
    pub retries: u32,
    /// Whether it was rolled back on purpose, as a part of the work: completed all the same.
    pub rolled_back: bool,
}

/// Why an operation was not completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It failed; it is counted, and the job goes on.
    Operation(String),
    /// Going on is pointless: the whole drive stops.
    Fatal(String),
    /// There is no work left: the job ends well.
    Exhausted,
}
