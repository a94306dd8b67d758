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
mod client;
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
mod timing;

pub use client::{BlockingClient, Done, Failure, Interrupt, NonblockingClient, Request, Turn};
pub use clock::{Clock, VirtualClock};
pub use drive::{Drive, JOBS_MAX, drive};
pub use event_loop::drive_nonblocking;
pub use objective::{ERRORS_PCT_MAX, Held, Objective, ObjectiveError, Window};
pub use outcome::{ClientOutcome, DriverThreads, KindOutcome, Outcome};
pub use population::{
    ConnectionPool, NextOperation, PopulationDrive, PopulationModel, UserPopulation,
    drive_population,
};
pub use ramp::{STEPS_MAX, UserSteps, UserStepsError};
pub use recorder::Progress;
pub use schedule::{Arrivals, End, RampUp, Schedule, ScheduleError, Think};
pub use series::{Interval, KindInterval};
