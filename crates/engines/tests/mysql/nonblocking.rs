//! Groups of requests that nobody waits for: what a failure keeps from being carried out, and what comes back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{
    ErrorKind, Nonblocking, Replies, Request, Result, Sent, Session, Statement, Target, Value,
};

use crate::common::*;

on_both! {
    a_group_is_answered_request_by_request,
    what_follows_a_failed_request_is_not_carried_out,
    a_failed_read_fails_its_group,
    after_a_deadlock_nothing_more_is_done,
    long_requests_behind_others_go_through,
    a_group_that_cannot_be_encoded_is_forgotten,
    a_killed_session_says_so_whenever_it_is_asked,
}

/// No answer takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Debug)]
enum By {
    /// As in a loop over many clients.
    Looking,
    /// As the only client of a thread.
    Waiting,
}

/// Sends a group and takes its answers; each first row is kept in the place of its request.
fn ask_group(session: &mut dyn Session, by: By, requests: &[Request<'_>]) -> Result<Replies> {
    let session = session.nonblocking().unwrap();
    let mut replies = Replies::default();
    for (place, request) in requests.iter().enumerate() {
        session.queue(*request)?;
        replies.awaits(Some(place));
    }
    let sent = session.send()?;
    match by {
        By::Waiting => {
            assert_eq!(sent, Sent::All, "use short requests");
            session.await_replies(&mut replies)?;
        }
        By::Looking => look(session, &mut replies)?,
    }
    Ok(replies)
}

fn look(session: &mut dyn Nonblocking, replies: &mut Replies) -> Result<()> {
    let begin = Instant::now();
    while !session.receive(replies)? {
        if session.waits_for_room() {
            session.send()?;
        }
        assert!(begin.elapsed() < PATIENCE, "no answer");
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

struct Stage {
    target: Arc<dyn Target>,
    session: Box<dyn Session>,
    insert: Statement,
    update: Statement,
    read: Statement,
}

/// A session with its statements, on a table with the rows 1 and 2.
fn stage(kind: &Kind, settings: &str) -> Stage {
    let target = kind.local(settings);
    let mut session = target.open_session().unwrap();
    session
        .batch(
            "CREATE TABLE dbdyno_t (id BIGINT PRIMARY KEY, n BIGINT, pad LONGTEXT); \
             INSERT INTO dbdyno_t (id, n) VALUES (1, 0), (2, 0)",
        )
        .unwrap();
    let mut prepare = |sql: &str| session.prepare(sql).unwrap();
    Stage {
        insert: prepare("INSERT INTO dbdyno_t VALUES (?, ?, ?)"),
        update: prepare("UPDATE dbdyno_t SET n = ? WHERE id = ?"),
        read: prepare("SELECT n, pad FROM dbdyno_t WHERE id <= ? ORDER BY id"),
        target,
        session,
    }
}

impl Stage {
    fn rows(&mut self) -> i64 {
        number(self.session.as_mut(), "SELECT count(*) FROM dbdyno_t")
    }
}

fn a_group_is_answered_request_by_request(kind: &Kind) {
    let mut stage = stage(kind, "&max_allowed_packet=64M");
    for by in [By::Looking, By::Waiting] {
        let (zero, one, nine) = (
            [Value::Int(0), Value::Int(1)],
            [Value::Int(1)],
            [Value::Int(9)],
        );
        let requests = [
            Request::Begin,
            Request::Execute(stage.update, &zero),
            Request::Execute(stage.read, &nine),
            Request::Execute(stage.read, &one),
            Request::Commit,
        ];
        let replies = ask_group(stage.session.as_mut(), by, &requests).unwrap();
        // The update finds a row that it does not make different: it counts, as everywhere else.
        let rows: Vec<_> = (0..6).map(|at| replies.rows(at)).collect();
        let right = [Some(0), Some(1), Some(2), Some(1), Some(0), None];
        assert_eq!(rows, right, "{by:?}");
        // BEGIN and the update travel together, each of the others waits for the one before it.
        assert_eq!(replies.round_trips(), 4);
        let first = replies.first(2).unwrap();
        assert_eq!(first.value(0), Some(Value::Int(0)));
        assert_eq!(first.value(1), None);
        assert!(!stage.session.nonblocking().unwrap().in_transaction());

        let reads = [
            Request::BeginRead,
            Request::Execute(stage.read, &nine),
            Request::Execute(stage.read, &one),
            Request::Commit,
        ];
        let replies = ask_group(stage.session.as_mut(), by, &reads).unwrap();
        assert_eq!((replies.rows(1), replies.rows(3)), (Some(2), Some(0)));
        assert_eq!(replies.round_trips(), 1);
    }
    // Blocking calls and groups may follow each other.
    assert_eq!(stage.rows(), 2);
}

/// PostgreSQL passes over what stands behind a failed request by itself; this server would not.
fn what_follows_a_failed_request_is_not_carried_out(kind: &Kind) {
    let mut stage = stage(kind, "");
    for by in [By::Looking, By::Waiting] {
        let fresh = [Value::Int(10), Value::Int(0), Value::Null];
        let double = [Value::Int(1), Value::Int(0), Value::Null];
        let group = [
            Request::Begin,
            Request::Execute(stage.insert, &fresh),
            Request::Execute(stage.insert, &double),
            Request::Execute(stage.update, &double[..2]),
            Request::Commit,
        ];
        for _ in 0..2 {
            let mut replies = ask_group(stage.session.as_mut(), by, &group).unwrap();
            let error = replies.take_error().unwrap();
            assert!(error.message.contains("1062"), "{error}");
            let rows: Vec<_> = (1..5).map(|at| replies.rows(at)).collect();
            assert_eq!(rows, [Some(1), None, None, None]);
            let session = stage.session.nonblocking().unwrap();
            assert!(session.in_transaction(), "the insert waits for its end");
            let rollback = ask_group(stage.session.as_mut(), by, &[Request::Rollback]).unwrap();
            assert_eq!(rollback.rows(0), Some(0));
            assert!(!stage.session.nonblocking().unwrap().in_transaction());
            assert_eq!(stage.rows(), 2, "nothing was committed");
        }
        // The update whose sending was given up is understood when it is sent: its types are told anew.
        let update = [Request::Execute(stage.update, &double[..2])];
        let replies = ask_group(stage.session.as_mut(), by, &update).unwrap();
        assert_eq!(replies.rows(0), Some(0), "there is no row 0");
    }
}

/// A transaction that only reads may be sent as a whole; its failure says so, and leaves nothing open.
fn a_failed_read_fails_its_group(kind: &Kind) {
    let mut stage = stage(kind, "");
    let broken =
        "SELECT CASE n WHEN 0 THEN (SELECT 1 UNION SELECT 2) END FROM dbdyno_t WHERE id <= ?";
    let broken = stage.session.prepare(broken).unwrap();
    let parameters = [Value::Int(9)];
    for by in [By::Looking, By::Waiting] {
        let group = [
            Request::BeginRead,
            Request::Execute(stage.read, &parameters),
            Request::Execute(broken, &parameters),
            Request::Execute(stage.read, &parameters),
            Request::Commit,
        ];
        let mut replies = ask_group(stage.session.as_mut(), by, &group).unwrap();
        let error = replies.take_error().unwrap();
        assert!(error.message.contains("1242"), "{error}");
        let rows: Vec<_> = (0..5).map(|at| replies.rows(at)).collect();
        assert_eq!(rows, [Some(0), Some(2), None, None, None]);
        assert!(!stage.session.nonblocking().unwrap().in_transaction());
        // A write in it is refused by the server, and not sent before that is known.
        let write = [Value::Int(5), Value::Int(1)];
        let group = [
            Request::BeginRead,
            Request::Execute(stage.update, &write),
            Request::Commit,
        ];
        let mut replies = ask_group(stage.session.as_mut(), by, &group).unwrap();
        let error = replies.take_error().unwrap();
        assert!(error.message.contains("1792"), "{error}");
        ask_group(stage.session.as_mut(), by, &[Request::Rollback]).unwrap();
    }
    let sum = number(stage.session.as_mut(), "SELECT sum(n) FROM dbdyno_t");
    assert_eq!(sum, 0);
}

/// After a deadlock the server has ended the transaction: what was sent ahead would be done outside of it.
fn after_a_deadlock_nothing_more_is_done(kind: &Kind) {
    let mut stage = stage(kind, "");
    let mut other = stage.target.open_session().unwrap();
    other.begin().unwrap();
    // The one who changed more is not the victim.
    other
        .batch("UPDATE dbdyno_t SET n = 7 WHERE id = 2; INSERT INTO dbdyno_t (id) VALUES (3), (4), (5)")
        .unwrap();
    let [one, two] = [1, 2].map(|id| [Value::Int(100), Value::Int(id)]);
    let group = [
        Request::Begin,
        Request::Execute(stage.update, &one),
        Request::Execute(stage.update, &two),
        Request::Execute(stage.update, &one),
        Request::Commit,
    ];
    let mut replies = Replies::default();
    let session = stage.session.nonblocking().unwrap();
    for request in group {
        session.queue(request).unwrap();
        replies.awaits(None);
    }
    session.send().unwrap();
    while replies.rows(1).is_none() {
        assert!(!session.receive(&mut replies).unwrap());
    }
    let waits = std::thread::spawn(move || {
        let outcome = other.batch("UPDATE dbdyno_t SET n = 7 WHERE id = 1");
        other.commit().unwrap();
        outcome
    });
    look(session, &mut replies).unwrap();
    let error = replies.take_error().unwrap();
    assert!(
        error.is_conflict() && error.message.contains("1213"),
        "{error}"
    );
    let rows: Vec<_> = (1..5).map(|at| replies.rows(at)).collect();
    assert_eq!(rows, [Some(1), None, None, None]);
    ask_group(stage.session.as_mut(), By::Looking, &[Request::Rollback]).unwrap();
    waits.join().unwrap().unwrap();
    let sum = number(stage.session.as_mut(), "SELECT sum(n) FROM dbdyno_t");
    assert_eq!(sum, 14, "the other one's values stand");
}

/// Requests larger than the socket's buffer are sent piece by piece, after an answer as well.
fn long_requests_behind_others_go_through(kind: &Kind) {
    let mut stage = stage(kind, "&max_allowed_packet=64M");
    let text: String = "row of a table ".repeat(200_000);
    let rows = [10, 11].map(|id| [Value::Int(id), Value::Int(0), Value::Text(&text)]);
    let all = [Value::Int(100)];
    let group = [
        Request::Begin,
        Request::Execute(stage.insert, &rows[0]),
        Request::Execute(stage.insert, &rows[1]),
        Request::Execute(stage.read, &all),
        Request::Commit,
    ];
    let replies = ask_group(stage.session.as_mut(), By::Looking, &group).unwrap();
    assert_eq!((replies.rows(2), replies.rows(3)), (Some(1), Some(4)));
    let long = [Value::Int(12), Value::Int(0), Value::Text(&text)];
    let behind = [
        Request::Execute(stage.read, &all),
        Request::Execute(stage.insert, &long),
    ];
    // The second one is sent while its client waits for the first one's answer.
    let replies = ask_group(stage.session.as_mut(), By::Waiting, &behind).unwrap();
    assert_eq!((replies.rows(0), replies.rows(1)), (Some(4), Some(1)));
    let sum = "SELECT sum(length(pad)) FROM dbdyno_t";
    let sum = number(stage.session.as_mut(), sum);
    assert_eq!(sum, 3 * text.len() as i64);
}

fn a_group_that_cannot_be_encoded_is_forgotten(kind: &Kind) {
    let mut stage = stage(kind, "");
    let update = [Value::Int(5), Value::Int(1)];
    let huge = vec![0; 65 << 20];
    let huge = [Value::Int(9), Value::Int(9), Value::Blob(&huge)];
    for (wrong, why) in [(&huge[..2], "takes 3 parameters"), (&huge[..], "64 MiB")] {
        let group = [
            Request::Begin,
            Request::Execute(stage.update, &update),
            Request::Execute(stage.insert, wrong),
        ];
        let error = ask_group(stage.session.as_mut(), By::Looking, &group).unwrap_err();
        assert!(error.message.contains(why), "{error}");
        assert!(!stage.session.nonblocking().unwrap().in_transaction());
        let replies = ask_group(
            stage.session.as_mut(),
            By::Looking,
            &[Request::Execute(stage.update, &update)],
        );
        assert_eq!(replies.unwrap().rows(0), Some(1));
    }
}

fn a_killed_session_says_so_whenever_it_is_asked(kind: &Kind) {
    let mut stage = stage(kind, "");
    let one = [Value::Int(1)];
    let request = [Request::Execute(stage.read, &one)];
    for by in [By::Looking, By::Waiting] {
        let mut victim = stage.target.open_session().unwrap();
        let read = victim.prepare("SELECT sleep(20) < ?").unwrap();
        let id = number(victim.as_mut(), "SELECT connection_id()");
        stage.session.batch(&format!("KILL {id}")).unwrap();
        for _ in 0..2 {
            let error = ask_group(victim.as_mut(), by, &[Request::Execute(read, &one)]);
            let error = error.map(|_| ()).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
            assert!(error.message.contains("killed"), "{error}");
        }
        assert!(ask_group(stage.session.as_mut(), by, &request).is_ok());
    }
    // In the middle of a group, of which half was sent.
    let mut victim = stage.target.open_session().unwrap();
    let sleep = victim.prepare("SELECT sleep(20) < ?").unwrap();
    let id = number(victim.as_mut(), "SELECT connection_id()");
    let session = victim.nonblocking().unwrap();
    for request in [
        Request::Begin,
        Request::Execute(sleep, &one),
        Request::Commit,
    ] {
        session.queue(request).unwrap();
    }
    session.send().unwrap();
    let mut replies = Replies::default();
    while replies.rows(0).is_none() {
        assert!(!session.receive(&mut replies).unwrap());
    }
    stage.session.batch(&format!("KILL {id}")).unwrap();
    // The server says it, or is gone before it is heard.
    let lost = look(session, &mut replies).err().or(replies.take_error());
    assert_eq!(lost.unwrap().kind, ErrorKind::Unreachable);
}
