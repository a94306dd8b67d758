//! Backups of local servers, each by a tool of PostgreSQL's own or of its users.

mod base;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use super::local::PORT;
use super::target::PostgresTarget;
use crate::backup::{Adapter, bound, described};
use crate::server::LocalServer;
use crate::{Backup, BackupMethod, ErrorKind, Method, Result, Target, TargetError, TargetUrl};

/// Why a server that somebody else started has no methods.
pub(super) const NOT_LOCAL: &str = "backups of PostgreSQL are measured on servers that dbdyno starts itself, because the restored \
     copy needs a server of its own; use postgres+local:";

const ADAPTERS: &[Adapter<PostgresTarget>] = &[
    base::PLAIN,
    base::TAR,
    base::TAR_GZIP,
    base::SERVER_LZ4,
    base::SERVER_ZSTD,
];

/// The methods of local servers.
pub(super) fn methods() -> Vec<BackupMethod> {
    described(ADAPTERS)
}

impl Backup for PostgresTarget {
    /// All databases of the server, which a base backup holds together.
    fn logical_bytes(&self) -> Result<u64> {
        let rows = self.texts("SELECT sum(pg_database_size(oid))::text FROM pg_database")?;
        let bytes = rows.into_iter().flatten().next().flatten();
        bytes
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| statement("the server does not tell the size of its databases"))
    }

    fn methods(&self) -> Vec<BackupMethod> {
        methods()
    }

    fn method(&self, name: &str) -> Option<Box<dyn Method + '_>> {
        bound(ADAPTERS, name, self)
    }

    fn check_place(&self, directory: &Path) -> Result<()> {
        self.own_server()?.check_reaches(directory)
    }
}

impl PostgresTarget {
    /// The server, which is dbdyno's own.
    fn own_server(&self) -> Result<&LocalServer> {
        self.local_server()
            .ok_or_else(|| TargetError::new(ErrorKind::Statement, NOT_LOCAL))
    }

    /// A program of the server's own version.
    fn program(&self, name: &str) -> Result<Command> {
        let server = self.own_server()?;
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
    fn open_restored(&self, directory: &Path) -> Result<Arc<dyn Target>> {
        let url = TargetUrl::parse(self.url()).map_err(|e| statement(&e.to_string()))?;
        let url = self.own_server()?.url_of_restored(&url, directory)?;
        Ok(Arc::new(Self::open_local(&url)?))
    }

    /// The first value of a query.
    fn told(&self, sql: &str) -> Option<String> {
        self.texts(sql).ok()?.into_iter().flatten().next()?
    }
}

fn statement(what: &str) -> TargetError {
    TargetError::new(ErrorKind::Statement, format!("PostgreSQL: {what}"))
}
