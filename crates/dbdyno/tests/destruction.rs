//! Existing objects at dbdyno's output paths, also as root: another user's file, a link to a file or to nothing, a pipe, a device, a
//! directory. They stay unchanged.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{TINY, Workspace};

const PRECIOUS: &[u8] = b"precious bytes of somebody else\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    File,
    Link,
    Dangling,
    Pipe,
    Device,
    Folder,
}

use Node::{Dangling, Device, File as Foreign, Folder, Link, Pipe};

const NODES: [Node; 6] = [Foreign, Link, Dangling, Pipe, Device, Folder];

struct Case {
    path: &'static str,
    arguments: &'static str,
    /// Objects with which the command succeeds; it refuses the others.
    fine: &'static [Node],
    /// Objects that the user names as output, so that their bytes change.
    written: &'static [Node],
    without: &'static [Node],
}

const fn case(path: &'static str, arguments: &'static str) -> Case {
    Case {
        path,
        arguments,
        fine: &[],
        written: &[],
        without: &[],
    }
}

const fn named(path: &'static str, arguments: &'static str) -> Case {
    Case {
        fine: &[Foreign, Link, Pipe, Device],
        written: &[Foreign, Link],
        ..case(path, arguments)
    }
}

impl Node {
    /// Creates it at `path`; links lead to `outside`.
    fn put(self, path: &Path, outside: &Path) {
        match self {
            Foreign => fs::write(path, PRECIOUS).unwrap(),
            Link => symlink(outside.join("file"), path).unwrap(),
            Dangling => symlink(outside.join("absent"), path).unwrap(),
            Pipe => assert!(ended(Command::new("mkfifo").arg(path))),
            Device => assert!(ended(Command::new("mknod").arg(path).args(["c", "1", "3"]))),
            Folder => {
                fs::create_dir(path).unwrap();
                fs::write(path.join("file"), PRECIOUS).unwrap();
            }
        }
    }

    /// Its damage; `None` if it is unchanged.
    fn harm(self, path: &Path, outside: &Path) -> Option<&'static str> {
        let Ok(found) = fs::symlink_metadata(path) else {
            return Some("it is gone");
        };
        let kind = found.file_type();
        let is_same = match self {
            Foreign => kind.is_file(),
            Link | Dangling => kind.is_symlink(),
            Pipe => kind.is_fifo(),
            Device => kind.is_char_device() && found.rdev() == libc::makedev(1, 3),
            Folder => kind.is_dir(),
        };
        let precious = match self {
            Foreign => path.to_owned(),
            Folder => path.join("file"),
            _ => outside.join("file"),
        };
        match () {
            () if !is_same => Some("it is something else"),
            () if outside.join("absent").exists() => Some("a link was followed to nothing"),
            () if fs::read(precious).ok().as_deref() != Some(PRECIOUS) => Some("its bytes differ"),
            () => None,
        }
    }
}

fn ended(command: &mut Command) -> bool {
    command.output().is_ok_and(|done| done.status.success())
}

/// A workspace with a plan, parameters, a directory of pages, and an archive with a run if the command needs one.
fn workspace(case: &Case) -> (Workspace, PathBuf) {
    let workspace = Workspace::new();
    workspace.file("tiny.toml", TINY);
    let parameters = "sd=sd1,lun=data,size=1m\nwd=wd1,sd=sd1,xfersize=4k,rdpct=50\nrd=rd1,wd=wd1,iorate=100,elapsed=2\n";
    workspace.file("parm.txt", parameters);
    for folder in ["pages", "man", "outside"] {
        fs::create_dir(workspace.path(folder)).unwrap();
    }
    let outside = workspace.path("outside");
    fs::write(outside.join("file"), PRECIOUS).unwrap();
    if case.arguments.starts_with("report") {
        workspace.measure(TINY, &[]);
        let limits = "[[limit]]\nmetric = \"T132.operations_per_s\"\nat_least = 1\n";
        workspace.file("sla.toml", limits);
    }
    (workspace, outside)
}

fn assert_spared(cases: &[Case]) {
    if !is_root() {
        testing::skip!("only root makes devices, and is stopped by no permission");
    }
    let mut wrong = Vec::new();
    for case in cases {
        for node in NODES.iter().filter(|node| !case.without.contains(node)) {
            let (workspace, outside) = workspace(case);
            let path = workspace.path(case.path);
            node.put(&path, &outside);
            // Opening a pipe for writing waits for a reader.
            let mut reader = File::options();
            let reader =
                (*node == Pipe).then(|| reader.read(true).write(true).open(&path).unwrap());
            let ended = workspace.dbdyno(case.arguments);
            drop(reader);
            let what = format!("{} as {node:?}, {:?}", case.path, case.arguments);
            let harm = node.harm(&path, &outside);
            if let Some(harm) = harm.filter(|_| !case.written.contains(node)) {
                wrong.push(format!("{what}: {harm}"));
            }
            let is_fine = case.fine.contains(node);
            if (ended.status == 0) != is_fine {
                wrong.push(format!("{what}: status {}, {}", ended.status, ended.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_root() -> bool {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

const RUN: &str = "run tiny.toml --target mock:";
const SQLITE: &str = "run tiny.toml --target sqlite:x.db";
const DUCKDB: &str = "run tiny.toml --target duckdb:x.duck";
const VDBENCH: &str = "vdbench -f parm.txt -o pages -v -j";

#[test]
fn archives_and_what_lies_beside_them() {
    assert_spared(&[
        case("archive.dbdyno", RUN),
        case("archive.dbdyno-wal", RUN),
        case("archive.dbdyno-shm", RUN),
        case("archive.dbdyno-journal", RUN),
        case("archive.dbdyno-run-1.lock", RUN),
    ]);
}

#[test]
fn embedded_databases_and_what_lies_beside_them() {
    common::need_duckdb();
    assert_spared(&[
        case("x.db", SQLITE),
        case("x.db-wal", SQLITE),
        case("x.db-shm", SQLITE),
        case("x.db-journal", SQLITE),
        case("x.db.dbdyno-lock", SQLITE),
        case("x.duck", DUCKDB),
        case("x.duck.wal", DUCKDB),
        Case {
            fine: &[Folder],
            ..case("work", "run tiny.toml --demo --work-dir work")
        },
    ]);
}

#[test]
fn pages_and_journals_of_vdbench() {
    assert_spared(&[
        Case {
            fine: &[Folder],
            ..case("out", "vdbench -f parm.txt -o out")
        },
        case("pages/summary.html", VDBENCH),
        case("pages/totals.html", VDBENCH),
        case("pages/sd1.html", VDBENCH),
        case("sd1.map", VDBENCH),
        case("sd1.jnl", VDBENCH),
        case("data", "vdbench -f profile:database lun=data size=1m"),
    ]);
}

/// A file named with `-o` is written, even through links; no other path is.
#[test]
fn reports_manual_pages_and_logs() {
    assert_spared(&[
        Case {
            // The output exceeds a pipe's buffer, so that a pipe would wait for its reader.
            without: &[Pipe],
            ..named("page.html", "report last -o page.html")
        },
        named(
            "x.xml",
            "report last --limits sla.toml --format junit -o x.xml",
        ),
        // A run without an observation has no plan to write.
        case("mine.toml", "report last --format plan -o mine.toml"),
        case("man/dbdyno.1", "docs man man"),
        case("man/dbdyno-run.1", "docs man man"),
        Case {
            fine: &[Folder],
            ..case("man2", "docs man man2")
        },
        Case {
            fine: &[Pipe, Device],
            ..case("log", "run tiny.toml --target mock: --log-file log")
        },
    ]);
}
