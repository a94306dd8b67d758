//! A server from the user's cache, which root's closed home hides from the server's user.

use super::common::*;

/// The one that scripts/get-postgres.sh brings.
const SERIES: &str = "18";

#[test]
fn a_server_in_the_cache_is_found_by_its_version_and_runs() {
    let parent = Parent::new();
    let server = parent.start(KINDS[0], "?version=18").unwrap();
    assert!(server.version().starts_with(SERIES), "{}", server.version());
    assert!(ask(&server, "SHOW server_version").starts_with(SERIES));
    assert_eq!(ask(&server, "SHOW data_checksums"), "on");
    let pid = server.pid().unwrap();
    drop(server);
    assert!(!is_running(pid));
    assert!(parent.runs().is_empty());
}

#[test]
fn data_of_another_version_is_refused() {
    let parent = Parent::new();
    let given = parent.path().join("given");
    let path = format!("{}?version=18", given.display());
    drop(parent.start(KINDS[0], &path).unwrap());
    let path = format!("{}?version=15", given.display());
    let message = parent.refusal(KINDS[0], &path);
    assert!(message.contains("was created by version 18"), "{message}");
    // Without a version it is the one that made the data, not the first found.
    let server = parent.start(KINDS[0], given.to_str().unwrap()).unwrap();
    assert!(server.version().starts_with(SERIES), "{}", server.version());
}
