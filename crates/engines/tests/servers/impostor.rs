//! Somebody at a port of this machine who is not the server that he should be.

#![allow(dead_code, reason = "every test program uses its own part")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::certificates::Issued;

/// Handles each connection, and returns the bytes of interest.
pub struct Impostor {
    pub port: u16,
    heard: JoinHandle<Vec<u8>>,
}

impl Impostor {
    pub fn answers(answer: impl FnOnce(TcpStream) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = thread::spawn(move || answer(listener.accept().unwrap().0));
        Self { port, heard }
    }

    pub fn heard(self) -> Vec<u8> {
        self.heard.join().unwrap()
    }
}

/// The server's end of TLS.
pub type Secured = StreamOwned<ServerConnection, TcpStream>;

/// Makes the server's part of a handshake, with this certificate and maybe a protocol's name.
pub fn secured(socket: TcpStream, issued: &Issued, protocol: Option<&[u8]>) -> Secured {
    let provider = Arc::new(ring::default_provider());
    let key = PrivatePkcs8KeyDer::from(der(&issued.key));
    let certificate = CertificateDer::from(der(&issued.certificate));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::from(key))
        .unwrap();
    config.alpn_protocols = protocol.map(<[u8]>::to_vec).into_iter().collect();
    let connection = ServerConnection::new(Arc::new(config)).unwrap();
    StreamOwned::new(connection, socket)
}

fn der(pem: &str) -> Vec<u8> {
    let text: String = pem.lines().filter(|l| !l.starts_with('-')).collect();
    STANDARD.decode(text).unwrap()
}

/// A message of PostgreSQL's protocol that begins with its length.
pub fn beginning(from: &mut impl Read) -> Vec<u8> {
    let mut length = [0; 4];
    from.read_exact(&mut length).unwrap();
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    from.read_exact(&mut body).unwrap();
    body
}

/// Asks for the password in the clear, and hears what comes until the end or the first message.
pub fn ask_for_the_password(mut stream: impl Read + Write) -> Vec<u8> {
    stream.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
    stream.flush().unwrap();
    let mut heard = vec![0; 64];
    let count = stream.read(&mut heard).unwrap_or_default();
    heard.truncate(count);
    heard
}
