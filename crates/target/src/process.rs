//! Processes of this machine, by their numbers.

use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Processor time of another process of this machine; `None` where there is no such process to be seen.
pub(crate) fn cpu_ns(pid: u32) -> Option<u64> {
    // In nanoseconds, where /proc/PID/stat counts ticks of ten milliseconds.
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Name of its program. A server in a container has numbers of its own, so that the same number may be another
/// process here: whoever got a number from a server looks at the name.
pub(crate) fn name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

/// What a process shows as its command line.
pub(crate) fn title(pid: u32) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The process that a thread belongs to.
pub(crate) fn of_thread(thread: u32) -> Option<u32> {
    status(thread, "Tgid:")
}

/// The process that started it.
pub(crate) fn parent(pid: u32) -> Option<u32> {
    status(pid, "PPid:")
}

fn status(pid: u32, key: &str) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().parse().ok()
}

/// The process that listens at the other end of a Unix socket, as the kernel noted it; `None` of other sockets, and
/// where that process has no number here.
pub(crate) fn listener(socket: BorrowedFd<'_>) -> Option<u32> {
    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the kernel writes at most `length` bytes to `peer`.
    let code = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut length,
        )
    };
    let pid = u32::try_from(peer.pid).ok().filter(|_| code == 0)?;
    (pid > 0).then_some(pid)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_process_is_told_by_its_number() {
        let own = std::process::id();
        assert!(cpu_ns(own).unwrap() > 0);
        assert_eq!(of_thread(own), Some(own));
        assert_eq!(parent(own), Some(std::os::unix::process::parent_id()));
        let program = std::env::current_exe().unwrap();
        let program = program.file_name().unwrap().to_string_lossy().into_owned();
        assert!(title(own).unwrap().contains(&program));
        assert!(program.starts_with(&name(own).unwrap()));
        let nobody = u32::MAX;
        assert_eq!((cpu_ns(nobody), name(nobody)), (None, None));
        assert_eq!((parent(nobody), title(nobody)), (None, None));
    }

    #[test]
    fn who_listens_at_a_socket_is_told_by_the_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("socket");
        let _listener = UnixListener::bind(&place).unwrap();
        let stream = UnixStream::connect(&place).unwrap();
        assert_eq!(listener(stream.as_fd()), Some(std::process::id()));
        let network = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(network.local_addr().unwrap()).unwrap();
        assert_eq!(listener(stream.as_fd()), None);
    }
}
