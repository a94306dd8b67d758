//! A socket to the server.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::Transport;
use crate::process;
use crate::readable::await_readable;

/// A silent connection is asked whether it is alive, so that a server whose machine has gone is noticed.
const KEEPALIVE_SECONDS: libc::c_int = 30;

/// A socket, blocking.
pub(crate) enum Stream {
    /// With the longest time to wait for something to read; `None` is as long as it takes.
    Unix(UnixStream, Option<Duration>),
    Tcp(TcpStream),
}

impl Stream {
    /// Knocks at a Unix socket.
    pub(crate) fn unix(path: &Path) -> io::Result<Self> {
        Ok(Self::Unix(UnixStream::connect(path)?, None))
    }

    /// Knocks at every address of a host, each for so long.
    pub(crate) fn tcp(host: &str, port: u16, patience: Duration) -> io::Result<Self> {
        let mut refused = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    keep_alive(&stream)?;
                    return Ok(Self::Tcp(stream));
                }
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// How long a read may wait; `None` for as long as it takes.
    pub(crate) fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(_, patience) => {
                *patience = timeout;
                Ok(())
            }
            Stream::Tcp(stream) => stream.set_read_timeout(timeout),
        }
    }

    /// The process that listens at the far end of a Unix socket of this machine.
    pub(crate) fn listener(&self) -> Option<u32> {
        match self {
            Stream::Unix(stream, _) => process::listener(stream.as_fd()),
            Stream::Tcp(_) => None,
        }
    }

    /// Whether the far end is on another machine, by its address.
    pub(crate) fn transport(&self) -> Transport {
        let Stream::Tcp(stream) = self else {
            return Transport::Local;
        };
        match (stream.local_addr(), stream.peer_addr()) {
            (_, Ok(peer)) if peer.ip().is_loopback() => Transport::Local,
            (Ok(own), Ok(peer)) if own.ip() == peer.ip() => Transport::Local,
            _ => Transport::Network,
        }
    }

    /// The port of this end of a connection over the network.
    pub(crate) fn own_port(&self) -> Option<u16> {
        match self {
            Stream::Unix(..) => None,
            Stream::Tcp(stream) => Some(stream.local_addr().ok()?.port()),
        }
    }

    /// Writes what the socket takes at once, or waits for room when it may.
    #[inline]
    pub(crate) fn try_write(&self, from: &[u8], wait: bool) -> io::Result<usize> {
        let flags = libc::MSG_NOSIGNAL | if wait { 0 } else { libc::MSG_DONTWAIT };
        let nobody = std::ptr::null::<libc::sockaddr>();
        // The call itself rather than the C library's function, which in a program with threads does work of
        // its own for their cancellation, as much as half of a record.
        // SAFETY: the descriptor is open, the buffer as long as the call is told, and no address is given.
        let bytes = unsafe {
            libc::syscall(
                libc::SYS_sendto,
                self.as_raw_fd(),
                from.as_ptr(),
                from.len(),
                flags,
                nobody,
                0usize,
            )
        };
        usize::try_from(bytes).map_err(|_| io::Error::last_os_error())
    }

    /// Reads what has come, or waits for something when it may.
    #[inline]
    pub(crate) fn try_read(&self, into: &mut [u8], wait: bool) -> io::Result<usize> {
        if wait {
            self.await_answer()?;
        }
        let flags = if wait { 0 } else { libc::MSG_DONTWAIT };
        let nobody = std::ptr::null_mut::<libc::sockaddr>();
        // SAFETY: as above, and the call writes no more than there is room for.
        let bytes = unsafe {
            libc::syscall(
                libc::SYS_recvfrom,
                self.as_raw_fd(),
                into.as_mut_ptr(),
                into.len(),
                flags,
                nobody,
                nobody,
            )
        };
        usize::try_from(bytes).map_err(|_| io::Error::last_os_error())
    }

    /// Waits until there is something to read where waiting in the read itself would cost more: whoever
    /// sleeps in the read of a Unix socket is also woken when the far end takes what was sent to it, in vain
    /// and once for each round trip.
    #[inline]
    fn await_answer(&self) -> io::Result<()> {
        match self {
            Stream::Unix(stream, patience) => await_readable(stream.as_raw_fd(), *patience),
            Stream::Tcp(_) => Ok(()),
        }
    }
}

fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    let options = [
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1),
        #[cfg(target_os = "linux")]
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, KEEPALIVE_SECONDS),
        #[cfg(target_os = "linux")]
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, KEEPALIVE_SECONDS),
    ];
    for (level, name, value) in options {
        // SAFETY: the descriptor is open and the option one int of ours.
        let code = unsafe {
            libc::setsockopt(
                stream.as_raw_fd(),
                level,
                name,
                (&raw const value).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if code != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Stream::Unix(stream, _) => stream.as_raw_fd(),
            Stream::Tcp(stream) => stream.as_raw_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.await_answer()?;
        match self {
            Stream::Unix(stream, _) => stream.read(into),
            Stream::Tcp(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream, _) => stream.write(from),
            Stream::Tcp(stream) => stream.write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
