//! Servers and sessions that go away in the middle of the work.

use engine::ErrorKind;

use crate::common::*;
use crate::cut_off::Way;

fn kill(pid: i64) {
    // SAFETY: the number is that of a process of a server that this test started.
    assert_eq!(unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) }, 0);
}

#[test]
fn a_killed_backend_ends_the_session_and_the_server_comes_back() {
    let target = local("&restart_after_crash=on");
    let mut victim = target.open_session().unwrap();
    let mut witness = target.open_session().unwrap();
    let one = witness.prepare("SELECT 1").unwrap();
    kill(number(victim.as_mut(), "SELECT pg_backend_pid()"));
    let error = victim.batch("SELECT 1").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    assert!(error.message.contains("closed the connection"), "{error}");
    // It stays so, without waiting for anything.
    assert_eq!(victim.batch("SELECT 1").unwrap_err().message, error.message);
    // The server ends the other sessions as well, with its reason.
    let error = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        witness.fetch(one, &[]).err()
    });
    assert_eq!(error.unwrap().kind, ErrorKind::Unreachable);
    let again = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        target.open_session().ok()
    });
    assert_eq!(number(again.unwrap().as_mut(), "SELECT 2"), 2);
    let checkpoint = (0..3).find_map(|_| target.checkpoint().ok());
    assert!(checkpoint.is_some(), "the control did not connect again");
}

#[test]
fn a_terminated_session_says_who_ended_it() {
    let target = local("");
    let mut victim = target.open_session().unwrap();
    let mut other = target.open_session().unwrap();
    let pid = number(victim.as_mut(), "SELECT pg_backend_pid()");
    other
        .batch(&format!("SELECT pg_terminate_backend({pid}, 5000)"))
        .unwrap();
    let error = victim.batch("SELECT 1").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.message.contains("57P01"), "{error}");
}

#[test]
fn a_killed_server_is_a_clear_sentence() {
    let target = local("");
    let mut session = target.open_session().unwrap();
    let pid = std::fs::read_to_string(target.data_path().unwrap().join("postmaster.pid")).unwrap();
    kill(pid.lines().next().unwrap().parse().unwrap());
    let error = target.open_session().err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.message.contains("signal 9"), "{error}");
    let error = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        session.batch("SELECT 1").err()
    });
    assert_eq!(error.unwrap().kind, ErrorKind::Unreachable);
}

#[test]
fn an_answer_cut_off_is_the_end() {
    let server = server();
    let directory = tempfile::tempdir().unwrap();
    let way = Way::new(
        &directory.path().join(".s.PGSQL.5432"),
        server.socket_path(),
    );
    let directory = directory.path().display().to_string();
    let user = server.superuser();
    let url = format!(
        "postgres://{user}@{}/postgres?others=allow",
        directory.replace('/', "%2F")
    );
    way.must_be_told_at_once(opened(&url).unwrap().open_session().unwrap());
}
