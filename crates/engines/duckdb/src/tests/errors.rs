//! Failures are reported with their kind, and leave things as they were.

use std::os::fd::AsRawFd;
use std::path::Path;

use super::*;
use crate::explain::explain;
use crate::handle::Database;
use crate::library::library;
use engine::ErrorKind;

#[test]
fn updates_of_one_row_conflict() {
    let dir = tempfile::tempdir().unwrap();
    let target = file_target(&dir);
    let mut a = loaded(&*target, 0..10);
    let mut b = target.open_session().unwrap();
    let sql = "UPDATE dbdyno_t SET k = k + 1 WHERE id = 5";
    let (in_a, in_b) = (a.prepare(sql).unwrap(), b.prepare(sql).unwrap());
    a.begin().unwrap();
    b.begin().unwrap();
    a.execute(in_a, &[]).unwrap();
    let error = b.execute(in_b, &[]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict, "{error}");
    b.rollback().unwrap();
    a.commit().unwrap();
    b.begin().unwrap();
    assert_eq!(b.execute(in_b, &[]).unwrap(), 1);
    b.commit().unwrap();
    assert_eq!(digest(&mut *a, "SELECT k FROM dbdyno_t WHERE id = 5"), 7);
}

#[test]
fn inserts_of_one_key_conflict_at_commit() {
    let target = target("duckdb:");
    let mut a = loaded(&*target, 0..10);
    let mut b = target.open_session().unwrap();
    let sql = "INSERT INTO dbdyno_t VALUES (99, 0, '')";
    for session in [&mut a, &mut b] {
        session.begin().unwrap();
        session.batch(sql).unwrap();
    }
    a.commit().unwrap();
    let error = b.commit().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict, "{error}");
    // DuckDB has rolled back already.
    b.rollback().unwrap();
    // Alone, the same key is a mistake that no second try mends.
    assert_eq!(b.batch(sql).unwrap_err().kind, ErrorKind::Statement);
}

#[test]
fn a_full_device_is_not_a_conflict() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    let api = &library().unwrap_or_else(|e| panic!("{e}")).api;
    // Without the guard on other files, so that the log can be led astray.
    let database = Database::open(api, Some(&path), &[]).unwrap();
    let connection = database.connect().unwrap();
    connection.query(CREATE).unwrap();
    connection.query("CHECKPOINT").unwrap();
    // The log is begun again after a checkpoint, and here finds a device that is always full.
    std::os::unix::fs::symlink("/dev/full", dir.path().join("t.db.wal")).unwrap();
    let message = connection
        .query("INSERT INTO dbdyno_t VALUES (99, 0, '')")
        .err()
        .unwrap();
    let error = explain("\"INSERT\"", &message);
    assert_eq!(error.kind, ErrorKind::Full, "{error}");
    assert!(error.message.contains("free some space"), "{error}");
}

#[test]
fn a_database_behind_links_can_be_written() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", dir.path().join("folder")).unwrap();
    std::os::unix::fs::symlink("real/t.db", dir.path().join("file.db")).unwrap();
    for (name, rows) in [("folder/t.db", 0..3000), ("file.db", 3000..6000)] {
        let target = target(&format!("duckdb:{}/{name}", dir.path().display()));
        let mut session = target.open_session().unwrap();
        session
            .batch(&CREATE.replace("TABLE", "TABLE IF NOT EXISTS"))
            .unwrap();
        session.bulk_load("dbdyno_t", &mut Rows(rows)).unwrap();
        assert!(target.counters().redo_bytes.unwrap() > 0, "{name}");
        drop(session);
        target.cool().unwrap();
        drop(target);
    }
    let target = target(&format!("duckdb:{}/real/t.db", dir.path().display()));
    let mut session = target.open_session().unwrap();
    assert_eq!(digest(&mut *session, "SELECT count(*) FROM dbdyno_t"), 6000);
}

#[test]
fn a_failed_load_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let target = file_target(&dir);
    let mut session = loaded(&*target, 5..6);
    assert!(session.bulk_load("dbdyno_t", &mut Rows(1..10_000)).is_err());
    assert_eq!(digest(&mut *session, "SELECT count(*) FROM dbdyno_t"), 1);
    assert!(session.bulk_load("dbdyno_absent", &mut Rows(1..2)).is_err());
    session
        .batch("CREATE TABLE dbdyno_n (a BIGINT, b TINYINT, c VARCHAR); CREATE TABLE dbdyno_d (a TIMESTAMPTZ)")
        .unwrap();
    // 128 does not fit a TINYINT and is not cut.
    let error = session
        .bulk_load("dbdyno_n", &mut Rows(0..200))
        .unwrap_err();
    assert!(error.message.contains("Int(128)"), "{error}");
    let error = session.bulk_load("dbdyno_d", &mut Rows(0..1)).unwrap_err();
    assert!(error.message.contains("cannot be loaded"), "{error}");
    assert_eq!(digest(&mut *session, "SELECT count(*) FROM dbdyno_n"), 0);
    session.bulk_load("dbdyno_n", &mut Rows(0..100)).unwrap();
}

#[test]
fn somebody_elses_database_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let api = &library().unwrap_or_else(|e| panic!("{e}")).api;
    let original = dir.path().join("o.db");
    let database = Database::open(api, Some(&original), &[]).unwrap();
    let connection = database.connect().unwrap();
    connection
        .query("CREATE TABLE payroll (x INTEGER); INSERT INTO payroll VALUES (1)")
        .unwrap();
    // As after a crash: the table is in the log alone.
    let copies = ["t.db", "t.db.wal"].map(|name| dir.path().join(name));
    std::fs::copy(&original, &copies[0]).unwrap();
    std::fs::copy(dir.path().join("o.db.wal"), &copies[1]).unwrap();
    let before = copies.clone().map(|p| std::fs::read(p).unwrap());
    let error = error_of(&format!("duckdb:{}", copies[0].display()));
    assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
    assert!(error.message.contains("payroll"));
    assert!(before == copies.map(|p| std::fs::read(p).unwrap()));
}

#[test]
fn our_own_database_opens_again() {
    let dir = tempfile::tempdir().unwrap();
    drop(loaded(&*file_target(&dir), 0..10));
    let again = file_target(&dir);
    let mut session = again.open_session().unwrap();
    assert_eq!(digest(&mut *session, "SELECT count(*) FROM dbdyno_t"), 10);
}

#[test]
fn unreachable_and_damaged_files_say_so() {
    let error = error_of("duckdb:/nowhere/at/all.db");
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    let dir = tempfile::tempdir().unwrap();
    let error = error_of(&format!("duckdb:{}", dir.path().display()));
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    let path = dir.path().join("t.db");
    std::fs::write(&path, vec![b'x'; 8192]).unwrap();
    let error = error_of(&format!("duckdb:{}", path.display()));
    assert_eq!(error.kind, ErrorKind::Damaged, "{error}");
}

#[test]
fn a_damaged_block_is_found_when_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    drop(loaded(&*file_target(&dir), 0..50_000));
    let mut bytes = std::fs::read(&path).unwrap();
    // Behind the headers, past what opening reads.
    for byte in &mut bytes[300_000..800_000] {
        *byte ^= 0x55;
    }
    std::fs::write(&path, bytes).unwrap();
    let url = crate::ENGINES
        .parse(&format!("duckdb:{}", path.display()))
        .unwrap();
    let outcome = crate::ENGINES.open(&url).and_then(|target| {
        let mut session = target.open_session()?;
        let all = session.prepare("SELECT sum(id), sum(k), max(pad) FROM dbdyno_t")?;
        session.fetch(all, &[])
    });
    assert_eq!(outcome.unwrap_err().kind, ErrorKind::Damaged);
}

#[test]
fn one_file_is_opened_once() {
    let dir = tempfile::tempdir().unwrap();
    let target = file_target(&dir);
    let session = target.open_session().unwrap();
    let url = format!("duckdb:{}/./t.db", dir.path().display());
    assert!(error_of(&url).message.contains("already open"));
    drop(target);
    // The session alone keeps it open.
    assert_eq!(error_of(&url).kind, ErrorKind::Unreachable);
    drop(session);
    assert!(
        crate::ENGINES
            .open(&crate::ENGINES.parse(&url).unwrap())
            .is_ok()
    );
}

#[test]
fn a_file_locked_by_another_process_says_so() {
    let dir = tempfile::tempdir().unwrap();
    drop(loaded(&*file_target(&dir), 0..10));
    let path = dir.path().join("t.db");
    let other = LockedElsewhere::lock(&path);
    let error = error_of(&format!("duckdb:{}", path.display()));
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    assert!(error.message.contains("lock"), "{error}");
    assert!(error.message.contains("stop that process"), "{error}");
    drop(other);
    file_target(&dir);
}

/// A child process that holds the kernel's lock on a file until this is dropped.
struct LockedElsewhere {
    child: libc::pid_t,
}

impl LockedElsewhere {
    fn lock(path: &Path) -> Self {
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        // SAFETY: zeros are a valid flock.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = libc::F_WRLCK as _;
        // SAFETY: between fork and its end the child only calls async-signal-safe functions.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: descriptors and structure were made before the fork.
            unsafe {
                let outcome = libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &lock);
                libc::write(writer.as_raw_fd(), [outcome as u8].as_ptr().cast(), 1);
                loop {
                    libc::pause();
                }
            }
        }
        let mut outcome = [1];
        std::io::Read::read_exact(&mut reader, &mut outcome).unwrap();
        assert_eq!(outcome, [0], "the child could not lock");
        Self { child }
    }
}

impl Drop for LockedElsewhere {
    fn drop(&mut self) {
        // SAFETY: the child is ours and not yet waited for.
        unsafe {
            libc::kill(self.child, libc::SIGKILL);
            libc::waitpid(self.child, std::ptr::null_mut(), 0);
        }
    }
}
