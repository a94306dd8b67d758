//! Holds a server to a size of memory, page cache included, by a control group.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::process;
use engine::{Result, TargetError};

/// Names a group in which dbdyno may make its own, for users who are not root.
const VARIABLE: &str = "DBDYNO_CGROUP";
/// Where the system has its control groups.
const MOUNTS: &str = "/sys/fs/cgroup";
/// The kernel rounds limits to pages, of 64 KiB at most.
const ROUNDING_BYTES: u64 = 64 << 10;
/// A group stays busy for a moment after its last process has ended.
const REMOVAL_TRIES: u32 = 200;
const REMOVAL_PAUSE: Duration = Duration::from_millis(10);

/// The two interfaces of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interface {
    V1,
    V2,
}

impl Interface {
    fn of(parent: &Path) -> Option<Self> {
        if parent.join("memory.limit_in_bytes").exists() {
            return Some(Self::V1);
        }
        let controllers = fs::read_to_string(parent.join("cgroup.controllers")).ok()?;
        let has_memory = controllers.split_whitespace().any(|name| name == "memory");
        has_memory.then_some(Self::V2)
    }

    fn limit_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.limit_in_bytes",
            Self::V2 => "memory.max",
        }
    }

    /// Keeps the group out of swap space: (file, value), where the kernel has it.
    fn swap_limit(self, bytes: u64) -> (&'static str, u64) {
        match self {
            Self::V1 => ("memory.memsw.limit_in_bytes", bytes),
            Self::V2 => ("memory.swap.max", 0),
        }
    }

    fn events_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.oom_control",
            Self::V2 => "memory.events",
        }
    }

    fn usage_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.usage_in_bytes",
            Self::V2 => "memory.current",
        }
    }
}

/// A control group of our own; gone when dropped.
#[derive(Debug)]
pub(super) struct MemoryGroup {
    path: PathBuf,
    interface: Interface,
    bytes: u64,
}

impl MemoryGroup {
    /// Where a group called `name` would be.
    ///
    /// # Errors
    /// When the kernel has no control of memory here.
    pub fn place(name: &str) -> Result<PathBuf> {
        let named = std::env::var_os(VARIABLE).filter(|v| !v.is_empty());
        let parent = match named {
            Some(named) => PathBuf::from(named),
            None => parent_below(Path::new(MOUNTS)).ok_or_else(|| {
                refused(&format!(
                    "there is no memory controller in {MOUNTS}; mount it, or remove memory="
                ))
            })?,
        };
        Ok(parent.join(name))
    }

    /// Makes the group at `path` with a limit of `bytes`.
    ///
    /// # Errors
    /// When there is no right to, or when the kernel does not keep the limit it was given.
    pub fn create(path: PathBuf, bytes: u64) -> Result<Self> {
        let parent = path.parent().unwrap_or(&path);
        let interface = Interface::of(parent).ok_or_else(|| {
            refused(&format!(
                "{} is not a control group with a memory controller; correct ${VARIABLE}",
                parent.display()
            ))
        })?;
        if interface == Interface::V2 {
            // Already there on most systems; where it is refused, the limit below is missing and says so.
            let _ = fs::write(parent.join("cgroup.subtree_control"), "+memory");
        }
        let failed = |what: &str, error: &io::Error| {
            refused(&format!(
                "{what} {}: {error}; run dbdyno as root, name a control group that you own in ${VARIABLE}, or remove memory=",
                path.display()
            ))
        };
        fs::create_dir(&path).map_err(|e| failed("cannot create the control group", &e))?;
        let group = Self {
            path: path.clone(),
            interface,
            bytes,
        };
        let limit = path.join(interface.limit_file());
        fs::write(&limit, bytes.to_string())
            .map_err(|e| failed("cannot set the memory limit of the control group", &e))?;
        let (swap_file, swap_bytes) = interface.swap_limit(bytes);
        if path.join(swap_file).exists() {
            fs::write(path.join(swap_file), swap_bytes.to_string())
                .map_err(|e| failed("cannot disable swap for the control group", &e))?;
        }
        let kept = read_number(&limit).unwrap_or(u64::MAX);
        if kept.abs_diff(bytes) > ROUNDING_BYTES {
            return Err(refused(&format!(
                "the kernel set a limit of {kept} bytes instead of the requested {bytes}"
            )));
        }
        Ok(group)
    }

    /// A process enters the group by writing "0" here.
    pub(super) fn entrance(&self) -> io::Result<OwnedFd> {
        let file = OpenOptions::new()
            .write(true)
            .open(self.path.join("cgroup.procs"))?;
        Ok(OwnedFd::from(file))
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Memory charged to it now.
    pub(super) fn usage_bytes(&self) -> Option<u64> {
        read_number(&self.path.join(self.interface.usage_file()))
    }

    /// Processes that the kernel killed because the group was full.
    pub(super) fn kills(&self) -> Option<u64> {
        let events = fs::read_to_string(self.path.join(self.interface.events_file())).ok()?;
        let kills = events
            .lines()
            .find_map(|line| line.strip_prefix("oom_kill "))?;
        kills.trim().parse().ok()
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // The next start removes the rest, which it knows from its owner's notes.
        let _ = remove(&self.path);
    }
}

/// Ends what is in the group at `path` and removes it; fine when there is none.
pub fn remove(path: &Path) -> io::Result<()> {
    if !path.exists() {
        return Ok(());
    }
    process::kill_all(Duration::ZERO, || members(path));
    let mut result = Ok(());
    for _ in 0..REMOVAL_TRIES {
        result = fs::remove_dir(path);
        match &result {
            Err(e) if e.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(REMOVAL_PAUSE),
            _ => break,
        }
    }
    result
}

fn members(path: &Path) -> Vec<u32> {
    let text = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// The group below which ours are made: the whole controller, because a session's own group may end
/// before the server does, and because in version 2 a group with processes has no groups below it.
fn parent_below(mounts: &Path) -> Option<PathBuf> {
    [mounts.join("memory"), mounts.to_path_buf()]
        .into_iter()
        .find(|parent| Interface::of(parent).is_some())
}

fn read_number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn refused(why: &str) -> TargetError {
    TargetError::unreachable(format!("cannot limit the server's memory: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 2 as the kernel shows it, where the machine at hand has version 1.
    #[test]
    fn version_2_gets_its_limit_and_no_swap() {
        let dir = tempfile::tempdir().unwrap();
        let mounts = dir.path();
        assert_eq!(parent_below(mounts), None);
        fs::write(mounts.join("cgroup.controllers"), "cpu io memory pids\n").unwrap();
        assert_eq!(parent_below(mounts).as_deref(), Some(mounts));
        let group = MemoryGroup::create(mounts.join("g"), 1 << 30).unwrap();
        assert_eq!(group.interface, Interface::V2);
        let read = |name: &str| fs::read_to_string(mounts.join(name)).unwrap();
        assert_eq!(read("cgroup.subtree_control"), "+memory");
        assert_eq!(read("g/memory.max"), "1073741824");
        fs::write(mounts.join("g/memory.events"), "low 0\noom 1\noom_kill 3\n").unwrap();
        assert_eq!(group.kills(), Some(3));
        fs::write(mounts.join("g/memory.current"), "4096\n").unwrap();
        assert_eq!(group.usage_bytes(), Some(4096));
    }

    #[test]
    fn version_1_is_found_where_both_are_mounted() {
        let dir = tempfile::tempdir().unwrap();
        let memory = dir.path().join("memory");
        fs::create_dir(&memory).unwrap();
        fs::write(memory.join("memory.limit_in_bytes"), "0").unwrap();
        assert_eq!(parent_below(dir.path()), Some(memory));
    }

    #[test]
    fn a_place_that_is_no_group_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = MemoryGroup::create(dir.path().join("g"), 1 << 30).unwrap_err();
        assert!(
            error.message.contains("not a control group"),
            "{}",
            error.message
        );
        assert!(!dir.path().join("g").exists());
    }
}
