//! Private memory of a server's processes: the cost of each additional session.
//!
//! It counts anonymous pages, in memory or swapped out (for a child only those not shared with others since the
//! fork), and page tables, of which each process needs its own for the shared memory. It does not count shared
//! memory, which exists once for all sessions, files, and kernel memory for sockets and processes.
//!
//! The kernel's own sums (`smaps_rollup`) walk over the whole shared memory for each process, which takes minutes if
//! thousands of them share gigabytes; so only the pages of private mappings are read.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use rustix::param::page_size;

use crate::family::{began_ticks, pids_of_children};
use crate::owners::Programs;

/// Bits of an entry of `/proc/PID/pagemap`, a number of eight bytes for each page.
const IN_MEMORY: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const OF_FILE_OR_SHARED: u64 = 1 << 61;
const EXCLUSIVE: u64 = 1 << 56;
const ENTRY_BYTES: usize = 8;
const ENTRIES: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnMemory {
    /// The servers: process number and start, because the number may be reused later.
    servers: Vec<(u32, u64)>,
    bytes: u64,
}

impl OwnMemory {
    /// Reads all processes of the servers: a thousand of them take a good part of a second. Fails with the reason if
    /// a server is not visible, or there is none.
    pub fn of(programs: &Programs) -> Result<Self, String> {
        if programs.is_inside || programs.servers.is_empty() {
            return Err("the database has no processes of its own".into());
        }
        let mut servers = Vec::new();
        let mut bytes = 0;
        for pid in programs.servers.iter().copied() {
            let server = began_ticks(pid).zip(pids_of_children(pid));
            let (began, children) = server
                .ok_or_else(|| format!("the server's process {pid} cannot be seen in /proc"))?;
            servers.push((pid, began));
            bytes += of_server(pid)?;
            for child in children {
                bytes += of_child(child)?;
            }
        }
        Ok(Self { servers, bytes })
    }

    /// Growth since an earlier reading, in bytes, negative for a fall; `None` if that was of other processes.
    pub fn growth_bytes(&self, earlier: &Self) -> Option<i64> {
        let is_same = self.servers == earlier.servers;
        is_same.then(|| (self.bytes as i64).saturating_sub(earlier.bytes as i64))
    }
}

/// Bytes of the first process, including pages shared with its children.
fn of_server(pid: u32) -> Result<u64, String> {
    let status = or_reason(
        pid,
        "status",
        fs::read_to_string(format!("/proc/{pid}/status")),
    )?
    .unwrap_or_default();
    let parts = ["RssAnon:", "VmSwap:", "VmPTE:"].map(|name| bytes_in(&status, name));
    let parts = parts.into_iter().collect::<Option<Vec<u64>>>();
    let parts =
        parts.ok_or_else(|| format!("the kernel does not report the memory of process {pid}"))?;
    Ok(parts.into_iter().sum())
}

/// Bytes that only this child has; none if it has ended meanwhile.
fn of_child(pid: u32) -> Result<u64, String> {
    let file = |name: &str| format!("/proc/{pid}/{name}");
    let status = or_reason(pid, "status", fs::read_to_string(file("status")))?;
    let tables = status.and_then(|status| bytes_in(&status, "VmPTE:"));
    let pages = || {
        let maps = fs::read_to_string(file("maps"))?;
        own_pages(&maps, &File::open(file("pagemap"))?)
    };
    let pages = or_reason(pid, "pagemap", pages())?;
    let (Some(tables), Some(pages)) = (tables, pages) else {
        return Ok(0);
    };
    Ok(tables + pages * page_size() as u64)
}

/// Maps the end of the process to `None`.
fn or_reason<T>(pid: u32, file: &str, read: io::Result<T>) -> Result<Option<T>, String> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.kind() == ErrorKind::NotFound || e.raw_os_error() == Some(libc::ESRCH) => {
            Ok(None)
        }
        Err(e) => Err(format!(
            "/proc/{pid}/{file} cannot be read ({e}); run dbdyno as root or as the server's user"
        )),
    }
}

fn bytes_in(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Anonymous pages of private mappings that no other process has.
fn own_pages(maps: &str, pagemap: &File) -> io::Result<u64> {
    let mut room = vec![0; ENTRIES * ENTRY_BYTES];
    let mut own = 0;
    for addresses in maps.lines().filter_map(private) {
        let mut page = addresses.start / page_size() as u64;
        let end = addresses.end / page_size() as u64;
        while page < end {
            let wanted = (end - page).min(ENTRIES as u64) as usize * ENTRY_BYTES;
            let read = pagemap.read_at(&mut room[..wanted], page * ENTRY_BYTES as u64)?;
            let entries = room[..read].as_chunks::<ENTRY_BYTES>().0;
            if entries.is_empty() {
                break;
            }
            let is_own = |entry: &&[u8; ENTRY_BYTES]| is_own(u64::from_ne_bytes(**entry));
            own += entries.iter().filter(is_own).count() as u64;
            page += entries.len() as u64;
        }
    }
    Ok(own)
}

/// Address range of a private writable mapping, from its line of `/proc/PID/maps`.
fn private(line: &str) -> Option<Range<u64>> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?.as_bytes();
    let address = |text| u64::from_str_radix(text, 16).ok();
    let is_private = rights.get(1) == Some(&b'w') && rights.get(3) == Some(&b'p');
    is_private.then_some(address(start)?..address(end)?)
}

fn is_own(entry: u64) -> bool {
    let has = |bit| entry & bit != 0;
    has(SWAPPED) || has(IN_MEMORY) && has(EXCLUSIVE) && !has(OF_FILE_OR_SHARED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_nobody_else_has_are_own() {
        for (entry, own) in [
            (0, false),
            (IN_MEMORY | EXCLUSIVE, true),
            (IN_MEMORY, false),
            (IN_MEMORY | EXCLUSIVE | OF_FILE_OR_SHARED, false),
            (SWAPPED, true),
        ] {
            assert_eq!(is_own(entry), own, "{entry:x}");
        }
        let heap = "55d10000-55d12000 rw-p 00000000 00:00 0    [heap]";
        assert_eq!(private(heap), Some(0x55d1_0000..0x55d1_2000));
        for other in [
            "7f00-7f10 rw-s 00000000 00:01 5 /dev/zero (deleted)",
            "7f00-7f10 r--p 00000000 08:01 5 /usr/lib/libc.so.6",
            "",
            "7f00 rw-p",
        ] {
            assert_eq!(private(other), None, "{other}");
        }
        let status = "Name:\tpostgres\nVmPTE:\t     212 kB\nVmSwap:\t 600 kB\n";
        assert_eq!(bytes_in(status, "VmPTE:"), Some(212 << 10));
        assert_eq!(bytes_in(status, "RssAnon:"), None);
    }

    /// After a fork, common pages count once, and later writes of the child are its own.
    #[test]
    fn a_child_is_counted_with_what_it_does_not_share() {
        const ALONE: &str = "DBDYNO_TEST_FORK_ALONE";
        const MIB: usize = 1 << 20;
        if std::env::var_os(ALONE).is_none() {
            // Pages that another test of this process writes after the fork would count for the child.
            let ended = testing::again!().env(ALONE, "1").output().unwrap();
            let said = String::from_utf8_lossy(&ended.stdout);
            assert!(ended.status.success(), "{said}");
            return;
        }
        let mut block = std::hint::black_box(vec![1_u8; 64 * MIB]);
        let mut ends = [[0; 2]; 2];
        // SAFETY: the arrays are ours and outlive the calls.
        let made = ends
            .iter_mut()
            .all(|pair| unsafe { libc::pipe2(pair.as_mut_ptr(), libc::O_CLOEXEC) } == 0);
        assert!(made);
        let [[ready, signal], [go_on, release]] = ends;
        // SAFETY: the child makes system calls and writes into its own memory, and ends without unwinding.
        let child = unsafe { libc::fork() };
        if child == 0 {
            block[..32 * MIB]
                .iter_mut()
                .step_by(1024)
                .for_each(|byte| *byte = 2);
            std::hint::black_box(&block);
            let mut byte = 0_u8;
            // SAFETY: as above.
            unsafe {
                libc::write(signal, std::ptr::from_ref(&byte).cast(), 1);
                libc::read(go_on, std::ptr::from_mut(&mut byte).cast(), 1);
                libc::_exit(0);
            }
        }
        let mut byte = 0_u8;
        // SAFETY: the byte is ours and outlives the call.
        let read = unsafe { libc::read(ready, std::ptr::from_mut(&mut byte).cast(), 1) };
        assert_eq!(read, 1);
        let pid = u32::try_from(child).unwrap();
        let (alone, status) = (
            of_child(pid).unwrap(),
            fs::read_to_string(format!("/proc/{pid}/status")).unwrap(),
        );
        let all = bytes_in(&status, "RssAnon:").unwrap();
        // SAFETY: plain system calls on numbers of ours.
        unsafe {
            libc::write(release, std::ptr::from_ref(&byte).cast(), 1);
            libc::waitpid(child, std::ptr::null_mut(), 0);
            for end in [ready, signal, go_on, release] {
                libc::close(end);
            }
        }
        drop(block);
        let mib = |bytes: u64| bytes as usize / MIB;
        assert!((31..64).contains(&mib(alone)), "{} MiB", mib(alone));
        assert!(mib(all) >= 64, "{} MiB", mib(all));
        assert_eq!(of_child(pid), Ok(0), "it has ended");
    }

    #[test]
    fn growth_is_that_of_the_same_processes() {
        let own = |pid, bytes| OwnMemory {
            servers: vec![(pid, 1)],
            bytes,
        };
        assert_eq!(own(7, 9).growth_bytes(&own(7, 4)), Some(5));
        assert_eq!(own(7, 4).growth_bytes(&own(7, 9)), Some(-5));
        assert_eq!(own(8, 9).growth_bytes(&own(7, 4)), None);
        assert!(OwnMemory::of(&Programs::default()).is_err());
        let here = Programs {
            is_inside: false,
            servers: vec![std::process::id()],
        };
        assert!(OwnMemory::of(&here).unwrap().bytes > 0);
    }
}
