//! Shared by the tests of MariaDB.

use std::ops::Range;
use std::sync::Arc;

use engine::{BulkRow, Fetched, Result, RowSource, Session, Target, TargetError, Value};
use engines::open;
use local_server::LocalServer;
use mysql::local::MariaDbServer;

/// Small, so that many fit beside each other.
const SMALL: &str = "innodb_buffer_pool_size=16M&innodb_log_file_size=16M";
/// The server's instruments take memory and time to start.
const BARE: &str = "&performance_schema=OFF";

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

/// A throw-away server as a target.
pub fn local(settings: &str) -> Arc<dyn Target> {
    opened(&format!("mysql+local:?{SMALL}{BARE}{settings}")).unwrap()
}

/// A server to be reached by its address, as one that dbdyno did not start.
pub fn server() -> LocalServer {
    // Its files need not outlive the machine.
    server_with(&format!("{BARE}&innodb_flush_method=nosync"))
}

/// One with these settings, each after an ampersand.
pub fn server_with(settings: &str) -> LocalServer {
    let url = engines::parse(&format!("mysql+local:?{SMALL}{settings}")).unwrap();
    LocalServer::start_for(&MariaDbServer, &url).unwrap()
}

/// URL of a database of `server` through its socket; `user` may be `USER:PASSWORD`.
pub fn url_of(server: &LocalServer, user: &str, database: &str) -> String {
    let socket = server.socket_path().display().to_string();
    format!("mysql://{user}@localhost/{database}?socket={socket}")
}

/// A session of the superuser on a database that is made for it, to set a stage with.
pub fn stage(server: &LocalServer) -> Box<dyn Session> {
    let target = opened(&url_of(server, "root", "dbdyno_stage")).unwrap();
    target.open_session().unwrap()
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

/// Rows `(id, text of it)`, with everything in the text that a load has to mind.
pub struct Rows(pub Range<i64>);

impl RowSource for Rows {
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        let Some(id) = self.0.next() else {
            return Ok(false);
        };
        sink(&[Value::Int(id), Value::Text(&odd_text(id))])?;
        Ok(true)
    }
}

/// Text with what has a meaning in files of rows.
pub fn odd_text(id: i64) -> String {
    format!("row\t{id}\\N\n'ä\"\0")
}
