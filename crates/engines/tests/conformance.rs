//! The suite on every engine: what each does not offer is listed, so that nothing goes missing unnoticed.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use engine::ErrorKind;
use engine::conformance::{CheckResult, Outcome, Suite};

fn results(url: &str) -> Vec<CheckResult> {
    let url = engines::parse(url).unwrap();
    let ran = Suite::beside(engines::all(), &url).and_then(|suite| suite.run(|_| {}));
    match ran {
        Err(error) if error.kind == ErrorKind::NotInstalled => testing::lacking(&error.message),
        ran => ran.unwrap(),
    }
}

/// Every check passes, or is one of these, which the engine says itself that it does not do.
fn passes_without(url: &str, not_offered: &[&str]) {
    let mut missing = Vec::new();
    for result in results(url) {
        match result.outcome {
            Outcome::Passed => {}
            Outcome::NotOffered(why) => {
                assert!(!why.is_empty(), "{url}: {}", result.name);
                missing.push(result.name);
            }
            failed @ Outcome::Failed { .. } => panic!("{url}: {}: {failed:?}", result.name),
        }
    }
    assert_eq!(missing, not_offered, "{url}");
}

#[test]
fn sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", directory.path().join("bench.db").display());
    let one_writer = ["parallel", "deadlock", "concurrent writers", "event loop"];
    passes_without(&file, &[&one_writer[..], &["waits"]].concat());
    // Neither the file nor the one beside it, nor a copy or a log.
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let in_memory = [
        "catalogue and whole tables",
        "waits",
        "secondary schema",
        "snapshot",
    ];
    passes_without("sqlite:", &[&one_writer[..], &in_memory].concat());
}

#[test]
fn duckdb() {
    let directory = tempfile::tempdir().unwrap();
    let file = format!("duckdb:{}", directory.path().join("bench.db").display());
    let not_offered = [
        "first row",
        "event loop",
        "waits",
        "secondary schema",
        "snapshot",
    ];
    passes_without(&file, &not_offered);
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let mut in_memory = not_offered.to_vec();
    in_memory.insert(2, "counters");
    passes_without("duckdb:", &in_memory);
}

/// On the stand-in, never on Oracle, which has plans.
#[cfg(feature = "oracle")]
#[test]
fn oracle_by_a_stand_in() {
    let url = testing::oracle_stand_in().new_url();
    passes_without(&url, &["plan", "event loop", "snapshot"]);
}

#[test]
fn postgresql_15() {
    passes_without("postgres+local:?version=15&shared_buffers=16MB", &[]);
}

#[test]
fn postgresql_16() {
    passes_without("postgres+local:?version=16&shared_buffers=16MB", &[]);
}

#[test]
fn postgresql_18() {
    passes_without("postgres+local:?version=18&shared_buffers=16MB", &[]);
}

#[test]
fn mariadb() {
    let small = "mariadb+local:?innodb_buffer_pool_size=16M&innodb_log_file_size=16M";
    passes_without(small, &["parallel"]);
}

#[test]
fn mysql() {
    let small = "mysql+local:?innodb_buffer_pool_size=16M&innodb_redo_log_capacity=16M";
    passes_without(small, &["parallel"]);
}

/// Nothing is tried where there is no database.
#[test]
fn mock() {
    for result in results("mock:") {
        let Outcome::NotOffered(why) = result.outcome else {
            panic!("{}: {:?}", result.name, result.outcome);
        };
        assert!(why.contains("mock is not a database"), "{why}");
    }
}

/// A server that counts no page accesses fails where they are looked for, and nowhere else.
#[test]
fn what_a_server_does_not_do_is_found() {
    let url = "postgres+local:?version=15&shared_buffers=16MB&track_counts=off";
    for result in results(url) {
        match (result.name, result.outcome) {
            ("counters", Outcome::Failed { expected, seen }) => {
                assert!(expected.contains("page accesses rise"), "{expected}");
                assert_eq!(seen, "0");
            }
            (name, outcome) => assert_eq!(outcome, Outcome::Passed, "{name}"),
        }
    }
}
