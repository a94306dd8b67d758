//! Servers held to a size of memory. Without rights to do so the refusal is what can be tested.

use super::common::*;
use testing::Says;

/// Twice what each server keeps itself, so that the rest can only be in the page cache.
const FILLED: [[&str; 3]; 2] = [
    [
        "shared_buffers=32MB",
        "CREATE TABLE t AS SELECT repeat('x', 1000) FROM generate_series(1, 100000)",
        "SELECT count(*) FROM t",
    ],
    [
        "innodb_buffer_pool_size=32M&innodb_flush_method=fsync",
        "CREATE DATABASE s; USE s; CREATE TABLE t AS SELECT repeat('x', 1000) FROM seq_1_to_100000",
        "SELECT count(*) FROM s.t",
    ],
];

#[test]
fn the_page_cache_of_a_server_is_charged_to_it() {
    if !is_root() {
        return assert_refused();
    }
    const LIMIT: u64 = 512 << 20;
    for (kind, [setting, fill, count]) in KINDS.into_iter().zip(FILLED) {
        let parent = Parent::new();
        let server = parent
            .start(kind, &format!("?memory=512MiB&{setting}"))
            .unwrap();
        assert_eq!(server.memory_limit_bytes(), Some(LIMIT));
        let before = server.memory_used_bytes().unwrap();
        assert!(before > 0 && before < LIMIT, "{before}");
        ask(&server, fill);
        let grown = server.memory_used_bytes().unwrap() - before;
        assert!(grown > 64 << 20, "{}: {grown}", kind.about().title);

        // The files that a start finds are not in the cache already, where nobody is charged for them. What the server
        // has left unsynchronized at its end would stay there.
        server.cool().unwrap();
        testing::sync_all();
        server.cool().unwrap();
        let before = server.memory_used_bytes().unwrap();
        assert_eq!(ask(&server, count), "100000");
        let grown = server.memory_used_bytes().unwrap().saturating_sub(before);
        assert!(grown > 64 << 20, "{}: {grown}", kind.about().title);
    }
}

#[test]
fn a_table_larger_than_the_memory_is_read_from_the_device_every_time() {
    if !is_root() {
        return assert_refused();
    }
    let parent = Parent::new();
    let server = parent
        .start(
            KINDS[1],
            "?memory=320MiB&innodb_buffer_pool_size=32M&innodb_flush_method=fsync&performance_schema=OFF",
        )
        .unwrap();
    ask(
        &server,
        "CREATE DATABASE s; USE s; CREATE TABLE t AS SELECT repeat('x', 1000) AS x FROM seq_1_to_400000",
    );
    server.cool().unwrap();
    for _ in 0..2 {
        let before = read_bytes(server.pid().unwrap());
        let scan = "SELECT count(*) FROM s.t WHERE x LIKE 'y%'";
        assert_eq!(ask(&server, scan), "0");
        let read = read_bytes(server.pid().unwrap()) - before;
        assert!(read > 200 << 20, "{read} bytes from the device");
    }
}

fn read_bytes(pid: u32) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    let line = io
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    line.unwrap().parse().unwrap()
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
    assert!(message.contains("memory=512MiB"), "{message}");
    message.says("ended with signal 9: the kernel killed 1");
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
    for kind in kinds() {
        let parent = Parent::new();
        // The instruments of MySQL alone take more than the others' servers.
        let limit = match kind.about().name {
            "mysql" => "?memory=1GiB",
            _ => "?memory=512MiB",
        };
        let server = parent.start(kind, limit).unwrap();
        assert!(server.notes(1).is_empty(), "{:?}", server.notes(1));
        let notes = server.notes(512);
        assert!(notes[0].contains("512 sessions may need"), "{notes:?}");
    }
}

fn assert_refused() {
    let message = Parent::new().refusal(KINDS[0], "?memory=512MiB");
    message.says("cannot limit the server's memory");
}
