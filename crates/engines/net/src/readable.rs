//! Waiting for something to read.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// Waits until the descriptor can be read, or has ended; at most `patience`, without it as long as it takes.
///
/// # Errors
/// `WouldBlock` when nothing came in time, `Interrupted` after a signal.
#[inline]
pub(crate) fn await_readable(descriptor: RawFd, patience: Option<Duration>) -> io::Result<()> {
    let mut waiting = libc::pollfd {
        fd: descriptor,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut limit = patience.map(|limit| libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: limit.subsec_nanos() as libc::c_long,
    });
    let limit = (limit.as_mut()).map_or(std::ptr::null_mut(), |limit| &raw mut *limit);
    // The call itself rather than the C library's function, which in a program with threads does work of its
    // own for their cancellation.
    // SAFETY: one descriptor is there as the call is told, the limit is null or outlives the call, which may
    // write what is left into it, and no signals are masked.
    let ready = unsafe {
        libc::syscall(
            libc::SYS_ppoll,
            &raw mut waiting,
            1usize,
            limit,
            std::ptr::null::<libc::sigset_t>(),
            0usize,
        )
    };
    match ready {
        1.. => Ok(()),
        0 => Err(io::ErrorKind::WouldBlock.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn waits_for_what_comes_and_no_longer_than_told() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let short = Some(Duration::from_millis(1));
        let nothing = await_readable(near.as_raw_fd(), short).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        far.write_all(b"x").unwrap();
        await_readable(near.as_raw_fd(), None).unwrap();
        drop(far);
        await_readable(near.as_raw_fd(), None).unwrap();
    }
}
