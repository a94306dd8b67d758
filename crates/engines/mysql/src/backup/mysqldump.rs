//! mysqldump: one session that reads the tables of one snapshot into statements, which a new server executes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use super::super::local::LOG_BYTES;
use super::super::target::MySqlTarget;
use super::mydumper::logical_bytes;
use super::tools::{argument, backed_up, how_to_get};
use engine::backup::run_on;
use engine::backup_adapter::Adapter;
use engine::failed;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};
use local_server::LocalServer;

const TOOL: &str = "mysqldump";
const CLIENT: &str = "mysql";
const FILE: &str = "dump.sql";
/// Begins the last line of a dump that is whole.
const COMPLETED: &str = "-- Dump completed";
const END_BYTES: u64 = 200;

pub(super) const DUMP: Adapter<MySqlTarget> = Adapter {
    about: BackupMethod {
        name: TOOL,
        how: "mysqldump --single-transaction: the rows of this database as statements, of one snapshot, then synchronised. The \
              restore makes a new server, which executes them",
        restored_log_bytes: LOG_BYTES,
        ..BackupMethod::SIMPLE
    },
    on: |target| Box::new(Dump(target)),
};

struct Dump<'t>(&'t MySqlTarget);

impl Dump<'_> {
    /// One of the tools on a server. Neither reads configuration of the machine.
    fn tool(&self, name: &str, server: &LocalServer) -> Result<Command> {
        let mut command = self.0.program(name)?;
        command
            .arg("--no-defaults")
            .arg(argument("--socket", &server.socket_path()))
            .arg(format!("--user={}", server.superuser()));
        Ok(command)
    }
}

impl Method for Dump<'_> {
    fn lacks(&self) -> Option<String> {
        let server = match self.0.own_server() {
            Ok(server) => server,
            Err(error) => return Some(error.message),
        };
        let is_missing = |name: &&str| self.0.program(name).is_err();
        let missing = [TOOL, CLIENT].into_iter().find(is_missing);
        missing.map(|name| format!("{name} is missing; {}", how_to_get(server)))
    }

    fn logical_bytes(&self) -> Result<Option<u64>> {
        logical_bytes(self.0)
    }

    fn back_up(&self, _options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let mut command = self.tool(TOOL, self.0.own_server()?)?;
        command
            .args([
                "--single-transaction",
                "--routines",
                "--triggers",
                "--events",
            ])
            .args(["--hex-blob", "--no-tablespaces", "--set-gtid-purged=OFF"])
            .arg(argument("--result-file", &dump_in(into)))
            .args(["--databases", self.0.database()]);
        backed_up(command, into, |_| None)
    }

    /// The tool has no more to verify by than that it came to its end.
    fn verify(&self, from: &Path) -> Result<Option<String>> {
        let end = end_of(&dump_in(from)).map_err(|e| failed("cannot read the backup", &e))?;
        let is_whole = end.lines().any(|line| line.starts_with(COMPLETED));
        Ok((!is_whole).then(|| format!("the file {FILE} does not end with \"{COMPLETED}\"")))
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        let begun = Instant::now();
        let (server, url) = self.0.start_new(of.into)?;
        let command = self.tool(CLIENT, &server)?;
        // The client of MySQL 9 takes no `source` in a statement.
        let dump =
            File::open(dump_in(of.from)).map_err(|e| failed("cannot read the backup", &e))?;
        run_on(dump, command)?;
        let copy_took = begun.elapsed();
        let loaded = MySqlTarget::of_server(server, &url)?;
        Ok(Restored::since(begun, copy_took, Arc::new(loaded)))
    }
}

fn dump_in(backup: &Path) -> PathBuf {
    backup.join(FILE)
}

fn end_of(file: &Path) -> std::io::Result<String> {
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
    let mut end = Vec::new();
    file.take(END_BYTES).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}
