//! What stops a drive before its end, and why its clients leave.

use std::any::Any;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What stops a drive before its end.
#[derive(Debug)]
pub struct Cancellation<'a> {
    /// Somebody outside wants the drive to stop.
    pub stop: &'a AtomicBool,
    /// A client cannot go on, and why; the first one counts.
    pub fatal: OnceLock<String>,
    /// Set with `fatal`: one relaxed load is all that an operation pays for it.
    failed: AtomicBool,
}

impl<'a> Cancellation<'a> {
    /// Of a drive that this flag stops.
    pub fn new(stop: &'a AtomicBool) -> Self {
        Self {
            stop,
            fatal: OnceLock::new(),
            failed: AtomicBool::new(false),
        }
    }

    /// Whether clients must stop now.
    #[inline]
    pub fn pulled(&self) -> bool {
        self.stop.load(Relaxed) || self.failed.load(Relaxed)
    }

    /// Stops the drive for good. When it is stopped already, what fails does so because of that.
    pub fn fail(&self, message: String) {
        if self.stop.load(Relaxed) {
            return;
        }
        // A second failure is as a rule the echo of the first.
        let _ = self.fatal.set(message);
        self.failed.store(true, Relaxed);
    }

    /// Why a client leaves when the drive was stopped.
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
    /// Nothing more is due for it.
    Over,
    /// Its job had no work left.
    Exhausted,
    /// Its connection was given up, and there is no other.
    Lost,
    /// The drive was stopped from outside.
    Stopped,
    /// The drive failed, here or elsewhere.
    Failed,
}

/// The text of a panic, which is a string unless somebody took pains.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let borrowed = panic.downcast_ref::<&str>().copied();
    owned.or(borrowed).unwrap_or("no message was given")
}
