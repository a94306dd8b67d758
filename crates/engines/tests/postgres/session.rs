//! Sessions, and that their digests are those of the other engines.

use engine::{ErrorKind, Session, Value};

use crate::common::*;
use testing::Says;

const TABLE: &str =
    "CREATE TABLE dbdyno_t (id BIGINT NOT NULL PRIMARY KEY, pad VARCHAR(32) NOT NULL)";

#[test]
fn statements_transactions_and_loads() {
    let target = local("");
    let mut session = target.open_session().unwrap();
    session.batch(TABLE).unwrap();
    copies(session.as_mut());
    transactions(session.as_mut());
    failed_transactions(session.as_mut());
    errors_leave_the_session_usable(session.as_mut());
    drop(session);
    let mut session = target.open_session().unwrap();
    conflicts_can_be_tried_again(session.as_mut(), target.open_session().unwrap().as_mut());
}

fn copies(session: &mut dyn Session) {
    assert_eq!(
        session.bulk_load("dbdyno_t", &mut Rows(1..50_001)).unwrap(),
        50_000
    );
    assert_eq!(session.bulk_load("dbdyno_t", &mut Rows(0..0)).unwrap(), 0);
    session.analyse("dbdyno_t").unwrap();
    // Reading what was analysed writes nothing: every page is known to be visible to all.
    let unseen = "SELECT relpages - relallvisible FROM pg_class WHERE relname = 'dbdyno_t'";
    assert_eq!(number(session, unseen), 0);
    // A load that fails half-way leaves nothing, wherever it fails.
    let error = session
        .bulk_load("dbdyno_t", &mut Rows(49_990..90_000))
        .unwrap_err();
    assert!(error.message.contains("23505"), "{error}");
    assert_eq!(number(session, "SELECT count(*) FROM dbdyno_t"), 50_000);
    session
        .batch("CREATE TABLE dbdyno_narrow (id SMALLINT, pad TEXT)")
        .unwrap();
    let error = session
        .bulk_load("dbdyno_narrow", &mut Rows(30_000..40_000))
        .unwrap_err();
    assert!(error.message.contains("32768 does not fit"), "{error}");
    assert_eq!(number(session, "SELECT count(*) FROM dbdyno_narrow"), 0);
    session
        .batch("CREATE TABLE dbdyno_one (id BIGINT)")
        .unwrap();
    assert!(session.bulk_load("dbdyno_one", &mut Rows(1..2)).is_err());
    assert!(session.bulk_load("dbdyno_none", &mut Rows(1..2)).is_err());
    assert_eq!(number(session, "SELECT count(*) FROM dbdyno_one"), 0);
}

/// The server would answer a commit after an error by rolling back, without an error.
fn failed_transactions(session: &mut dyn Session) {
    session.begin_read().unwrap();
    session.batch("DELETE FROM dbdyno_t").unwrap_err();
    let error = session.commit().unwrap_err();
    assert!(error.message.contains("rolled back"), "{error}");
    session.rollback().unwrap();
}

fn errors_leave_the_session_usable(session: &mut dyn Session) {
    let error = session.prepare("SELECT nothing FROM nowhere").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Statement);
    error.message.says_all(&["nowhere", "42P01"]);
    let divide = session.prepare("SELECT 1 / CAST(? AS INT)").unwrap();
    let error = session.fetch(divide, &[Value::Int(0)]).unwrap_err();
    assert!(error.message.contains("22012"), "{error}");
    let error = session.fetch(divide, &[]).unwrap_err();
    error.message.says("takes 1 parameters, but 0 were given");
    let error = session.fetch(divide, &[Value::Int(1 << 40)]).unwrap_err();
    assert!(error.message.contains("does not fit"), "{error}");
    assert!(session.batch("SELECT 1; SELECT nothing").is_err());
    assert!(session.batch("SELECT 1\0").is_err());
    let huge = session
        .prepare("SELECT CAST(? AS NUMERIC) * 10000000000")
        .unwrap();
    let error = session.fetch(huge, &[Value::Int(i64::MAX)]).unwrap_err();
    assert!(error.message.contains("64 bits"), "{error}");
    assert_eq!(session.fetch(divide, &[Value::Int(1)]).unwrap().digest, 1);
}

fn conflicts_can_be_tried_again(one: &mut dyn Session, other: &mut dyn Session) {
    let sql = "UPDATE dbdyno_t SET pad = 'mine' WHERE id = 7";
    let begin = |session: &mut dyn Session| {
        session.begin().unwrap();
        let level = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
        session.batch(level).unwrap();
        ask(session, "SELECT count(*) FROM dbdyno_t").unwrap();
    };
    begin(one);
    begin(other);
    one.batch(sql).unwrap();
    one.commit().unwrap();
    let error = other.batch(sql).unwrap_err();
    assert!(error.is_conflict(), "{error}");
    other.rollback().unwrap();
    other.begin().unwrap();
    other.batch(sql).unwrap();
    other.commit().unwrap();
}

/// The same rows give the same digest everywhere, so that the library's proofs hold.
#[test]
fn digests_are_those_of_the_embedded_engine() {
    crate::shared::digests_are_those_of_the_embedded_engine(local("").as_ref(), "BYTEA");
}

/// Rows of a megabyte, and more of them than any buffer holds.
#[test]
fn large_rows_come_whole() {
    let target = local("");
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE dbdyno_b (id BIGINT, payload BYTEA)")
        .unwrap();
    let insert = session
        .prepare("INSERT INTO dbdyno_b VALUES (?, ?)")
        .unwrap();
    let mut right = engine::Fetched::default();
    for id in 0..20u8 {
        let block: Vec<u8> = (0..1 << 20)
            .map(|at: u32| (at as u8).wrapping_mul(31) ^ id)
            .collect();
        session
            .execute(insert, &[Value::Int(0), Value::Blob(&block)])
            .unwrap();
        right.rows += 1;
        right.add_text(0, &block);
    }
    assert_eq!(
        ask(session.as_mut(), "SELECT payload FROM dbdyno_b").unwrap(),
        right
    );
}
