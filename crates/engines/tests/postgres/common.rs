//! Shared by the tests of PostgreSQL.

use std::sync::Arc;

use engine::Target;
use local_server::LocalServer;
use postgres::local::PostgresServer;

use crate::pgbouncer::{PORT, Pooler};
pub use crate::shared::*;

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

pub fn server_with(settings: &str) -> LocalServer {
    let url = format!("postgres+local:?version=15&shared_buffers=16MB{settings}");
    let url = engines::parse(&url).unwrap();
    LocalServer::start_for(&PostgresServer, &url).unwrap()
}

pub fn url_of(server: &LocalServer, user: &str, settings: &str) -> String {
    let directory = server.socket_directory().display().to_string();
    let host = directory.replace('/', "%2F");
    format!("postgres://{user}@{host}/postgres{settings}")
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

/// Text with what has a meaning in files of rows.
pub fn text(id: i64) -> String {
    format!("row\t{id}\\N\n'ä\"")
}
