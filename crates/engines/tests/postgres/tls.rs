//! TLS: who is believed, who is let in, and what is measured through it.

use std::path::Path;

use engine::{Replies, Request, Sent};

use crate::certificates::{Authority, Issued, Valid, self_signed};
use crate::common::*;
use crate::networked::Networked;
use testing::Says;

/// Lets nobody in without TLS.
const TLS_ALONE: &str = "hostssl all all 127.0.0.1/32 scram-sha-256";

/// A server that lets in through TLS alone, with a user `bench`.
fn server_of(version: &str) -> Networked {
    let networked = Networked::postgres(version, TLS_ALONE);
    sql(
        &networked,
        "CREATE ROLE bench LOGIN SUPERUSER PASSWORD 'hush'",
    );
    networked
}

fn sql(networked: &Networked, sql: &str) {
    let directory = networked.server.socket_directory().display().to_string();
    let host = directory.replace('/', "%2F");
    let url = format!(
        "postgres://dbdyno@{host}:{}/postgres?schema=stage",
        networked.port
    );
    let mut session = opened(&url).unwrap().open_session().unwrap();
    session.batch(sql).unwrap();
}

fn url(networked: &Networked, host: &str, settings: &str) -> String {
    let roots = networked.roots().display().to_string();
    let settings = settings.replace("ROOTS", &roots);
    format!(
        "postgres://bench:hush@{host}:{}/postgres?{settings}",
        networked.port
    )
}

const FULL: &str = "sslmode=verify-full&sslrootcert=ROOTS";

#[test]
fn everything_works_through_tls_alone() {
    let networked = server_of("15");
    let plain = refused(&url(&networked, "localhost", "sslmode=disable"));
    plain.message.says_all(&["28000", "sslmode=verify-full"]);
    // Nothing said is libpq's default.
    let unchecked = opened(&url(&networked, "localhost", "")).unwrap().record();
    assert!(unchecked.settings["dbdyno.tls"].starts_with("TLS 1.3"));
    let target = opened(&url(&networked, "localhost", FULL)).unwrap();
    let record = target.record();
    assert!(record.settings["dbdyno.tls"].starts_with("TLS 1.3"));
    let mut session = target.open_session().unwrap();
    // Records of several sizes in both directions, and many of them.
    loads_and_reads(session.as_mut(), 100_000);
    let long = "SELECT length(string_agg(pad, '')) FROM dbdyno_t";
    assert!(number(session.as_mut(), long) > 1_000_000);
    assert_eq!(
        ask(session.as_mut(), "SELECT repeat('x', 3000000)")
            .unwrap()
            .rows,
        1
    );
    drop(session);
    drop(target);
    // The login was bound to the certificate.
    let bound = format!("{FULL}&channel_binding=require");
    opened(&url(&networked, "localhost", &bound)).unwrap();
    let unbound = format!("{FULL}&channel_binding=disable");
    opened(&url(&networked, "localhost", &unbound)).unwrap();
}

#[test]
fn groups_are_sent_and_answered_without_waiting() {
    let networked = server_of("15");
    let target = opened(&url(&networked, "localhost", FULL)).unwrap();
    let mut session = target.open_session().unwrap();
    let long = session
        .prepare("SELECT repeat('x', 1000) || octet_length($1)::text FROM generate_series(1, 500)")
        .unwrap();
    let text = "y".repeat(1_000_000);
    let nonblocking = session.nonblocking().unwrap();
    let mut replies = Replies::default();
    for round in 0..2 {
        replies.clear();
        // Far more than the sockets hold in either direction.
        for _ in 0..50 {
            replies.awaits(None);
            let parameters = [engine::Value::Text(&text)];
            nonblocking
                .queue(Request::Execute(long, &parameters))
                .unwrap();
        }
        // A server whose answers nobody takes ends up taking nothing more.
        assert_eq!(nonblocking.send().unwrap(), Sent::Part, "round {round}");
        loop {
            let is_sent = nonblocking.send().unwrap() == Sent::All;
            assert_eq!(nonblocking.waits_for_room(), !is_sent, "round {round}");
            if nonblocking.receive(&mut replies).unwrap() {
                break;
            }
        }
        let rows: Vec<_> = (0..50).map(|at| replies.rows(at)).collect();
        assert_eq!(rows, [Some(500); 50], "round {round}");
    }
}

#[test]
fn servers_that_are_not_who_they_should_be_are_refused_in_a_sentence() {
    let networked = server_of("15");
    let strange = Authority::new("somebody else");
    let strangers = networked.file("strangers.crt", &strange.certificate);
    let strangers = strangers.display().to_string();
    let full = url(&networked, "localhost", FULL);
    let authority = "sslmode=verify-ca&sslrootcert=ROOTS";
    let by_authority = url(&networked, "localhost", authority);
    let anybody = url(&networked, "localhost", "sslmode=require");

    // An authority that nobody named.
    let unknown = format!("sslmode=verify-full&sslrootcert={strangers}");
    is_unreachable(
        &url(&networked, "localhost", &unknown),
        "not from an authority in sslrootcert",
    );
    let checked = format!("sslmode=require&sslrootcert={strangers}");
    is_unreachable(
        &url(&networked, "localhost", &checked),
        "not from an authority in sslrootcert",
    );
    opened(&anybody).unwrap();

    // Another name; an address is one as well.
    networked.show(&networked.authority.issue(&["db1.example.com"], Valid::Now));
    is_unreachable(&full, "not for \"localhost\" but for");
    is_unreachable(&url(&networked, "127.0.0.1", FULL), "not for \"127.0.0.1\"");
    opened(&by_authority).unwrap();

    // Another time.
    networked.show(&networked.authority.issue(&["localhost"], Valid::Before));
    is_unreachable(&full, "certificate has expired");
    is_unreachable(&by_authority, "certificate has expired");
    opened(&anybody).unwrap();
    networked.show(&networked.authority.issue(&["localhost"], Valid::After));
    is_unreachable(&full, "not valid yet");

    // One that nobody signed, which a user can name as the only one that counts.
    let own = self_signed(&["localhost"], Valid::Now);
    networked.show(&own);
    let listed = networked.file("own.crt", &own.certificate);
    let listed = format!("sslmode=verify-full&sslrootcert={}", listed.display());
    is_unreachable(&full, "cannot be used");
    opened(&url(&networked, "localhost", &listed)).unwrap();
    is_unreachable(
        &url(&networked, "127.0.0.1", &listed),
        "not for \"127.0.0.1\"",
    );
    let old = self_signed(&["localhost"], Valid::Before);
    networked.show(&old);
    let listed = networked.file("old.crt", &old.certificate);
    let listed = format!("sslmode=verify-ca&sslrootcert={}", listed.display());
    is_unreachable(
        &url(&networked, "localhost", &listed),
        "certificate has expired",
    );
}

/// Where nothing is checked, all that counts is that the server has the key.
#[test]
fn a_certificate_of_version_1_does_where_none_is_checked() {
    let networked = server_of("15");
    let certificate = include_str!("../servers/version_1.crt").to_owned();
    let key = include_str!("../servers/version_1.key").to_owned();
    let listed = networked.file("old.crt", &certificate);
    networked.show(&Issued { certificate, key });
    let bound = "sslmode=require&channel_binding=require";
    opened(&url(&networked, "localhost", bound)).unwrap();
    for mode in ["verify-ca", "verify-full"] {
        let checked = format!("sslmode={mode}&sslrootcert={}", listed.display());
        is_unreachable(&url(&networked, "localhost", &checked), "version 3");
    }
    sql(
        &networked,
        "ALTER SYSTEM SET ssl_max_protocol_version = 'TLSv1.2'",
    );
    sql(&networked, "SELECT pg_reload_conf(), pg_sleep(1)");
    let target = opened(&url(&networked, "localhost", bound)).unwrap();
    let tls = &target.record().settings["dbdyno.tls"];
    assert!(tls.starts_with("TLS 1.2"), "{tls}");
}

/// A server without TLS is taken where nothing else was said, and never gets a password in the clear.
#[test]
fn tls_may_be_left_to_the_server() {
    let rules = "hostssl all all 127.0.0.1/32 scram-sha-256\nhostnossl all bench 127.0.0.1/32 password\nhostnossl all all 127.0.0.1/32 scram-sha-256";
    let networked = Networked::postgres("15", rules);
    for user in ["bench", "other"] {
        sql(
            &networked,
            &format!("CREATE ROLE {user} LOGIN SUPERUSER PASSWORD 'hush'"),
        );
    }
    let bench = url(&networked, "localhost", "");
    let other = bench.replace("bench:", "other:") + "schema=other";
    let tls = |url: &str| opened(url).unwrap().record().settings["dbdyno.tls"].clone();
    assert!(tls(&bench).starts_with("TLS 1.3"));
    sql(&networked, "ALTER SYSTEM SET ssl = off");
    sql(&networked, "SELECT pg_reload_conf(), pg_sleep(1)");
    is_unreachable(&bench, "clear-text password");
    assert_eq!(tls(&other), "none");
    assert_eq!(tls(&format!("{other}&sslmode=prefer")), "none");
    is_unreachable(&format!("{other}&sslmode=require"), "does not support TLS");
}

/// A server whose rules forbid TLS says so with the way out, because dbdyno never leaves TLS out by itself.
#[test]
fn rules_against_tls_are_met_with_the_setting_to_add() {
    let networked = Networked::postgres("15", "hostnossl all all 127.0.0.1/32 scram-sha-256");
    sql(
        &networked,
        "CREATE ROLE bench LOGIN SUPERUSER PASSWORD 'hush'",
    );
    is_unreachable(&url(&networked, "localhost", ""), "add sslmode=disable");
    let plain = opened(&url(&networked, "localhost", "sslmode=disable")).unwrap();
    assert_eq!(plain.record().settings["dbdyno.tls"], "none");
}

#[test]
fn a_client_proves_itself_by_its_certificate() {
    let rules = "hostssl all bench 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256";
    let networked = Networked::postgres("15", rules);
    sql(&networked, "CREATE ROLE bench LOGIN SUPERUSER");
    let own = networked.authority.issue(&["bench"], Valid::Now);
    let certificate = networked.file("bench.crt", &own.certificate);
    let key = networked.private("bench.key", &own.key);
    let with = |certificate: &Path, key: &Path| {
        format!(
            "{FULL}&sslcert={}&sslkey={}",
            certificate.display(),
            key.display()
        )
    };
    opened(&url(&networked, "localhost", &with(&certificate, &key))).unwrap();
    is_unreachable(&url(&networked, "localhost", FULL), "certificate");

    let somebody = networked.authority.issue(&["somebody"], Valid::Now);
    let other = networked.file("other.crt", &somebody.certificate);
    let other_key = networked.private("other.key", &somebody.key);
    is_unreachable(
        &url(&networked, "localhost", &with(&other, &other_key)),
        "28000",
    );

    let strange = Authority::new("somebody else").issue(&["bench"], Valid::Now);
    let strangers = networked.file("strange.crt", &strange.certificate);
    let strange_key = networked.private("strange.key", &strange.key);
    is_unreachable(
        &url(&networked, "localhost", &with(&strangers, &strange_key)),
        "refused dbdyno's client certificate",
    );

    // Faults of the files themselves.
    let message = |certificate: &Path, key: &Path| {
        refused(&url(&networked, "localhost", &with(certificate, key))).message
    };
    let open = networked.file("open.key", &own.key);
    assert!(message(&certificate, &open).contains("chmod 600"));
    assert!(message(&certificate, &other_key).contains("do not fit together"));
    assert!(message(&key, &key).contains("no certificate"));
    assert!(message(Path::new("/nowhere"), &key).contains("/nowhere cannot be read"));
}

#[test]
fn a_server_before_17_does_not_take_tls_at_once() {
    let networked = server_of("15");
    let direct = format!("{FULL}&sslnegotiation=direct");
    is_unreachable(&url(&networked, "localhost", &direct), "PostgreSQL 17");
}
