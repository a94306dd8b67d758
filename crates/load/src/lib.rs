//! Drives jobs and virtual users on a schedule and records their latencies; knows no SQL.
//!
//! - [`drive()`] runs operations through clients, each [`BlockingClient`] on its own thread, [`NonblockingClient`]s in
//!   event loops. It ramps up, starts all clients together and returns an [`Outcome`]: service time (start → end) and
//!   response time (intended start → end) as histograms, each client's own account, and the proof that the driver itself
//!   was not the bottleneck.
//! - Operations come from jobs, each with its own client, or from the users of a [`population`] (possibly thousands), who
//!   share the clients.
//! - [`search`] decides which rates to try to find the highest one that meets an [`Objective`], and [`slo_search`] measures
//!   them; [`UserSteps`] are the steps of a ramp.
//! - [`schedule`] determines when operations are intended to start, [`recorder`] what is recorded about them.
//!   Neither depends on threads, so threads and event loops schedule and record in exactly the same way.
//! - [`mock`] is a target with programmed latency and stalls.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use load::{Clients, Drive, End, RampUp, drive, mock::Mock};
//!
//! let stop = AtomicBool::new(false);
//! let outcome = drive(Clients::Blocking(Mock::new().sessions(2)), &Drive {
//!     ramp_up: RampUp::Operations { per_job: 10 },
//!     ..Drive::of_jobs(End::Operations { per_job: 100 }, &stop)
//! });
//! assert_eq!((outcome.operations(), outcome.total().response.count()), (200, 200));
//! ```

pub mod account;
mod cancellation;
mod client;
pub mod clock;
pub mod coarse;
mod drive;
mod event_loop;
pub mod fine;
mod interval_queue;
pub mod mock;
mod objective;
pub mod outcome;
pub mod population;
mod ramp;
pub mod recorder;
pub mod schedule;
mod scheduler;
pub mod search;
pub mod series;
mod service;
pub mod slo_search;
mod start_barrier;
mod threads;
mod timing;
mod window_start;

pub use client::{BlockingClient, Done, Failure, Interrupt, NonblockingClient, Request, Turn};
pub use clock::{Clock, VirtualClock};
pub use drive::{Clients, Drive, JOBS_MAX, Replace, Users, drive};
pub use objective::{Assessment, ERRORS_PCT_MAX, Objective, ObjectiveError, Window};
pub use outcome::{ClientOutcome, DriverThreads, KindOutcome, Outcome};
pub use population::{NextOperation, UserPopulation};
pub use ramp::{STEPS_MAX, UserSteps, UserStepsError};
pub use recorder::{KindCounts, KindIntervals, Progress};
pub use schedule::{Arrivals, End, RampUp, Schedule, ScheduleError, Think};
pub use series::{Interval, KindInterval};
