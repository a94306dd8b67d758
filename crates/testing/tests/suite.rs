//! Tests of the runner on programs that behave like test programs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use testing::Says;

const AGAIN: &str = "DBDYNO_TEST_AGAIN";

/// A line of cargo's output about a built program, together with the program, a shell script.
fn built(directory: &Path, crate_name: &str, script: &str) -> String {
    let directory = directory.join(crate_name);
    fs::create_dir_all(&directory).unwrap();
    let program = directory.join("program");
    fs::write(
        &program,
        format!("#!/bin/sh\n[ \"$1\" != --list ] || exit 0\n{script}\n"),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    format!(
        r#"{{"reason":"compiler-artifact","manifest_path":"{0}/Cargo.toml","executable":"{0}/program",
"target":{{"name":"tests","kind":["test"]}},"profile":{{"test":true}}}}"#,
        directory.display()
    )
    .replace('\n', "")
        + "\n"
}

/// Status and standard output of the runner.
fn run(messages: &str, directory: &Path) -> (Option<i32>, String) {
    let list = directory.join("built.json");
    fs::write(&list, messages).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_run-tests"))
        .arg(list)
        .args(["--jobs", "2", "--unit", "--logs"])
        .arg(directory.join("logs"))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), said)
}

#[test]
fn the_last_line_counts_the_tests_of_all_programs() {
    let place = tempfile::tempdir().unwrap();
    let good = "echo 'test a ... ok'; echo 'test b ... ok'; echo 'SKIPPED b: no device' >&2; \
                echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured'";
    let bad = "echo 'test c ... FAILED'; pwd; \
               echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured'; exit 101";
    let messages =
        built(place.path(), "one", good) + "not JSON\n" + &built(place.path(), "two", bad);
    let (status, said) = run(&messages, place.path());
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.ends_with(
            "\nskipped:\n  one/tests b: no device\n\nfailed:\n  two/tests c\n\n2 passed, 1 failed, 1 skipped\n"
        ),
        "{said}"
    );
    // The output of a program with failures is shown; it runs in its crate's directory.
    let directory = place.path().join("two").canonicalize().unwrap();
    said.says(&format!("{}\n", directory.display()));
    let (status, said) = run(&built(place.path(), "one", good), place.path());
    assert_eq!(status, Some(0), "{said}");
    assert!(
        said.ends_with("\n1 passed, 0 failed, 1 skipped\n"),
        "{said}"
    );
}

#[test]
fn a_program_that_is_killed_has_failed() {
    let place = tempfile::tempdir().unwrap();
    let messages = built(place.path(), "one", "echo 'test a ... ok'; kill -9 $$");
    let (status, said) = run(&messages, place.path());
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("\n  one/tests: signal: 9"), "{said}");
    assert!(
        said.ends_with("\n0 passed, 1 failed, 0 skipped\n"),
        "{said}"
    );
}

#[test]
fn processes_left_running_are_killed_and_a_failure() {
    let place = tempfile::tempdir().unwrap();
    let left = "sh -c 'sleep 987 & sleep 0.1'; echo 'test a ... ok'; echo 'test result: ok. 1 passed; 0 failed'";
    let (status, said) = run(&built(place.path(), "one", left), place.path());
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.ends_with(
            "\nfailed:\n  one/tests: left running: sleep 987\n\n1 passed, 1 failed, 0 skipped\n"
        ),
        "{said}"
    );
    let (status, said) = run(
        &built(place.path(), "one", &left.replace("987", "0.5")),
        place.path(),
    );
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn nothing_built_is_an_error_and_not_a_success() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(run("", place.path()).0, Some(1));
}

/// In a separate process this test is skipped in the runner's view: its line goes past libtest's capture.
#[test]
fn a_skipped_test_says_why() {
    if std::env::var_os(AGAIN).is_some() {
        testing::skip!("no {}\nof this kind", "device");
    }
    let mut again = testing::again!();
    let output = again.env(AGAIN, "1").output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "SKIPPED a_skipped_test_says_why: no device of this kind\n"
    );
}

#[test]
fn tests_know_their_names() {
    assert_eq!(testing::test_name!(), "tests_know_their_names");
    let within = || testing::test_name!();
    assert_eq!(within(), "tests_know_their_names");
}
