//! Records without a socket: cut as the network likes, and changed by somebody on the way.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};
use testing::{Source, each_seed, peak_bytes};

use super::asked::{Check, TlsOptions};
use super::*;

/// Buffers of both sides, and what certificates and keys take.
const MEMORY_BYTES_MAX: usize = 4 << 20;

/// A server in the same thread, and the bytes on their way from it.
struct Server {
    connection: ServerConnection,
    coming: VecDeque<u8>,
    heard: Vec<u8>,
}

impl Server {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialized_der().to_vec());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], PrivateKeyDer::from(key));
        Self {
            connection: ServerConnection::new(Arc::new(config.unwrap())).unwrap(),
            coming: VecDeque::new(),
            heard: Vec::new(),
        }
    }

    /// Takes what the client sent, and answers.
    fn hear(&mut self, mut from: &[u8]) {
        while !from.is_empty() {
            if self.connection.read_tls(&mut from).is_err()
                || self.connection.process_new_packets().is_err()
            {
                break;
            }
            // Nothing more may have come.
            let _ = self.connection.reader().read_to_end(&mut self.heard);
        }
        self.speak();
    }

    fn speak(&mut self) {
        let mut bytes = Vec::new();
        while self.connection.wants_write() {
            self.connection.write_tls(&mut bytes).unwrap();
        }
        self.coming.extend(bytes);
    }

    fn say(&mut self, text: &[u8]) {
        self.connection.set_buffer_limit(None);
        self.connection.writer().write_all(text).unwrap();
        self.speak();
    }

    fn give(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.coming.read(into)
    }
}

fn client() -> TlsClient {
    let asked = TlsOptions {
        is_optional: false,
        check: Check::Nothing,
        roots: None,
        own: None,
    };
    TlsClient::new(&asked, None, false).unwrap()
}

fn connected(server: &RefCell<Server>) -> Result<Records, TlsError> {
    let send = |from: &[u8]| {
        server.borrow_mut().hear(from);
        Ok(from.len())
    };
    let connected = client().connect("localhost", send, |into| server.borrow_mut().give(into));
    connected.map(|(records, _)| records)
}

/// One to as many as fit.
fn some(source: &mut Source, most: usize) -> usize {
    let limit = 1 << source.below(18);
    1 + source.below(most.min(limit))
}

#[test]
fn bytes_arrive_once_and_in_order_however_the_network_cuts_them() {
    let server = RefCell::new(Server::new());
    let mut records = connected(&server).unwrap();
    each_seed(40, |source| {
        let truth = source.bytes(200_000);
        server.borrow_mut().say(&truth);
        let mut got: Vec<u8> = Vec::new();
        while got.len() < truth.len() {
            let mut room = vec![0_u8; some(source, 100_000)];
            let read = records.read(&mut room, |into| {
                if source.below(3) == 0 {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                let most = some(source, into.len());
                server.borrow_mut().give(&mut into[..most])
            });
            match read {
                Ok(count) => got.extend(&room[..count]),
                Err(e) => assert_eq!(e.kind(), io::ErrorKind::WouldBlock),
            }
        }
        assert!(got == truth, "what was read");

        // Unsent bytes are given again, with more after them.
        server.borrow_mut().heard.clear();
        let (mut gone, mut given) = (0, 0);
        while gone < truth.len() {
            given = (given + some(source, 100_000)).min(truth.len());
            while gone < given {
                let written = records.write(&truth[gone..given], |from| {
                    if source.below(3) == 0 {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                    let most = some(source, from.len());
                    server.borrow_mut().hear(&from[..most]);
                    Ok(most)
                });
                match written {
                    Ok(count) => gone += count,
                    Err(e) => assert_eq!(e.kind(), io::ErrorKind::WouldBlock),
                }
                given = (given + source.below(1000)).min(truth.len());
            }
        }
        assert!(server.borrow().heard == truth, "what was written");
    });
}

#[test]
fn what_was_changed_on_the_way_is_an_error_within_bounded_memory() {
    each_seed(300, |source| {
        let (_, peak) = peak_bytes(|| changed_on_the_way(source));
        assert!(peak < MEMORY_BYTES_MAX, "{peak} bytes");
    });
}

/// A conversation of which a part is changed: in the handshake, or behind it.
fn changed_on_the_way(source: &mut Source) {
    let truth = source.bytes(40_000);
    let server = RefCell::new(Server::new());
    // The first answers to the client that are left alone.
    let mut whole = source.below(4);
    let send = |from: &[u8]| {
        let mut server = server.borrow_mut();
        server.hear(from);
        if whole == 0 {
            let mut bytes: Vec<u8> = server.coming.drain(..).collect();
            source.mutate(&mut bytes);
            server.coming = bytes.into();
        }
        whole = whole.saturating_sub(1);
        Ok(from.len())
    };
    let connected = client().connect("localhost", send, |into| server.borrow_mut().give(into));
    let Ok((mut records, _)) = connected else {
        return;
    };
    let mut server = server.into_inner();
    if !server.connection.is_handshaking() {
        server.say(&truth);
    }
    let mut bytes: Vec<u8> = server.coming.drain(..).collect();
    source.mutate(&mut bytes);
    server.coming = bytes.into();
    let mut got = Vec::new();
    let mut room = [0; 10_000];
    while let Ok(count @ 1..) = records.read(&mut room, |into| server.give(into)) {
        got.extend(&room[..count]);
    }
    assert!(truth.starts_with(&got), "what nobody said was believed");
    // A broken connection neither panics nor goes on for ever.
    let _ = records.write(b"still there?", |from| Ok(from.len()));
    records.close(|from| Ok(from.len()));
}

#[test]
fn an_end_is_announced() {
    for announces in [true, false] {
        let server = RefCell::new(Server::new());
        let mut records = connected(&server).unwrap();
        let mut server = server.into_inner();
        server.say(b"the last words");
        if announces {
            server.connection.send_close_notify();
            server.speak();
        }
        let mut room = [0; 100];
        let count = records.read(&mut room, |into| server.give(into)).unwrap();
        assert_eq!(&room[..count], b"the last words");
        let end = records.read(&mut room, |into| server.give(into));
        if announces {
            assert_eq!(end.unwrap(), 0)
        } else {
            assert_eq!(end.unwrap_err().kind(), io::ErrorKind::UnexpectedEof)
        }
        // Ours is announced as well.
        records.close(|from| {
            server.hear(from);
            Ok(from.len())
        });
        let end = server.connection.reader().read(&mut room);
        assert_eq!(end.unwrap(), 0);
    }
}
