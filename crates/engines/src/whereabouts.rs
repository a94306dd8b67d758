//! Distinguishes databases on this machine, whose counters are the machine's, from others.

use std::net::{IpAddr, ToSocketAddrs, UdpSocket};
use std::path::PathBuf;

use engine::Reach;
use engine::TargetUrl;

use crate::{engines, file};

/// True if the server of `url` runs on this machine: an embedded database, a server of dbdyno's own, a
/// Unix socket, or an address of this machine. The near end of a tunnel looks like one as well.
///
/// A name that cannot be looked up counts as elsewhere; opening it will say what is wrong.
pub fn runs_here(url: &TargetUrl) -> bool {
    let engine = engines().iter().find(|e| e.scheme() == url.scheme);
    if engine.is_none_or(|engine| engine.reach() != Reach::Network) {
        return true;
    }
    let Ok(address) = url.address() else {
        return true;
    };
    if address.host.starts_with('/') {
        return true;
    }
    let Ok(found) = (address.host.as_str(), 0).to_socket_addrs() else {
        return false;
    };
    let addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    !addresses.is_empty() && addresses.into_iter().all(is_ours)
}

/// Where on this machine the data of `url` are going to lie; `None` for a database in memory, and for a
/// server that runs already.
pub fn data_place(url: &TargetUrl) -> Option<PathBuf> {
    let engine = engines().iter().find(|e| e.scheme() == url.scheme)?;
    match engine.reach() {
        Reach::Embedded => file(url),
        Reach::LocalServer => file(url).or_else(|| Some(local_server::usual_parent())),
        Reach::Nowhere | Reach::Replica | Reach::Network => None,
    }
}

/// Only an address of this machine can be bound to.
fn is_ours(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(url: &str) -> bool {
        runs_here(&crate::parse(url).unwrap())
    }

    #[test]
    fn sockets_files_and_loopback_are_here() {
        for url in [
            "sqlite:/x",
            "postgres+local:",
            "postgres://u@%2Frun/d",
            "postgres://u@127.0.0.1/d",
            "postgres://u@[::1]:5432/d",
            "postgres://u@localhost/d",
        ] {
            assert!(here(url), "{url}");
        }
    }

    #[test]
    fn only_what_dbdyno_stores_here_has_a_place() {
        let place = |url: &str| data_place(&crate::parse(url).unwrap());
        assert_eq!(place("sqlite:/x/y.db"), Some("/x/y.db".into()));
        assert_eq!(place("sqlite:"), None);
        assert_eq!(place("postgres+local:/pg"), Some("/pg".into()));
        assert!(place("postgres+local:").is_some());
        assert_eq!(place("postgres://u@h/d"), None);
    }

    #[test]
    fn other_addresses_are_not() {
        // Addresses that are kept free for documentation (RFC 5737, RFC 3849).
        for url in [
            "postgres://u@192.0.2.1/d",
            "postgres://u@[2001:db8::1]/d",
            "postgres://u@no-such-host.invalid/d",
        ] {
            assert!(!here(url), "{url}");
        }
    }
}
