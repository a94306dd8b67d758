//! A socket to the server.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::{self as socket, RecvFlags, SendFlags, sockopt};

use crate::readable::await_readable;
use crate::tls::{Records, Secured, TlsClient, TlsError};
use engine::inspection::Protection;
use engine::nonblocking::Sent;
use engine::{Transport, process};

/// A silent connection is asked whether it is alive, so that a server whose machine has gone is noticed.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// After so many questions without an answer it has gone.
const KEEPALIVES: u32 = 3;
/// The same of data that nobody confirms.
const UNCONFIRMED_MS_MAX: u32 = 90_000;

/// The bytes of a protocol on their way to and from a socket.
pub trait Buffers {
    /// Bytes that are to be sent.
    fn pending(&self) -> &[u8];

    /// Notes that the first `count` of them were.
    fn wrote(&mut self, count: usize);

    /// Room for the next read, never empty.
    fn room(&mut self) -> &mut [u8];

    /// Notes that the read filled `count` bytes of it.
    fn filled(&mut self, count: usize);
}

pub enum Stream {
    /// With the longest time to wait for something to read; `None` is as long as it takes.
    Unix(UnixStream, Option<Duration>),
    /// A connection over the network, with the records of TLS where its bytes are those.
    Tcp(TcpStream, Option<Box<Records>>),
}

impl Stream {
    /// Knocks at a Unix socket.
    pub fn unix(path: &Path) -> io::Result<Self> {
        Ok(Self::Unix(UnixStream::connect(path)?, None))
    }

    /// Knocks at every address of a host, each for so long.
    pub fn tcp(host: &str, port: u16, patience: Duration) -> io::Result<Self> {
        let mut refused = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    keep_alive(&stream)?;
                    return Ok(Self::Tcp(stream, None));
                }
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// Makes a connection over the network one with TLS to `host`, before `deadline`; done before anything else waits to be
    /// sent.
    ///
    /// # Errors
    /// When the server does not prove what was asked, or the handshake breaks off.
    pub fn secure(
        &mut self,
        client: &TlsClient,
        host: &str,
        deadline: Instant,
    ) -> Result<Secured, TlsError> {
        let Stream::Tcp(socket, records) = self else {
            let why = "TLS needs a connection over the network".into();
            return Err(TlsError::Refused(why));
        };
        let socket = &*socket;
        let (agreed, secured) = client.connect(
            host,
            |from| {
                retried(|| {
                    let mut socket = socket;
                    socket.write(from)
                })
            },
            |into| {
                socket.set_read_timeout(Some(time_left(deadline)))?;
                retried(|| {
                    let mut socket = socket;
                    socket.read(into)
                })
            },
        )?;
        *records = Some(Box::new(agreed));
        Ok(secured)
    }

    /// How long a read may wait; `None` for as long as it takes.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(_, patience) => {
                *patience = timeout;
                Ok(())
            }
            Stream::Tcp(stream, _) => stream.set_read_timeout(timeout),
        }
    }

    /// The process that listens at the far end of a Unix socket of this machine.
    pub fn listener(&self) -> Option<u32> {
        match self {
            Stream::Unix(stream, _) => process::listener(stream.as_fd()),
            Stream::Tcp(..) => None,
        }
    }

    /// True if the far end is on another machine, by its address.
    pub fn transport(&self) -> Transport {
        let Stream::Tcp(stream, _) = self else {
            return Transport::Local;
        };
        match (stream.local_addr(), stream.peer_addr()) {
            (_, Ok(peer)) if peer.ip().is_loopback() => Transport::Local,
            (Ok(own), Ok(peer)) if own.ip() == peer.ip() => Transport::Local,
            _ => Transport::Network,
        }
    }

    /// Protection of the connection, given the TLS that was agreed on.
    pub fn protection(&self, tls: Option<String>) -> Protection {
        match self {
            Stream::Unix(..) => Protection::UnixSocket,
            Stream::Tcp(..) => tls.map_or(Protection::Unencrypted, Protection::Tls),
        }
    }

    /// The port of this end of a connection over the network.
    pub fn own_port(&self) -> Option<u16> {
        match self {
            Stream::Unix(..) => None,
            Stream::Tcp(stream, _) => Some(stream.local_addr().ok()?.port()),
        }
    }

    /// Sends all that is pending, or what the socket takes at once where it must not wait.
    #[inline]
    pub fn send(&mut self, buffers: &mut impl Buffers, wait: bool) -> io::Result<Sent> {
        while !buffers.pending().is_empty() {
            match self.try_write(buffers.pending(), wait) {
                Ok(0) => return Err(io::Error::other("the connection accepts no data")),
                Ok(count) => buffers.wrote(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if !wait && error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Sent::Part);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Sent::All)
    }

    /// Receives something; false where nothing has come and it must not wait.
    ///
    /// # Errors
    /// When the connection broke or ended; `WouldBlock` when nothing came in time.
    #[inline]
    pub fn receive(&mut self, buffers: &mut impl Buffers, wait: bool) -> io::Result<bool> {
        loop {
            match self.try_read(buffers.room(), wait) {
                Ok(0) => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "end of data"));
                }
                Ok(count) => {
                    buffers.filled(count);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if !wait && error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes what the socket takes at once, or waits for room when it may. What is left is to be given again.
    #[inline]
    pub fn try_write(&mut self, from: &[u8], wait: bool) -> io::Result<usize> {
        match self {
            Stream::Tcp(socket, Some(records)) => {
                let socket = socket.as_fd();
                records.write(from, |from| send(socket, from, wait))
            }
            plain => send(plain, from, wait),
        }
    }

    /// Reads what has come, or waits for something when it may.
    #[inline]
    pub fn try_read(&mut self, into: &mut [u8], wait: bool) -> io::Result<usize> {
        match self {
            Stream::Tcp(socket, Some(records)) => {
                let socket = socket.as_fd();
                records.read(into, |into| receive(socket, into, wait))
            }
            plain => {
                if wait {
                    plain.await_answer()?;
                }
                receive(plain, into, wait)
            }
        }
    }

    /// Waits until there is something to read where waiting in the read itself would cost more: whoever
    /// sleeps in the read of a Unix socket is also woken when the far end takes what was sent to it, in vain
    /// and once for each round trip.
    #[inline]
    fn await_answer(&self) -> io::Result<()> {
        match self {
            Stream::Unix(stream, patience) => await_readable(stream, *patience),
            Stream::Tcp(..) => Ok(()),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Stream::Tcp(socket, Some(records)) = self {
            let socket = socket.as_fd();
            records.close(|from| send(socket, from, false));
        }
    }
}

/// Sends what the socket takes at once, or waits for room.
///
/// The system call itself: the C library's function does work of its own for the cancellation of threads, as much as half of a record.
#[inline]
fn send(socket: impl AsFd, from: &[u8], wait: bool) -> io::Result<usize> {
    let mut flags = SendFlags::NOSIGNAL;
    flags.set(SendFlags::DONTWAIT, !wait);
    Ok(socket::send(socket, from, flags)?)
}

/// Receives what has come, or waits for something; by the system call itself as well.
#[inline]
fn receive(socket: impl AsFd, into: &mut [u8], wait: bool) -> io::Result<usize> {
    let mut flags = RecvFlags::empty();
    flags.set(RecvFlags::DONTWAIT, !wait);
    let (received, _) = socket::recv(socket, into, flags)?;
    Ok(received)
}

/// Time until `deadline` for a socket's timeout: at least a little, because zero would mean to wait
/// for ever.
pub fn time_left(deadline: Instant) -> Duration {
    let left = deadline.saturating_duration_since(Instant::now());
    left.max(Duration::from_millis(1))
}

/// A call that a signal may interrupt.
fn retried(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEPALIVE)?;
    sockopt::set_tcp_keepintvl(stream, KEEPALIVE)?;
    sockopt::set_tcp_keepcnt(stream, KEEPALIVES)?;
    Ok(sockopt::set_tcp_user_timeout(stream, UNCONFIRMED_MS_MAX)?)
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Stream::Unix(stream, _) => stream.as_raw_fd(),
            Stream::Tcp(stream, _) => stream.as_raw_fd(),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(stream, _) => stream.as_fd(),
            Stream::Tcp(stream, _) => stream.as_fd(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_stream_says_what_protects_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let tcp = Stream::tcp("127.0.0.1", port, Duration::from_secs(10)).unwrap();
        assert_eq!(tcp.protection(None), Protection::Unencrypted);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let unix = Stream::unix(&path).unwrap();
        assert_eq!(unix.protection(None), Protection::UnixSocket);
        assert_eq!(unix.transport(), Transport::Local);
    }
}
