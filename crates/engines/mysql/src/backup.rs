//! Backups of local servers. Of MariaDB: with `mariadb-backup`, which copies files while the server works and replays its log into
//! them when they are restored, and of rows. Of MySQL: with its plugin `clone`, which copies files inside the server, and of rows.

mod clone;
mod files;
mod mydumper;
mod mysqldump;
mod pages;
mod tools;

use std::path::Path;

use tools::statement;

use super::flavour::Flavour;
use super::target::MySqlTarget;
use engine::backup_adapter::{Adapter, bound, described};
use engine::{Backup, BackupMethod, Method, Result};

const OF_MARIADB: &[Adapter<MySqlTarget>] = &[files::FILES, mydumper::NONE, mydumper::GZIP];
const OF_MYSQL: &[Adapter<MySqlTarget>] = &[clone::CLONE, mysqldump::DUMP];

fn adapters(flavour: Flavour) -> &'static [Adapter<MySqlTarget>] {
    if flavour.clones_itself {
        OF_MYSQL
    } else {
        OF_MARIADB
    }
}

pub(super) fn methods(flavour: Flavour) -> Vec<BackupMethod> {
    described(adapters(flavour))
}

impl Backup for MySqlTarget {
    /// Table spaces without undo, temporary tables and free pages, which each of MySQL's own tables reports of all of theirs.
    fn logical_bytes(&self) -> Result<u64> {
        let files = self.flavour().table_spaces;
        let sql = format!(
            "SELECT CAST((SELECT SUM(FILE_SIZE) FROM information_schema.{files} \
                   WHERE NAME NOT LIKE 'innodb_undo%' AND NAME <> 'innodb_temporary') \
                   - (SELECT SUM(DATA_FREE) FROM information_schema.TABLES \
                      WHERE ENGINE = 'InnoDB' AND TABLE_SCHEMA <> 'mysql') AS CHAR)"
        );
        let rows = self.texts(&sql)?;
        let bytes = rows.into_iter().flatten().next().flatten();
        bytes
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| statement("the server does not tell the size of its table spaces"))
    }

    fn methods(&self) -> Vec<BackupMethod> {
        methods(self.flavour())
    }

    fn method(&self, name: &str) -> Option<Box<dyn Method + '_>> {
        bound(adapters(self.flavour()), name, self)
    }

    fn warm(&self) -> Result<()> {
        self.own_server()?.warm_files()
    }

    fn check_place(&self, directory: &Path) -> Result<()> {
        self.own_server()?.check_reaches(directory)
    }
}
