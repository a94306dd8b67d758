//! Shared by the tests of PostgreSQL.

use std::ops::Range;
use std::sync::Arc;

use engine::{BulkRow, Fetched, Result, RowSource, Session, Target, TargetError, Value};
use engines::open;
use local_server::LocalServer;
use postgres::local::PostgresServer;

use crate::pgbouncer::{PORT, Pooler};

/// Opens the target of a URL.
pub fn opened(url: &str) -> Result<Arc<dyn Target>> {
    open(&engines::parse(url).unwrap())
}

/// The error of a target that must not open.
pub fn refused(url: &str) -> TargetError {
    match opened(url) {
        Ok(_) => panic!("{url} was not refused"),
        Err(error) => error,
    }
}

/// A throw-away server of this version, small so that many fit beside each other.
pub fn local(settings: &str) -> Arc<dyn Target> {
    opened(&format!(
        "postgres+local:?version=15&shared_buffers=16MB{settings}"
    ))
    .unwrap()
}

/// A server to be reached by its address, as one that dbdyno did not start.
pub fn server() -> LocalServer {
    server_with("")
}

/// The same with settings.
pub fn server_with(settings: &str) -> LocalServer {
    let url = format!("postgres+local:?version=15&shared_buffers=16MB{settings}");
    let url = engines::parse(&url).unwrap();
    LocalServer::start_for(&PostgresServer, &url).unwrap()
}

/// URL of a database of `server` through its socket.
pub fn url_of(server: &LocalServer, user: &str, settings: &str) -> String {
    let directory = server.socket_directory().display().to_string();
    let host = directory.replace('/', "%2F");
    format!("postgres://{user}@{host}/postgres{settings}")
}

/// Runs a query without parameters.
pub fn ask(session: &mut dyn Session, sql: &str) -> Result<Fetched> {
    let statement = session.prepare(sql)?;
    session.fetch(statement, &[])
}

/// The one number that a query gives.
pub fn number(session: &mut dyn Session, sql: &str) -> i64 {
    let found = ask(session, sql).unwrap();
    assert_eq!(found.rows, 1, "{sql}");
    found.digest as i64
}

/// Rows `(id, text of it)`.
pub struct Rows(pub Range<i64>);

impl RowSource for Rows {
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        let Some(id) = self.0.next() else {
            return Ok(false);
        };
        sink(&[Value::Int(id), Value::Text(&format!("row {id} ä"))])?;
        Ok(true)
    }
}

/// Runs SQL as somebody who is not dbdyno, by the server's own client; gives what it prints.
pub fn psql(server: &LocalServer, sql: &str) -> String {
    let socket = server.socket_directory().display().to_string();
    psql_with(server, &["-h", &socket, "-U", server.superuser()], sql)
}

/// The same through a pooler.
pub fn psql_at(server: &LocalServer, pooler: &Pooler, sql: &str) -> String {
    let (socket, port) = (
        pooler.socket_directory().display().to_string(),
        PORT.to_string(),
    );
    psql_with(server, &["-h", &socket, "-p", &port, "-U", "somebody"], sql)
}

fn psql_with(server: &LocalServer, place: &[&str], sql: &str) -> String {
    let client = server.program().with_file_name("psql");
    let done = std::process::Command::new(client)
        .args(["-X", "-q", "-A", "-t", "-d", "postgres"])
        .args(place)
        .args(sql.split_inclusive(';').flat_map(|one| ["-c", one]))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{errors}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}
