//! A password in a URL goes to its server and nowhere else: no output and no file has it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/postgres.rs"]
mod postgres;

mod common;

use std::path::Path;

use common::{Ended, Place, TINY};
use target::server::LocalServer;

const CANARY: &str = "c4n4ry";

/// Makes a user who needs a password, and gives the URL that has it.
fn locked(server: &LocalServer) -> String {
    let role = format!(
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE locked LOGIN SUPERUSER PASSWORD '{CANARY}'"
    );
    postgres::psql(server, &role);
    let rules = "local all dbdyno trust\nlocal all all scram-sha-256\n";
    std::fs::write(server.data_directory().join("pg_hba.conf"), rules).unwrap();
    postgres::psql(server, "SELECT pg_reload_conf()");
    let url = postgres::url(server, "locked");
    url.replace("locked@", &format!("locked:{CANARY}@"))
}

/// No file of a place has it, the archive and its log among them.
fn nowhere(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            nowhere(&path);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let has = bytes
            .windows(CANARY.len())
            .any(|part| part == CANARY.as_bytes());
        assert!(!has, "{}", path.display());
    }
}

fn unsaid(arguments: &[&str], ended: &Ended, status: i32) {
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(!said.contains(CANARY), "{arguments:?}: {said}");
    assert_eq!(ended.status, status, "{arguments:?}: {said}");
}

#[test]
fn every_verb_keeps_a_password_to_itself() {
    let (server, place) = (postgres::server(""), Place::new());
    let url = locked(&server);
    let plan = place.file("plan.toml", TINY);
    let b = format!("target={url}");
    let archive = place.archive();
    let verbs: [&[&str]; 7] = [
        &["run", &plan, "--target", &url, "--name", "one"],
        &["run", &plan, "--target", &url, "--shared"],
        &[
            "ab", &plan, "--target", &url, "--b", &b, "--pairs", "1", "--name", "two", "--yes",
        ],
        &["oltp", "load", "--target", &url, "--warehouses", "1"],
        &["columnar", "size", "--from", &url, "--level", "query-low"],
        &["list", "runs", "--target", "postgres"],
        &["export", "two-b"],
    ];
    for arguments in verbs {
        unsaid(arguments, &place.dbdyno(arguments), 0);
    }
    let exported = place.export("two-b");
    let settings = exported["run"]["study"]["settings"].to_string();
    assert!(settings.contains("target=postgres://locked@"), "{settings}");
    place.fine(&["report", "one", "-o", "page.html"]);
    assert!(archive.exists());
    nowhere(archive.parent().unwrap());
}

#[test]
fn no_error_says_a_password() {
    let place = Place::new();
    let plan = place.file("plan.toml", TINY);
    let wrong = [
        format!("postgres://u:{CANARY}@127.0.0.1:0/d"),
        format!("postgres//u:{CANARY}@h/d"),
        format!("nosuch://u:{CANARY}@h/d"),
        format!("postgres://u:{CANARY}@h/d?sslmode=odd"),
        format!("postgres://u:{CANARY}@h/d?search_path=x"),
        format!("mysql://u:{CANARY}@h/a-b"),
        format!("sqlite:x?u:{CANARY}@h"),
    ];
    for url in &wrong {
        let own = format!("target={url}");
        let verbs: [&[&str]; 5] = [
            &["run", &plan, "--target", url],
            &["ab", &plan, "--target", url],
            &["ab", &plan, "--target", "sqlite:", "--a", &own],
            &["oltp", "check", "--target", url],
            &["columnar", "size", "--from", url, "--level", "none"],
        ];
        for arguments in verbs {
            unsaid(arguments, &place.dbdyno(arguments), 2);
        }
    }
    nowhere(place.archive().parent().unwrap());
}
