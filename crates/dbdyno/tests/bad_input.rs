//! Every invalid input ends with one clear sentence, the right exit status, and nothing changed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::Path;
use std::process::Command;

use crate::common::words;
use common::{DBDYNO, Ended, TINY, Workspace, need_duckdb};
use rusqlite::Connection;
use testing::Says;

/// Invalid input: status 2, no output, and no archive is created.
fn are_wrong(workspace: &Workspace, table: &str) {
    workspace.refuses(2, table);
    assert!(
        !workspace.archive().exists(),
        "an archive was made: {table}"
    );
}

#[test]
fn a_wrong_plan_is_refused_with_the_nearest_right_word() {
    let workspace = Workspace::new();
    for (change, expected) in testing::rows(
        r#"
        sample_ms -> sampel_ms     => did you mean "sample_ms"?
        jobs -> job                => did you mean "jobs"?
        T132 -> T133x              => did you mean "T133"?
        "library" -> "libary"      => did you mean "library"?
        "time" -> "tome"           => unknown variant
        seconds = 0.05 -> seconds = -1 => seconds = -1 is not
        jobs = [1] -> jobs = 1     => plan is invalid
        jobs = [1] -> size = "huge" => there is no size "huge"
        [[step]] -> [[step         => not TOML
        "#,
    ) {
        let (right, wrong) = change.split_once(" -> ").unwrap();
        workspace.file("plan.toml", &TINY.replace(right, wrong));
        let row = format!("run plan.toml --target sqlite: => {expected}");
        are_wrong(&workspace, &row);
    }
    are_wrong(
        &workspace,
        r#"
        run quik         => did you mean "quick"?
        run no/such.toml => no built-in plan
        run /dev/zero    => more than 4194304 bytes
        "#,
    );
}

#[test]
fn a_wrong_setting_is_refused() {
    let workspace = Workspace::new();
    workspace.file("plan.toml", TINY);
    // None of these leaves a directory for the default targets.
    are_wrong(
        &workspace,
        r#"
        run plan.toml --demo --set nonsense              => is not KEY=VALUE
        run plan.toml --demo --set =1                    => is not KEY=VALUE
        run plan.toml --demo --set sise=1                => unknown key "sise"
        run plan.toml --demo --set step.sise=small       => did you mean "size"?
        run plan.toml --demo --set step.9.size=small     => there is no step 9; the plan has 1 step
        run plan.toml --demo --set a.b.c.d=1             => no such key
        run plan.toml --demo --set repeat=0              => repeat = 0
        run plan.toml --demo --set step.jobs=[0]         => between 1 and
        run plan.toml --demo --set step.tests=["T999"]   => no test "T999"
        run plan.toml --demo --repeat 0                  => repeat = 0
        run plan.toml --demo --name 7                    => cannot be the label
        run plan.toml --demo --name run-1                => cannot be the label
        run plan.toml --demo --name ref:x                => cannot be the label
        run plan.toml --demo --name=                     => cannot be the label
        run plan.toml --demo --work-dir work --name last => cannot be the label
        "#,
    );
    assert!(!workspace.path("work").exists() || is_empty(&workspace.path("work")));
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn a_wrong_target_is_refused() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    are_wrong(
        &workspace,
        r#"
        run plan.toml --target plain                    => has no scheme
        run plan.toml --target /data/bench.db           => has no scheme
        run plan.toml --target sqlit:x                  => did you mean "sqlite"?
        run plan.toml --target oracle2:x                => unknown engine "oracle2"
        run plan.toml --target sqlite:x?cache_mb        => is not KEY=VALUE
        run plan.toml --target sqlite:x?cache=1         => its settings are page_size
        run plan.toml --target sqlite:x?synchronous=MAYBE => synchronous=MAYBE
        run plan.toml --target sqlite:x?cache_mb=much   => cache_mb=much
        run plan.toml --target sqlite:x --target sqlite:x            => named twice
        run plan.toml --target sqlite:x --target sqlite:./x          => named twice
        run plan.toml --target sqlite:x --target sqlite:x?cache_mb=8 => named twice
        "#,
    );
    let lines = ["run", &plan, "--target", "two\nlines"];
    workspace.ends(2, &lines).sentence().says("has no scheme");
    let whole = workspace.url("sqlite", "x");
    let twice = words("run {} --target sqlite:x --target {}", &[&plan, &whole]);
    workspace.ends(2, &twice).sentence().says("named twice");
    assert!(!workspace.archive().exists());
    assert!(!workspace.path("x").exists(), "a target was touched");
}

#[test]
fn a_wrong_library_is_refused() {
    let workspace = Workspace::new();
    workspace.file("plan.toml", TINY);
    workspace.refuses(
        1,
        "run plan.toml --demo --set library=absent => cannot be read",
    );
    let test = workspace.library().join("T132.toml");
    std::fs::write(&test, "code = \"T132\"\ncolour = 3\n").unwrap();
    are_wrong(
        &workspace,
        "run plan.toml --demo --set library=library => colour",
    );
    std::fs::write(&test, "code = \n").unwrap();
    are_wrong(
        &workspace,
        "run plan.toml --demo --set library=library => T132.toml",
    );
}

#[test]
fn an_unreachable_target_is_the_environments_fault() {
    need_duckdb();
    let workspace = Workspace::new();
    workspace.file("plan.toml", TINY);
    let text = "this is no database, whatever its name may promise\n";
    workspace.file("text", &text.repeat(99));
    workspace.file("work", "a file where a directory should be");
    workspace.refuses(
        1,
        "
        run plan.toml --target sqlite:absent/x.db => absent/x.db
        run plan.toml --target duckdb:absent/x.db => absent/x.db
        run plan.toml --target sqlite:text        => text
        run plan.toml --target duckdb:text        => text
        run plan.toml --demo --work-dir work/below       => --work-dir
        ",
    );
    let runs = workspace.fine("runs list").stdout;
    assert!(!runs.contains("tiny"), "a run was entered: {runs}");
}

#[test]
fn a_study_with_a_taken_name_gets_another_one() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    workspace.fine(&["run", &plan, "--target", "mock:", "--name", "s-b"]);
    let study = words(
        "ab {} --target sqlite:bench.db --b step.jobs=[2] --yes --repeat 2 --name s",
        &[&plan],
    );
    let ended = workspace.fine(&study);
    ended.stderr.says("the name s is taken; this one is s-2");
    let runs = workspace.fine("runs list").stdout;
    assert!(runs.contains("s-2-a") && runs.contains("s-2-b"), "{runs}");
    assert!(!runs.contains(" s-a"), "{runs}");
}

#[test]
fn another_users_database_is_left_unchanged() {
    let workspace = Workspace::new();
    let theirs = Connection::open(workspace.path("theirs.db")).unwrap();
    let made = theirs.execute_batch("CREATE TABLE customer (name)");
    made.unwrap();
    drop(theirs);
    // An archive is no target either.
    workspace.measure(TINY, "");
    let files = ["theirs.db", "archive.dbdyno"];
    let before = files.map(|file| workspace.bytes(file));
    workspace.refuses(
        1,
        r#"
        run plan.toml --target sqlite:theirs.db      => "customer"
        run plan.toml --target sqlite:archive.dbdyno => not a table of dbdyno
        "#,
    );
    assert!(files.map(|file| workspace.bytes(file)) == before);
}

#[test]
fn an_archive_that_cannot_be_used_is_left_as_it_is() {
    let workspace = Workspace::new();
    workspace.measure(TINY, &[]);
    let whole = workspace.bytes("archive.dbdyno");
    let marks = |at: usize, value: i32| {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        bytes
    };
    let mut torn = whole.clone();
    let middle = torn.len() / 2;
    torn[4096..middle].fill(0xa5);
    let cases: [(Vec<u8>, &str); 6] = [
        (marks(60, 99), "use the dbdyno that wrote it"),
        (marks(68, 7), "another application"),
        (torn, "damaged"),
        (whole[..whole.len() / 2].to_vec(), "damaged"),
        (b"Dear diary, ".repeat(99), "is not a dbdyno archive"),
        (b"short".to_vec(), "is not a dbdyno archive"),
    ];
    for (bytes, expected) in cases {
        std::fs::write(workspace.path("bad.dbdyno"), &bytes).unwrap();
        for verb in [
            "run plan.toml --target sqlite:",
            "run --resume last",
            "runs list",
            "report last --format json",
            "report last",
        ] {
            let row = format!("{verb} --archive bad.dbdyno => {expected}");
            workspace.refuses(1, &row);
            let after = workspace.bytes("bad.dbdyno");
            assert!(after == bytes, "{verb} changed the archive ({expected})");
        }
    }
    assert!(!workspace.path("pages/last.html").exists());
}

#[test]
fn an_archive_that_cannot_be_made_is_the_environments_fault() {
    let workspace = Workspace::new();
    workspace.file("plan.toml", TINY);
    workspace.file("file", "not a directory");
    workspace.refuses(
        1,
        "
        run plan.toml --target sqlite:t.db --archive file/a.dbdyno => cannot be opened
        run plan.toml --target sqlite:t.db --archive . => it is a directory
        report last --format json --archive file/a.dbdyno => cannot be opened
        ",
    );
    assert!(!workspace.path("t.db").exists(), "the target was touched");
}

#[test]
fn without_an_archive_there_is_nothing_to_show_or_resume() {
    let workspace = Workspace::new();
    for verb in [
        "report last --format json",
        "report last",
        "run --resume last",
    ] {
        workspace.refuses(1, &format!("{verb} => there is no archive"));
        assert!(!workspace.archive().exists(), "{verb} made an archive");
    }
}

#[test]
fn unknown_names_are_refused() {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name before");
    let before = workspace.bytes("archive.dbdyno");
    workspace.refuses(
        2,
        r#"
        report after --format json          => no run called "after"
        report 2 --format json              => no run called "2"
        report after                        => no run called "after"
        report last --against after         => no run called "after"
        report last --against ref:dl980     => dl980-violin
        run --resume after                  => no run called "after"
        run --resume before                 => is complete
        run --resume last                   => is complete
        "#,
    );
    assert!(workspace.bytes("archive.dbdyno") == before);
    assert!(!workspace.path("pages/after.html").exists());
}

#[test]
fn a_report_that_cannot_be_written_leaves_the_old_one() {
    let workspace = Workspace::new();
    workspace.measure(TINY, "");
    workspace.file("file", "not a directory");
    std::fs::create_dir(workspace.path("directory")).unwrap();
    workspace.refuses(
        1,
        "
        report last -o file/page.html => choose another file
        report last -o directory      => choose another file
        ",
    );
    assert!(is_empty(&workspace.path("directory")));
}

#[test]
fn outputs_do_not_overwrite_their_archive() {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name kept");
    let limits = "[[limit]]\nmetric = \"T132.errors\"\nat_most = 0\n";
    workspace.file("sla.toml", limits);
    std::os::unix::fs::symlink(workspace.archive(), workspace.path("link")).unwrap();
    let before = workspace.bytes("archive.dbdyno");
    workspace.refuses(
        1,
        "
        report last -o archive.dbdyno                     => is an archive
        report last -o link                               => is an archive
        report last --limits sla.toml --format junit -o archive.dbdyno  => is an archive
        report last --limits sla.toml --format junit -o link            => is an archive
        runs list --log-file archive.dbdyno                    => choose another file with --log
        ",
    );
    assert!(workspace.bytes("archive.dbdyno") == before);
    workspace.fine("report kept --format json");
}

#[test]
fn a_wrong_command_line_has_status_2() {
    let workspace = Workspace::new();
    for arguments in [
        "",
        "measure",
        "run --colour",
        "run --seed red",
        "run smoke --resume last",
        "report",
        "report last --format xml",
        "list colours",
    ] {
        let ended = workspace.ends(2, arguments);
        assert!(ended.stdout.is_empty() && !ended.stderr.is_empty());
    }
}

/// Runs a shell line in the workspace; `$D` is the command.
fn shell(workspace: &Workspace, line: &str) -> Ended {
    let mut command = Command::new("bash");
    command
        .args(["-c", &format!("set -o pipefail; {line}")])
        .env("D", DBDYNO)
        .env("DBDYNO_ARCHIVE", workspace.archive())
        .current_dir(workspace.path(""));
    Ended::of(command.output().unwrap())
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let workspace = Workspace::new();
    workspace.measure(TINY, &["--set", "step.jobs=[1, 2, 3]"]);
    for verb in [
        "report last --format json",
        "report last --format csv",
        "list tests",
        "runs list",
        "--help",
    ] {
        let ended = shell(&workspace, &format!("\"$D\" {verb} | true"));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{verb}");
    }
    // A run continues without a reader of its progress.
    let ended = shell(
        &workspace,
        "\"$D\" run plan.toml --target sqlite: 2>&1 | true",
    );
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let ended = shell(&workspace, "\"$D\" run plan.toml --target sqlite: 2>&- >&-");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let runs = workspace.fine("runs list").stdout;
    assert_eq!(runs.matches(" complete ").count(), 3, "{runs}");
}
