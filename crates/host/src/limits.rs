//! Resource limits of a process, raised as far as the system allows.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Most files that a server opens: a socket for each of its sessions and a file for each table, several times over.
const OPEN_FILES_OF_SERVER: u64 = 1 << 16;

/// Raises the limit of open files of this process to at least `wanted`, or as near to it as the system allows;
/// returns the new limit, or `None` if it is unknown.
pub fn raise_open_files(wanted: u64) -> Option<u64> {
    raise(Resource::Nofile, wanted)
}

/// Raises the limits of open files and of processes of this process before it becomes a server. With low limits,
/// servers quietly allow fewer sessions. It only makes system calls, so it may be called between fork and exec.
pub fn raise_for_server() {
    raise(Resource::Nofile, OPEN_FILES_OF_SERVER);
    raise(Resource::Nproc, 0);
}

/// Files that this process has open; `None` if unknown.
pub fn open_files() -> Option<u64> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?;
    // One of them is for reading the list.
    Some((open.count() as u64).saturating_sub(1))
}

/// Raises the soft limit to the hard one, and that to `wanted` if it is lower and we may. No limit is [`u64::MAX`].
fn raise(resource: Resource, wanted: u64) -> Option<u64> {
    let allowed = getrlimit(resource);
    let most = allowed.maximum.map(|maximum| maximum.max(wanted));
    for most in [most, allowed.maximum] {
        let raised = Rlimit {
            current: most,
            maximum: most,
        };
        if setrlimit(resource, raised).is_ok() {
            return Some(most.unwrap_or(u64::MAX));
        }
    }
    Some(allowed.current.unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_at_least_what_the_system_had_allowed() {
        let before = raise_open_files(0).unwrap();
        assert!(before >= 1);
        assert_eq!(raise_open_files(0), Some(before));
        // No system allows this many; the limit stays.
        assert_eq!(raise_open_files(u64::MAX >> 1), Some(before));
        let open = open_files().unwrap();
        let _file = std::fs::File::open("/proc/self/stat").unwrap();
        assert!(open_files().unwrap() > 0 && open > 0);
    }
}
