//! A MariaDB or MySQL server that dbdyno did not start, reached by its socket.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::process::Command;

use ::mysql::local::{InnoDbServer, MARIADB, MYSQL};
use engine::ErrorKind;
use local_server::{LocalServer, ServerKind};

/// A running MariaDB with further settings, each after an ampersand. It does not sync, because its files need not survive a crash of the
/// machine.
pub fn server(settings: &str) -> LocalServer {
    of_kind(&MARIADB, &format!("&innodb_log_file_size=32M{settings}"))
}

/// The same of MySQL; a test without one is skipped.
pub fn mysql_server(settings: &str) -> LocalServer {
    of_kind(&MYSQL, &format!("&innodb_redo_log_capacity=32M{settings}"))
}

fn of_kind(kind: &'static InnoDbServer, settings: &str) -> LocalServer {
    let name = kind.about().name;
    let url =
        format!("{name}+local:?innodb_buffer_pool_size=32M&innodb_flush_method=nosync{settings}");
    let url = engines::parse(&url).unwrap();
    match LocalServer::start_for(kind, &url) {
        Err(error) if error.kind == ErrorKind::NotInstalled => testing::lacking(&error.message),
        started => started.unwrap(),
    }
}

/// Ends the test where there is no MySQL.
pub fn needs_mysql() {
    let url = engines::parse("mysql+local:").unwrap();
    if let Err(why) = engines::find(&url).unwrap().version() {
        testing::lacking(&why);
    }
}

pub fn url(server: &LocalServer, user: &str) -> String {
    let socket = server.socket_path().display().to_string();
    format!("mysql://{user}@localhost/dbdyno?socket={socket}")
}

/// The server's own client, by its path in the installation.
pub fn client_of(server: &LocalServer) -> &'static str {
    match server.kind().about().name {
        "mariadb" => "bin/mariadb",
        _ => "bin/mysql",
    }
}

/// Runs SQL as another user with the server's own client; returns the output.
pub fn ask(server: &LocalServer, sql: &str) -> String {
    let tree = server.program().ancestors().nth(2).unwrap();
    let done = Command::new(tree.join(client_of(server)))
        .args(["--no-defaults", "-N", "-B", "-u", server.superuser(), "-S"])
        .arg(server.socket_path())
        .args(["-e", sql])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{sql}: {errors}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}
