//! Backups of a local server with `pg_basebackup`: its own programs verify them, and another local server restores them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::local::PORT;
use super::target::{NOT_LOCAL, PostgresTarget};
use crate::backup::{BackupMethod, run};
use crate::file_snapshot::copy;
use crate::server::{LocalServer, failed};
use crate::session::{Backup, Restored};
use crate::{ErrorKind, Result, TargetError, TargetUrl};

const PLAIN: &str = "basebackup-plain";
const GZIP: &str = "basebackup-tar-gzip";
const METHODS: [BackupMethod; 3] = [
    BackupMethod {
        name: PLAIN,
        how: "pg_basebackup: plain files, the log streamed beside, synchronised",
    },
    BackupMethod {
        name: "basebackup-tar",
        how: "pg_basebackup: tar, the log streamed beside, synchronised",
    },
    BackupMethod {
        name: GZIP,
        how: "pg_basebackup: tar compressed by the client (gzip, level 1), the log streamed beside, synchronised",
    },
];

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
}

impl Backup for PostgresTarget {
    fn methods(&self) -> &'static [BackupMethod] {
        &METHODS
    }

    /// All databases of the server, which a base backup holds together.
    fn logical_bytes(&self) -> Result<u64> {
        let rows = self.texts("SELECT sum(pg_database_size(oid))::text FROM pg_database")?;
        let bytes = rows.into_iter().flatten().next().flatten();
        bytes
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| statement("the server does not tell the size of its databases"))
    }

    fn back_up(&self, method: &BackupMethod, into: &Path) -> Result<Duration> {
        let mut command = self.program("pg_basebackup")?;
        command.arg("--pgdata").arg(into).args([
            "--checkpoint=fast",
            "--wal-method=stream",
            "--no-password",
        ]);
        match method.name {
            PLAIN => command.arg("--format=plain"),
            GZIP => command.args(["--format=tar", "--gzip", "--compress=1"]),
            _ => command.arg("--format=tar"),
        };
        run(command)
    }

    fn check_place(&self, directory: &Path) -> Result<()> {
        self.own_server()?.check_reaches(directory)
    }

    /// Files are verified where they lie; archives where they were unpacked, before a server sees them.
    fn verify(&self, method: &BackupMethod, from: &Path) -> Result<Option<String>> {
        match method.name {
            PLAIN => self.verify_files(from, &from.join("backup_manifest")),
            _ => Ok(None),
        }
    }

    fn restore(&self, method: &BackupMethod, from: &Path, into: &Path) -> Result<Restored> {
        let server = self.own_server()?;
        let begun = Instant::now();
        let data = server.data_inside(into)?;
        match method.name {
            PLAIN => copy_files(from, &data)?,
            name => {
                let end = if name == GZIP { "tar.gz" } else { "tar" };
                unpack(&from.join(format!("base.{end}")), &data)?;
                unpack(&from.join(format!("pg_wal.{end}")), &data.join("pg_wal"))?;
            }
        }
        server.hand_over(into)?;
        copy::sync(into).map_err(|e| failed("cannot synchronise the restored files", &e))?;
        let copy_took = begun.elapsed();
        if method.name != PLAIN
            && let Some(wrong) = self.verify_files(&data, &from.join("backup_manifest"))?
        {
            return Err(statement(&wrong));
        }
        let starting = Instant::now();
        let into = into.to_str();
        let into = into.ok_or_else(|| statement("the path of the copy is not UTF-8"))?;
        let url = TargetUrl::parse(self.url()).map_err(|e| statement(&e.to_string()))?;
        let url = url.with_path(into);
        let target = PostgresTarget::open_local(&url)?;
        Ok(Restored {
            target: Arc::new(target),
            copy_took,
            replay_took: starting.elapsed(),
        })
    }
}

impl PostgresTarget {
    fn verify_files(&self, files: &Path, manifest: &Path) -> Result<Option<String>> {
        let mut command = self.program("pg_verifybackup")?;
        command.arg("--manifest-path").arg(manifest).arg(files);
        Ok(run(command).err().map(|error| error.message))
    }
}

fn copy_files(from: &Path, data: &Path) -> Result<()> {
    let failed = |e| failed(&format!("cannot copy {}", from.display()), &e);
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        copy::copy(&entry.path(), &data.join(entry.file_name())).map_err(failed)?;
    }
    Ok(())
}

fn unpack(archive: &Path, into: &Path) -> Result<()> {
    let mut command = Command::new("tar");
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .arg("--extract")
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(into);
    run(command).map(|_| ())
}

fn statement(what: &str) -> TargetError {
    TargetError::new(ErrorKind::Statement, format!("PostgreSQL: {what}"))
}
