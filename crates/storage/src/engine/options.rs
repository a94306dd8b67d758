//! How runs are carried out, beside what they say themselves.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::files::{Claims, Opening};
use super::proofs::Proofs;

/// I/Os that are handed to the kernel at once, unless more or fewer are asked for.
pub const BATCH_DEFAULT: usize = 32;
/// More at once would only make the first of them wait.
pub const BATCH_MAX: usize = 4096;
/// I/Os that a recording may be asked to hold.
pub const TRACE_MAX: usize = 50_000_000;
/// How a run is to be carried out, beside what the run itself says.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Everything drawn by lot follows from it.
    pub seed: u64,
    /// I/Os handed to the kernel at once, at most.
    pub batch_max: usize,
    /// Threads that drive I/Os, at most; none: one for each processor.
    pub workers_max: Option<usize>,
    /// Blocking threads even where a ring may be used.
    pub without_ring: bool,
    /// Devices whose contents may be lost, by name. Others that say what they hold are not written to.
    pub may_destroy: &'a [PathBuf],
    /// Files may be shorter than their size, and grow: for [`format_run`](super::format_run) alone.
    pub may_grow: bool,
    /// Devices that are held over several runs; none: each run holds its own.
    pub claims: Option<&'a Claims>,
    /// What is known of validated blocks from earlier runs, and for later ones; none: this run stands alone.
    pub proofs: Option<&'a Proofs>,
    /// I/Os of each worker to be recorded; 0: none.
    pub trace_max: usize,
    /// Set from outside (Ctrl-C): what is in flight is awaited, and what was measured is kept.
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

    /// Threads that drive I/Os, at most.
    pub(super) fn workers(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.workers_max.unwrap_or_else(processors)
    }

    /// How its SDs are opened, with these claims.
    pub(super) fn opening(&self, claims: &'a Claims) -> Opening<'a> {
        Opening {
            may_grow: self.may_grow,
            may_destroy: self.may_destroy,
            claims,
        }
    }
}
