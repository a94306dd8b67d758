//! Servers and sessions that go away in the middle of the work.

use engine::{BulkRow, ErrorKind, Result, RowSource};

use crate::common::*;
use crate::cut_off::Way;

on_both! {
    a_killed_session_says_so,
    a_session_killed_while_it_loads_leaves_nothing,
    the_anchor_is_connected_again,
    a_killed_server_is_a_clear_sentence,
    an_answer_cut_off_is_the_end,
}

fn a_killed_session_says_so(kind: &Kind) {
    let target = kind.local("");
    let mut victim = target.open_session().unwrap();
    let mut other = target.open_session().unwrap();
    let one = victim.prepare("SELECT 1").unwrap();
    let id = number(victim.as_mut(), "SELECT connection_id()");
    other.batch(&format!("KILL {id}")).unwrap();
    for _ in 0..2 {
        let error = victim.fetch(one, &[]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
        assert!(error.message.contains("killed"), "{error}");
    }
    assert!(victim.rollback().is_ok());
    assert_eq!(number(other.as_mut(), "SELECT 2"), 2);
}

/// Rows that end their own session while they are loaded.
struct Fatal<'a> {
    rows: Rows,
    at: i64,
    other: &'a mut dyn engine::Session,
    victim: i64,
}

impl RowSource for Fatal<'_> {
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        if self.rows.0.start == self.at {
            self.other.batch(&format!("KILL {}", self.victim))?;
        }
        self.rows.next_row(sink)
    }
}

fn a_session_killed_while_it_loads_leaves_nothing(kind: &Kind) {
    let target = kind.local("");
    let mut victim = target.open_session().unwrap();
    let mut other = target.open_session().unwrap();
    victim
        .batch("CREATE TABLE dbdyno_t (id BIGINT, pad VARCHAR(40))")
        .unwrap();
    let id = number(victim.as_mut(), "SELECT connection_id()");
    let mut rows = Fatal {
        rows: Rows(0..500_000),
        at: 100_000,
        other: other.as_mut(),
        victim: id,
    };
    let error = victim.bulk_load("dbdyno_t", &mut rows).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    assert_eq!(number(other.as_mut(), "SELECT count(*) FROM dbdyno_t"), 0);
}

fn the_anchor_is_connected_again(kind: &Kind) {
    let target = kind.local("");
    let mut session = target.open_session().unwrap();
    let others = "SELECT id FROM information_schema.processlist \
         WHERE user = 'root' AND id <> connection_id()";
    let control = number(session.as_mut(), others);
    session.batch(&format!("KILL {control}")).unwrap();
    let again = (0..3).find_map(|_| target.checkpoint().ok());
    assert!(again.is_some(), "the control did not connect again");
    assert!(target.counters().redo_bytes.is_some());
}

fn a_killed_server_is_a_clear_sentence(kind: &Kind) {
    let server = kind.server();
    let target = opened(&url_of(&server, "root", "dbdyno")).unwrap();
    let mut session = target.open_session().unwrap();
    let pid = server.pid().unwrap();
    // SAFETY: the number is that of a process that this test started.
    assert_eq!(unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) }, 0);
    let error = session.batch("SELECT sleep(10)").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.message.contains("closed the connection"), "{error}");
    // A process that is being killed may still take a connection, and never answers.
    let error = (0..200).find_map(|_| {
        let error = target.open_session().err().unwrap();
        assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
        std::thread::sleep(std::time::Duration::from_millis(10));
        error.message.contains("no server answers").then_some(error)
    });
    assert!(error.is_some(), "the server is still there");
    assert!(target.counters().redo_bytes.is_none());
}

fn an_answer_cut_off_is_the_end(kind: &Kind) {
    let server = kind.server();
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("way");
    let way = Way::new(&socket, server.socket_path());
    let url = format!(
        "mysql://root@localhost/dbdyno_way?socket={}&others=allow",
        socket.display()
    );
    way.must_be_told_at_once(opened(&url).unwrap().open_session().unwrap());
}
