//! Every invalid input ends with one clear sentence, the right exit status, and nothing changed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{DBDYNO, Ended, TINY, Workspace, need_duckdb};
use rusqlite::Connection;

/// Invalid input: status 2, and no archive is created.
fn is_wrong(workspace: &Workspace, arguments: &[&str], expected: &str) {
    let ended = workspace.dbdyno(arguments);
    assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.stderr);
    let sentence = ended.sentence();
    assert!(sentence.contains(expected), "{arguments:?}: {sentence}");
    assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    assert!(
        !workspace.archive().exists(),
        "{arguments:?} made an archive"
    );
}

fn fails(workspace: &Workspace, arguments: &[&str], expected: &str) {
    let ended = workspace.dbdyno(arguments);
    assert_eq!(ended.status, 1, "{arguments:?}: {}", ended.stderr);
    let sentence = ended.sentence();
    assert!(sentence.contains(expected), "{arguments:?}: {sentence}");
}

#[test]
fn a_wrong_plan_is_refused_with_the_nearest_right_word() {
    let workspace = Workspace::new();
    let cases = [
        ("sample_ms", "sampel_ms", "did you mean \"sample_ms\"?"),
        ("jobs", "job", "did you mean \"jobs\"?"),
        ("T132", "T133x", "did you mean \"T133\"?"),
        ("\"library\"", "\"libary\"", "did you mean \"library\"?"),
        ("\"time\"", "\"tome\"", "unknown variant"),
        ("seconds = 0.05", "seconds = -1", "seconds = -1 is not"),
        ("jobs = [1]", "jobs = 1", "plan is invalid"),
        ("jobs = [1]", "size = \"huge\"", "there is no size \"huge\""),
        ("[[step]]", "[[step", "not TOML"),
    ];
    for (right, wrong, expected) in cases {
        let plan = workspace.file("plan.toml", &TINY.replace(right, wrong));
        is_wrong(&workspace, &["run", &plan, "--target", "sqlite:"], expected);
    }
    is_wrong(&workspace, &["run", "quik"], "did you mean \"quick\"?");
    is_wrong(&workspace, &["run", "no/such.toml"], "no built-in plan");
    is_wrong(&workspace, &["run", "/dev/zero"], "more than 4194304 bytes");
}

#[test]
fn a_wrong_setting_is_refused() {
    let workspace = Workspace::new();
    let cases = [
        ("nonsense", "is not KEY=VALUE"),
        ("=1", "is not KEY=VALUE"),
        ("sise=1", "unknown key \"sise\""),
        ("step.sise=small", "did you mean \"size\"?"),
        (
            "step.9.size=small",
            "there is no step 9; the plan has 1 step",
        ),
        ("a.b.c.d=1", "no such key"),
        ("repeat=0", "repeat = 0"),
        ("step.jobs=[0]", "between 1 and"),
        ("step.tests=[\"T999\"]", "no test \"T999\""),
    ];
    let plan = workspace.file("plan.toml", TINY);
    for (setting, expected) in cases {
        is_wrong(&workspace, &["run", &plan, "--set", setting], expected);
    }
    is_wrong(&workspace, &["run", &plan, "--repeat", "0"], "repeat = 0");
    for label in ["last", "7", "run-1", "ref:x", ""] {
        is_wrong(
            &workspace,
            &["run", &plan, "--name", label],
            "cannot be the label",
        );
    }
    // None of these leaves a directory for the default targets.
    let work = ["run", plan.as_str(), "--work-dir", "work", "--name", "last"];
    is_wrong(&workspace, &work, "cannot be the label");
    assert!(!workspace.path("work").exists() || is_empty(&workspace.path("work")));
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn a_wrong_target_is_refused() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let cases = [
        ("plain", "has no scheme"),
        ("/data/bench.db", "has no scheme"),
        ("sqlit:x", "did you mean \"sqlite\"?"),
        ("oracle2:x", "unknown engine \"oracle2\""),
        ("sqlite:x?cache_mb", "is not KEY=VALUE"),
        ("sqlite:x?cache=1", "its settings are page_size"),
        ("sqlite:x?synchronous=MAYBE", "synchronous=MAYBE"),
        ("sqlite:x?cache_mb=much", "cache_mb=much"),
        ("two\nlines", "has no scheme"),
    ];
    for (url, expected) in cases {
        is_wrong(&workspace, &["run", &plan, "--target", url], expected);
    }
    assert!(!workspace.path("x").exists(), "a target was touched");
    let twice = |a: &str, b: &str| {
        let arguments = ["run", &plan, "--target", a, "--target", b];
        is_wrong(&workspace, &arguments, "named twice");
    };
    twice("sqlite:bench.db", "sqlite:bench.db");
    twice("sqlite:bench.db", "sqlite:./bench.db");
    twice("sqlite:bench.db", "sqlite:bench.db?cache_mb=8");
    twice("sqlite:bench.db", &workspace.url("sqlite", "bench.db"));
    assert!(!workspace.path("bench.db").exists(), "a target was touched");
}

#[test]
fn a_wrong_library_is_refused() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    fails(
        &workspace,
        &["run", &plan, "--library", "absent"],
        "cannot be read",
    );
    let library = workspace.library();
    let library_argument = library.to_str().unwrap();
    let arguments = ["run", &plan, "--library", library_argument];
    std::fs::write(library.join("T132.toml"), "code = \"T132\"\ncolour = 3\n").unwrap();
    is_wrong(&workspace, &arguments, "colour");
    std::fs::write(library.join("T132.toml"), "code = \n").unwrap();
    is_wrong(&workspace, &arguments, "T132.toml");
}

#[test]
fn an_unreachable_target_is_the_environments_fault() {
    need_duckdb();
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    for url in ["sqlite:absent/x.db", "duckdb:absent/x.db"] {
        fails(&workspace, &["run", &plan, "--target", url], "absent/x.db");
    }
    workspace.file(
        "text",
        "this is no database, whatever its name may promise\n"
            .repeat(99)
            .as_str(),
    );
    for url in ["sqlite:text", "duckdb:text"] {
        fails(&workspace, &["run", &plan, "--target", url], "text");
    }
    workspace.file("work", "a file where a directory should be");
    fails(
        &workspace,
        &["run", &plan, "--work-dir", "work/below"],
        "--work-dir",
    );
    assert!(
        !workspace.fine(&["list", "runs"]).stdout.contains("tiny"),
        "a run was entered"
    );
}

#[test]
fn a_study_with_a_taken_name_is_refused_before_its_targets_are_opened() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    workspace.fine(&["run", &plan, "--target", "mock:", "--name", "s-b"]);
    let study = [
        "ab",
        &plan,
        "--target",
        "sqlite:absent/x.db",
        "--b",
        "step.jobs=[2]",
        "--yes",
        "--name",
    ];
    let ended = workspace.dbdyno(&[&study[..], &["s"]].concat());
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(
        ended.sentence().contains("\"s-b\" is taken"),
        "{}",
        ended.stderr
    );
    let runs = workspace.fine(&["list", "runs"]).stdout;
    assert!(!runs.contains("s-a"), "{runs}");
    fails(&workspace, &[&study[..], &["free"]].concat(), "absent/x.db");
}

#[test]
fn another_users_database_is_left_unchanged() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let connection = Connection::open(workspace.path("theirs.db")).unwrap();
    connection
        .execute_batch("CREATE TABLE customer (name)")
        .unwrap();
    drop(connection);
    let before = std::fs::read(workspace.path("theirs.db")).unwrap();
    fails(
        &workspace,
        &["run", &plan, "--target", "sqlite:theirs.db"],
        "\"customer\"",
    );
    assert!(std::fs::read(workspace.path("theirs.db")).unwrap() == before);

    // An archive is no target either.
    assert_eq!(workspace.run(TINY, &[]).status, 0);
    let before = std::fs::read(workspace.archive()).unwrap();
    fails(
        &workspace,
        &["run", &plan, "--target", "sqlite:archive.dbdyno"],
        "not a table of dbdyno",
    );
    assert!(std::fs::read(workspace.archive()).unwrap() == before);
}

#[test]
fn an_archive_that_cannot_be_used_is_left_as_it_is() {
    let workspace = Workspace::new();
    assert_eq!(workspace.run(TINY, &[]).status, 0);
    let whole = std::fs::read(workspace.archive()).unwrap();
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
    let plan = workspace.file("plan.toml", TINY);
    for (bytes, expected) in cases {
        std::fs::write(workspace.path("bad.dbdyno"), &bytes).unwrap();
        for verb in [
            &["run", &plan, "--target", "sqlite:"][..],
            &["run", "--resume", "last"],
            &["list", "runs"],
            &["export", "last"],
            &["report", "last"],
        ] {
            fails(
                &workspace,
                &[verb, &["--archive", "bad.dbdyno"]].concat(),
                expected,
            );
            let after = std::fs::read(workspace.path("bad.dbdyno")).unwrap();
            assert!(after == bytes, "{verb:?} changed the archive ({expected})");
        }
    }
    assert!(!workspace.path("dbdyno-report.html").exists());
}

#[test]
fn an_archive_that_cannot_be_made_is_the_environments_fault() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    workspace.file("file", "not a directory");
    let below = ["--archive", "file/a.dbdyno"];
    let run = ["run", plan.as_str(), "--target", "sqlite:t.db"];
    fails(&workspace, &[&run[..], &below].concat(), "cannot be opened");
    assert!(
        !workspace.path("t.db").exists(),
        "the target was touched for nothing"
    );
    fails(
        &workspace,
        &[&run[..], &["--archive", "."]].concat(),
        "it is a directory",
    );
    fails(
        &workspace,
        &[&["export", "last"][..], &below].concat(),
        "cannot be opened",
    );
}

#[test]
fn without_an_archive_there_is_nothing_to_show_or_resume() {
    let workspace = Workspace::new();
    for verb in [
        &["export", "last"][..],
        &["report", "last"],
        &["run", "--resume", "last"],
    ] {
        fails(&workspace, verb, "there is no archive");
        assert!(!workspace.archive().exists(), "{verb:?} made an archive");
    }
}

#[test]
fn unknown_names_are_refused() {
    let workspace = Workspace::new();
    assert_eq!(workspace.run(TINY, &["--name", "before"]).status, 0);
    let before = std::fs::read(workspace.archive()).unwrap();
    let cases: [(&[&str], &str); 8] = [
        (&["export", "after"], "no run called \"after\""),
        (&["export", "2"], "no run called \"2\""),
        (&["report", "after"], "no run called \"after\""),
        (
            &["report", "last", "--against", "after"],
            "no run called \"after\"",
        ),
        (
            &["report", "last", "--against", "ref:dl980"],
            "dl980-violin",
        ),
        (&["run", "--resume", "after"], "no run called \"after\""),
        (&["run", "--resume", "before"], "is complete"),
        (&["run", "--resume", "last"], "is complete"),
    ];
    for (arguments, expected) in cases {
        let ended = workspace.dbdyno(arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.stderr);
        let sentence = ended.sentence();
        assert!(sentence.contains(expected), "{arguments:?}: {sentence}");
        assert!(
            std::fs::read(workspace.archive()).unwrap() == before,
            "{arguments:?}"
        );
    }
    assert!(!workspace.path("dbdyno-report.html").exists());
}

#[test]
fn a_report_that_cannot_be_written_leaves_the_old_one() {
    let workspace = Workspace::new();
    assert_eq!(workspace.run(TINY, &[]).status, 0);
    workspace.file("file", "not a directory");
    fails(
        &workspace,
        &["report", "last", "-o", "file/page.html"],
        "choose another file",
    );
    std::fs::create_dir(workspace.path("directory")).unwrap();
    fails(
        &workspace,
        &["report", "last", "-o", "directory"],
        "choose another file",
    );
    assert!(is_empty(&workspace.path("directory")));
}

#[test]
fn outputs_do_not_overwrite_their_archive() {
    let workspace = Workspace::new();
    assert_eq!(workspace.run(TINY, &[]).status, 0);
    let limits = workspace.file(
        "sla.toml",
        "[[limit]]\nmetric = \"T132.errors\"\nat_most = 0\n",
    );
    std::os::unix::fs::symlink(workspace.archive(), workspace.path("link")).unwrap();
    let before = std::fs::read(workspace.archive()).unwrap();
    for to in ["archive.dbdyno", "link"] {
        fails(&workspace, &["report", "last", "-o", to], "is an archive");
        let judged = ["judge", "last", "--sla", &limits, "--junit", to];
        fails(&workspace, &judged, "is an archive");
        assert!(
            std::fs::read(workspace.archive()).unwrap() == before,
            "{to}"
        );
    }
}

#[test]
fn a_log_overwrites_no_archive() {
    let workspace = Workspace::new();
    assert_eq!(workspace.run(TINY, &["--name", "kept"]).status, 0);
    let archive = workspace.archive().display().to_string();
    fails(
        &workspace,
        &["list", "runs", "--log", &archive],
        "choose another file with --log",
    );
    workspace.fine(&["export", "kept"]);
}

#[test]
fn a_wrong_command_line_has_status_2() {
    let workspace = Workspace::new();
    let cases: [&[&str]; 8] = [
        &[],
        &["measure"],
        &["run", "--colour"],
        &["run", "--seed", "red"],
        &["run", "smoke", "--resume", "last"],
        &["export"],
        &["export", "last", "--format", "xml"],
        &["list", "colours"],
    ];
    for arguments in cases {
        let ended = workspace.dbdyno(arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.stderr);
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
    let ended = workspace.run(TINY, &["--set", "step.jobs=[1, 2, 3]"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    for verb in [
        "export last",
        "export last --format csv",
        "list tests",
        "list runs",
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
    let runs = workspace.fine(&["list", "runs"]).stdout;
    assert_eq!(runs.matches(" complete ").count(), 3, "{runs}");
}
