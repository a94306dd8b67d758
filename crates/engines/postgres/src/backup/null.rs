//! `pg_basebackup --target=blackhole`: the server reads its files, compresses them if asked, and keeps nothing. What a backup
//! costs without the medium that it goes to.

use std::path::Path;

use super::super::target::PostgresTarget;
use super::base::{limit_rate, not_built_with};
use super::tools::statement;
use engine::backup::run;
use engine::backup_adapter::Adapter;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};

/// The first version that can discard a backup.
const VERSION_MIN: u32 = 15;

const WITHOUT_COMPRESSION: BackupMethod = BackupMethod {
    name: "basebackup-null",
    how: "pg_basebackup --target=blackhole: the server reads all files and keeps nothing, so that the medium takes no time",
    has_rate: true,
    backups: 0,
    ..BackupMethod::SIMPLE
};
pub(super) const NONE: Adapter<PostgresTarget> = Adapter {
    about: WITHOUT_COMPRESSION,
    on: |target| Box::new(Null(target, None)),
};
pub(super) const ZSTD: Adapter<PostgresTarget> = Adapter {
    about: BackupMethod {
        name: "basebackup-null-zstd",
        how: "pg_basebackup --target=blackhole: the server reads all files, compresses them (zstd, level 1 if not said) and keeps \
              nothing, so that the medium takes no time",
        levels: Some((1, 22)),
        ..WITHOUT_COMPRESSION
    },
    on: |target| Box::new(Null(target, Some(1))),
};

/// On a target, with the usual level of zstd.
struct Null<'t>(&'t PostgresTarget, Option<u32>);

impl Method for Null<'_> {
    fn lacks(&self) -> Option<String> {
        let major = self.0.major();
        if major < VERSION_MIN {
            return Some(format!(
                "PostgreSQL can discard a backup from version {VERSION_MIN} on, and this is {major}; use such a server (version=… in the \
                 URL)"
            ));
        }
        self.1.and_then(|_| not_built_with(self.0, "--with-zstd"))
    }

    fn back_up(&self, options: BackupOptions, _into: &Path) -> Result<BackedUp> {
        let mut command = self.0.program("pg_basebackup")?;
        command.args([
            "--target=blackhole",
            "--checkpoint=fast",
            "--wal-method=fetch",
            "--no-password",
        ]);
        limit_rate(&mut command, options);
        if let Some(usual) = self.1 {
            let level = options.variant.level.unwrap_or(usual);
            command.arg(format!("--compress=server-zstd:level={level}"));
        }
        Ok(run(command)?.took.into())
    }

    fn verify(&self, _from: &Path) -> Result<Option<String>> {
        Ok(None)
    }

    fn restore(&self, _of: &RestoreOptions<'_>) -> Result<Restored> {
        Err(statement(
            "there is nothing to restore of a discarded backup",
        ))
    }
}
