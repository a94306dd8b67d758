//! Logging on: passwords, through a socket and over the network, and what cannot be done.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;

use engine::ErrorKind;
use engines::find;

use crate::common::*;

/// Carries connections over the network to a server that listens on a socket only.
pub fn network_to(socket: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for near in listener.incoming() {
            let (near, far) = (near.unwrap(), UnixStream::connect(&socket).unwrap());
            let back = (far.try_clone().unwrap(), near.try_clone().unwrap());
            thread::spawn(move || carry(near, far));
            thread::spawn(move || carry(back.0, back.1));
        }
    });
    port
}

fn carry(mut from: impl Read, mut to: impl Write + Closes) {
    let mut bytes = [0; 8192];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    to.close();
}

trait Closes {
    fn close(&self);
}

impl Closes for TcpStream {
    fn close(&self) {
        let _ = self.shutdown(std::net::Shutdown::Both);
    }
}

impl Closes for UnixStream {
    fn close(&self) {
        let _ = self.shutdown(std::net::Shutdown::Both);
    }
}

#[test]
fn passwords_are_asked_for_checked_and_never_shown() {
    let server = server();
    let target = opened(&url_of(&server, "dbdyno", "")).unwrap();
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "SET password_encryption = 'scram-sha-256'; \
             CREATE ROLE scram LOGIN SUPERUSER PASSWORD 's%cr@t/?:'; \
             CREATE ROLE nobody LOGIN PASSWORD 'x'; \
             SET password_encryption = 'md5'; \
             CREATE ROLE old LOGIN SUPERUSER PASSWORD 'digest'",
        )
        .unwrap();
    let rules = "local all dbdyno trust\nlocal all nobody reject\nlocal all old md5\n\
                 local all all scram-sha-256\n";
    fs::write(server.data_directory().join("pg_hba.conf"), rules).unwrap();
    session.batch("SELECT pg_reload_conf()").unwrap();
    drop(session);
    drop(target);
    let port = network_to(server.socket_path());
    let url = |user: &str| format!("postgres://{user}@127.0.0.1:{port}/postgres");

    wait_for_the_rules(&url("scram:wrong"));
    let error = refused(&url("scram:wr0ng"));
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(
        error.message.contains("28P01") && error.message.contains("check the password"),
        "{error}"
    );
    assert!(!error.message.contains("wr0ng"), "{error}");
    let error = refused(&url("scram"));
    assert!(error.message.contains("$PGPASSWORD"), "{error}");
    let error = refused(&url("nobody:x"));
    assert!(
        error.message.contains("28000") && error.message.contains("TLS"),
        "{error}"
    );

    // The schema is another role's, also for a superuser.
    let right = url("scram:s%25cr%40t%2F%3F%3A");
    let error = refused(&right);
    assert!(error.message.contains("another user"), "{error}");
    let target = opened(&format!("{right}?schema=of_scram")).unwrap();
    let record = target.record();
    assert_eq!(
        record.url,
        format!("postgres://scram@127.0.0.1:{port}/postgres?schema=of_scram")
    );
    assert!(!format!("{record:?}").contains("cr@t"));
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE dbdyno_t (id BIGINT, pad TEXT)")
        .unwrap();
    assert_eq!(
        session.bulk_load("dbdyno_t", &mut Rows(0..20_000)).unwrap(),
        20_000
    );
    assert_eq!(
        ask(session.as_mut(), "SELECT * FROM dbdyno_t")
            .unwrap()
            .rows,
        20_000
    );
    drop(session);
    drop(target);
    opened(&format!("{}?schema=of_old", url("old:digest"))).unwrap();
}

/// A server reads its rules again a moment after it was told to.
fn wait_for_the_rules(wrong: &str) {
    for _ in 0..100 {
        if opened(wrong).is_err() {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the server did not read its rules");
}

#[test]
fn places_without_a_server_say_so() {
    let error = refused("postgres://u@%2Fnowhere/d");
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.message.contains("/nowhere/.s.PGSQL.5432"), "{error}");
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let error = refused(&format!("postgres://u:secret@127.0.0.1:{free}/d"));
    assert!(error.message.contains("cannot reach"), "{error}");
    assert!(!error.message.contains("secret"), "{error}");
}

/// Something that speaks another protocol is no server, and no reason to wait for ever.
#[test]
fn another_protocol_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut near, _) = listener.accept().unwrap();
        let mut bytes = [0; 64];
        let _ = near.read(&mut bytes);
        let _ = near.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let error = refused(&format!("postgres://u@127.0.0.1:{port}/d"));
    assert!(
        error.message.contains("not PostgreSQL's protocol") || error.message.contains("bytes"),
        "{error}"
    );
}

#[test]
fn urls_are_checked_before_anything_is_touched() {
    for (url, what) in [
        ("postgres:file", "does not name a server"),
        ("postgres://u@h,i/d", "several hosts"),
        ("postgres://u@h/d#x", "%23"),
        ("postgres://u@h/d?sslmode=verify-full", "sslrootcert"),
        ("postgres+local:?port=1", "cannot be set for a local server"),
    ] {
        let url = engines::parse(url).unwrap();
        let message = find(&url).err().unwrap().to_string();
        assert!(message.contains(what), "{url}: {message}");
    }
}
