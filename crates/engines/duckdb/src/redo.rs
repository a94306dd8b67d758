//! Bytes written to the write-ahead log, from the growth of its file.
//!
//! DuckDB counts nothing of the kind. The log only grows between checkpoints, and checkpoints happen
//! only where dbdyno asks for them, so its size plus what each checkpoint retired is the total. What
//! other sessions commit in the instant between reading the size and the start of a checkpoint is
//! missed. Rows of a large load go straight to the data file; the log then holds only pointers to
//! them, and so does this figure.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The log of one database file.
pub struct RedoMeter {
    log: PathBuf,
    /// Takes what is committed while a checkpoint runs, and then becomes the log.
    log_during_checkpoint: PathBuf,
    retired_bytes: AtomicU64,
    /// The total never goes back, though the log may be cut a moment before it is retired.
    highest_bytes: AtomicU64,
}

impl RedoMeter {
    pub fn new(data: &Path) -> Self {
        let beside = |suffix: &str| {
            let mut name = data.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        Self {
            log: beside(".wal"),
            log_during_checkpoint: beside(".wal.checkpoint"),
            retired_bytes: AtomicU64::new(0),
            highest_bytes: AtomicU64::new(0),
        }
    }

    /// Bytes written so far; takes no lock, so that a sampler never waits for a checkpoint.
    pub(super) fn total_bytes(&self) -> u64 {
        let now = self.retired_bytes.load(Ordering::Acquire)
            + size_bytes(&self.log)
            + size_bytes(&self.log_during_checkpoint);
        self.highest_bytes.fetch_max(now, Ordering::AcqRel).max(now)
    }

    /// Does `checkpoint` and keeps what it removes from the log.
    pub(super) fn around<T>(&self, checkpoint: impl FnOnce() -> T) -> T {
        let before = size_bytes(&self.log);
        let outcome = checkpoint();
        // A checkpoint that failed or had nothing to do leaves the log as it was or longer.
        if size_bytes(&self.log) < before {
            self.retired_bytes.fetch_add(before, Ordering::AcqRel);
        }
        outcome
    }

    pub(super) fn log(&self) -> &Path {
        &self.log
    }
}

/// An absent log is an empty one.
fn size_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |m| m.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_checkpoint_removes_stays_counted() {
        let dir = tempfile::tempdir().unwrap();
        let meter = RedoMeter::new(&dir.path().join("t.db"));
        assert_eq!(meter.total_bytes(), 0);
        std::fs::write(meter.log(), [0; 100]).unwrap();
        assert_eq!(meter.total_bytes(), 100);
        meter.around(|| {
            std::fs::remove_file(meter.log()).unwrap();
            // Seen from a sampler between the cut and its accounting.
            assert_eq!(meter.total_bytes(), 100);
        });
        std::fs::write(meter.log(), [0; 30]).unwrap();
        assert_eq!(meter.total_bytes(), 130);
        meter.around(|| ());
        assert_eq!(meter.total_bytes(), 130);
    }
}
