//! A PostgreSQL server that dbdyno did not start, reached by its socket.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use ::postgres::local::PostgresServer;
use local_server::LocalServer;

/// A running server with further settings, each after an ampersand.
pub fn server(settings: &str) -> LocalServer {
    let url = format!("postgres+local:?version=15&shared_buffers=32MB{settings}");
    let url = engines::parse(&url).unwrap();
    LocalServer::start_for(&PostgresServer, &url).unwrap()
}

pub fn url_of(server: &LocalServer, user: &str, database: &str) -> String {
    let directory = server.socket_directory().display().to_string();
    format!(
        "postgres://{user}@{}/{database}",
        directory.replace('/', "%2F")
    )
}

pub fn url(server: &LocalServer, user: &str) -> String {
    url_of(server, user, "postgres")
}

/// Runs SQL as another user with the server's own client; returns the output.
pub fn psql(server: &LocalServer, sql: &str) -> String {
    let client = server.program().with_file_name("psql");
    let done = Command::new(client)
        .args(["-X", "-q", "-A", "-t", "-h"])
        .arg(server.socket_directory())
        .args(["-U", server.superuser(), "-d", "postgres"])
        .args(sql.split_inclusive(';').flat_map(|one| ["-c", one]))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{errors}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// Another user's idle session, until it is dropped.
pub struct Idle(Child);

pub fn idle(server: &LocalServer) -> Idle {
    let mut client = Command::new(server.program().with_file_name("psql"))
        .args(["-X", "-q", "-A", "-t", "-h"])
        .arg(server.socket_directory())
        .args(["-U", server.superuser(), "-d", "postgres"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = client.stdin.as_ref().unwrap();
    input.write_all(b"SELECT 'here';\n").unwrap();
    let mut answer = String::new();
    let mut output = BufReader::new(client.stdout.as_mut().unwrap());
    output.read_line(&mut answer).unwrap();
    assert_eq!(answer.trim(), "here");
    Idle(client)
}

impl Drop for Idle {
    fn drop(&mut self) {
        // The client ends when its input ends.
        drop(self.0.stdin.take());
        let ended = self.0.wait();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}
