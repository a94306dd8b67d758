//! Directories and files that are copied, changed and put back.

use super::*;
use std::os::unix::fs::FileExt;

const HOLE_BYTES: u64 = 64 << 20;

/// A directory as a server has it, with a file that is mostly a hole.
fn made() -> (tempfile::TempDir, Kept) {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let data = dir.path().join("data");
    fs::create_dir_all(data.join("base/1")).unwrap();
    fs::write(data.join("base/1/2"), "rows").unwrap();
    let log = File::create(data.join("log")).unwrap();
    log.set_len(HOLE_BYTES).unwrap();
    log.write_all_at(b"begin", 8192).unwrap();
    let kept = Kept::beside(&data, &["-wal"]);
    (dir, kept)
}

fn rows(dir: &tempfile::TempDir) -> String {
    fs::read_to_string(dir.path().join("data/base/1/2")).unwrap()
}

#[test]
fn what_was_changed_added_and_removed_is_put_back() {
    let (dir, kept) = made();
    assert_eq!(kept.label().unwrap(), None);
    assert_eq!(kept.restore().unwrap_err().kind, ErrorKind::Damaged);
    kept.take("first").unwrap();
    assert_eq!(kept.label().unwrap().as_deref(), Some("first"));
    let data = dir.path().join("data");
    fs::write(data.join("base/1/2"), "other").unwrap();
    fs::write(data.join("added"), "").unwrap();
    fs::remove_file(data.join("log")).unwrap();
    fs::write(dir.path().join("data-wal"), "of the old rows").unwrap();
    kept.restore().unwrap();
    assert_eq!(rows(&dir), "rows");
    assert!(!data.join("added").exists() && !dir.path().join("data-wal").exists());
    assert!(!dir.path().join("data.restoring").exists());
    let log = fs::metadata(data.join("log")).unwrap();
    assert_eq!(log.len(), HOLE_BYTES);
    assert!(log.blocks() * 512 < HOLE_BYTES / 2, "the hole stays one");
    let log = fs::read(data.join("log")).unwrap();
    assert_eq!(&log[8192..8197], b"begin");

    kept.take("second").unwrap();
    assert_eq!(kept.label().unwrap().as_deref(), Some("second"));
    kept.remove().unwrap();
    assert_eq!(kept.label().unwrap(), None);
    assert!(!kept.copy().exists());
    kept.remove().unwrap();
}

#[test]
fn what_was_broken_off_is_finished_by_the_next() {
    let (dir, kept) = made();
    assert!(!kept.finish_restore().unwrap());
    kept.take("start").unwrap();
    // As a dbdyno that was killed leaves it: the mark, and some of the files.
    drop(kept.begin_restore().unwrap());
    fs::remove_dir_all(dir.path().join("data/base")).unwrap();
    assert!(kept.finish_restore().unwrap());
    assert_eq!(rows(&dir), "rows");
    assert!(!kept.finish_restore().unwrap());

    let mark = kept.begin_restore().unwrap();
    mark.lock().unwrap();
    let message = kept.finish_restore().unwrap_err().message;
    assert!(message.contains("another dbdyno"), "{message}");
    drop(mark);
    kept.remove().unwrap();
    let message = kept.finish_restore().unwrap_err().message;
    assert!(message.contains("load anew"), "{message}");
}

/// A restore that was killed, and later somebody's database at its path.
#[test]
fn somebody_elses_database_is_not_replaced_by_what_was_broken_off() {
    let (dir, kept) = made();
    let data = dir.path().join("data");
    kept.take("start").unwrap();
    drop(kept.begin_restore().unwrap());
    fs::remove_dir_all(&data).unwrap();
    fs::create_dir(&data).unwrap();
    fs::write(data.join("theirs"), "payroll").unwrap();
    let error = kept.finish_restore().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
    assert_eq!(fs::read_to_string(data.join("theirs")).unwrap(), "payroll");
    // Nothing there at all is what a restore leaves that was killed a moment after it began.
    fs::remove_dir_all(&data).unwrap();
    assert!(kept.finish_restore().unwrap());
    assert_eq!(rows(&dir), "rows");

    // Killed when what was put back had its name already.
    let mut mark = kept.begin_restore().unwrap();
    fs::remove_dir_all(&data).unwrap();
    copy::copy(kept.copy(), &kept.fresh).unwrap();
    let fresh = identity(&kept.fresh).unwrap();
    mark.write_all(format!("{fresh}\n").as_bytes()).unwrap();
    drop(mark);
    fs::rename(&kept.fresh, &data).unwrap();
    assert!(kept.finish_restore().unwrap());
    assert_eq!(rows(&dir), "rows");
}

#[test]
fn files_that_only_bear_the_names_are_neither_used_nor_removed() {
    let (dir, kept) = made();
    let path = |end: &str| dir.path().join(format!("data{end}"));
    for end in [".kept", ".kept-label"] {
        fs::write(path(end), "theirs").unwrap();
        for outcome in [kept.take("start"), kept.remove()] {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Foreign, "{end}: {error}");
        }
        assert_eq!(kept.label().unwrap(), None);
        assert_eq!(fs::read_to_string(path(end)).unwrap(), "theirs");
        fs::remove_file(path(end)).unwrap();
    }
    kept.take("start").unwrap();
    for mark in ["", "theirs"] {
        fs::write(path(".restoring"), mark).unwrap();
        let error = kept.finish_restore().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
        assert!(kept.restore().is_err());
        fs::remove_file(path(".restoring")).unwrap();
    }
    assert_eq!(rows(&dir), "rows");
    // A copy that was broken off is dbdyno's, and none.
    fs::write(path(".kept-label"), COPY_MAGIC).unwrap();
    assert_eq!(kept.label().unwrap(), None);
    kept.take("again").unwrap();
    assert_eq!(kept.label().unwrap().as_deref(), Some("again"));
}

#[test]
fn a_link_is_not_copied_as_if_it_were_a_file() {
    let (dir, kept) = made();
    std::os::unix::fs::symlink("/", dir.path().join("data/elsewhere")).unwrap();
    let message = kept.take("start").unwrap_err().message;
    assert!(message.contains("elsewhere"), "{message}");
    assert!(!kept.copy().exists());
}
