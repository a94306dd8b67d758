//! Shared by the methods: the directory that a database may use, and files that no target has open.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::super::explain::explain;
use super::super::handle::{Connection, Database};
use super::super::instance::Lent;
use super::super::library::Loaded;
use super::super::set_up::options_read_only;
use super::super::target::DuckDbTarget;
use engine::TargetUrl;
use engine::file_snapshot::copy::sync;
use engine::register::quoted;
use engine::{BackupOptions, OWN_TABLES, Restored, Result, Target, TargetError};

/// The database that a backup becomes.
pub(super) const RESTORED: &str = "restored.duckdb";
/// The setting that opens one directory where other files are closed to a database.
const OF_DIRECTORIES: &str = "allowed_directories";

impl DuckDbTarget {
    /// Why no method can be carried out with this library.
    pub(super) fn lacks_directories(&self) -> Option<String> {
        let sql = format!("SELECT name FROM duckdb_settings() WHERE name = '{OF_DIRECTORIES}'");
        match self.texts("reading settings", &sql) {
            Ok(rows) if rows.is_empty() => Some(format!(
                "this DuckDB ({}) cannot open a single directory to a database ({OF_DIRECTORIES}); use a newer library",
                self.instance.loaded.version
            )),
            Ok(_) => None,
            Err(error) => Some(error.message),
        }
    }

    /// Opens the database to the directory of a backup, with as many threads as it has channels.
    pub(super) fn lend(&self, options: BackupOptions, into: &Path) -> Result<()> {
        self.instance.lend(Some(Lent {
            directory: path_text(into)?.to_owned(),
            threads: options.channels,
        }))
    }

    pub(super) fn take_back(&self) -> Result<()> {
        self.instance.lend(None)
    }

    /// The restored database, opened as the one that was backed up is; its files lie durably there since `copied`.
    pub(super) fn open_restored(
        &self,
        file: &Path,
        (begun, into): (Instant, &Path),
    ) -> Result<Restored> {
        sync(into)
            .map_err(|e| statement(&format!("cannot synchronise {}: {e}", into.display())))?;
        let copy_took = begun.elapsed();
        let url = TargetUrl::read_back(&self.url)
            .map_err(|e| statement(&e.to_string()))?
            .with_path(path_text(file)?);
        let target = Self::open(&url)?;
        target
            .open_session()?
            .texts("SELECT count(*) FROM duckdb_tables()")?;
        Ok(Restored::since(begun, copy_took, Arc::new(target)))
    }
}

/// A database that no target has open; `None` is one in memory.
pub(super) struct Bare {
    connection: Connection,
    _database: Database,
}

impl Bare {
    pub(super) fn open(
        loaded: &'static Loaded,
        path: Option<&Path>,
        options: &[(&str, String)],
    ) -> Result<Self> {
        let failed = |m: String| explain("cannot open the backup", &m);
        let database = Database::open(&loaded.api, path, options).map_err(failed)?;
        let connection = database.connect().map_err(failed)?;
        Ok(Self {
            connection,
            _database: database,
        })
    }

    pub(super) fn run(&self, sql: &str) -> Result<()> {
        let done = self.connection.query(sql);
        done.map(drop)
            .map_err(|m| explain("the backup cannot be used", &m))
    }

    fn texts(&self, sql: &str) -> Result<Vec<Vec<String>>> {
        let texts = self.connection.texts(sql);
        texts.map_err(|m| explain("the backup cannot be used", &m))
    }

    /// Gives the tables the comments by which the register knows them, which an export leaves out.
    pub(super) fn comment(&self) -> Result<()> {
        let sql = format!("SELECT name, identity FROM {OWN_TABLES}");
        for row in self.texts(&sql)? {
            let [table, identity] = row.as_slice() else {
                continue;
            };
            let token = identity.strip_prefix("table ").unwrap_or(identity);
            let table = table.replace('"', "\"\"");
            self.run(&format!(
                "COMMENT ON TABLE \"{table}\" IS {}",
                quoted(token)
            ))?;
        }
        self.run("CHECKPOINT")
    }

    /// The fault of a table's rows, or of a file's that stands for one.
    pub(super) fn fault(&self, from: &str) -> Option<String> {
        let read = self
            .connection
            .query(&format!("SELECT bit_xor(hash(COLUMNS(*))) FROM {from}"));
        read.err()
    }
}

/// Reads every row of a database file, whose blocks bear checksums; what is wrong.
pub(super) fn verify_file(loaded: &'static Loaded, file: &Path) -> Result<Option<String>> {
    let bare = match Bare::open(loaded, Some(file), &options_read_only()) {
        Ok(bare) => bare,
        Err(error) => return Ok(Some(error.message)),
    };
    let tables = match bare.texts("SELECT table_name FROM duckdb_tables() WHERE NOT internal") {
        Ok(tables) => tables,
        Err(error) => return Ok(Some(error.message)),
    };
    let names = tables.into_iter().flatten();
    let mut faults =
        names.filter_map(|name| bare.fault(&format!("\"{}\"", name.replace('"', "\"\""))));
    Ok(faults.next())
}

pub(super) fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        statement(&format!(
            "the path {} is not UTF-8; choose another",
            path.display()
        ))
    })
}

pub(super) fn statement(what: &str) -> TargetError {
    TargetError::statement(format!("DuckDB: {what}"))
}
