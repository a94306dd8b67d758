//! A PostgreSQL server that dbdyno did not start, for its own part: by its socket.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use ::postgres::local::PostgresServer;
use local_server::{LocalServer, ServerSpec};

/// A running server with more settings, each after an ampersand.
pub fn server(settings: &str) -> LocalServer {
    let url = format!("postgres+local:?version=15&shared_buffers=32MB{settings}");
    let url = engines::parse(&url).unwrap();
    let spec = ServerSpec::from_url(&PostgresServer, &url).unwrap();
    LocalServer::start(&PostgresServer, &spec).unwrap()
}

/// URL of one of its databases.
pub fn url_of(server: &LocalServer, user: &str, database: &str) -> String {
    let directory = server.socket_directory().display().to_string();
    format!(
        "postgres://{user}@{}/{database}",
        directory.replace('/', "%2F")
    )
}

/// URL of its first database.
pub fn url(server: &LocalServer, user: &str) -> String {
    url_of(server, user, "postgres")
}

/// Runs SQL as somebody who is not dbdyno, by the server's own client; gives what it prints.
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

/// Somebody's session that has nothing to do, until it is dropped.
pub struct Idle(Child);

/// Logs on, and stays.
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
        // It ends with its input.
        drop(self.0.stdin.take());
        let ended = self.0.wait();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}
