//! Faults of the environment: the writer is killed, the disk fills, the file is damaged.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{key, measure, new_run, point};
use archive::store::SCHEMA_VERSION;
use archive::{Archive, ArchiveError, Point, PointKey, RunName, RunState, Sample};

/// Set in a child process: the archive it appends to until somebody or something stops it.
const APPEND_TO: &str = "DBDYNO_TEST_APPEND_TO";
/// More points than a child manages before it is stopped.
const POINTS: u32 = 5_000;

/// A point of several kilobytes, so that a disk fills within a few hundred.
fn large_point(key: PointKey) -> Point {
    let mut point = point(key);
    point.samples = (0..100)
        .map(|second| Sample {
            at_s: f64::from(second) + 0.5,
            operations_per_s: Some(f64::from(second) * 1.1),
            ..Sample::default()
        })
        .collect();
    point
}

/// Resumes the archive's run, or begins it; a line on stdout for each point that is finished.
fn append_until_stopped(path: &Path) -> Result<(), ArchiveError> {
    let mut archive = Archive::open(path)?;
    let id = match archive.run_id(&RunName::Last) {
        Ok(id) => id,
        Err(ArchiveError::UnknownRun { .. }) => {
            let planned = (1..=POINTS).map(key).collect();
            archive.create_run(&new_run(None, planned))?
        }
        Err(error) => return Err(error),
    };
    let finished = archive.finished(id)?;
    for key in archive.planned(id)? {
        if !finished.contains(&key) {
            let jobs = key.jobs;
            archive.append_point(id, &large_point(key))?;
            println!("finished {jobs}");
        }
    }
    Ok(())
}

fn child_role() -> Option<PathBuf> {
    std::env::var_os(APPEND_TO).map(PathBuf::from)
}

/// Starts a test again, as the child of itself.
fn child(again: &Command, path: &Path, limit: Option<u32>) -> Child {
    let mut command = Command::new("sh");
    let script = match limit {
        // In blocks of 512 bytes; with the signal ignored the write fails with EFBIG.
        Some(blocks) => format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""),
        None => "exec \"$0\" \"$@\"".to_owned(),
    };
    command.arg("-c").arg(script).arg(again.get_program());
    command.args(again.get_args());
    command
        .env(APPEND_TO, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The points that the child says are finished, as it says so; a kill may cut off the last line.
fn reports(child: &mut Child) -> impl Iterator<Item = u32> + use<> {
    let output = BufReader::new(child.stdout.take().unwrap());
    let lines = output.split(b'\n').map_while(Result::ok);
    lines.filter_map(|line| {
        let text = String::from_utf8(line).ok()?;
        text.split("finished ").nth(1)?.trim().parse().ok()
    })
}

#[test]
fn kill_9_loses_no_finished_point() {
    if let Some(path) = child_role() {
        append_until_stopped(&path).unwrap();
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (mut kept, mut in_creation) = (0, 0);
    for round in 0..50u64 {
        // Five kills for each archive: resumed four times, and killed while it was being made.
        let path = directory.path().join(format!("{}.dbdyno", round / 5));
        let mut child = child(&testing::again!(), &path, None);
        let mut reports = reports(&mut child);
        let mut reported = Vec::new();
        // Each archive's first child is stopped while it makes the file, the others somewhere in
        // the points after the first few.
        let delay_us = if round % 5 == 0 {
            500 + round * 200
        } else {
            reported.extend(reports.by_ref().take(1 + round as usize % 7));
            round * 7_919 % 20_000
        };
        std::thread::sleep(Duration::from_micros(delay_us));
        child.kill().unwrap();
        reported.extend(reports);
        child.wait().unwrap();
        if !path.exists() {
            in_creation += 1;
            continue;
        }
        let archive = Archive::open(&path).unwrap();
        let Ok(run) = archive.load_run(&RunName::Last) else {
            assert!(
                reported.is_empty(),
                "round {round}: the run is gone, its points were {reported:?}"
            );
            continue;
        };
        let there: Vec<u32> = run.points.iter().map(|point| point.key.jobs).collect();
        assert_eq!(
            there,
            (1..=there.len() as u32).collect::<Vec<_>>(),
            "round {round}"
        );
        assert!(
            reported.iter().all(|jobs| there.contains(jobs)),
            "round {round}: {reported:?}"
        );
        assert!(
            run.points.iter().all(Point::valid) && run.reasons.is_empty(),
            "round {round}"
        );
        assert_eq!(run.state, RunState::Running);
        kept += reported.len();
    }
    println!("{kept} finished points kept, {in_creation} kills before there was an archive");
    assert!(
        kept > 50,
        "the children hardly began: {kept} points, {in_creation} without archive"
    );
}

/// Finished points are readable on the full disk; with space again the run continues.
fn assert_full(path: &Path, reported: usize, make_room: impl FnOnce()) {
    let run = Archive::open_read_only(path)
        .unwrap()
        .load_run(&RunName::Last)
        .unwrap();
    assert_eq!(run.points.len(), reported);
    assert!(reported > 0 && run.points.iter().all(Point::valid) && run.reasons.is_empty());
    make_room();
    let mut archive = Archive::open(path).unwrap();
    archive
        .append_point(run.id, &large_point(key(POINTS)))
        .unwrap();
    assert_eq!(archive.finished(run.id).unwrap().len(), reported + 1);
}

#[test]
fn a_limit_on_the_size_of_files_is_a_full_disk() {
    if let Some(path) = child_role() {
        let error = append_until_stopped(&path).unwrap_err();
        assert!(matches!(error, ArchiveError::Full { .. }), "{error:?}");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    let mut child = child(&testing::again!(), &path, Some(2_048));
    let reported = reports(&mut child).count();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success(),
        "the child did not meet the limit as it should: {said}"
    );
    assert_full(&path, reported, || {});
}

/// A small file system of its own, taken away at the end.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(options: &str) -> Result<Self, String> {
        let disk = Self(tempfile::tempdir().unwrap());
        disk.set(options).map(|()| disk)
    }

    fn set(&self, options: &str) -> Result<(), String> {
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "dbdyno-test"])
            .arg(self.0.path())
            .output()
            .map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&mount.stderr).into_owned();
        mount.status.success().then_some(()).ok_or(said)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    let disk = match SmallDisk::mount("size=1m") {
        Ok(disk) => disk,
        Err(said) => testing::skip!("no file system can be mounted here: {said}"),
    };
    let path = disk.0.path().join("a.dbdyno");
    let mut archive = Archive::open(&path).unwrap();
    let id = archive
        .create_run(&new_run(None, (1..=POINTS).map(key).collect()))
        .unwrap();
    let mut reported = 0;
    let error = loop {
        match archive.append_point(id, &large_point(key(reported + 1))) {
            Ok(()) => reported += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ArchiveError::Full { .. }), "{error:?}");
    assert!(
        error.is_environment() && error.to_string().contains("disk is full"),
        "{error}"
    );
    drop(archive);
    assert_full(&path, reported as usize, || {
        disk.set("remount,size=16m").unwrap()
    });
}

#[test]
fn a_disk_full_from_the_start_is_reported_and_leaves_nothing() {
    let disk = match SmallDisk::mount("size=16k") {
        Ok(disk) => disk,
        Err(said) => testing::skip!("no file system can be mounted here: {said}"),
    };
    let error = Archive::open(disk.0.path().join("a.dbdyno")).unwrap_err();
    assert!(matches!(error, ArchiveError::Full { .. }), "{error:?}");
    let left: Vec<_> = fs::read_dir(disk.0.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A good archive with one run, changed by `change`, must be refused and stay as it is.
fn refused(change: impl FnOnce(&mut Vec<u8>)) -> ArchiveError {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    let mut archive = Archive::open(&path).unwrap();
    measure(
        &mut archive,
        None,
        &[large_point(key(1)), large_point(key(2))],
    );
    drop(archive);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    let error = Archive::open(&path).unwrap_err();
    let reading = Archive::open_read_only(&path).unwrap_err();
    assert_eq!(reading.to_string(), error.to_string());
    assert!(error.is_environment());
    assert!(error.to_string().contains("was not changed"), "{error}");
    assert!(
        fs::read(&path).unwrap() == bytes,
        "the refused file was changed"
    );
    error
}

#[test]
fn an_archive_of_another_version_is_refused_and_left_alone() {
    const NEWER: i64 = SCHEMA_VERSION + 1;
    let error = refused(|bytes| bytes[63] = NEWER as u8);
    assert!(
        matches!(
            error,
            ArchiveError::OtherVersion {
                found: NEWER,
                known: SCHEMA_VERSION,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_file_of_someone_else_is_refused_and_left_alone() {
    let changes: [fn(&mut Vec<u8>); 5] = [
        |bytes| bytes[68..72].copy_from_slice(b"else"),
        |bytes| bytes[60..64].fill(0),
        |bytes| bytes[0] = b'X',
        |bytes| bytes.truncate(99),
        Vec::clear,
    ];
    for change in changes {
        let error = refused(change);
        assert!(
            matches!(error, ArchiveError::NotAnArchive { .. }),
            "{error:?}"
        );
    }
}

#[test]
fn a_damaged_archive_is_refused_and_left_alone() {
    let changes: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.truncate(100),
        |bytes| bytes[100..4096].fill(0xA5),
        |bytes| bytes[4096..8192].fill(0),
    ];
    for change in changes {
        let error = refused(change);
        assert!(matches!(error, ArchiveError::Damaged { .. }), "{error:?}");
    }
}

#[test]
fn columns_that_are_not_those_of_the_version_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    drop(Archive::open(&path).unwrap());
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    sqlite
        .execute_batch("DROP VIEW result; ALTER TABLE point DROP COLUMN rows_per_s")
        .unwrap();
    drop(sqlite);
    let error = Archive::open(&path).unwrap_err();
    assert!(error.to_string().contains("rows_per_s"), "{error}");
}

#[test]
fn tables_that_are_not_those_of_the_version_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    drop(Archive::open(&path).unwrap());
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    sqlite
        .execute_batch("DROP VIEW result; DROP TABLE reason")
        .unwrap();
    drop(sqlite);
    let error = Archive::open(&path).unwrap_err();
    assert!(error.to_string().contains("reason"), "{error}");
}

#[test]
fn a_place_that_cannot_be_used_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "text").unwrap();
    // A directory as the archive, a file as its directory; and /proc, where even root may not write.
    let places = [
        directory.path().to_path_buf(),
        file.join("a.dbdyno"),
        "/proc/a.dbdyno".into(),
    ];
    for place in places {
        let error = Archive::open(&place).unwrap_err();
        assert!(
            matches!(error, ArchiveError::Unreachable { .. }),
            "{place:?}: {error:?}"
        );
        assert!(error.to_string().contains("permissions"), "{error}");
    }
    let nothing = directory.path().join("none.dbdyno");
    let absent = Archive::open_read_only(&nothing).unwrap_err();
    assert!(matches!(absent, ArchiveError::Absent { .. }) && !nothing.exists());
}

#[test]
fn an_archive_on_a_read_only_disk_can_be_read() {
    let disk = match SmallDisk::mount("size=4m") {
        Ok(disk) => disk,
        Err(reason) => testing::skip!("{reason}"),
    };
    // A name that a URI would misread.
    let path = disk.0.path().join("100% öd?mode=rw#1.dbdyno");
    measure(&mut Archive::open(&path).unwrap(), None, &[point(key(1))]);
    disk.set("remount,ro").unwrap();
    let run = Archive::open_read_only(&path)
        .unwrap()
        .load_run(&RunName::Last)
        .unwrap();
    assert!(run.valid() && run.points.len() == 1);
    let error = Archive::open(&path).unwrap_err();
    assert!(
        matches!(error, ArchiveError::Unreachable { .. }),
        "{error:?}"
    );
}
