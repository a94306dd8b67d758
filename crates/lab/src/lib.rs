//! Plans, sweeps, repetitions and validity checks: turns a plan into finished points, whatever the workload.
//!
//! * [`plan`]: the request, as TOML with `--set` applied.
//! * [`workload`] and [`registry`]: the kinds of work that a plan can use, behind one trait.
//! * [`agenda`], [`volume`]: the points to measure, those that cannot be measured, and how much all of them write.
//! * [`mod@observe`]: the procedure of a point, from start to verdict.
//! * [`session_sampler`], [`timed`], [`wait_profile`], [`bottleneck`]: what the target's sessions did, where the time went, and
//!   what limited the point.
//! * `snapshots`: what the point at work does, interval by interval, for who watches.
//! * [`checks`]: what makes a point invalid, and what a reader should know about it.
//! * [`mod@run`]: measures one plan: measure a point, archive it, continue with the next.
//! * [`mod@study`]: measures two configurations alternately, in random order.

mod advice;
pub mod agenda;
pub mod alternate;
pub mod bottleneck;
pub mod checks;
mod companion;
mod context;
pub mod done;
pub mod error;
mod machine;
pub mod nodes;
pub mod observe;
mod observer;
mod parse;
pub mod plan;
pub mod point;
pub mod programs;
pub mod registry;
pub mod requests;
pub mod run;
pub mod server_memory;
pub mod servers;
pub mod session_sampler;
mod sessions;
pub mod signal;
mod snapshots;
pub mod start;
pub mod study;
pub mod timed;
pub mod volume;
pub mod wait_profile;
mod watchdog;
mod work;
pub mod workload;

pub use agenda::Agenda;
pub use context::RunContext;
pub use done::{Done, Measured};
pub use error::{LabError, Result};
pub use machine::HostOptions;
pub use nodes::Nodes;
pub use observer::{Observer, Snapshots};
pub use plan::{Mode, Plan, Setting, Step};
pub use registry::Registry;
pub use run::{RunOptions, resume, run};
pub use workload::{Ground, InSlices, Measure, Sessions, Workload};
