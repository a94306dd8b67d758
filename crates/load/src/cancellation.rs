//! Cancellation of a drive, and the reasons for which its clients leave.

use std::any::Any;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[derive(Debug)]
pub struct Cancellation<'a> {
    pub stop: &'a AtomicBool,
    /// Why a client cannot continue; the first one counts.
    pub fatal: OnceLock<String>,
    /// Set with `fatal`, so that an operation pays for a single relaxed load.
    failed: AtomicBool,
}

impl<'a> Cancellation<'a> {
    pub fn new(stop: &'a AtomicBool) -> Self {
        Self {
            stop,
            fatal: OnceLock::new(),
            failed: AtomicBool::new(false),
        }
    }

    #[inline]
    pub fn pulled(&self) -> bool {
        self.stop.load(Relaxed) || self.failed.load(Relaxed)
    }

    /// Stops the drive for good. If it is already stopped, the failure is a consequence of that.
    pub fn fail(&self, message: String) {
        if self.stop.load(Relaxed) {
            return;
        }
        // A second failure is as a rule a consequence of the first.
        let _ = self.fatal.set(message);
        self.failed.store(true, Relaxed);
    }

    pub fn stopped(&self) -> ExitReason {
        if self.failed.load(Relaxed) {
            ExitReason::Failed
        } else {
            ExitReason::Stopped
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    Over,
    Exhausted,
    Lost,
    Stopped,
    Failed,
}

/// The text of a panic, if its payload is a string.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let borrowed = panic.downcast_ref::<&str>().copied();
    owned.or(borrowed).unwrap_or("no message was given")
}
