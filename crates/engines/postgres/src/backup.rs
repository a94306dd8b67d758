//! Backups of local servers, each by a tool of PostgreSQL's own or of its users.

mod base;
mod dump;
mod incremental;
mod null;
mod pgbackrest;
mod tools;

use std::path::Path;

use tools::statement;

use super::target::PostgresTarget;
use engine::backup_adapter::{Adapter, bound, described};
use engine::{Backup, BackupMethod, Method, Result};

const ADAPTERS: &[Adapter<PostgresTarget>] = &[
    base::PLAIN,
    base::TAR,
    base::TAR_GZIP,
    base::SERVER_LZ4,
    base::SERVER_ZSTD,
    incremental::INCREMENTAL,
    dump::NONE,
    dump::GZIP,
    null::NONE,
    null::ZSTD,
    pgbackrest::NONE,
    pgbackrest::LZ4,
    pgbackrest::ZST,
];

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

    fn warm(&self) -> Result<()> {
        self.own_server()?.warm_files()
    }

    fn check_place(&self, directory: &Path) -> Result<()> {
        self.own_server()?.check_reaches(directory)
    }
}
