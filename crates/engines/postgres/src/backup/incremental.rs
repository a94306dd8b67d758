//! `pg_basebackup --incremental`: the blocks that changed since a full backup, which `pg_combinebackup` puts together again.
//!
//! The full backup is made before the work whose changes the incremental one holds. The server sums up its log meanwhile, by
//! a setting that goes with its next restart.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::target::PostgresTarget;
use super::base::{MANIFEST, base_backup, open, verify_files};
use engine::backup::run;
use engine::backup_adapter::Adapter;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};

/// The first version whose server sums up its log.
const VERSION_MIN: u32 = 17;
/// Has the server note which blocks its log changes.
const SUMMARIES: &str = "summarize_wal";

pub(super) const INCREMENTAL: Adapter<PostgresTarget> = Adapter {
    about: BackupMethod {
        name: "basebackup-incremental",
        how: "pg_basebackup --incremental: the blocks changed since a full backup, which was made before the work, as plain files, the \
              log streamed beside, synchronised; the restore puts both together with pg_combinebackup",
        backups: 2,
        has_rate: true,
        ..BackupMethod::SIMPLE
    },
    on: |target| Box::new(Incremental(target)),
};

struct Incremental<'t>(&'t PostgresTarget);

/// Where the full backup lies, and the one upon it.
fn parts(repository: &Path) -> [PathBuf; 2] {
    ["full", "incremental"].map(|name| repository.join(name))
}

impl Method for Incremental<'_> {
    fn lacks(&self) -> Option<String> {
        let major = self.0.major();
        (major < VERSION_MIN).then(|| {
            format!(
                "PostgreSQL has incremental backups from version {VERSION_MIN} on, and this is {major}; use such a server (version=… in \
                 the URL)"
            )
        })
    }

    fn prepare(&self, options: BackupOptions, into: &Path) -> Result<()> {
        self.0.restart_with(&[(SUMMARIES, "on".to_owned())])?;
        let [full, _] = parts(into);
        run(base_backup(self.0, options, &full)?).map(drop)
    }

    fn back_up(&self, options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let [full, incremental] = parts(into);
        let mut command = base_backup(self.0, options, &incremental)?;
        command.arg("--incremental").arg(full.join(MANIFEST));
        Ok(run(command)?.took.into())
    }

    fn finish(&self) -> Result<()> {
        self.0.restart_with(&[])
    }

    fn verify(&self, from: &Path) -> Result<Option<String>> {
        for part in parts(from) {
            let wrong = verify_files(self.0, &part, &part.join(MANIFEST))?;
            if wrong.is_some() {
                return Ok(wrong);
            }
        }
        Ok(None)
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        let RestoreOptions { from, into, .. } = *of;
        let server = self.0.own_server()?;
        let begun = Instant::now();
        let data = server.data_inside(into)?;
        let mut command = self.0.program("pg_combinebackup")?;
        command.args(parts(from)).arg("--output").arg(&data);
        run(command)?;
        open(self.0, into, &data, Some(&data.join(MANIFEST)), begun)
    }
}
