//! Memory that lifting may take, and that it took.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How often the process's memory is looked at.
const INTERVAL: Duration = Duration::from_millis(10);
/// Share of the available memory that is used when nothing is said.
const SHARE: f64 = 0.8;

/// Bytes that lifted tables may take when nothing is said; `None` where the kernel does not tell.
pub fn usable_bytes() -> Option<u64> {
    Some((host::memory::available_bytes()? as f64 * SHARE) as u64)
}

/// Bytes as one says them.
pub fn words(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.2} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} kB", b / 1e3),
    }
}

/// Bytes of a size as one writes it: "500MB", "4GiB".
///
/// # Errors
/// When it is none.
pub fn bytes_of(text: &str) -> Result<u64, String> {
    let bytes = target::server::parse_bytes(text).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("{text} is not a size; write it like 500MB or 4GiB"))
}

/// Does `work`, and gives the most memory that the process had meanwhile beyond what it had before; `beside` adds
/// what the kernel counts elsewhere, files in memory.
pub fn peak_of<T>(beside: impl Fn() -> u64 + Sync, work: impl FnOnce() -> T) -> (T, Option<u64>) {
    let now = || host::memory::resident_bytes().map(|bytes| bytes + beside());
    let before = now();
    let (done, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    let look = || {
        if let Some(bytes) = now() {
            peak.fetch_max(bytes, Ordering::Relaxed);
        }
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
    look();
    let peak = before.map(|before| peak.into_inner().saturating_sub(before));
    (outcome, peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_what_was_there_in_between() {
        const BYTES: usize = 64 << 20;
        let (sum, peak) = peak_of(
            || 0,
            || {
                let block = vec![1_u8; BYTES];
                std::thread::sleep(INTERVAL * 10);
                block.iter().map(|byte| u64::from(*byte)).sum::<u64>()
            },
        );
        assert_eq!(sum, BYTES as u64);
        assert!(peak.unwrap() >= BYTES as u64 / 2, "{peak:?}");
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(bytes_of("500MB"), Ok(500_000_000));
        assert_eq!(bytes_of("4GiB"), Ok(4 << 30));
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
