//! Somebody between dbdyno and the server, who wants the password or the connection.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use engine::{ErrorKind, TargetError};

use crate::certificates::{Authority, Issued, Valid};
use crate::common::*;
use crate::impostor::*;
use crate::networked::Networked;

const GOODBYE: &[u8] = b"X\0\0\0\x04";

fn url(port: u16, settings: &str) -> String {
    format!("postgres://bench:hush@localhost:{port}/postgres?{settings}")
}

/// The authority in a file, with what it issues for this machine.
fn known() -> (tempfile::TempDir, String, Issued) {
    let (directory, authority) = (tempfile::tempdir().unwrap(), Authority::new("known"));
    let roots = directory.path().join("ca.crt");
    fs::write(&roots, &authority.certificate).unwrap();
    let issued = authority.issue(&["localhost"], Valid::Now);
    (
        directory,
        format!("sslrootcert={}", roots.display()),
        issued,
    )
}

fn is_refused(url: &str, what: &str) -> TargetError {
    let error = refused(url);
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    assert!(error.message.contains(what), "{url}: {error}");
    assert!(!error.message.contains("hush"), "{error}");
    error
}

#[test]
fn who_asks_for_the_password_itself_does_not_get_it() {
    // Nothing said tries TLS first, and goes on without it where it is not offered.
    let plain = Impostor::answers(|mut socket| {
        assert_eq!(beginning(&mut socket), 80_877_103_u32.to_be_bytes());
        socket.write_all(b"N").unwrap();
        beginning(&mut socket);
        ask_for_the_password(socket)
    });
    is_refused(&url(plain.port, ""), "the password was not sent");
    assert_eq!(plain.heard(), GOODBYE);

    // TLS alone proves nothing: anybody can have a certificate.
    let (_directory, _, issued) = known();
    let unverified = Impostor::answers(move |mut socket| {
        assert_eq!(beginning(&mut socket), 80_877_103_u32.to_be_bytes());
        socket.write_all(b"S").unwrap();
        let mut stream = secured(socket, &issued, None);
        beginning(&mut stream);
        ask_for_the_password(stream)
    });
    is_refused(
        &url(unverified.port, "sslmode=require"),
        "the password was not sent",
    );
    assert_eq!(unverified.heard(), GOODBYE);

    // Whoever has proved to be the server gets it, as servers that ask a directory for passwords need it.
    let (_directory, roots, issued) = known();
    let verified = Impostor::answers(move |mut socket| {
        beginning(&mut socket);
        socket.write_all(b"S").unwrap();
        let mut stream = secured(socket, &issued, Some(b"postgresql"));
        beginning(&mut stream);
        ask_for_the_password(stream)
    });
    let full = format!("sslmode=verify-full&{roots}");
    is_refused(&url(verified.port, &full), "closed the connection");
    assert_eq!(verified.heard(), b"p\0\0\0\x09hush\0");
}

#[test]
fn who_listens_at_a_unix_socket_gets_it() {
    let directory = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        beginning(&mut socket);
        ask_for_the_password(socket)
    });
    let host = directory.path().display().to_string().replace('/', "%2F");
    refused(&format!("postgres://bench:hush@{host}/postgres"));
    assert_eq!(server.join().unwrap(), b"p\0\0\0\x09hush\0");
}

#[test]
fn who_takes_tls_away_or_puts_bytes_in_front_of_it_is_refused() {
    for (answer, what) in [
        (&b"N"[..], "does not support TLS"),
        (b"E\0\0\0\x08no\0\0", "unencrypted bytes followed"),
        (b"E", "answered the request for TLS with an error"),
        (b"H", "not PostgreSQL's protocol"),
        (b"", "closed the connection when asked for TLS"),
        // Injected before TLS (CVE-2021-23222).
        (
            b"SR\0\0\0\x08\0\0\0\0Z\0\0\0\x05I",
            "unencrypted bytes followed",
        ),
    ] {
        let impostor = Impostor::answers(move |mut socket| {
            beginning(&mut socket);
            socket.write_all(answer).unwrap();
            // A refused client may have gone already.
            let _ = socket.shutdown(Shutdown::Write);
            let mut heard = Vec::new();
            let _ = socket.read_to_end(&mut heard);
            heard
        });
        is_refused(&url(impostor.port, "sslmode=require"), what);
        assert_eq!(impostor.heard(), b"", "{what}");
    }
    // The same bytes a moment later meet the handshake.
    let late = Impostor::answers(|mut socket| {
        beginning(&mut socket);
        socket.write_all(b"S").unwrap();
        let mut hello = [0; 5];
        socket.read_exact(&mut hello).unwrap();
        socket
            .write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")
            .unwrap();
        hello.to_vec()
    });
    is_refused(&url(late.port, "sslmode=require"), "other than TLS");
    assert_eq!(late.heard()[0], 22, "a handshake record");
}

#[test]
fn a_connection_that_is_cut_off_is_no_end() {
    let (_directory, roots, issued) = known();
    let impostor = Impostor::answers(move |mut socket| {
        beginning(&mut socket);
        socket.write_all(b"S").unwrap();
        let cut = socket.try_clone().unwrap();
        let mut stream = secured(socket, &issued, None);
        beginning(&mut stream);
        cut.shutdown(Shutdown::Both).unwrap();
        Vec::new()
    });
    let full = format!("sslmode=verify-full&{roots}");
    is_refused(&url(impostor.port, &full), "its end was not announced");
    impostor.heard();
}

/// A proxy that ends TLS, before a server that listens at a socket.
fn proxy(issued: Issued, to: PathBuf, protocol: Option<&'static [u8]>, is_direct: bool) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let far = UnixStream::connect(&to).unwrap();
            let mut socket = socket;
            if !is_direct {
                beginning(&mut socket);
                socket.write_all(b"S").unwrap();
            }
            let near = secured(socket, &issued, protocol);
            thread::spawn(move || carry(near, far));
        }
    });
    port
}

/// Carries on in turns what a conversation of questions and answers has.
fn carry(mut near: Secured, mut far: UnixStream) {
    let wait = Some(std::time::Duration::from_millis(2));
    far.set_read_timeout(wait).unwrap();
    TcpStream::set_read_timeout(&near.sock, wait).unwrap();
    let mut bytes = [0; 1 << 14];
    loop {
        match near.read(&mut bytes) {
            Ok(0) => return,
            Ok(count) => {
                if far.write_all(&bytes[..count]).is_err() {
                    return;
                }
            }
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
        match far.read(&mut bytes) {
            Ok(0) => return,
            Ok(count) => {
                let said = near.write_all(&bytes[..count]);
                if said.and_then(|()| near.flush()).is_err() {
                    return;
                }
            }
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

/// Against a real server behind a proxy: none of those that are there takes TLS at once.
#[test]
fn tls_at_once_needs_a_server_that_confirms_its_protocol() {
    let server = server();
    let (_directory, roots, issued) = known();
    let asked = format!("sslmode=verify-full&{roots}&sslnegotiation=direct&schema=of_direct");
    let to = server.socket_path();
    let same = Issued {
        certificate: issued.certificate.clone(),
        key: issued.key.clone(),
    };
    let port = proxy(issued, to.clone(), Some(b"postgresql"), true);
    let user = |port| url(port, &asked).replace("bench:hush", "dbdyno");
    opened(&user(port)).unwrap();
    let port = proxy(same, to, None, true);
    is_refused(&user(port), "does not confirm");
}

/// Whoever ends TLS in between passes on a login that is not bound to the certificate.
#[test]
fn a_login_that_must_be_bound_is_not_passed_on() {
    let networked = Networked::postgres("15", "local all bench scram-sha-256");
    psql_at_port(
        &networked,
        "CREATE ROLE bench LOGIN SUPERUSER PASSWORD 'hush'",
    );
    let (_directory, roots, issued) = known();
    let port = proxy(issued, networked.server.socket_path(), None, false);
    let full = format!("sslmode=verify-full&{roots}");
    opened(&url(port, &full)).unwrap();
    let bound = format!("{full}&channel_binding=require");
    is_refused(&url(port, &bound), "does not offer SCRAM-SHA-256-PLUS");
}

/// First bytes of each connection that is forwarded to a port.
fn beginnings(to: u16) -> (u16, Arc<Mutex<Vec<Vec<u8>>>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    thread::spawn(move || {
        for mut near in listener.incoming().map_while(Result::ok) {
            let begun = beginning(&mut near);
            let mut far = TcpStream::connect(("127.0.0.1", to)).unwrap();
            let length = (begun.len() as u32 + 4).to_be_bytes();
            far.write_all(&[&length[..], &begun].concat()).unwrap();
            told.lock().unwrap().push(begun);
            let (mut near_too, mut far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut near, &mut far);
                let _ = far.shutdown(Shutdown::Both);
            });
            thread::spawn(move || {
                let _ = std::io::copy(&mut far_too, &mut near_too);
                let _ = near_too.shutdown(Shutdown::Both);
            });
        }
    });
    (port, seen)
}

/// The request to cancel a statement holds a secret of the session.
#[test]
fn a_statement_is_cancelled_through_tls_as_well() {
    let networked = Networked::postgres("15", "hostssl all all 127.0.0.1/32 scram-sha-256");
    psql_at_port(
        &networked,
        "CREATE ROLE bench LOGIN SUPERUSER PASSWORD 'hush'",
    );
    let (port, seen) = beginnings(networked.port);
    let full = format!(
        "sslmode=verify-full&sslrootcert={}",
        networked.roots().display()
    );
    let target = opened(&url(port, &full)).unwrap();
    let mut session = target.open_session().unwrap();
    let before = seen.lock().unwrap().len();
    let sleeping = thread::spawn(move || session.batch("SELECT pg_sleep(600)").unwrap_err());
    while !is_asleep(&networked) {
        thread::sleep(std::time::Duration::from_millis(10));
    }
    target.break_off();
    sleeping.join().unwrap();
    // The server is told on another connection, and ends the statement when it gets to it, long before its 600 s.
    let begin = std::time::Instant::now();
    while is_asleep(&networked) {
        assert!(
            begin.elapsed().as_secs() < 120,
            "the server goes on with it"
        );
        thread::sleep(std::time::Duration::from_millis(10));
    }
    let seen = seen.lock().unwrap();
    assert!(seen.len() > before, "nothing was cancelled");
    for begun in seen.iter() {
        assert_eq!(begun[..], 80_877_103_u32.to_be_bytes());
    }
}

fn is_asleep(networked: &Networked) -> bool {
    let asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    psql_at_port(networked, asleep) == "1"
}

fn psql_at_port(networked: &Networked, sql: &str) -> String {
    let client = networked.server.program().with_file_name("psql");
    let done = std::process::Command::new(client)
        .args([
            "-X", "-q", "-A", "-t", "-d", "postgres", "-U", "dbdyno", "-h",
        ])
        .arg(networked.server.socket_directory())
        .args(["-p", &networked.port.to_string(), "-c", sql])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}
