//! mydumper: sessions that read the tables of one snapshot into files of statements, which myloader loads into a new server.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use super::super::local::LOG_BYTES;
use super::super::target::MySqlTarget;
use super::tools::{argument, backed_up, how_to_get, statement};
use engine::backup::run;
use engine::backup_adapter::Adapter;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};
use local_server::LocalServer;

const TOOL: &str = "mydumper";
const LOADER: &str = "myloader";
/// Sizes of the statements that it writes, each a buffer that the loader sends at once; the server takes 16 MiB.
const STATEMENTS_KIB: (u32, u32) = (64, 8192);
const METADATA: &str = "metadata";
const FINISHED: &str = "Finished dump at";

const WITHOUT_COMPRESSION: BackupMethod = BackupMethod {
    name: "mydumper",
    how: "the rows of this database as statements, of one snapshot, then synchronised; channels are its threads, one for each \
          table. The restore makes a new server and loads it with myloader",
    has_channels: true,
    buffers_kib: Some(STATEMENTS_KIB),
    restored_log_bytes: LOG_BYTES,
    ..BackupMethod::SIMPLE
};
pub(super) const NONE: Adapter<MySqlTarget> = Adapter {
    about: WITHOUT_COMPRESSION,
    on: |target| Box::new(Dump(target, &[])),
};
pub(super) const GZIP: Adapter<MySqlTarget> = Adapter {
    about: BackupMethod {
        name: "mydumper-gzip",
        how: "the rows of this database as statements compressed with gzip, of one snapshot, then synchronised; channels are \
              its threads, one for each table. The restore makes a new server and loads it with myloader",
        ..WITHOUT_COMPRESSION
    },
    on: |target| Box::new(Dump(target, &["--compress"])),
};

/// On a target, with further arguments.
struct Dump<'t>(&'t MySqlTarget, &'static [&'static str]);

impl Dump<'_> {
    /// One of the tools with what both are told. Neither reads configuration of the machine.
    fn tool(&self, name: &str, server: &LocalServer, options: BackupOptions) -> Result<Command> {
        let mut command = self.0.program(name)?;
        command
            .arg("--defaults-file=/dev/null")
            .arg(argument("--socket", &server.socket_path()))
            .arg(format!("--user={}", server.superuser()))
            .arg(format!("--threads={}", options.channels));
        Ok(command)
    }
}

impl Method for Dump<'_> {
    fn lacks(&self) -> Option<String> {
        let server = match self.0.own_server() {
            Ok(server) => server,
            Err(error) => return Some(error.message),
        };
        let is_there = |name: &str| self.0.program(name).is_ok();
        let missing = [TOOL, LOADER].into_iter().find(|name| !is_there(name));
        missing.map(|name| format!("{name} is missing; {}", how_to_get(server)))
    }

    fn logical_bytes(&self) -> Result<Option<u64>> {
        logical_bytes(self.0)
    }

    fn back_up(&self, options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let mut command = self.tool(TOOL, self.0.own_server()?, options)?;
        command
            .arg(format!("--database={}", self.0.database()))
            .arg(argument("--outputdir", into))
            .args([
                "--routines",
                "--triggers",
                "--events",
                "--trx-consistency-only",
            ])
            .args(self.1);
        if let Some(kib) = options.variant.buffer_kib {
            command.arg(format!("--statement-size={}", u64::from(kib) << 10));
        }
        backed_up(command, into, |_| None)
    }

    /// The tool has no more to verify by than that it came to its end.
    fn verify(&self, from: &Path) -> Result<Option<String>> {
        let told = fs::read_to_string(from.join(METADATA)).unwrap_or_default();
        let is_finished = told.contains(FINISHED);
        Ok((!is_finished).then(|| format!("the file {METADATA} does not say that it is finished")))
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        let begun = Instant::now();
        let (server, url) = self.0.start_new(of.into)?;
        let mut command = self.tool(LOADER, &server, of.options)?;
        command.arg(argument("--directory", of.from));
        run(command)?;
        let copy_took = begun.elapsed();
        let loaded = MySqlTarget::of_server(server, &url)?;
        Ok(Restored::since(begun, copy_took, Arc::new(loaded)))
    }
}

/// The rows and indexes of this database.
pub(super) fn logical_bytes(target: &MySqlTarget) -> Result<Option<u64>> {
    let sql = "SELECT CAST(SUM(DATA_LENGTH + INDEX_LENGTH) AS CHAR) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()";
    let bytes = target.texts(sql)?.into_iter().flatten().next().flatten();
    let bytes = bytes.and_then(|text| text.parse().ok());
    let unknown = || statement("the server does not tell the size of its tables");
    bytes.map(Some).ok_or_else(unknown)
}
