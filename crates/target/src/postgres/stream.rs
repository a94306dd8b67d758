//! A socket to the server.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::endpoint::Endpoint;
use crate::readable::await_readable;

/// A server that does not answer a knock for so long is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The same for its part of the logon.
const LOGON_TIMEOUT: Duration = Duration::from_secs(60);
/// A silent connection is asked whether it is alive, so that a server whose machine has gone is noticed.
const KEEPALIVE_SECONDS: libc::c_int = 30;

/// A socket, blocking.
pub(super) enum Stream {
    /// With the longest time to wait for something to read; `None` is as long as it takes.
    Unix(UnixStream, Option<Duration>),
    Tcp(TcpStream),
}

impl Stream {
    /// Knocks at the server.
    pub(super) fn connect(endpoint: &Endpoint) -> io::Result<Self> {
        let mut stream = match &endpoint.socket {
            Some(path) => Stream::Unix(UnixStream::connect(path)?, None),
            None => Stream::Tcp(tcp(&endpoint.host, endpoint.port)?),
        };
        stream.set_timeout(Some(LOGON_TIMEOUT))?;
        Ok(stream)
    }

    /// After the logon an answer may take as long as it takes.
    pub(super) fn wait_forever(&mut self) -> io::Result<()> {
        self.set_timeout(None)
    }

    /// Writes what the socket takes at once.
    #[inline]
    pub(super) fn try_write(&self, from: &[u8]) -> io::Result<usize> {
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
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
    pub(super) fn try_read(&self, into: &mut [u8], wait: bool) -> io::Result<usize> {
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

    fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(_, patience) => {
                *patience = timeout;
                Ok(())
            }
            Stream::Tcp(stream) => stream.set_read_timeout(timeout),
        }
    }
}

fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut refused = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                keep_alive(&stream)?;
                return Ok(stream);
            }
            Err(error) => refused = error,
        }
    }
    Err(refused)
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
