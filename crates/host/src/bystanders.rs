//! Reads and writes of programs that are neither the database nor the driver, by the kernel's account of each
//! (`/proc/PID/io`).
//!
//! The account does not name the device. The I/O of the others is therefore compared with the rest of the device's
//! own count after database and driver, and the smaller of the two is an upper bound. Writes of the kernel itself
//! (such as a file system's journal) are in one of them only.

use std::collections::HashSet;
use std::fs;
use std::io;

use archive::Figures;

use crate::clock::monotonic_ns;
use crate::owners::{KERNEL, Programs, is_kernel};
use crate::rates::Rates;
use crate::trusted::user_id;

/// Most processes that are read; each takes some microseconds.
const PROCESSES_MAX: usize = 1 << 14;
const MB: f64 = 1e6;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Bytes {
    read: u64,
    written: u64,
}

impl Bytes {
    fn of(pid: u32) -> io::Result<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/io"))?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let of = |wanted: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(": "));
            let found = lines.find(|(name, _)| *name == wanted);
            found.and_then(|(_, value)| value.trim().parse().ok())
        };
        let of = |wanted: &str| of(wanted).unwrap_or(0_u64);
        Self {
            read: of("read_bytes"),
            // Cancelled writes never reached the device.
            written: of("write_bytes").saturating_sub(of("cancelled_write_bytes")),
        }
    }

    fn add(&mut self, other: Self) {
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
    }

    fn since(self, before: Self) -> Self {
        Self {
            read: self.read.saturating_sub(before.read),
            written: self.written.saturating_sub(before.written),
        }
    }
}

/// Total reads and writes so far. A process that ended is in the account of the parent that awaited it, so sums never
/// fall.
#[derive(Debug, Clone)]
pub struct IoAccounts {
    at_ns: u64,
    servers: Vec<u32>,
    ours: Bytes,
    others: Bytes,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct IoByOthers {
    pub read_mb_per_s: f64,
    pub write_mb_per_s: f64,
}

impl IoAccounts {
    /// Reads the accounts of all processes of this machine. Fails with the reason if one of them cannot be read.
    pub fn so_far(programs: &Programs) -> Result<Self, String> {
        if !is_kernel() {
            return Err("programs outside this container are not visible".into());
        }
        let ours = family(&programs.servers);
        let kernel: HashSet<u32> = children(KERNEL).into_iter().chain([KERNEL]).collect();
        let mut accounts = Self {
            at_ns: monotonic_ns(),
            servers: programs.servers.clone(),
            ours: Bytes::default(),
            others: Bytes::default(),
        };
        for pid in processes()? {
            if kernel.contains(&pid) {
                continue;
            }
            match Bytes::of(pid) {
                Ok(bytes) if ours.contains(&pid) => accounts.ours.add(bytes),
                Ok(bytes) => accounts.others.add(bytes),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && user_id() != 0 => {
                    return Err("only root can read the I/O counts of other users' programs".into());
                }
                // It ended meanwhile, or is one that hides even from root: then the others did at least as much.
                Err(_) => {}
            }
        }
        Ok(accounts)
    }

    /// I/O of others on a device since then; `rates` are the counts of a window in that time. Fails with the reason,
    /// if it cannot be determined.
    pub(crate) fn until_now(&self, rates: &Rates) -> Result<IoByOthers, String> {
        let programs = Programs {
            is_inside: false,
            servers: self.servers.clone(),
        };
        let now = Self::so_far(&programs)?;
        let elapsed_s = now.at_ns.saturating_sub(self.at_ns) as f64 / 1e9;
        let (ours, others) = (now.ours.since(self.ours), now.others.since(self.others));
        at_most(ours, others, elapsed_s, rates)
            .ok_or_else(|| "the device's reads and writes are unknown".into())
    }
}

fn at_most(ours: Bytes, others: Bytes, elapsed_s: f64, rates: &Rates) -> Option<IoByOthers> {
    let per_s = |bytes: u64| bytes as f64 / MB / elapsed_s;
    let left = |device: f64, ours: u64| (device - per_s(ours)).max(0.0);
    let read = left(rates.read_mb_per_s?, ours.read);
    let written = left(rates.write_mb_per_s?, ours.written);
    (elapsed_s > 0.0).then(|| IoByOthers {
        read_mb_per_s: per_s(others.read).min(read),
        write_mb_per_s: per_s(others.written).min(written),
    })
}

impl IoByOthers {
    pub(crate) fn write_into(&self, figures: &mut Figures) {
        figures.read_by_others_mb_per_s = Some(self.read_mb_per_s);
        figures.write_by_others_mb_per_s = Some(self.write_mb_per_s);
    }
}

fn family(servers: &[u32]) -> HashSet<u32> {
    let children = servers.iter().flat_map(|server| children(*server));
    let all = servers.iter().copied().chain(children);
    all.chain([std::process::id()]).collect()
}

/// Children of all threads of a process; empty if there are none, or they are not visible.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let texts = threads.filter_map(|t| fs::read_to_string(t.path().join("children")).ok());
    let pids = texts.flat_map(|text| {
        let words = text.split_ascii_whitespace();
        words
            .filter_map(|word| word.parse().ok())
            .collect::<Vec<u32>>()
    });
    pids.collect()
}

fn processes() -> Result<Vec<u32>, String> {
    let entries =
        fs::read_dir("/proc").map_err(|error| format!("/proc cannot be read ({error})"))?;
    let pids: Vec<u32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .take(PROCESSES_MAX + 1)
        .collect();
    if pids.len() > PROCESSES_MAX {
        Err(format!("there are more than {PROCESSES_MAX} processes"))
    } else {
        Ok(pids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(read_mb: u64, written_mb: u64) -> Bytes {
        Bytes {
            read: read_mb * 1_000_000,
            written: written_mb * 1_000_000,
        }
    }

    #[test]
    fn an_account_is_read() {
        let text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 500\nwrite_bytes: 700\ncancelled_write_bytes: 100\n";
        assert_eq!(
            Bytes::parse(text),
            Bytes {
                read: 500,
                written: 600
            }
        );
        assert_eq!(Bytes::parse(""), Bytes::default());
    }

    #[test]
    fn others_did_no_more_than_the_device_has_left() {
        let rates = Rates {
            read_mb_per_s: Some(50.0),
            write_mb_per_s: Some(30.0),
            ..Rates::default()
        };
        // In 10 s: of 50 MB/s read the database had 40, of 30 MB/s written 29.
        let found = at_most(bytes(400, 290), bytes(70, 900), 10.0, &rates).unwrap();
        assert!(
            (found.read_mb_per_s - 7.0).abs() < 1e-9,
            "all that they read"
        );
        assert!(
            (found.write_mb_per_s - 1.0).abs() < 1e-9,
            "most of it elsewhere"
        );
        let none = at_most(bytes(900, 900), bytes(70, 70), 10.0, &rates).unwrap();
        assert_eq!(none, IoByOthers::default());
        let unknown = at_most(bytes(1, 1), bytes(1, 1), 10.0, &Rates::default());
        assert_eq!(unknown, None);
    }
}
