//! Plans, sweeps, repetitions and validity gates: turns a plan into finished points.
//!
//! * [`plan`]: what is asked for, as TOML with `--set` applied.
//! * [`agenda`]: plan × targets × repetitions = the points to measure, and what cannot be.
//! * [`scripts`]: the user's own SQL that a plan names.
//! * [`measure`]: one point from start to verdict.
//! * [`columnar`]: lifted tables as steps of a plan.
//! * [`mixed`]: order entry with analytical queries beside it as steps of a plan.
//! * [`olap`]: the analytical workload as steps of a plan.
//! * [`oltp`]: the order-entry workload as steps of a plan.
//! * [`watcher`], [`timed`], [`bottleneck`]: what the target was seen doing, where the time went, and
//!   what held the point back.
//! * [`below`]: I/Os below any database as points.
//! * [`gates`]: what makes a point invalid, and what a reader should know about it.
//! * [`mod@run`]: one plan measured: measure, archive, next.
//! * [`mod@study`]: two configurations measured in turn, in an order drawn by lot.

mod advice;
pub mod agenda;
pub mod below;
pub mod bottleneck;
pub mod columnar;
mod done;
pub mod error;
pub mod gates;
mod machine;
pub mod measure;
pub mod mixed;
pub mod nodes;
mod observed;
mod observer;
pub mod olap;
pub mod oltp;
pub mod plan;
pub mod programs;
mod requests;
pub mod run;
pub mod scripts;
mod servers;
mod sessions;
pub mod sight;
pub mod signal;
mod start;
pub mod study;
pub mod timed;
pub mod volume;
pub mod watcher;
mod work;

pub use error::{LabError, Result};
pub use machine::HostAsked;
pub use observer::Observer;
pub use plan::{Mode, Plan, Setting, Step};
pub use run::{RunOptions, resume, run};

#[cfg(test)]
#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
