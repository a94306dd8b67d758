//! Backups of a database file while it is in use: copied into another file, and exported to Parquet.
//!
//! Other files are closed to the database (`enable_external_access`). It is opened again for a backup, with the directory of that
//! backup open to it and nothing else, and again without it afterwards.

mod copy;
mod export;
mod tools;

use tools::statement;

use super::target::DuckDbTarget;
use engine::backup::warm;
use engine::backup_adapter::{Adapter, bound, described};
use engine::{Backup, BackupMethod, Method, Result, Target};

const ADAPTERS: [Adapter<DuckDbTarget>; 2] = [copy::COPY, export::EXPORT];

/// The methods of databases in files.
pub(super) fn methods() -> Vec<BackupMethod> {
    described(&ADAPTERS)
}

impl Backup for DuckDbTarget {
    fn logical_bytes(&self) -> Result<u64> {
        let sql = "SELECT (used_blocks * block_size)::VARCHAR FROM pragma_database_size() \
                   WHERE database_name = current_database()";
        let rows = self.texts("cannot count the blocks", sql)?;
        let bytes = rows.first().and_then(|row| row.first()?.parse().ok());
        bytes.ok_or_else(|| statement("the database does not tell its size"))
    }

    fn methods(&self) -> Vec<BackupMethod> {
        methods()
    }

    fn method(&self, name: &str) -> Option<Box<dyn Method + '_>> {
        bound(&ADAPTERS, name, self)
    }

    fn warm(&self) -> Result<()> {
        self.data_path().map_or(Ok(()), warm)
    }
}
