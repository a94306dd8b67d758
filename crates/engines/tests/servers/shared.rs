//! Shared by the tests of servers: targets, statements and rows, and sequences of calls that every server must answer alike.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use engine::{BulkRow, ErrorKind, Fetched, Result, RowSource, Session, Target, TargetError, Value};
use testing::Says;

pub fn opened(url: &str) -> Result<Arc<dyn Target>> {
    engines::open(&engines::parse(url).unwrap())
}

/// The error of a target that must not open.
pub fn refused(url: &str) -> TargetError {
    match opened(url) {
        Ok(_) => panic!("{url} was not refused"),
        Err(error) => error,
    }
}

/// The target is unreachable, its error contains these words and no password.
pub fn is_unreachable(url: &str, words: &str) {
    let error = refused(url);
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    assert!(error.message.contains(words), "{url}: {error}");
    assert!(!error.message.contains("hush"), "{error}");
}

/// No session can have the setting: the error names it, and says if it is one of the server as a whole.
pub fn cannot_be_set(url: &str, setting: &str, words: &str, of_server: bool) {
    let error = refused(url);
    assert_eq!(error.kind, ErrorKind::Statement, "{setting}: {error}");
    let name = setting.split('=').next().unwrap().to_ascii_lowercase();
    error.message.says_all(&[words, &name]);
    let advice = "compare a run before with one after";
    assert_eq!(error.message.contains(advice), of_server, "{error}");
}

pub fn ask(session: &mut dyn Session, sql: &str) -> Result<Fetched> {
    let statement = session.prepare(sql)?;
    session.fetch(statement, &[])
}

pub fn number(session: &mut dyn Session, sql: &str) -> i64 {
    let found = ask(session, sql).unwrap();
    assert_eq!(found.rows, 1, "{sql}");
    found.digest as i64
}

/// Rows `(id, text of it)`, with what has a meaning in files of rows.
pub struct Rows(pub Range<i64>);

impl RowSource for Rows {
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        let Some(id) = self.0.next() else {
            return Ok(false);
        };
        sink(&[Value::Int(id), Value::Text(&crate::common::text(id))])?;
        Ok(true)
    }
}

/// Loads this many rows into a new table and reads them.
pub fn loads_and_reads(session: &mut dyn Session, rows: i64) {
    let made = "CREATE TABLE dbdyno_t (id BIGINT, pad VARCHAR(40))";
    session.batch(made).unwrap();
    let loaded = session.bulk_load("dbdyno_t", &mut Rows(0..rows)).unwrap();
    let read = ask(session, "SELECT * FROM dbdyno_t").unwrap();
    assert_eq!([loaded, read.rows], [rows as u64; 2]);
}

/// Commits, rolls back, and refuses to write in a transaction that reads, on 50,000 rows of `dbdyno_t`.
pub fn transactions(session: &mut dyn Session) {
    let update = session.prepare("UPDATE dbdyno_t SET pad = ? WHERE id <= ?");
    let update = update.unwrap();
    let changed = "SELECT count(*) FROM dbdyno_t WHERE pad = 'new'";
    let two = [Value::Text("new"), Value::Int(2)];
    session.begin().unwrap();
    assert_eq!(session.execute(update, &two).unwrap(), 2);
    session.rollback().unwrap();
    assert_eq!(number(session, changed), 0);
    session.begin().unwrap();
    assert_eq!(session.execute(update, &two).unwrap(), 2);
    session.commit().unwrap();
    assert_eq!(number(session, changed), 2);
    // Empty ones, and a rollback where there is nothing to roll back.
    session.begin().unwrap();
    session.commit().unwrap();
    session.begin().unwrap();
    session.rollback().unwrap();
    session.rollback().unwrap();
    session.begin_read().unwrap();
    let error = session.execute(update, &two).unwrap_err();
    assert!(error.message.contains("25006"), "{error}");
    session.rollback().unwrap();
    session.begin().unwrap();
    session.batch("DELETE FROM dbdyno_t WHERE id = 1").unwrap();
    session.rollback().unwrap();
    assert_eq!(number(session, "SELECT count(*) FROM dbdyno_t"), 50_000);
}

/// The same rows give the same digest on a server, whose type of bytes has this name, and on the embedded engine.
pub fn digests_are_those_of_the_embedded_engine(target: &dyn Target, bytes: &str) {
    let embedded = opened("sqlite:").unwrap();
    let digests = |target: &dyn Target, bytes: &str, [real, length]: [&str; 2]| {
        let mut session = target.open_session().unwrap();
        let made = format!(
            "CREATE TABLE dbdyno_d (id BIGINT NOT NULL, tiny SMALLINT, four INTEGER, \
             label VARCHAR(40), blank TEXT, x DOUBLE PRECISION, bytes {bytes}); \
             INSERT INTO dbdyno_d (id) VALUES (9)"
        );
        session.batch(&made).unwrap();
        let insert = format!("INSERT INTO dbdyno_d VALUES (?, ?, ?, ?, ?, {real}, ?)");
        let insert = session.prepare(&insert).unwrap();
        for id in -50..50i64 {
            let text = format!("té?\txt {}", id * 7);
            let values = [
                Value::Int(id << 40),
                Value::Int(id),
                Value::Int(id * 1000),
                Value::Text(&text),
                Value::Text(""),
                Value::Int(id),
                Value::Blob(&[0, 255, id as u8]),
            ];
            assert_eq!(session.execute(insert, &values).unwrap(), 1);
        }
        [
            "SELECT * FROM dbdyno_d",
            "SELECT count(*), sum(id), sum(four), sum(length(label)), min(id), max(x) FROM dbdyno_d",
            "SELECT count(*), sum(id), sum(tiny), min(four), max(four), max(label) FROM dbdyno_d",
            "SELECT tiny % 7, count(*), sum(id) * 100 FROM dbdyno_d WHERE id > 0 GROUP BY tiny % 7",
            "SELECT length(bytes), label FROM dbdyno_d WHERE tiny > 3 ORDER BY id LIMIT 10",
            "SELECT label FROM dbdyno_d WHERE label <> 'a?b' -- ?",
            "SELECT id FROM dbdyno_d WHERE id = 3",
        ]
        .map(|sql| ask(session.as_mut(), &sql.replace("length(label)", length)).unwrap())
    };
    let usual = ["1.5e0 * CAST(? AS INTEGER)", "length(label)"];
    // MariaDB's length is in bytes.
    let of_mariadb = ["1.5e0 * ?", "char_length(label)"];
    let own = if bytes == "BLOB" { of_mariadb } else { usual };
    let found = digests(target, bytes, own);
    assert_eq!(found, digests(embedded.as_ref(), "BLOB", usual));
    assert_eq!((found[0].rows, found[6].rows), (101, 0));
}

/// A port that leads to a server that listens on a socket only, while the test runs.
pub fn port_of(socket: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for near in listener.incoming() {
            let (near, far) = (near.unwrap(), UnixStream::connect(&socket).unwrap());
            let (near_too, far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            thread::spawn(move || {
                forward(near_too, &far_too);
                let _ = far_too.shutdown(Shutdown::Both);
            });
            thread::spawn(move || {
                forward(far, &near);
                let _ = TcpStream::shutdown(&near, Shutdown::Both);
            });
        }
    });
    port
}

fn forward(mut from: impl Read, mut to: impl Write) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A port whose first client gets an answer in another protocol.
pub fn port_of_another_protocol(answer: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let _ = client.write_all(answer);
        let _ = client.read(&mut [0; 64]);
    });
    port
}
