//! Data directories that are copied instead of initialised.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use local_server::ServerKind;

use super::common::*;
use super::owner::example;

/// A cache for dbdyno with everything that the user's has, but no blank.
pub fn cache_without_blanks() -> tempfile::TempDir {
    let cache = tempfile::tempdir().unwrap();
    let ours = cache.path().join("dbdyno");
    fs::create_dir(&ours).unwrap();
    let users = local_server::Surroundings::of_process().cache.unwrap();
    for entry in fs::read_dir(users).into_iter().flatten().flatten() {
        if entry.file_name() != "blank" {
            symlink(entry.path(), ours.join(entry.file_name())).unwrap();
        }
    }
    cache
}

/// The names in the data directory of a server that was started, used and ended.
fn names_of_a_server(
    parent: &Parent,
    kind: &dyn ServerKind,
    rest: &str,
    cache: &Path,
) -> Vec<String> {
    let mut owner = Command::new(example())
        .args([kind.about().name, rest])
        .env("DBDYNO_SERVER_DIR", parent.path())
        .env("XDG_CACHE_HOME", cache)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(owner.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let data = line.split_whitespace().nth(2).expect("the server runs");
    let names = fs::read_dir(data).unwrap();
    let names = names.map(|e| e.unwrap().file_name().into_string().unwrap());
    let names = names.collect();
    drop(owner.stdin.take());
    assert!(owner.wait().unwrap().success());
    names
}

fn blanks(cache: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache.join("dbdyno/blank")).unwrap();
    let paths = entries.map(|e| e.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

#[test]
fn the_second_server_begins_with_a_copy() {
    let kind = KINDS[0];
    let (parent, cache) = (Parent::new(), cache_without_blanks());
    let begins_with_mark = |rest: &str| {
        let names = names_of_a_server(&parent, kind, rest, cache.path());
        names.iter().any(|name| name == "mark")
    };
    assert!(!begins_with_mark(""));
    let kept = blanks(cache.path());
    assert_eq!(kept.len(), 1, "{kept:?}");

    fs::write(kept[0].join("mark"), "").unwrap();
    assert!(begins_with_mark("?shared_buffers=16MB"));
    assert_eq!(blanks(cache.path()), kept);

    // A given directory is initialised itself.
    let given = parent.path().join("given");
    assert!(!begins_with_mark(given.to_str().unwrap()));
    assert_eq!(blanks(cache.path()), kept);
}

/// The size of its log is in the files.
#[test]
fn a_server_whose_settings_are_in_its_files_begins_with_a_copy_of_the_same_settings() {
    let (parent, cache) = (Parent::new(), cache_without_blanks());
    let begins_with_mark = |log: &str| {
        let settings = format!("?innodb_log_file_size={log}");
        let names = names_of_a_server(&parent, KINDS[1], &settings, cache.path());
        names.iter().any(|name| name == "mark")
    };
    assert!(!begins_with_mark("4M"));
    for blank in blanks(cache.path()) {
        fs::write(blank.join("mark"), "").unwrap();
    }
    assert!(!begins_with_mark("8M"));
    assert!(begins_with_mark("4M"));
    let log_bytes = |blank: PathBuf| fs::metadata(blank.join("ib_logfile0")).unwrap().len();
    let mut sizes: Vec<u64> = blanks(cache.path()).into_iter().map(log_bytes).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [4 << 20, 8 << 20]);
}

/// No server fails for it.
#[test]
fn a_cache_that_cannot_be_used_is_done_without() {
    let kind = KINDS[0];
    let (parent, cache) = (Parent::new(), cache_without_blanks());
    fs::write(cache.path().join("dbdyno/blank"), "a file").unwrap();
    let names = names_of_a_server(&parent, kind, "", cache.path());
    assert!(names.iter().any(|name| name == "PG_VERSION"), "{names:?}");

    // The cached copy is broken.
    fs::remove_file(cache.path().join("dbdyno/blank")).unwrap();
    names_of_a_server(&parent, kind, "", cache.path());
    let kept = blanks(cache.path());
    symlink("nowhere", kept[0].join("link")).unwrap();
    let names = names_of_a_server(&parent, kind, "", cache.path());
    assert!(names.iter().any(|name| name == "PG_VERSION"), "{names:?}");
    assert!(!names.iter().any(|name| name == "link"), "{names:?}");
}
