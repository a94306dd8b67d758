//! Memory at this moment: available on the machine, and resident for this process.

use std::path::Path;

use crate::counters::parse;
use crate::facts::control_group;

/// Bytes that programs can still allocate without swapping, within the limits of this process's control groups;
/// `None` if unknown.
pub fn available_bytes() -> Option<u64> {
    available_in(Path::new("/"))
}

fn available_in(root: &Path) -> Option<u64> {
    let free = parse::memory(&std::fs::read(root.join("proc/meminfo")).ok()?)?.available;
    Some(limit_in(root).map_or(free, |limit| limit.min(free)))
}

/// The smallest limit of the control groups of this process, of either version of the kernel's interface; `None` if
/// there is none, or it is unknown.
pub fn limit_bytes() -> Option<u64> {
    limit_in(Path::new("/"))
}

fn limit_in(root: &Path) -> Option<u64> {
    let group = control_group::read(root)?;
    let limits = [group.memory_max_bytes, group.memory_high_bytes];
    limits.into_iter().flatten().min()
}

pub fn resident_bytes() -> Option<u64> {
    let pages = std::fs::read("/proc/self/statm").ok()?;
    parse::resident_bytes(&pages, rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_memory_that_is_there() {
        let before = resident_bytes().unwrap();
        let block = vec![1_u8; 64 << 20];
        let after = resident_bytes().unwrap();
        assert_eq!(
            block.iter().map(|b| usize::from(*b)).sum::<usize>(),
            block.len()
        );
        assert!(after > before + (32 << 20), "{before} {after}");
        assert!(available_bytes().unwrap() > 0);
    }

    /// A limit of the group or of an outer one counts if it is less than the memory that the machine has available.
    #[test]
    fn groups_limit_what_is_available() {
        let of_version_1 = [
            ("proc/self/cgroup", "4:memory:/a/b\n"),
            (
                "proc/self/mountinfo",
                "31 1 0:29 / /cg/memory rw - cgroup cgroup rw,memory\n",
            ),
            ("cg/memory/a/memory.limit_in_bytes", "268435456\n"),
            (
                "cg/memory/a/b/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
        ];
        let of_version_2 = [
            ("proc/self/cgroup", "0::/a/b\n"),
            (
                "proc/self/mountinfo",
                "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
            ),
            ("cg/a/memory.max", "536870912\n"),
            ("cg/a/b/memory.high", "268435456\n"),
        ];
        for files in [of_version_1, of_version_2] {
            let root = tempfile::tempdir().unwrap();
            for (name, content) in files {
                let path = root.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, content).unwrap();
            }
            let meminfo = |kb: u64| {
                let text = format!("MemTotal: {kb} kB\nMemFree: {kb} kB\nMemAvailable: {kb} kB\n");
                std::fs::write(root.path().join("proc/meminfo"), text).unwrap();
            };
            meminfo(8 << 20);
            assert_eq!(available_in(root.path()), Some(256 << 20));
            assert_eq!(limit_in(root.path()), Some(256 << 20));
            meminfo(128 << 10);
            assert_eq!(available_in(root.path()), Some(128 << 20));
        }
    }
}
