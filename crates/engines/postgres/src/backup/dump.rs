//! `pg_dump` in the directory format: sessions that read the tables of one snapshot, which `pg_restore` loads into a new server.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::super::target::PostgresTarget;
use super::tools::statement;
use engine::backup::run;
use engine::backup_adapter::Adapter;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};

/// The level of gzip if nothing is said: the tool's own.
const GZIP_LEVEL: u32 = 6;

const WITHOUT_COMPRESSION: BackupMethod = BackupMethod {
    name: "dump-none",
    how: "pg_dump in the directory format without compression, synchronised: the rows of this database, and how its indexes are made; \
          channels are sessions (--jobs). The restore makes a new server and loads it with pg_restore, then ANALYZE",
    has_channels: true,
    ..BackupMethod::SIMPLE
};
pub(super) const NONE: Adapter<PostgresTarget> = Adapter {
    about: WITHOUT_COMPRESSION,
    on: |target| Box::new(Dump(target, 0)),
};
pub(super) const GZIP: Adapter<PostgresTarget> = Adapter {
    about: BackupMethod {
        name: "dump-gzip",
        how: "pg_dump in the directory format compressed with gzip (level 6 if not said), synchronised: the rows of this database, and \
              how its indexes are made; channels are sessions (--jobs). The restore makes a new server and loads it with pg_restore, \
              then ANALYZE",
        levels: Some((1, 9)),
        ..WITHOUT_COMPRESSION
    },
    on: |target| Box::new(Dump(target, GZIP_LEVEL)),
};

/// On a target, with the usual level.
struct Dump<'t>(&'t PostgresTarget, u32);

impl Method for Dump<'_> {
    fn logical_bytes(&self) -> Result<Option<u64>> {
        let bytes = self
            .0
            .told("SELECT pg_database_size(current_database())::text");
        let bytes = bytes.and_then(|text| text.parse().ok());
        let unknown = || statement("the server does not tell the size of its database");
        bytes.map(Some).ok_or_else(unknown)
    }

    fn back_up(&self, options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let mut command = self.0.program("pg_dump")?;
        command
            .args(["--format=directory", "--no-password"])
            .arg(format!("--jobs={}", options.channels))
            .arg(format!(
                "--compress={}",
                options.variant.level.unwrap_or(self.1)
            ))
            .arg("--file")
            .arg(into)
            .arg(self.0.database());
        Ok(run(command)?.took.into())
    }

    fn verify(&self, from: &Path) -> Result<Option<String>> {
        let mut command = self.0.program("pg_restore")?;
        command.arg("--file=/dev/null").arg(from);
        Ok(run(command).err().map(|error| error.message))
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        let begun = Instant::now();
        let (server, url) = self.0.start_new(of.into)?;
        let mut command = PostgresTarget::program_for(&server, "pg_restore")?;
        command
            .args(["--exit-on-error", "--no-password"])
            .arg(format!("--jobs={}", of.options.channels))
            .arg(format!("--dbname={}", self.0.database()))
            .arg(of.from);
        run(command)?;
        let loaded = PostgresTarget::open_loaded(server, &url)?;
        let copy_took = begun.elapsed();
        loaded.texts("ANALYZE")?;
        Ok(Restored::since(begun, copy_took, Arc::new(loaded)))
    }
}
