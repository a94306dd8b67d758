//! Directories and files that are copied, changed and put back.

use super::*;
use std::os::unix::fs::FileExt;

const HOLE_BYTES: u64 = 64 << 20;

/// A directory as a server has it, with a file that is mostly a hole.
fn made() -> (tempfile::TempDir, FileSnapshot) {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let data = dir.path().join("data");
    fs::create_dir_all(data.join("base/1")).unwrap();
    fs::write(data.join("base/1/2"), "rows").unwrap();
    let log = File::create(data.join("log")).unwrap();
    log.set_len(HOLE_BYTES).unwrap();
    log.write_all_at(b"begin", 8192).unwrap();
    let files = FileSnapshot::beside(&data, &["-wal"]);
    (dir, files)
}

fn rows(dir: &tempfile::TempDir) -> String {
    fs::read_to_string(dir.path().join("data/base/1/2")).unwrap()
}

#[test]
fn what_was_changed_added_and_removed_is_put_back() {
    let (dir, files) = made();
    assert_eq!(files.label().unwrap(), None);
    assert_eq!(files.restore().unwrap_err().kind, ErrorKind::Damaged);
    files.take("first").unwrap();
    assert_eq!(files.label().unwrap().as_deref(), Some("first"));
    let data = dir.path().join("data");
    fs::write(data.join("base/1/2"), "other").unwrap();
    fs::write(data.join("added"), "").unwrap();
    fs::remove_file(data.join("log")).unwrap();
    fs::write(dir.path().join("data-wal"), "of the old rows").unwrap();
    files.restore().unwrap();
    assert_eq!(rows(&dir), "rows");
    assert!(!data.join("added").exists() && !dir.path().join("data-wal").exists());
    assert!(!dir.path().join("data.restoring").exists());
    let log = fs::metadata(data.join("log")).unwrap();
    assert_eq!(log.len(), HOLE_BYTES);
    assert!(log.blocks() * 512 < HOLE_BYTES / 2, "the hole stays one");
    let log = fs::read(data.join("log")).unwrap();
    assert_eq!(&log[8192..8197], b"begin");

    files.take("second").unwrap();
    assert_eq!(files.label().unwrap().as_deref(), Some("second"));
    files.remove().unwrap();
    assert_eq!(files.label().unwrap(), None);
    assert!(!files.copy().exists());
    files.remove().unwrap();
}

#[test]
fn what_was_broken_off_is_finished_by_the_next() {
    let (dir, files) = made();
    assert!(!files.finish_restore().unwrap());
    files.take("start").unwrap();
    // As a dbdyno that was killed leaves it: the mark, and some of the files.
    drop(files.begin_restore().unwrap());
    fs::remove_dir_all(dir.path().join("data/base")).unwrap();
    assert!(files.finish_restore().unwrap());
    assert_eq!(rows(&dir), "rows");
    assert!(!files.finish_restore().unwrap());

    let mark = files.begin_restore().unwrap();
    mark.lock().unwrap();
    let message = files.finish_restore().unwrap_err().message;
    assert!(message.contains("another dbdyno"), "{message}");
    drop(mark);
    files.remove().unwrap();
    let message = files.finish_restore().unwrap_err().message;
    assert!(message.contains("load again"), "{message}");
}

/// A restore that was killed, and later somebody's database at its path.
#[test]
fn somebody_elses_database_is_not_replaced_by_what_was_broken_off() {
    let (dir, files) = made();
    let data = dir.path().join("data");
    files.take("start").unwrap();
    drop(files.begin_restore().unwrap());
    fs::remove_dir_all(&data).unwrap();
    fs::create_dir(&data).unwrap();
    fs::write(data.join("theirs"), "payroll").unwrap();
    let error = files.finish_restore().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
    assert_eq!(fs::read_to_string(data.join("theirs")).unwrap(), "payroll");
    // Nothing there at all is what a restore leaves that was killed a moment after it began.
    fs::remove_dir_all(&data).unwrap();
    assert!(files.finish_restore().unwrap());
    assert_eq!(rows(&dir), "rows");

    // Killed when what was put back had its name already.
    let mut mark = files.begin_restore().unwrap();
    fs::remove_dir_all(&data).unwrap();
    copy::copy(files.copy(), &files.fresh).unwrap();
    let fresh = identity(&files.fresh).unwrap();
    mark.write_all(format!("{fresh}\n").as_bytes()).unwrap();
    drop(mark);
    fs::rename(&files.fresh, &data).unwrap();
    assert!(files.finish_restore().unwrap());
    assert_eq!(rows(&dir), "rows");
}

#[test]
fn files_that_only_bear_the_names_are_neither_used_nor_removed() {
    let (dir, files) = made();
    let path = |end: &str| dir.path().join(format!("data{end}"));
    for end in [".kept", ".kept-label"] {
        fs::write(path(end), "theirs").unwrap();
        for outcome in [files.take("start"), files.remove()] {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Foreign, "{end}: {error}");
        }
        assert_eq!(files.label().unwrap(), None);
        assert_eq!(fs::read_to_string(path(end)).unwrap(), "theirs");
        fs::remove_file(path(end)).unwrap();
    }
    files.take("start").unwrap();
    for mark in ["", "theirs"] {
        fs::write(path(".restoring"), mark).unwrap();
        let error = files.finish_restore().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
        assert!(files.restore().is_err());
        fs::remove_file(path(".restoring")).unwrap();
    }
    assert_eq!(rows(&dir), "rows");
    // A copy that was broken off is dbdyno's, and none.
    fs::write(path(".kept-label"), COPY_MAGIC).unwrap();
    assert_eq!(files.label().unwrap(), None);
    files.take("again").unwrap();
    assert_eq!(files.label().unwrap().as_deref(), Some("again"));
}

/// Whatever lies under a name of copies, labels and marks: it is neither followed, opened, replaced nor removed.
#[test]
fn what_bears_the_names_of_snapshots_stays() {
    use std::os::unix::fs::symlink;
    type Put = fn(&Path, &Path);
    let pipe: Put = |path, _| {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    };
    let folder: Put = |path, _| {
        fs::create_dir(path).unwrap();
        fs::write(path.join("file"), "theirs").unwrap();
    };
    let nodes: [(&str, Put); 6] = [
        ("file", |path, _| fs::write(path, "theirs").unwrap()),
        ("link", |path, outside| {
            symlink(outside.join("file"), path).unwrap();
        }),
        ("dangling", |path, outside| {
            symlink(outside.join("absent"), path).unwrap();
        }),
        ("device", |path, _| symlink("/dev/null", path).unwrap()),
        ("pipe", pipe),
        ("folder", folder),
    ];
    // Kind, and content or destination.
    let seen = |path: &Path| {
        let kind = fs::symlink_metadata(path).unwrap().file_type();
        let text = match kind.is_file() {
            true => fs::read_to_string(path).unwrap(),
            false if kind.is_dir() => fs::read_to_string(path.join("file")).unwrap(),
            false => format!("{:?}", fs::read_link(path).ok()),
        };
        (kind, text)
    };
    for end in [".kept", ".kept-label", ".restoring", ".restoring-files"] {
        for (name, put) in nodes {
            let (dir, files) = made();
            let outside = tempfile::tempdir().unwrap();
            fs::write(outside.path().join("file"), "theirs").unwrap();
            let is_copy = end.starts_with(".kept");
            if !is_copy {
                files.take("start").unwrap();
            }
            let path = dir.path().join(format!("data{end}"));
            put(&path, outside.path());
            let before = seen(&path);
            let outcomes = if is_copy {
                [files.take("start"), files.remove(), files.restore()]
            } else {
                [files.restore(), files.restore(), files.restore()]
            };
            assert!(outcomes.iter().all(Result::is_err), "{end} {name}");
            if end == ".restoring" {
                assert!(files.finish_restore().is_err(), "{end} {name}");
            }
            assert_eq!(seen(&path), before, "{end} {name}");
            let outside = outside.path();
            assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "theirs");
            assert!(!outside.join("absent").exists(), "{end} {name}");
            assert_eq!(rows(&dir), "rows", "{end} {name}");
        }
    }
}

#[test]
fn a_link_is_not_copied_as_if_it_were_a_file() {
    let (dir, files) = made();
    std::os::unix::fs::symlink("/", dir.path().join("data/elsewhere")).unwrap();
    let message = files.take("start").unwrap_err().message;
    assert!(message.contains("elsewhere"), "{message}");
    assert!(!files.copy().exists());
}
