//! The schema of the archive's file: its marks, its SQL, and what may be opened.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, TransactionBehavior};

use super::{ArchiveError, Result};
use crate::FIGURES;
use crate::open_here::is_open_here;

/// `PRAGMA application_id` of every archive: "dbdy".
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"dbdy");

/// `PRAGMA user_version` of the archives written here.
///
/// A version has exactly the columns it was born with: whoever adds to the end of `FIGURES` raises this
/// number and enters them in `ADDED` (digests skip NULLs, so the older points keep theirs), a new column of another table in
/// `COLUMNS_ADDED`, a new table in `TABLES_ADDED`. A file whose columns are not those of its version is refused. A test below holds the columns of this version.
/// Version 9 has the columns of 8: its studies may have been looked at before their end (`study.until`), and whoever does not
/// know of the looks would judge them by intervals that are too narrow. Version 10 added the block devices, the network
/// interfaces, what else the machine did over time, the engine's own account of its I/O, single executions of statements, and what observations saw.
pub const SCHEMA_VERSION: i64 = 10;

/// The figures that a version added to those of the one before.
const ADDED: &[(i64, &[&str])] = &[
    (2, &["scaled_queries_per_h", "workers", "busy_cores_mean"]),
    (3, &["table_disk_mb", "table_memory_mb", "compress_factor"]),
    (
        5,
        &[
            "cpu_by_database_pct",
            "cpu_by_driver_pct",
            "cpu_by_kernel_pct",
            "cpu_by_others_pct",
        ],
    ),
    (7, &["read_by_others_mb_per_s", "write_by_others_mb_per_s"]),
    (
        10,
        &[
            "read_await_ms_p99",
            "write_await_ms_p99",
            "backup_logical_mb",
            "backup_repository_mb",
            "backup_ratio",
            "backup_tb_per_h",
            "backup_tool_s",
            "backup_cpu_s_per_gb",
            "backup_tool_memory_mb",
            "backup_log_mb",
            "backup_archived_mb",
            "restore_tb_per_h",
            "restore_copy_s",
            "restore_replay_s",
            "restore_first_commit_s",
            "restore_per_backup",
            "foreground_alone_per_s",
            "foreground_beside_per_s",
            "foreground_alone_us_p95",
            "foreground_beside_us_p95",
            "session_memory_mb",
            "copy_age_ms_p50",
            "copy_age_ms_p95",
            "copy_age_ms_max",
            "copy_lag_transactions_p50",
            "copy_lag_transactions_p95",
            "copy_lag_transactions_max",
            "active_sessions_mean",
            "active_sessions_max",
            "waiting_sessions_mean",
            "blocked_sessions_mean",
            "transaction_s_max",
            "replication_lag_s_max",
            "active_sessions_seen_mean",
        ],
    ),
];

/// The columns that a version added to other tables than `point`, with their declarations.
const COLUMNS_ADDED: &[(i64, &str, Columns)] = &[
    (8, "missing", REMARK_COLUMNS),
    (8, "reason", REMARK_COLUMNS),
    (10, "sample", MACHINE_COLUMNS),
];

/// Names and declarations.
type Columns = &'static [(&'static str, &'static str)];

const REMARK_COLUMNS: Columns = &[
    ("code", "TEXT"),
    ("fields", "TEXT CHECK (json_valid(fields))"),
];

const MACHINE_COLUMNS: Columns = &[
    ("cpu_user_pct", "REAL"),
    ("cpu_system_pct", "REAL"),
    ("network_mb_per_s", "REAL"),
    ("tcp_retransmits", "REAL"),
    ("tcp_sockets", "REAL"),
    ("page_cache_mb", "REAL"),
    ("major_faults", "REAL"),
    ("swap_mb", "REAL"),
    ("pressure_cpu_pct", "REAL"),
    ("pressure_memory_pct", "REAL"),
    ("pressure_io_pct", "REAL"),
];

/// The tables that a version added, with their SQL.
const TABLES_ADDED: &[(i64, &[&str], &str)] = &[
    (4, &["operation_times", "operation_sample"], BY_OPERATION),
    (6, &["annotation", "deleted_run"], ANNOTATION),
    (7, &["transaction_kind"], TRANSACTION_KIND),
    (10, &["device", "device_sample"], DEVICES),
    (10, &["engine_io"], ENGINE_IO),
    (10, &["interface"], INTERFACES),
    (10, &["execution"], EXECUTIONS),
    (10, &["observed"], OBSERVED),
];

const SCHEMA: &str = include_str!("schema.sql");
const BY_OPERATION: &str = include_str!("by_operation.sql");
const ANNOTATION: &str = include_str!("annotation.sql");
const TRANSACTION_KIND: &str = include_str!("transaction_kind.sql");
const DEVICES: &str = include_str!("devices.sql");
const ENGINE_IO: &str = include_str!("engine_io.sql");
const INTERFACES: &str = include_str!("interfaces.sql");
const EXECUTIONS: &str = include_str!("executions.sql");
const OBSERVED: &str = include_str!("observed.sql");

/// The whole SQL of this version, figure columns filled in.
pub(super) fn sql() -> String {
    let figures: String = FIGURES
        .iter()
        .map(|figure| format!("    {:<23} REAL, -- {}\n", figure.name, figure.unit))
        .collect();
    SCHEMA
        .replace("{{FIGURES}}\n", &figures)
        .replace("{{BY_OPERATION}}\n", BY_OPERATION)
        .replace("{{ANNOTATION}}\n", ANNOTATION)
        .replace("{{TRANSACTION_KIND}}\n", TRANSACTION_KIND)
        .replace("{{DEVICES}}\n", DEVICES)
        .replace("{{ENGINE_IO}}\n", ENGINE_IO)
        .replace("{{INTERFACES}}\n", INTERFACES)
        .replace("{{EXECUTIONS}}\n", EXECUTIONS)
        .replace("{{OBSERVED}}\n", OBSERVED)
}

/// Looks at the first bytes of `path`, before SQLite may touch anything: ours, and of a known version?
///
/// A new archive gets its name only when it is whole (see `create`), so the marks always stand in
/// the main file.
pub(super) fn check_marks(path: &Path) -> Result<()> {
    let not_ours = |detail: &str| ArchiveError::NotAnArchive {
        path: path.to_path_buf(),
        detail: detail.to_owned(),
    };
    // To open a pipe waits for whoever is at its other end. A directory, or what cannot be looked at, cannot be read, which
    // says why.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(not_ours("it is no file"));
    }
    if fs::metadata(path).is_ok_and(|found| is_open_here(&found)) {
        return Ok(());
    }
    let header = read_header(path)?;
    let Some(header) = header else {
        return Err(not_ours("it is too short"));
    };
    let number = |at: usize| {
        i32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(not_ours("it is not an SQLite file"));
    }
    if number(68) != APPLICATION_ID {
        return Err(not_ours("it is an SQLite file of another application"));
    }
    let found = i64::from(number(60));
    if found > SCHEMA_VERSION {
        return Err(ArchiveError::Newer {
            path: path.to_path_buf(),
            found,
            known: SCHEMA_VERSION,
        });
    }
    if found < 1 {
        return Err(not_ours("its schema version was never published"));
    }
    Ok(())
}

/// The 100 bytes of an SQLite header; `None` when the file has fewer.
fn read_header(path: &Path) -> Result<Option<[u8; 100]>> {
    let unreachable = |reason: String| ArchiveError::Unreachable {
        path: path.to_path_buf(),
        reason,
    };
    if path.is_dir() {
        return Err(unreachable("it is a directory".to_owned()));
    }
    let mut header = [0; 100];
    match File::open(path).and_then(|mut file| file.read_exact(&mut header)) {
        Ok(()) => Ok(Some(header)),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(e) => Err(unreachable(e.to_string())),
    }
}

/// Checks every page and every declared constraint, then that the columns are those of the version.
pub(super) fn check_whole(connection: &Connection, path: &Path) -> Result<()> {
    let damaged = |detail: String| ArchiveError::Damaged {
        path: path.to_path_buf(),
        detail,
    };
    if !is_text(connection)? {
        return Err(damaged("its schema is not UTF-8".to_owned()));
    }
    if let Some(foreign) = foreign(connection)? {
        return Err(damaged(format!(
            "its schema has {foreign}, which dbdyno never creates"
        )));
    }
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Err(damaged(found));
    }
    let version = version(connection)?;
    let columns = columns(connection, "point")?;
    let later = figures_added_after(version);
    let lacks = |name: &&str| !columns.contains(*name) && !later.contains(name);
    if let Some(name) = FIGURES.iter().map(|figure| figure.name).find(lacks) {
        return Err(damaged(format!(
            "its table `point` has no column `{name}`, although its version is {version}"
        )));
    }
    for (_, table, added) in COLUMNS_ADDED.iter().filter(|(since, ..)| *since <= version) {
        let columns = self::columns(connection, table)?;
        if let Some((name, _)) = added.iter().find(|(name, _)| !columns.contains(*name)) {
            return Err(damaged(format!(
                "its table `{table}` has no column `{name}`, although its version is {version}"
            )));
        }
    }
    let born_with = TABLES_ADDED.iter().filter(|(since, ..)| *since <= version);
    for name in born_with.flat_map(|(_, names, _)| *names) {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        if !connection.prepare(sql)?.exists([name])? {
            return Err(damaged(format!(
                "it has no table `{name}`, although its version is {version}"
            )));
        }
    }
    Ok(())
}

/// What a schema holds that is carried out when the file is read or written. Tables of others do no harm; of what is
/// carried out only the view `result` is ours, for people to look at: dbdyno itself never reads it.
fn foreign(connection: &Connection) -> Result<Option<String>> {
    let sql = "SELECT type || ' `' || name || '`' FROM pragma_table_list
               WHERE schema = 'main' AND type <> 'table' AND (type, name) <> ('view', 'result')
               UNION ALL
               SELECT 'trigger `' || name || '`' FROM sqlite_schema WHERE type = 'trigger'
               UNION ALL
               SELECT 'generated column `' || c.name || '`' FROM pragma_table_list t, pragma_table_xinfo(t.name) c
               WHERE t.schema = 'main' AND t.type = 'table' AND c.hidden <> 0
               LIMIT 1";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
}

/// Whether all of the schema is text: names of columns come from it, and who asks for one takes that for granted.
fn is_text(connection: &Connection) -> Result<bool> {
    let mut statement = connection.prepare("SELECT name, tbl_name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..3 {
            if let ValueRef::Text(text) = row.get_ref(column)?
                && std::str::from_utf8(text).is_err()
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Gives an older file, which is whole, the columns and tables of this version.
pub(super) fn migrate(connection: &mut Connection) -> Result<()> {
    if version(connection)? == SCHEMA_VERSION {
        return Ok(());
    }
    // IMMEDIATE, and looked at again: another process may be doing the same.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for name in figures_added_after(found) {
        transaction.execute_batch(&format!("ALTER TABLE point ADD COLUMN {name} REAL"))?;
    }
    for (table, added) in columns_added_after(found) {
        for (name, declaration) in added {
            let sql = format!("ALTER TABLE {table} ADD COLUMN {name} {declaration}");
            transaction.execute_batch(&sql)?;
        }
    }
    transaction.execute_batch(&tables_added_after(found))?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    Ok(())
}

/// Lets an older file that is only read look like one of this version, without touching it.
pub(super) fn look_migrated(connection: &Connection) -> Result<()> {
    let version = version(connection)?;
    // What is temporary is found before what is in the file.
    let tables = tables_added_after(version).replace("CREATE TABLE", "CREATE TEMP TABLE");
    connection.execute_batch(&format!("PRAGMA temp_store = MEMORY; {tables}"))?;
    let figures = figures_added_after(version);
    if !figures.is_empty() {
        look_wider(connection, "point", figures.into_iter())?;
    }
    for (table, added) in columns_added_after(version) {
        look_wider(connection, table, added.iter().map(|(name, _)| *name))?;
    }
    Ok(())
}

/// A view in the place of a table, with columns that it lacks.
fn look_wider<'n>(
    connection: &Connection,
    table: &str,
    lacking: impl Iterator<Item = &'n str>,
) -> Result<()> {
    let columns: String = lacking.map(|name| format!(", NULL AS {name}")).collect();
    let sql = format!("CREATE TEMP VIEW {table} AS SELECT *{columns} FROM main.{table}");
    Ok(connection.execute_batch(&sql)?)
}

fn version(connection: &Connection) -> Result<i64> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// The figures that an archive of a version does not have yet.
pub fn figures_added_after(version: i64) -> Vec<&'static str> {
    let later = ADDED.iter().filter(|(since, _)| *since > version);
    later.flat_map(|(_, names)| names.iter().copied()).collect()
}

fn columns_added_after(version: i64) -> impl Iterator<Item = (&'static str, Columns)> {
    let later = COLUMNS_ADDED
        .iter()
        .filter(move |(since, ..)| *since > version);
    later.map(|(_, table, added)| (*table, *added))
}

fn tables_added_after(version: i64) -> String {
    let later = TABLES_ADDED.iter().filter(|(since, ..)| *since > version);
    later.map(|(.., sql)| *sql).collect()
}

fn columns(connection: &Connection, table: &str) -> Result<HashSet<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    /// A published version never changes. If this fails, a figure or a table was changed: raise
    /// `SCHEMA_VERSION`, write the migration, then take the new fingerprint.
    #[test]
    fn the_columns_of_version_10_are_frozen() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&sql()).unwrap();
        let columns: Vec<String> = connection
            .prepare(
                "SELECT m.name || '.' || c.name || ' ' || c.type FROM sqlite_schema m, pragma_table_info(m.name) c
                 WHERE m.type = 'table' ORDER BY m.name, c.cid",
            )
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        let digest = crate::integrity::hex(&Sha256::digest(columns.join("\n")));
        assert_eq!(SCHEMA_VERSION, 10);
        assert_eq!(&digest[..16], "b80fa74fe636ba7c", "{columns:#?}");
    }
}
