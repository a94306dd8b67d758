//! `COPY FROM DATABASE`: all tables as they are at one moment, into another file.

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::super::explain::explain;
use super::super::target::DuckDbTarget;
use super::tools::{RESTORED, path_text, statement, verify_file};
use engine::backup_adapter::Adapter;
use engine::file_snapshot::copy::sync;
use engine::register::quoted;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};

/// The database in a repository.
const FILE: &str = "backup.duckdb";
const NAME: &str = "dbdyno_backup";

pub(super) const COPY: Adapter<DuckDbTarget> = Adapter {
    about: BackupMethod {
        name: "copy",
        how: "COPY FROM DATABASE: all tables as they are at one moment, with their indexes, into another file, then synchronised; \
              channels are threads",
        has_channels: true,
        ..BackupMethod::SIMPLE
    },
    on: |target| Box::new(Copied(target)),
};

struct Copied<'t>(&'t DuckDbTarget);

impl Method for Copied<'_> {
    fn lacks(&self) -> Option<String> {
        self.0.lacks_directories()
    }

    fn prepare(&self, options: BackupOptions, into: &Path) -> Result<()> {
        self.0.lend(options, into)
    }

    fn back_up(&self, _options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let (connection, _guard) = self.0.instance.connect()?;
        let run = |sql: &str| {
            let done = connection.query(sql).map(drop);
            done.map_err(|m| explain("the backup failed", &m))
        };
        let own = connection.texts("SELECT current_database()");
        let own = own.map_err(|m| explain("reading its name", &m))?;
        let own = own.into_iter().flatten().next().unwrap_or_default();
        let file = quoted(path_text(&into.join(FILE))?);
        run(&format!("ATTACH {file} AS {NAME}"))?;
        let own = own.replace('"', "\"\"");
        let copied = run(&format!("COPY FROM DATABASE \"{own}\" TO {NAME}"));
        // It is written whole, and synchronised, when it is closed.
        let closed = run(&format!("DETACH {NAME}"));
        copied.and(closed)?;
        sync(into).map_err(|e| statement(&format!("cannot synchronise the backup: {e}")))?;
        Ok(BackedUp::default())
    }

    fn finish(&self) -> Result<()> {
        self.0.take_back()
    }

    fn verify(&self, from: &Path) -> Result<Option<String>> {
        verify_file(self.0.instance.loaded, &from.join(FILE))
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        let RestoreOptions { from, into, .. } = *of;
        let begun = Instant::now();
        let file = into.join(RESTORED);
        let copied = fs::copy(from.join(FILE), &file);
        copied.map_err(|e| statement(&format!("{}: {e}", file.display())))?;
        self.0.open_restored(&file, (begun, into))
    }
}
