//! This process's sockets: the driver does not say which one is a connection's.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, RawFd};

/// Descriptors that are open now.
pub(super) fn open() -> BTreeSet<RawFd> {
    let entries = std::fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten();
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let found: Vec<RawFd> = entries.filter_map(number).collect();
    // The directory that was read is among them, and closed again.
    let is_open = |descriptor: &RawFd| {
        std::fs::symlink_metadata(format!("/proc/self/fd/{descriptor}")).is_ok()
    };
    found.into_iter().filter(is_open).collect()
}

/// The connected socket that was not there before. Where there are several, that to the port; a listener may have sent a session on
/// to another.
pub(super) fn appeared(before: &BTreeSet<RawFd>, port: u16) -> Option<RawFd> {
    let is_new = |socket: &RawFd| !before.contains(socket);
    let peers = open().into_iter().filter(is_new);
    let found: Vec<_> = peers
        .filter_map(|socket| Some((socket, peer(socket)?)))
        .collect();
    if let [(socket, _)] = found.as_slice() {
        return Some(*socket);
    }
    let mut of_port = found.iter().filter(|(_, peer)| peer.port() == port);
    let first = of_port.next().map(|(socket, _)| *socket);
    first.filter(|_| of_port.next().is_none())
}

fn peer(socket: RawFd) -> Option<SocketAddr> {
    // SAFETY: the descriptor is used for one call that fails where it was closed meanwhile or is no socket.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    SocketAddr::try_from(rustix::net::getpeername(socket).ok()??).ok()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn the_new_socket_to_the_port_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let before = open();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let found = appeared(&before, port);
        assert_eq!(found, Some(stream.as_raw_fd()));
        assert_eq!(appeared(&open(), port), None);
    }
}
