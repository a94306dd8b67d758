//! Shared by the tests of MariaDB.

use std::sync::Arc;

use engine::{Session, Target};
use local_server::LocalServer;
use mysql::local::MariaDbServer;

pub use crate::shared::*;

/// Small, so that many fit beside each other.
const SMALL: &str = "innodb_buffer_pool_size=16M&innodb_log_file_size=16M";
/// The server's instruments take memory and time to start.
const BARE: &str = "&performance_schema=OFF";

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

/// Text with what has a meaning in files of rows.
pub fn text(id: i64) -> String {
    format!("row\t{id}\\N\n'ä\"\0")
}
