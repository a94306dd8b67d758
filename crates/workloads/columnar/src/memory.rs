//! Memory limit and memory use of the column store.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use archive::Remark;
use column_store::MEMORY_BYTES_MIN;

const INTERVAL: Duration = Duration::from_millis(10);
/// Default share of the available memory.
const SHARE: f64 = 0.8;

/// Default memory limit in bytes; `None` if the kernel does not report the available memory.
pub fn usable_bytes() -> Option<u64> {
    Some((host::memory::available_bytes()? as f64 * SHARE) as u64)
}

pub use stats::words::bytes as words;

/// Bytes of a limit for populating, which includes the engine's needs for packing.
///
/// # Errors
/// When it is no size, or too small for the engine.
pub fn limit_of(text: &str) -> Result<u64, String> {
    let bytes = bytes_of(text)?;
    if bytes < MEMORY_BYTES_MIN {
        Err(format!(
            "{text} is too small: the engine needs at least {} to compress tables",
            words(MEMORY_BYTES_MIN)
        ))
    } else {
        Ok(bytes)
    }
}

/// Bytes of a size such as "500MB" or "4GiB".
///
/// # Errors
/// When it is no size.
pub fn bytes_of(text: &str) -> Result<u64, String> {
    let bytes = local_server::parse_bytes(text).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("{text} is not a size; expected a size such as 500MB or 4GiB"))
}

/// Growth of the process's memory; `None` if the kernel does not report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grown {
    pub peak_bytes: Option<u64>,
    pub left_bytes: Option<u64>,
}

/// Runs `work` and returns the growth of the process's memory at its peak and afterwards; `other_bytes` returns bytes
/// that the kernel counts elsewhere, such as files in memory.
pub fn grown_by<T>(other_bytes: impl Fn() -> u64 + Sync, work: impl FnOnce() -> T) -> (T, Grown) {
    let now = || host::memory::resident_bytes().map(|bytes| bytes + other_bytes());
    let before = now();
    let (done, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    let look = || {
        let bytes = now();
        peak.fetch_max(bytes.unwrap_or(0), Ordering::Relaxed);
        bytes
    };
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                look();
                std::thread::sleep(INTERVAL);
            }
        });
        let outcome = work();
        done.store(true, Ordering::Release);
        outcome
    });
    let left = look();
    let beyond = |bytes: u64| before.map(|before| bytes.saturating_sub(before));
    let grown = Grown {
        peak_bytes: beyond(peak.into_inner()),
        left_bytes: left.and_then(beyond),
    };
    (outcome, grown)
}

/// Overhead of populating, which the allocator may still hold afterwards.
const BESIDE_BYTES: u64 = 512_000_000;

/// Reason to doubt the sum of the tables' sizes; `None` if it is plausible. The engine's total allocation must equal
/// the sum, and the process may have grown by the overhead of packing but not by a multiple.
pub fn doubt(counted: u64, engine_bytes: u64, process_bytes: Option<u64>) -> Option<Remark> {
    if engine_bytes.abs_diff(counted) > engine_bytes / 100 {
        return Some(Remark::SizesContradict {
            tables_bytes: counted,
            engine_bytes,
        });
    }
    let process_bytes = process_bytes.filter(|bytes| *bytes > 2 * engine_bytes + BESIDE_BYTES)?;
    Some(Remark::GrowthContradicts {
        engine_bytes,
        process_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_what_was_there_in_between() {
        const ALONE: &str = "DBDYNO_TEST_GROWTH_ALONE";
        const BYTES: usize = 64 << 20;
        if std::env::var_os(ALONE).is_none() {
            // The memory is the process's, in which other tests free theirs.
            let ended = testing::again!().env(ALONE, "1").output().unwrap();
            let said = String::from_utf8_lossy(&ended.stdout);
            assert!(ended.status.success(), "{said}");
            return;
        }
        let (sum, grown) = grown_by(
            || 0,
            || {
                let block = vec![1_u8; BYTES];
                std::thread::sleep(INTERVAL * 10);
                block.iter().map(|byte| u64::from(*byte)).sum::<u64>()
            },
        );
        assert_eq!(sum, BYTES as u64);
        assert!(grown.peak_bytes.unwrap() >= BYTES as u64 / 2, "{grown:?}");
    }

    #[test]
    fn sizes_are_held_against_the_engine_s_total_and_the_process() {
        const MB: u64 = 1_000_000;
        assert_eq!(doubt(100 * MB, 100 * MB, Some(230 * MB)), None);
        assert_eq!(doubt(100 * MB, 100 * MB, None), None);
        // Sizes that 126.8 MB of long texts were once said to have.
        let counted = doubt(MB / 2, 133 * MB, Some(300 * MB)).unwrap().to_string();
        assert!(counted.contains("add up to 500.0 kB"), "{counted}");
        let grown = doubt(100 * MB, 100 * MB, Some(900 * MB))
            .unwrap()
            .to_string();
        assert!(grown.ends_with("grown by 900.0 MB"), "{grown}");
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(bytes_of("500MB"), Ok(500_000_000));
        assert_eq!(bytes_of("4GiB"), Ok(4 << 30));
        assert_eq!(limit_of("64MB"), Ok(64_000_000));
        assert!(limit_of("30MB").unwrap_err().contains("64.0 MB"));
        for bad in ["", "4", "0GB", "GB", "4 bytes", "99999999999999GB"] {
            assert!(bytes_of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(
            [0, 1_500, 2_340_000, 5_600_000_000].map(words),
            ["0.0 kB", "1.5 kB", "2.3 MB", "5.60 GB"]
        );
        assert!(usable_bytes().unwrap() > 0);
    }
}
