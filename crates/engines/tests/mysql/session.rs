//! Sessions, and that their digests are those of the other engines.

use engine::{BulkRow, ErrorKind, Result, RowSource, Session, Value};

use crate::common::*;
use testing::Says;

on_both! {
    statements_transactions_and_loads,
    digests_are_those_of_the_embedded_engine,
}

const TABLE: &str =
    "CREATE TABLE dbdyno_t (id BIGINT NOT NULL PRIMARY KEY, pad VARCHAR(40) NOT NULL)";

struct Once<'a>(Option<[Value<'a>; 4]>);

impl RowSource for Once<'_> {
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        match self.0.take() {
            Some(row) => sink(&row).map(|()| true),
            None => Ok(false),
        }
    }
}

fn statements_transactions_and_loads(kind: &Kind) {
    let target = kind.local("&innodb_lock_wait_timeout=1&max_allowed_packet=64M");
    let mut session = target.open_session().unwrap();
    session.batch(TABLE).unwrap();
    loads(session.as_mut());
    transactions(session.as_mut());
    values_of_every_kind(session.as_mut());
    indexes(session.as_mut());
    errors_leave_the_session_usable(session.as_mut());
    stored_code(session.as_mut());
    long_values(session.as_mut());
    let mut other = target.open_session().unwrap();
    deadlocks_can_be_tried_again(session.as_mut(), other);
    other = target.open_session().unwrap();
    lock_timeouts_can_be_tried_again(session.as_mut(), other.as_mut());
}

fn loads(session: &mut dyn Session) {
    assert_eq!(
        session.bulk_load("dbdyno_t", &mut Rows(1..50_001)).unwrap(),
        50_000
    );
    assert_eq!(session.bulk_load("dbdyno_t", &mut Rows(0..0)).unwrap(), 0);
    session.analyse("dbdyno_t").unwrap();
    let read = session
        .prepare("SELECT pad FROM dbdyno_t WHERE id = ?")
        .unwrap();
    let mut right = engine::Fetched { rows: 1, digest: 0 };
    right.add_text(0, text(49_999).as_bytes());
    assert_eq!(session.fetch(read, &[Value::Int(49_999)]).unwrap(), right);
    // A load that fails half-way leaves nothing: the server passes over rows, the session does not.
    let error = session
        .bulk_load("dbdyno_t", &mut Rows(49_990..90_000))
        .unwrap_err();
    assert!(error.message.contains("Duplicate entry"), "{error}");
    assert_eq!(number(session, "SELECT count(*) FROM dbdyno_t"), 50_000);
    for (table, why) in testing::rows(
        "
            CREATE TABLE dbdyno_narrow (id SMALLINT, pad VARCHAR(40)) => Out of range
            CREATE TABLE dbdyno_short (id BIGINT, pad VARCHAR(4)) => Data truncated
            CREATE TABLE dbdyno_one (id BIGINT)          => truncated
        ",
    ) {
        session.batch(table).unwrap();
        let name = table.split(' ').nth(2).unwrap();
        let error = session
            .bulk_load(name, &mut Rows(32_000..33_000))
            .unwrap_err();
        assert!(error.message.contains(why), "{error}");
        assert_eq!(number(session, &format!("SELECT count(*) FROM {name}")), 0);
    }
    assert!(session.bulk_load("dbdyno_none", &mut Rows(1..2)).is_err());
}

/// Whatever a value is, it arrives as it was sent, by a statement and by a load.
fn values_of_every_kind(session: &mut dyn Session) {
    session
        .batch(
            "CREATE TABLE dbdyno_v (n BIGINT, x DECIMAL(12,2), at DATETIME(6), label VARCHAR(9))",
        )
        .unwrap();
    let row = [
        Value::Null,
        Value::Decimal {
            unscaled: -1005,
            places: 2,
        },
        Value::Moment(951_782_400_250_000),
        Value::Text("NULL"),
    ];
    let insert = session
        .prepare("INSERT INTO dbdyno_v VALUES (?, ?, ?, ?)")
        .unwrap();
    session.execute(insert, &row).unwrap();
    assert_eq!(
        session.bulk_load("dbdyno_v", &mut Once(Some(row))).unwrap(),
        1
    );
    let texts = session.texts("SELECT * FROM dbdyno_v").unwrap();
    let right = [
        None,
        Some("-10.05"),
        Some("2000-02-29 00:00:00.250000"),
        Some("NULL"),
    ];
    for row in &texts {
        assert_eq!(row.iter().map(Option::as_deref).collect::<Vec<_>>(), right);
    }
    assert_eq!(texts.len(), 2);
    first_rows(session);
}

fn first_rows(session: &mut dyn Session) {
    let read = session
        .prepare("SELECT n, label, sum(1), at FROM dbdyno_v GROUP BY n, label, at")
        .unwrap();
    assert_eq!(session.columns(read), Some(4));
    for column in 0..3 {
        session.check_kept(read, column).unwrap();
    }
    for (column, why) in [(3, "cast it"), (4, "no column 5")] {
        let error = session.check_kept(read, column).unwrap_err();
        assert!(error.message.contains(why), "{error}");
    }
    let mut first = engine::FirstRow::default();
    assert_eq!(session.fetch_first(read, &[], &mut first).unwrap(), 1);
    let values = [0, 1, 2].map(|column| first.value(column));
    assert_eq!(
        values,
        [None, Some(Value::Text("NULL")), Some(Value::Int(2))]
    );
    let nothing = session.prepare("DO 1").unwrap();
    assert_eq!(session.columns(nothing), Some(0));
    let too_many = "SELECT a.id FROM dbdyno_t a JOIN (SELECT 1 UNION SELECT 2 UNION SELECT 3) b";
    let error = session.texts(too_many).unwrap_err();
    assert!(error.message.contains("100000"), "{error}");
    assert_eq!(session.texts("SELECT 1").unwrap(), [[Some("1".to_owned())]]);
}

fn indexes(session: &mut dyn Session) {
    session
        .drop_index_if_exists("dbdyno_t", "dbdyno_made")
        .unwrap();
    assert!(session.drop_index("dbdyno_t", "dbdyno_made").is_err());
    for _ in 0..2 {
        session
            .batch("CREATE INDEX dbdyno_made ON dbdyno_t (pad)")
            .unwrap();
        session
            .drop_index_if_exists("dbdyno_t", "dbdyno_made")
            .unwrap();
    }
}

fn errors_leave_the_session_usable(session: &mut dyn Session) {
    let error = session.prepare("SELECT nothing FROM nowhere").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Statement);
    error.message.says_all(&["nowhere", "1146", "42S02"]);
    let one = session.prepare("SELECT CAST(? AS SIGNED)").unwrap();
    let error = session.fetch(one, &[]).unwrap_err();
    assert!(error.message.contains("takes 1 parameters"), "{error}");
    assert!(session.batch("SELECT 1; SELECT nothing").is_err());
    let error = ask(session, "SELECT now() UNION ALL SELECT now()").unwrap_err();
    assert!(error.message.contains("column 1"), "{error}");
    let doubled = ask(
        session,
        "SELECT t.id FROM dbdyno_t t JOIN (SELECT 1 UNION SELECT 2) d",
    )
    .unwrap();
    assert_eq!(doubled.rows, 100_000);
    assert_eq!(
        session.fetch(one, &[Value::Int(-1)]).unwrap().digest,
        u64::MAX
    );
}

/// Stored code comes in one batch, and its results through the prepared CALL.
fn stored_code(session: &mut dyn Session) {
    session
        .batch(
            "DROP PROCEDURE IF EXISTS dbdyno_p;
             CREATE PROCEDURE dbdyno_p(IN n BIGINT)
             BEGIN
               IF n > 0 THEN SELECT n; CALL dbdyno_p(n - 1); END IF;
             END",
        )
        .unwrap();
    let call = session.prepare("CALL dbdyno_p(?)").unwrap();
    for _ in 0..2 {
        let found = session.fetch(call, &[Value::Int(4)]).unwrap();
        assert_eq!((found.rows, found.digest), (4, 10));
    }
}

/// More than 16 MiB do not fit into one packet, neither on the way out nor in.
fn long_values(session: &mut dyn Session) {
    let echo = session.prepare("SELECT ?, length(?)").unwrap();
    let bytes: Vec<u8> = (0..17 << 20).map(|i| (i % 251) as u8).collect();
    let values = [Value::Blob(&bytes), Value::Blob(&bytes[..10])];
    let mut right = engine::Fetched { rows: 1, digest: 0 };
    right.add_text(0, &bytes);
    right.add_int(1, 10);
    assert_eq!(session.fetch(echo, &values).unwrap(), right);
    // More than is taken is refused here, and the session goes on.
    let huge = vec![0; 65 << 20];
    let error = session
        .fetch(echo, &[Value::Blob(&huge), Value::Int(1)])
        .unwrap_err();
    assert!(error.message.contains("64 MiB"), "{error}");
    assert_eq!(session.fetch(echo, &values).unwrap(), right);
}

fn deadlocks_can_be_tried_again(one: &mut dyn Session, mut other: Box<dyn Session>) {
    let lock = |session: &mut dyn Session, id: i64| {
        session.batch(&format!("UPDATE dbdyno_t SET pad = 'mine' WHERE id = {id}"))
    };
    one.batch("SET SESSION innodb_lock_wait_timeout = 50")
        .unwrap();
    other
        .batch("SET SESSION innodb_lock_wait_timeout = 50")
        .unwrap();
    one.begin().unwrap();
    lock(one, 7).unwrap();
    other.begin().unwrap();
    lock(other.as_mut(), 8).unwrap();
    // One of the two is the victim, and the other one gets its rows.
    let waits = std::thread::spawn(move || {
        let outcome = lock(other.as_mut(), 7);
        other.rollback().unwrap();
        outcome
    });
    let mine = lock(one, 8);
    one.rollback().unwrap();
    let outcomes = [mine, waits.join().unwrap()];
    let errors: Vec<_> = outcomes.iter().filter_map(|o| o.as_ref().err()).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].is_conflict() && errors[0].message.contains("1213"));
    one.batch("SET SESSION innodb_lock_wait_timeout = 1")
        .unwrap();
}

fn lock_timeouts_can_be_tried_again(one: &mut dyn Session, other: &mut dyn Session) {
    let sql = "UPDATE dbdyno_t SET pad = 'again' WHERE id = 9";
    one.begin().unwrap();
    one.batch(sql).unwrap();
    other.begin().unwrap();
    let error = other.batch(sql).unwrap_err();
    assert!(
        error.is_conflict() && error.message.contains("1205"),
        "{error}"
    );
    other.rollback().unwrap();
    one.commit().unwrap();
    other.begin().unwrap();
    other.batch(sql).unwrap();
    other.commit().unwrap();
}

/// The same rows give the same digest everywhere, so that the library's proofs hold.
fn digests_are_those_of_the_embedded_engine(kind: &Kind) {
    crate::shared::digests_are_those_of_the_embedded_engine(kind.local("").as_ref(), "BLOB");
}
