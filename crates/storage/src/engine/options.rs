//! Options of the engine that are not part of a run.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::files::{Claims, Opening};
use super::proofs::Proofs;

/// Default of I/Os handed to the kernel in one call.
pub const BATCH_DEFAULT: usize = 32;
/// A larger batch would only make its first I/Os wait.
pub const BATCH_MAX: usize = 4096;
pub const TRACE_MAX: usize = 50_000_000;
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    pub seed: u64,
    /// Largest number of I/Os handed to the kernel in one call.
    pub batch_max: usize,
    /// Largest number of threads that drive I/Os; `None`: one per processor.
    pub workers_max: Option<usize>,
    pub without_ring: bool,
    /// Devices whose contents may be lost, by name. Others with a signature are refused.
    pub may_destroy: &'a [PathBuf],
    /// Files may be shorter than their size, and grow; only [`format_run`](super::format_run) needs it.
    pub may_grow: bool,
    /// Devices that are held over several runs; `None`: each run holds its own.
    pub claims: Option<&'a Claims>,
    /// State of validated blocks, from earlier runs and for later ones; `None`: the run is independent.
    pub proofs: Option<&'a Proofs>,
    /// I/Os of each worker to record; 0: none.
    pub trace_max: usize,
    /// Set from outside (Ctrl-C): the engine awaits the I/Os in flight and returns what it measured.
    pub stop: &'a AtomicBool,
}

impl<'a> Options<'a> {
    pub fn new(seed: u64, stop: &'a AtomicBool) -> Self {
        Self {
            seed,
            batch_max: BATCH_DEFAULT,
            workers_max: None,
            without_ring: false,
            may_destroy: &[],
            may_grow: false,
            claims: None,
            proofs: None,
            trace_max: 0,
            stop,
        }
    }

    pub(super) fn workers(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.workers_max.unwrap_or_else(processors)
    }

    pub(super) fn opening(&self, claims: &'a Claims) -> Opening<'a> {
        Opening {
            may_grow: self.may_grow,
            may_destroy: self.may_destroy,
            claims,
        }
    }
}
