//! TLS: who is believed, who is let in, and what is measured through it.

use std::io::{Read, Write};

use engine::{Replies, Request};

use crate::certificates::{Authority, Valid};
use crate::common::*;
use crate::impostor::Impostor;
use crate::networked::Networked;

on_both! {
    everything_works_through_tls_alone,
    servers_that_are_not_who_they_should_be_are_refused_in_a_sentence,
    a_client_proves_itself_by_its_certificate,
}

const FULL: &str = "sslmode=verify-full&sslrootcert=ROOTS";

/// A server that lets nobody in over the network without TLS, with a user `bench`.
fn server_of(kind: &Kind) -> Networked {
    let networked = Networked::mysql(kind.server, "require_secure_transport = ON");
    let mut root = stage(&networked.server);
    root.batch(
        "CREATE USER bench@'127.0.0.1' IDENTIFIED BY 'hush'; \
         GRANT ALL ON *.* TO bench@'127.0.0.1' WITH GRANT OPTION",
    )
    .unwrap();
    drop(root);
    networked
}

fn url(networked: &Networked, host: &str, settings: &str) -> String {
    let roots = networked.roots().display().to_string();
    let settings = settings.replace("ROOTS", &roots);
    format!(
        "mysql://bench:hush@{host}:{}/dbdyno?{settings}",
        networked.port
    )
}

fn everything_works_through_tls_alone(kind: &Kind) {
    let networked = server_of(kind);
    let plain = url(&networked, "127.0.0.1", "sslmode=disable");
    is_unreachable(&plain, "sslmode=verify-full");
    let target = opened(&url(&networked, "localhost", FULL)).unwrap();
    // Nothing said is the default of MySQL's own clients.
    let more = url(&networked, "127.0.0.1", "others=allow").replace("/dbdyno?", "/dbdyno_more?");
    let unchecked = opened(&more).unwrap().record();
    assert!(unchecked.settings["dbdyno.tls"].starts_with("TLS 1.3"));
    let record = target.record();
    assert!(record.settings["dbdyno.tls"].starts_with("TLS 1.3"));
    let mut session = target.open_session().unwrap();
    loads_and_reads(session.as_mut(), 50_000);
    let long = ask(session.as_mut(), "SELECT repeat('x', 3000000)").unwrap();
    assert_eq!(long.rows, 1);
    // Without waiting, too.
    let statement = session.prepare("SELECT repeat('x', 200000)").unwrap();
    let nonblocking = session.nonblocking().unwrap();
    let mut replies = Replies::default();
    for _ in 0..5 {
        replies.clear();
        nonblocking.queue(Request::BeginRead).unwrap();
        replies.awaits(None);
        for _ in 0..3 {
            nonblocking.queue(Request::Execute(statement, &[])).unwrap();
            replies.awaits(None);
        }
        nonblocking.queue(Request::Commit).unwrap();
        replies.awaits(None);
        nonblocking.send().unwrap();
        while !nonblocking.receive(&mut replies).unwrap() {}
        let rows = [1, 2, 3].map(|at| replies.rows(at));
        assert_eq!(rows, [Some(1); 3]);
    }
    drop(session);
    drop(target);
    // In the words of the server's own clients, and without any check.
    let words = "ssl-mode=VERIFY_IDENTITY&ssl-ca=ROOTS";
    opened(&url(&networked, "127.0.0.1", words)).unwrap();
    opened(&url(&networked, "127.0.0.1", "ssl-mode=REQUIRED")).unwrap();
}

fn servers_that_are_not_who_they_should_be_are_refused_in_a_sentence(kind: &Kind) {
    let networked = server_of(kind);
    let strange = Authority::new("somebody else");
    let strangers = networked.file("strangers.crt", &strange.certificate);
    let unknown = format!("ssl-mode=VERIFY_CA&ssl-ca={}", strangers.display());
    is_unreachable(
        &url(&networked, "127.0.0.1", &unknown),
        "not from an authority",
    );
    networked.show(&networked.authority.issue(&["db1.example.com"], Valid::Now));
    is_unreachable(&url(&networked, "127.0.0.1", FULL), "not for \"127.0.0.1\"");
    let by_authority = "sslmode=verify-ca&sslrootcert=ROOTS";
    opened(&url(&networked, "127.0.0.1", by_authority)).unwrap();
    networked.show(&networked.authority.issue(&["127.0.0.1"], Valid::Before));
    is_unreachable(
        &url(&networked, "127.0.0.1", FULL),
        "certificate has expired",
    );
}

fn a_client_proves_itself_by_its_certificate(kind: &Kind) {
    let networked = server_of(kind);
    let mut root = stage(&networked.server);
    root.batch("ALTER USER bench@'127.0.0.1' REQUIRE SUBJECT '/CN=bench'")
        .unwrap();
    drop(root);
    let own = networked.authority.issue(&["bench"], Valid::Now);
    let certificate = networked.file("bench.crt", &own.certificate);
    let key = networked.private("bench.key", &own.key);
    let with = format!(
        "{FULL}&ssl-cert={}&ssl-key={}",
        certificate.display(),
        key.display()
    );
    opened(&url(&networked, "127.0.0.1", &with)).unwrap();
    is_unreachable(&url(&networked, "127.0.0.1", FULL), "Access denied");
}

/// A greeting without TLS, in front of somebody who wants the login.
#[test]
fn who_takes_tls_away_hears_nothing() {
    let mut greeting = b"\x0a5.5.5-10.11.6-MariaDB\0\x07\0\0\x0001234567\0".to_vec();
    // All but TLS.
    greeting.extend([
        0xfe, 0xf7, 45, 2, 0, 0xff, 0x81, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);
    greeting.extend(b"89abcdefghij\0mysql_native_password\0");
    let impostor = Impostor::answers(move |mut socket| {
        let length = (greeting.len() as u32).to_le_bytes();
        socket.write_all(&length[..3]).unwrap();
        socket.write_all(&[0]).unwrap();
        socket.write_all(&greeting).unwrap();
        let mut heard = Vec::new();
        let _ = socket.read_to_end(&mut heard);
        heard
    });
    let asked = format!(
        "mysql://bench:hush@127.0.0.1:{}/dbdyno?sslmode=require",
        impostor.port
    );
    is_unreachable(&asked, "does not support TLS");
    assert_eq!(impostor.heard(), b"");
}

/// The server asks for the password itself until it has it in its cache; it is sent to a server that has proved who it is.
#[test]
fn a_password_is_sent_once_and_proved_then() {
    let networked = server_of(&MYSQL);
    let unchecked = url(&networked, "127.0.0.1", "sslmode=require");
    is_unreachable(&unchecked, "the password was not sent");
    let by_name = url(&networked, "localhost", FULL);
    is_unreachable(&by_name.replace("hush", "wrong"), "Access denied");
    opened(&by_name).unwrap();
    opened(&unchecked).unwrap();
    is_unreachable(
        &unchecked.replace("hush", "wrong"),
        "the password was not sent",
    );
    stage(&networked.server).batch("FLUSH PRIVILEGES").unwrap();
    is_unreachable(&unchecked, "the password was not sent");
}

#[test]
fn a_password_signs_with_ed25519() {
    let networked = Networked::mariadb_with_ed25519("");
    let mut root = stage(&networked.server);
    root.batch(
        "CREATE USER bench@'127.0.0.1' IDENTIFIED VIA ed25519 USING PASSWORD('hush'); \
         GRANT ALL ON *.* TO bench@'127.0.0.1' WITH GRANT OPTION",
    )
    .unwrap();
    drop(root);
    // Its random bytes may contain zeros.
    for _ in 0..30 {
        opened(&url(&networked, "127.0.0.1", "")).unwrap();
    }
    opened(&url(&networked, "127.0.0.1", FULL)).unwrap();
    let wrong = url(&networked, "127.0.0.1", FULL).replace("hush", "wrong");
    is_unreachable(&wrong, "Access denied");
}
