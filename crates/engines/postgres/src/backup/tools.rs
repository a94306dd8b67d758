//! Shared by the methods: the server's programs, and another server for restored files.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use super::super::local::{PORT, PostgresServer};
use super::super::target::{NOT_LOCAL, PostgresTarget};
use engine::{ErrorKind, Result, Target, TargetError, TargetUrl};
use local_server::LocalServer;

impl PostgresTarget {
    /// The server, which is dbdyno's own.
    pub(super) fn own_server(&self) -> Result<&LocalServer> {
        self.local_server()
            .ok_or_else(|| TargetError::statement(NOT_LOCAL))
    }

    /// A program of the server's own version, for this server.
    pub(super) fn program(&self, name: &str) -> Result<Command> {
        Self::program_for(self.own_server()?, name)
    }

    /// A program of a server's own version, for that server.
    pub(super) fn program_for(server: &LocalServer, name: &str) -> Result<Command> {
        let program = server.program().with_file_name(name);
        if !program.is_file() {
            return Err(TargetError::new(
                ErrorKind::NotInstalled,
                format!(
                    "PostgreSQL: {} is missing; install the client programs of the server's version (on Debian: apt-get \
                     install postgresql-client)",
                    program.display()
                ),
            ));
        }
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LC_ALL", "C")
            .env("PGHOST", server.socket_directory())
            .env("PGPORT", PORT.to_string())
            .env("PGUSER", server.superuser());
        Ok(command)
    }

    /// A server of this one's version on restored files.
    pub(super) fn open_restored(&self, directory: &Path) -> Result<Arc<dyn Target>> {
        let mut url = self.url_of_restored(directory)?;
        // Otherwise it takes sessions, which may only read, before its log is replayed.
        url.settings.insert("hot_standby".into(), "off".into());
        Ok(Arc::new(Self::open_local(&url)?))
    }

    /// A new server of this one's version, in an empty directory; with its URL.
    pub(super) fn start_new(&self, directory: &Path) -> Result<(LocalServer, TargetUrl)> {
        self.own_server()?.give(directory)?;
        let url = self.url_of_restored(directory)?;
        Ok((LocalServer::start_for(&PostgresServer, &url)?, url))
    }

    fn url_of_restored(&self, directory: &Path) -> Result<TargetUrl> {
        let url = TargetUrl::read_back(self.url()).map_err(|e| statement(&e.to_string()))?;
        self.own_server()?.url_of_restored(&url, directory)
    }

    /// The first value of a query.
    pub(super) fn told(&self, sql: &str) -> Option<String> {
        self.texts(sql).ok()?.into_iter().flatten().next()?
    }
}

pub(super) fn statement(what: &str) -> TargetError {
    TargetError::statement(format!("PostgreSQL: {what}"))
}
