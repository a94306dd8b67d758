//! Servers held to a size of memory. Without rights to do so the refusal is what can be tested.

use super::common::*;

#[test]
fn the_page_cache_of_a_server_is_charged_to_it() {
    let parent = Parent::new();
    if !is_root() {
        let message = parent.refusal(KINDS[0], "?memory=512MiB");
        assert!(message.contains("held to a size of memory"), "{message}");
        return;
    }
    const LIMIT: u64 = 512 << 20;
    let server = parent
        .start(KINDS[0], "?memory=512MiB&shared_buffers=32MB")
        .unwrap();
    assert_eq!(server.memory_limit_bytes(), Some(LIMIT));
    let before = server.memory_used_bytes().unwrap();
    assert!(before > 0 && before < LIMIT, "{before}");
    // Twice the shared buffers: it can only be in the page cache.
    ask(
        &server,
        "CREATE TABLE t AS SELECT repeat('x', 1000) FROM generate_series(1, 100000)",
    );
    let grown = server.memory_used_bytes().unwrap() - before;
    assert!(grown > 64 << 20, "{grown}");

    // The files that a start finds are not in the cache already, where nobody is charged for them.
    server.cool().unwrap();
    let before = server.memory_used_bytes().unwrap();
    assert_eq!(ask(&server, "SELECT count(*) FROM t"), "100000");
    let grown = server.memory_used_bytes().unwrap().saturating_sub(before);
    assert!(grown > 64 << 20, "{grown}");
}

#[test]
fn a_server_that_outgrows_its_memory_says_so() {
    if !is_root() {
        return assert_refused();
    }
    let parent = Parent::new();
    let server = parent.start(KINDS[1], "?memory=512MiB").unwrap();
    let sets = (0..40).map(|i| format!("SET @v{i} = REPEAT('x', 16000000);"));
    let sql: String = sets.collect();
    assert!(
        !answers(&server, &sql),
        "the server did not outgrow 512 MiB"
    );
    let message = server.reason_for_loss().unwrap().message;
    assert!(message.contains("512 MiB of memory="), "{message}");
    assert!(
        message.contains("ended with signal 9: the kernel killed 1"),
        "{message}"
    );
    assert!(server.check_alive().is_err());

    // A session that is killed takes the others with it, but the server goes on: the notes say it.
    let server = parent
        .start(KINDS[0], "?memory=256MiB&shared_buffers=32MB")
        .unwrap();
    assert!(!answers(&server, "SELECT length(repeat('x', 900000000))"));
    let notes = server.notes(1);
    assert!(
        notes.iter().any(|note| note.contains("killed")),
        "{notes:?}"
    );
}

#[test]
fn a_limit_that_the_sessions_outgrow_is_noted() {
    if !is_root() {
        return assert_refused();
    }
    for kind in KINDS {
        let parent = Parent::new();
        let server = parent.start(kind, "?memory=512MiB").unwrap();
        assert!(server.notes(1).is_empty(), "{:?}", server.notes(1));
        let notes = server.notes(512);
        assert!(notes[0].contains("512 sessions may need"), "{notes:?}");
    }
}

fn assert_refused() {
    let message = Parent::new().refusal(KINDS[0], "?memory=512MiB");
    assert!(message.contains("held to a size of memory"), "{message}");
}
