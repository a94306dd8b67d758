//! Sessions: statements, PL/SQL, loads, limits.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use engine::{ErrorKind, FirstRow, SCHEMA_MARK, Session, Value};

use crate::common::*;

fn table(session: &mut dyn Session) {
    let made = format!("CREATE TABLE {SCHEMA_MARK}.dbdyno_t (id BIGINT, pad VARCHAR(40))");
    session.create_table("dbdyno_t", &made).unwrap();
}

#[test]
fn arrays_of_rows_arrive_whole() {
    let target = new_target();
    let mut session = target.open_session().unwrap();
    table(session.as_mut());
    let loaded = session.bulk_load("dbdyno_t", &mut Rows(0..4500)).unwrap();
    assert_eq!(loaded, 4500);
    let read = ask(session.as_mut(), "SELECT id, pad FROM dbdyno_t").unwrap();
    assert_eq!(read.rows, 4500);
    let rows = session
        .texts("SELECT pad FROM dbdyno_t WHERE id = 4001")
        .unwrap();
    assert_eq!(rows, [[Some(text(4001))]]);
}

#[test]
fn an_array_with_a_row_that_does_not_fit_leaves_nothing() {
    let target = new_target();
    let mut session = target.open_session().unwrap();
    table(session.as_mut());
    session
        .batch("CREATE UNIQUE INDEX dbdyno_u ON dbdyno_t (id)")
        .unwrap();
    session
        .batch("INSERT INTO dbdyno_t VALUES (7, 'there')")
        .unwrap();
    let error = session
        .bulk_load("dbdyno_t", &mut Rows(0..100))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Statement, "{error}");
    assert!(error.message.contains("ORA-00001"), "{error}");
    assert_eq!(number(session.as_mut(), "SELECT count(*) FROM dbdyno_t"), 1);
}

#[test]
fn plsql_hands_out_values_and_rows() {
    let target = new_target();
    let mut session = target.open_session().unwrap();
    table(session.as_mut());
    session.bulk_load("dbdyno_t", &mut Rows(1..4)).unwrap();
    session
        .batch(
            "CREATE OR REPLACE PROCEDURE dbdyno_total(base IN NUMBER, total OUT NUMBER, word OUT VARCHAR2) AS\n\
             BEGIN\n  SELECT sum(id) + base INTO total FROM dbdyno_t;\n  word := 'sum';\nEND;\n/\n",
        )
        .unwrap();
    let call = session
        .prepare("BEGIN dbdyno_total(?, :total, :text_word); END;")
        .unwrap();
    let mut first = FirstRow::default();
    let rows = session
        .fetch_first(call, &[Value::Int(10)], &mut first)
        .unwrap();
    assert_eq!(rows, 1);
    assert_eq!(first.value(0), Some(Value::Int(16)));
    assert_eq!(first.value(1), Some(Value::Text("sum")));
    let cursor = session
        .prepare("BEGIN OPEN :rows_found FOR SELECT id FROM dbdyno_t WHERE id > ?; END;")
        .unwrap();
    let found = session.fetch(cursor, &[Value::Int(1)]);
    let found = found.unwrap();
    assert_eq!((found.rows, found.digest), (2, 5));
}

#[test]
fn errors_have_their_kinds() {
    let target = new_target();
    let mut session = target.open_session().unwrap();
    table(session.as_mut());
    let error = session
        .prepare("SELECT nothing FROM dbdyno_absent")
        .unwrap_err();
    assert!(error.message.contains("ORA-00942"), "{error}");
    session.bulk_load("dbdyno_t", &mut Rows(1..3)).unwrap();
    let mut other = target.open_session().unwrap();
    session.begin().unwrap();
    session
        .batch("UPDATE dbdyno_t SET pad = 'x' WHERE id = 1")
        .unwrap();
    let error = ask(
        other.as_mut(),
        "SELECT id FROM dbdyno_t WHERE id = 1 FOR UPDATE NOWAIT",
    )
    .unwrap_err();
    assert!(error.is_conflict(), "{error}");
    assert!(error.message.contains("ORA-00054"), "{error}");
    session.rollback().unwrap();
}

/// A statement that takes too long is ended, and the session goes on.
#[test]
fn a_time_limit_ends_a_statement() {
    let target = new_target();
    let mut session = target.open_session().unwrap();
    session
        .limit_statements(Some(Duration::from_millis(300)))
        .unwrap();
    let begin = Instant::now();
    let error = session
        .batch("BEGIN dbms_session.sleep(60); END;")
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Statement, "{error}");
    assert!(error.message.contains("0.3 s"), "{error}");
    assert!(
        begin.elapsed() < Duration::from_secs(30),
        "{:?}",
        begin.elapsed()
    );
    session.limit_statements(None).unwrap();
    assert_eq!(number(session.as_mut(), "SELECT 1 FROM dual"), 1);
}

/// Another thread ends what a session waits for: the server's session is killed, and the socket shut down.
#[test]
fn a_session_that_hangs_is_broken_off() {
    let target = new_target();
    let mut session = target.open_session().unwrap();
    let begin = Instant::now();
    let breaker = {
        let target = Arc::clone(&target);
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(500));
            target.break_off();
        })
    };
    let error = session
        .batch("BEGIN dbms_session.sleep(60); END;")
        .unwrap_err();
    breaker.join().unwrap();
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    assert!(
        begin.elapsed() < Duration::from_secs(30),
        "{:?}",
        begin.elapsed()
    );
    drop(session);
    let mut next = target.open_session().unwrap();
    assert_eq!(number(next.as_mut(), "SELECT 2 FROM dual"), 2);
}

#[test]
fn statements_outside_a_transaction_are_committed() {
    let target = new_target();
    let mut session = target.open_session().unwrap();
    table(session.as_mut());
    let insert = session
        .prepare("INSERT INTO dbdyno_t VALUES (?, ?)")
        .unwrap();
    session
        .execute(insert, &[Value::Int(1), Value::Null])
        .unwrap();
    session.begin().unwrap();
    session
        .execute(insert, &[Value::Int(2), Value::Text("two")])
        .unwrap();
    session.rollback().unwrap();
    let mut other = target.open_session().unwrap();
    assert_eq!(number(other.as_mut(), "SELECT sum(id) FROM dbdyno_t"), 1);
}
