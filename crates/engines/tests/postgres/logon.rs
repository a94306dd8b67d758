//! Logging on: passwords, through a socket and over the network, and what cannot be done.

use std::fs;
use std::thread;

use engine::ErrorKind;
use engines::find;

use crate::common::*;
use testing::Says;

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
    let port = port_of(server.socket_path());
    let url = |user: &str| format!("postgres://{user}@127.0.0.1:{port}/postgres");

    wait_for_the_rules(&url("scram:wrong"));
    let error = refused(&url("scram:wr0ng"));
    assert_eq!(error.kind, ErrorKind::Unreachable);
    error.message.says_all(&["28P01", "check the password"]);
    assert!(!error.message.contains("wr0ng"), "{error}");
    let error = refused(&url("scram"));
    assert!(error.message.contains("$PGPASSWORD"), "{error}");
    let error = refused(&url("nobody:x"));
    error.message.says_all(&["28000", "TLS"]);

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
    loads_and_reads(session.as_mut(), 20_000);
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
    is_unreachable("postgres://u@%2Fnowhere/d", "/nowhere/.s.PGSQL.5432");
    let port = free_port();
    let nobody = format!("postgres://u:hush@127.0.0.1:{port}/d");
    is_unreachable(&nobody, "cannot reach");
}

/// Something that speaks another protocol is no server, and no reason to wait for ever.
#[test]
fn another_protocol_is_refused() {
    let port = port_of_another_protocol(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let message = refused(&format!("postgres://u@127.0.0.1:{port}/d")).message;
    assert!(message.contains("not PostgreSQL's protocol") || message.contains("bytes"));
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
