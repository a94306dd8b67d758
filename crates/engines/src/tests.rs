//! The list of engines: what it knows of URLs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod typed;
mod url;

use engine::UrlError;

use crate::{file, find, parse, with_sessions};

#[test]
fn a_misspelt_engine_names_the_nearest() {
    let url = parse("sqlit:x").unwrap();
    let message = find(&url).err().unwrap().to_string();
    assert!(message.contains("did you mean \"sqlite\"?"), "{message}");
}

#[test]
fn a_database_in_memory_may_be_called_as_its_engine_calls_it() {
    for engine in ["sqlite", "duckdb"] {
        let url = parse(&format!("{engine}::memory:")).unwrap();
        assert_eq!(url, parse(&format!("{engine}:")).unwrap());
        assert_eq!(file(&url), None);
    }
}

#[test]
fn an_unknown_setting_names_the_known_ones() {
    let url = parse("sqlite:x?cache=1").unwrap();
    let message = find(&url).err().unwrap().to_string();
    assert!(message.contains("cache_mb"), "{message}");
}

#[test]
fn a_server_that_is_started_gets_room_for_the_sessions_of_its_plan() {
    let with = |url: &str, sessions| {
        let url = parse(url).unwrap();
        with_sessions(url, sessions).unwrap().to_string()
    };
    for scheme in ["postgres+local", "mariadb+local", "mysql+local"] {
        let plain = format!("{scheme}:");
        assert_eq!(with(&plain, 512), plain, "the usual room does");
        let roomy = format!("{scheme}:?max_connections=5064");
        assert_eq!(with(&plain, 5000), roomy);
        let said = format!("{scheme}:?max_connections=20");
        assert_eq!(with(&said, 5000), said, "what is said is kept");
    }
    for other in [
        "mariadb+local:?max-connections=20",
        "sqlite:x",
        "postgres://bench@server/bench",
    ] {
        assert_eq!(with(other, 5000), other);
    }
}

#[test]
fn a_value_is_checked_before_anything_is_opened() {
    for bad in [
        "sqlite:x?cache_mb=much",
        "sqlite:x?synchronous=MAYBE",
        "duckdb:x?threads=0",
    ] {
        let url = parse(bad).unwrap();
        let error = find(&url).err().unwrap();
        assert!(matches!(error, UrlError::BadValue(_)), "{bad}: {error}");
    }
}

/// The README claims what the engines claim, and nothing else.
#[test]
fn the_readme_has_what_was_tried() {
    let readme = include_str!("../../../README.md");
    let shown = |versions: &'static str| if versions.is_empty() { "–" } else { versions };
    for (name, scheme) in [
        ("PostgreSQL", "postgres+local"),
        ("MariaDB", "mariadb+local"),
        ("MySQL", "mysql+local"),
        ("Oracle", "oracle"),
    ] {
        let tried = crate::all().of(scheme).unwrap().info().tried;
        let cells = [tried.here, tried.on_protocol, tried.believed].map(shown);
        let row = format!("| {name} | {} |", cells.join(" | "));
        assert!(readme.contains(&row), "README.md has not: {row}");
    }
}
