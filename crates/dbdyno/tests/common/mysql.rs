//! A MariaDB server that dbdyno did not start, reached by its socket.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::process::Command;

use ::mysql::local::MariaDbServer;
use local_server::LocalServer;

/// A running server with further settings, each after an ampersand. It does not sync, because its files need not survive a crash of the
/// machine.
pub fn server(settings: &str) -> LocalServer {
    let small = "innodb_buffer_pool_size=32M&innodb_log_file_size=32M&innodb_flush_method=nosync";
    let url = format!("mysql+local:?{small}{settings}");
    let url = engines::parse(&url).unwrap();
    LocalServer::start_for(&MariaDbServer, &url).unwrap()
}

pub fn url(server: &LocalServer, user: &str) -> String {
    let socket = server.socket_path().display().to_string();
    format!("mysql://{user}@localhost/dbdyno?socket={socket}")
}

/// Runs SQL as another user with the server's own client; returns the output.
pub fn ask(server: &LocalServer, sql: &str) -> String {
    let tree = server.program().ancestors().nth(2).unwrap();
    let done = Command::new(tree.join("bin/mariadb"))
        .args(["--no-defaults", "-N", "-B", "-u", server.superuser(), "-S"])
        .arg(server.socket_path())
        .args(["-e", sql])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{sql}: {errors}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}
