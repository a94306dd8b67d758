//! The archive's file: created, opened and not trusted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::{APPLICATION_ID, ArchiveError, Result, SCHEMA_VERSION, schema};
use crate::companions;
use crate::open_here::one_at_a_time;

/// How long to wait for another process's transaction.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// No text, histogram or row of an archive is longer; SQLite's own limit is 1 GB.
const VALUE_BYTES_MAX: i32 = 64 << 20;

pub(super) fn open(path: &Path, mode: OpenFlags) -> Result<Connection> {
    let _opening = one_at_a_time();
    schema::check_marks(path)?;
    if let Some(foreign) = companions::foreign(path).map_err(|e| unreachable(path, &e))? {
        let foreign = foreign.display();
        return Err(ArchiveError::Unreachable {
            path: path.to_owned(),
            reason: format!("{foreign} is no file of SQLite and was not changed"),
        });
    }
    // SQLite would take some relative names for a database in memory, or for a URI.
    let place = Path::new(".").join(path);
    match connect(&place, path, mode).map_err(|e| e.at(path)) {
        Err(ArchiveError::Unreachable { .. }) if may_be_immutable(path, mode) => {
            let mode = mode | OpenFlags::SQLITE_OPEN_URI;
            connect(&immutable_uri(path), path, mode).map_err(|e| e.at(path))
        }
        other => other,
    }
}

/// On a read-only disk SQLite cannot create its shared memory. Without a WAL the file is whole and cannot change, so it
/// can be read without shared memory.
fn may_be_immutable(path: &Path, mode: OpenFlags) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    mode.contains(OpenFlags::SQLITE_OPEN_READ_ONLY) && !Path::new(&wal).exists()
}

/// The name by which SQLite reads a file as one that does not change: without a log, and without creating files next to it.
pub fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            letter if letter.is_ascii_alphanumeric() => uri.push(char::from(*letter)),
            other => uri += &format!("%{other:02X}"),
        }
    }
    PathBuf::from(uri + "?immutable=1")
}

/// A checked connection to `file` (`path`, or a URI that leads there) with every archive's settings.
fn connect(file: &Path, path: &Path, mode: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(file, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Until the file is known to be whole, closing it must not write the WAL into it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    trust_nothing(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    schema::check_whole(&connection, path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    // FULL: in WAL mode every commit is synced, so a point that was reported finished survives
    // a loss of power, not only of the process.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Texts must not stay in the file when their run is deleted.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// An archive may come from anywhere: nothing in its schema is executed, and no value of it takes all memory.
fn trust_nothing(connection: &Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    Ok(())
}

/// Makes a new archive under a temporary name and gives it its own when it is whole.
///
/// So a process killed at any moment leaves no half-made archive, and no file is ever overwritten.
pub(super) fn create(path: &Path) -> Result<()> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(directory).map_err(|e| unreachable(path, &e))?;
    let file = new_file(directory).map_err(|e| unreachable(path, &e))?;
    fill(file.path()).map_err(|e| e.at(path))?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        // Another process was faster: its archive is as good.
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(unreachable(path, &e.error)),
    }
}

fn new_file(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".dbdyno-").suffix(".new");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
    builder.tempfile_in(directory)
}

fn fill(path: &Path) -> Result<()> {
    let mut connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Nobody sees this file yet, so it needs no journal on disk; and without a WAL the marks go
    // straight to the main file, where `check_marks` looks.
    connection.pragma_update(None, "journal_mode", "MEMORY")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(&schema::sql())?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// A failure of the file system in our words.
pub(super) fn unreachable(path: &Path, error: &io::Error) -> ArchiveError {
    let path = path.to_path_buf();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ArchiveError::Full { path }
        }
        _ => ArchiveError::Unreachable {
            path,
            reason: error.to_string(),
        },
    }
}
