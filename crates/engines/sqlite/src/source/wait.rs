//! Waiting for the lock of a program that writes to the file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use engine::catalogue::LOCK_WAIT_MAX;
use engine::open_sessions::{OpenSession, Owner, break_off_those_of};

/// How long a connection sleeps before it tries again.
const PAUSE: Duration = Duration::from_millis(50);

/// The connections of a source, and whether one has waited since that was last looked at.
pub(super) struct Waiting {
    owner: Owner,
    is_waiting: Arc<AtomicBool>,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            owner: Owner::unique(),
            is_waiting: Arc::default(),
        }
    }
}

impl Waiting {
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting.swap(false, Ordering::Relaxed)
    }

    pub(super) fn break_off(&self) {
        break_off_those_of(self.owner);
    }

    /// Enters a connection in the register of sessions. It tries for a while to get a lock, unless it is broken off.
    pub(super) fn register(
        &self,
        connection: &mut Connection,
        waits: bool,
    ) -> rusqlite::Result<OpenSession> {
        let (interrupt, cut) = (
            connection.get_interrupt_handle(),
            Arc::new(AtomicBool::new(!waits)),
        );
        let (is_waiting, is_cut) = (Arc::clone(&self.is_waiting), Arc::clone(&cut));
        connection.busy_handler(Some(move |tries: i32| {
            let is_over = PAUSE.saturating_mul(tries.unsigned_abs()) >= LOCK_WAIT_MAX;
            if is_over || is_cut.load(Ordering::Relaxed) {
                return false;
            }
            is_waiting.store(true, Ordering::Relaxed);
            std::thread::sleep(PAUSE);
            true
        }))?;
        Ok(OpenSession::in_process_of(self.owner, move || {
            cut.store(true, Ordering::Relaxed);
            interrupt.interrupt();
        }))
    }
}
