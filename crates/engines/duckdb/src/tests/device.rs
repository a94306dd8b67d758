//! Storage under the database: cache, log and codecs, as the kernel and DuckDB tell.

use super::*;
use engine::{Cooled, ErrorKind, Value};

/// A folder beside the test program: /tmp may lie in memory, where nothing reaches a device.
fn folder_on_disk() -> tempfile::TempDir {
    let program = std::env::current_exe().unwrap();
    tempfile::tempdir_in(program.parent().unwrap()).unwrap()
}

/// Bytes this process has made the kernel read from devices.
fn device_read_bytes() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = io.lines().find_map(|l| l.strip_prefix("read_bytes: "));
    line.unwrap().parse().unwrap()
}

#[test]
fn a_cooled_table_is_read_from_the_device() {
    let dir = folder_on_disk();
    let target = file_target(&dir);
    target.set_compression(false).unwrap();
    target.set_threads(2).unwrap();
    let session = loaded(&*target, 0..600_000);
    let error = target.cool().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Statement);
    assert!(error.message.contains("1 session"), "{error}");
    drop(session);
    // Closing it writes to the device whatever a sync does.
    target.cool().unwrap();
    testing::sync_all();
    assert_eq!(target.cool().unwrap(), Cooled::Cold);
    let mut session = target.open_session().unwrap();
    let scan = "SELECT sum(k), max(pad) FROM dbdyno_t";
    let before = device_read_bytes();
    let cold = digest(&mut *session, scan);
    let read = device_read_bytes() - before;
    // 32 characters a row on average and four bytes of k; the rest is structure.
    assert!(
        read > 600_000 * 36,
        "only {read} bytes came from the device"
    );
    let before = device_read_bytes();
    assert_eq!(digest(&mut *session, scan), cold);
    let again = device_read_bytes() - before;
    assert!(again < read / 4, "{again} bytes came from the device again");
    // Settings survive closing.
    assert_eq!(target.threads(), 2);
    let settings = target.record().settings;
    assert_eq!(settings["force_compression"], "uncompressed");
    assert_eq!(settings["block_size"], "262144");
    assert!(settings["storage_version"].starts_with('v'));
    assert!(settings["temp_directory"].ends_with("t.db.tmp"));
}

#[test]
fn codecs_are_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let target = file_target(&dir);
    target.set_compression(false).unwrap();
    let mut session = loaded(&*target, 0..200_000);
    target.checkpoint().unwrap();
    let plain = target.storage_of("dbdyno_t").unwrap();
    assert_eq!(plain.keys().collect::<Vec<_>>(), ["Uncompressed"]);
    assert!(plain["Uncompressed"] >= 6);
    target.set_compression(true).unwrap();
    session.batch("DROP TABLE dbdyno_t").unwrap();
    drop(session);
    drop(loaded(&*target, 0..200_000));
    target.checkpoint().unwrap();
    let packed = target.storage_of("dbdyno_t").unwrap();
    assert!(packed.contains_key("BitPacking"), "{packed:?}");
    assert!(target.storage_of("dbdyno_none").is_err());
}

#[test]
fn a_table_in_memory_is_compressed_by_its_checkpoint() {
    let target = target("duckdb:");
    drop(loaded(&*target, 0..200_000));
    let fresh = target.storage_of("dbdyno_t").unwrap();
    assert_eq!(fresh.keys().collect::<Vec<_>>(), ["Uncompressed"]);
    target.checkpoint().unwrap();
    let packed = target.storage_of("dbdyno_t").unwrap();
    assert!(packed.contains_key("BitPacking"), "{packed:?}");
}

#[test]
fn what_the_log_grew_by_is_redo() {
    let dir = tempfile::tempdir().unwrap();
    let target = file_target(&dir);
    let redo = || target.counters().redo_bytes.unwrap();
    let mut session = loaded(&*target, 0..10);
    let insert = session
        .prepare("INSERT INTO dbdyno_t VALUES (?, 1, repeat('x', 1000))")
        .unwrap();
    let before = redo();
    for n in 1000..1100 {
        session.execute(insert, &[Value::Int(n)]).unwrap();
    }
    let grown = redo() - before;
    assert!((100_000..400_000).contains(&grown), "{grown} bytes");
    // The same from the file itself, with nothing of ours between.
    let log = dir.path().join("t.db.wal");
    assert_eq!(std::fs::metadata(&log).unwrap().len(), redo());
    target.checkpoint().unwrap();
    assert!(!log.exists() || std::fs::metadata(&log).unwrap().len() == 0);
    let after = redo();
    assert_eq!(after, before + grown);
    session.execute(insert, &[Value::Int(2000)]).unwrap();
    assert!(redo() > after + 1000);
    drop(session);
    target.cool().unwrap();
    assert!(redo() > after + 1000);
}

#[test]
fn nothing_is_spilled_beside_the_program() {
    let target = target("duckdb:?memory_limit_mb=50");
    let mut session = target.open_session().unwrap();
    let error = session
        .batch("CREATE TABLE dbdyno_x AS SELECT i, md5(i::VARCHAR) AS s FROM range(4000000) t(i)")
        .unwrap_err();
    assert!(error.message.contains("memory_limit_mb"), "{error}");
    assert!(!std::path::Path::new(".tmp").exists());
}
