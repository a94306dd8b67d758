//! Drives many clients from one thread, for targets whose answers can be awaited.
//!
//! A thread for every client would be simpler, but hundreds of threads take processor time for switching from a
//! database on the same machine.

mod client;
mod loop_threads;
mod poll;
mod slot;
mod turns;

pub(crate) use client::{Client, Replacement, Rules};
pub(crate) use loop_threads::{LoopOutcome, Loops, run};
