//! The engine on real files. Expectations are compared with a recording of every I/O, never only with the engine's
//! own totals.

#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod built_in_layouts;
mod common;
#[path = "../shared/distribution.rs"]
mod distribution;
mod faults;
mod findings;
mod layout;
#[path = "../shared/loop_device.rs"]
mod loop_device;
mod overload;
mod proofs;
mod proven_spaces;
mod rates;
mod streams;
mod ways;
