//! Shared by the tests of MariaDB and MySQL.

use std::sync::Arc;

use engine::{Session, Target};
use local_server::LocalServer;
use mysql::local::InnoDbServer;

pub use crate::networked::installed;
pub use crate::shared::*;

/// A kind of server that a test runs on.
pub struct Kind {
    pub server: &'static InnoDbServer,
    pub scheme: &'static str,
    /// Small, so that many fit beside each other.
    small: &'static str,
    pub client: &'static str,
    /// The statement that lets the kernel's word count as a password.
    pub knows_sockets: &'static str,
    /// Error of a wrong password where nobody may read along, but somebody could.
    pub wrong_in_clear: &'static str,
    /// MariaDB's words, which the tests are written in, and this server's.
    words: &'static [(&'static str, &'static str)],
}

pub const MARIADB: Kind = Kind {
    server: &mysql::local::MARIADB,
    scheme: "mariadb+local",
    small: "innodb_buffer_pool_size=16M&innodb_log_file_size=16M",
    client: "bin/mariadb",
    knows_sockets: "DO 1",
    wrong_in_clear: "Access denied",
    words: &[],
};

pub const MYSQL: Kind = Kind {
    server: &mysql::local::MYSQL,
    scheme: "mysql+local",
    small: "innodb_buffer_pool_size=16M&innodb_redo_log_capacity=16M",
    client: "bin/mysql",
    knows_sockets: "INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'",
    wrong_in_clear: "the password was not sent",
    words: &[
        ("innodb_log_file_size", "innodb_redo_log_capacity"),
        ("tx_isolation", "transaction_isolation"),
        ("tx_read_only", "transaction_read_only"),
        (
            "GLOBAL max_statement_time = 0.00001",
            "GLOBAL max_execution_time = 1",
        ),
        (
            "GLOBAL max_statement_time = 7",
            "GLOBAL max_execution_time = 7",
        ),
        ("max_statement_time", "max_execution_time"),
        ("GLOBAL idle_transaction_timeout = 4, ", ""),
        ("IDENTIFIED VIA unix_socket", "IDENTIFIED WITH auth_socket"),
        (
            "information_schema.global_status",
            "performance_schema.global_status",
        ),
        ("innodb_sys_tablespaces", "innodb_tablespaces"),
        ("INNODB_CHECKPOINT_AGE", "INNODB_BUFFER_POOL_BYTES_DIRTY"),
        ("SUPER", "SYSTEM_VARIABLES_ADMIN"),
        ("innodb_force_primary_key", "sql_require_primary_key"),
    ],
};

/// The server's instruments take memory and time to start.
const BARE: &str = "&performance_schema=OFF";

impl Kind {
    /// A text of MariaDB in this server's words.
    pub fn words(&self, text: &str) -> String {
        let replaced = |text: String, (of, by): &(&str, &str)| text.replace(of, by);
        self.words.iter().fold(text.to_owned(), replaced)
    }

    /// A throw-away server as a target.
    pub fn local(&self, settings: &str) -> Arc<dyn Target> {
        let Self { scheme, small, .. } = self;
        self.opened(&format!("{scheme}:?{small}{BARE}{settings}"))
    }

    /// A target with a server of this kind.
    pub fn opened(&self, url: &str) -> Arc<dyn Target> {
        installed(opened(url))
    }

    /// A server to be reached by its address, as one that dbdyno did not start.
    pub fn server(&self) -> LocalServer {
        // Its files need not outlive the machine.
        self.server_with(&format!("{BARE}&innodb_flush_method=nosync"))
    }

    /// One with these settings, each after an ampersand.
    pub fn server_with(&self, settings: &str) -> LocalServer {
        let Self { scheme, small, .. } = self;
        let url = engines::parse(&format!("{scheme}:?{small}{settings}")).unwrap();
        installed(LocalServer::start_for(self.server, &url))
    }
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
