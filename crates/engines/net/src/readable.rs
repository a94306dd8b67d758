//! Waiting for something to read.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Waits until the socket can be read, or has ended; at most `patience`, without it as long as it takes.
#[inline]
pub(crate) fn await_readable(socket: impl AsFd, patience: Option<Duration>) -> io::Result<()> {
    let limit = patience.map(|limit| Timespec {
        tv_sec: limit.as_secs() as i64,
        tv_nsec: limit.subsec_nanos().into(),
    });
    match poll(&mut [PollFd::new(&socket, PollFlags::IN)], limit.as_ref())? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn waits_for_what_comes_and_no_longer_than_told() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let short = Some(Duration::from_millis(1));
        let nothing = await_readable(&near, short).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        far.write_all(b"x").unwrap();
        await_readable(&near, None).unwrap();
        drop(far);
        await_readable(&near, None).unwrap();
    }
}
