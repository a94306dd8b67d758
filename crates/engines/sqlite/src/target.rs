//! A SQLite database file (or one in memory) as a target.

pub(super) mod backup;
mod snapshot;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use archive::{IoOperation, IoUnknown, Purpose, TargetRecord};
use rusqlite::{Connection, OpenFlags};

use super::claim::Claim;
use super::features::lacks;
use super::guard::refuse_foreign_tables;
use super::session::SqliteSession;
use super::source::SqliteSource;
use super::{configure_library, explain, resolved};
use engine::catalogue::Source;
use engine::database_file::remove_files;
use engine::file_snapshot::FileSnapshot;
use engine::{
    Backup, Cooled, Counted, Counters, ErrorKind, Feature, FileIo, Result, Session, Snapshot,
    Target, TargetError, TargetUrl, files,
};

/// Where SQLite keeps temporary files: the first of its places that is a directory.
fn temporary_directory() -> Option<PathBuf> {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].into_iter();
    let named = named.filter_map(|name| std::env::var_os(name).map(PathBuf::from));
    let usual = ["/var/tmp", "/usr/tmp", "/tmp"].map(PathBuf::from);
    named.chain(usual).find(|path| path.is_dir())
}

/// Page size of a new database: the 8 kB of the published storage tests.
const PAGE_BYTES_DEFAULT: u64 = 8192;
/// Cache of each session: room for the small table, far less than the large one.
const CACHE_MB_DEFAULT: u64 = 64;
/// Counts of what the library read and logged.
const STATUS: &str = "sqlite3_db_status";

impl SqliteTarget {
    /// Opens the database of a URL, and makes it where there is none.
    pub fn open(url: &TargetUrl) -> Result<Self> {
        configure_library();
        let set_up = SetUp::from_url(url)?;
        let place = match url.place() {
            Some(path) => Location::File(path),
            None => Location::Memory(memory_name()),
        };
        let mut claim = None;
        if let Location::File(path) = &place {
            claim = Claim::take(&resolved(path)?)?;
            file_snapshot(path).finish_restore()?;
        }
        let control = set_up.open(&place)?;
        if let Location::File(path) = &place {
            // Before anything is set: the journal mode stays in the file.
            refuse_foreign_tables(&control, path)?;
        }
        set_up.apply(&control, &place)?;
        Ok(Self {
            url: url.to_string(),
            place,
            set_up,
            control: Mutex::new(control),
            _claim: claim,
        })
    }
}

/// A name that no other database in memory of this process has.
fn memory_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!(
        "file:dbdyno-{}?mode=memory&cache=shared",
        NUMBER.fetch_add(1, Ordering::Relaxed)
    )
}

/// The copy of a database file. A log that outlived its file would be taken for that of the copy.
fn file_snapshot(path: &Path) -> FileSnapshot {
    FileSnapshot::beside(path, &["-wal", "-shm", "-journal"])
}

#[derive(Clone)]
enum Location {
    File(PathBuf),
    Memory(String),
}

impl Location {
    fn name(&self) -> String {
        match self {
            Location::File(path) => path.display().to_string(),
            Location::Memory(name) => name.clone(),
        }
    }
}

#[derive(Clone)]
pub(super) struct SetUp {
    page_bytes: u64,
    cache_mb: u64,
    synchronous: String,
}

impl SetUp {
    pub fn from_url(url: &TargetUrl) -> Result<Self> {
        let number = |key: &str, default: u64| match url.settings.get(key) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| {
                TargetError::statement(format!("setting {key}={text} of {url} is not a number"))
            }),
        };
        let synchronous = url
            .settings
            .get("synchronous")
            .map_or("FULL", |s| s.as_str());
        if !["FULL", "NORMAL", "EXTRA", "OFF"].contains(&synchronous) {
            return Err(TargetError::statement(format!(
                "setting synchronous={synchronous} of {url} is not FULL, NORMAL, EXTRA or OFF"
            )));
        }
        Ok(Self {
            page_bytes: number("page_size", PAGE_BYTES_DEFAULT)?,
            cache_mb: number("cache_mb", CACHE_MB_DEFAULT)?,
            synchronous: synchronous.to_owned(),
        })
    }

    fn connect(&self, place: &Location) -> Result<Connection> {
        let connection = self.open(place)?;
        self.apply(&connection, place)?;
        Ok(connection)
    }

    fn open(&self, place: &Location) -> Result<Connection> {
        let uri = match place {
            // A file is the one that was looked at, whatever it is called.
            Location::File(_) => OpenFlags::empty(),
            Location::Memory(_) => OpenFlags::SQLITE_OPEN_URI,
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | uri
            // One session belongs to one thread at a time, so SQLite need not lock inside it.
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let name = place.name();
        Connection::open_with_flags(&name, flags)
            .map_err(|e| explain(&format!("cannot open {name}"), &e))
    }

    fn apply(&self, connection: &Connection, place: &Location) -> Result<()> {
        let Self {
            page_bytes,
            cache_mb,
            synchronous,
        } = self;
        connection
            .execute_batch(&format!(
                "PRAGMA page_size={page_bytes}; PRAGMA busy_timeout=60000; PRAGMA journal_mode=WAL; \
                 PRAGMA synchronous={synchronous}; PRAGMA cache_size=-{kib}; PRAGMA mmap_size=0; \
                 PRAGMA foreign_keys=OFF; PRAGMA temp_store=FILE;",
                kib = cache_mb * 1_000_000 / 1024,
            ))
            .map_err(|e| explain(&format!("cannot set up {}", place.name()), &e))
    }
}

pub(super) struct SqliteTarget {
    url: String,
    place: Location,
    set_up: SetUp,
    /// Keeps a database in memory alive, and serves for everything that is not a job's.
    control: Mutex<Connection>,
    /// Last, so that it is given back when the file is closed.
    _claim: Option<Claim>,
}

impl SqliteTarget {
    fn with_control<T>(
        &self,
        context: &str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let connection = self
            .control
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        work(&connection).map_err(|e| explain(context, &e))
    }

    /// The file beside this one.
    fn secondary_url(&self, name: &str) -> Result<TargetUrl> {
        let url = TargetUrl::read_back(&self.url);
        let url = url.map_err(|e| TargetError::statement(e.to_string()))?;
        if url.path.is_empty() {
            Err(TargetError::statement(
                "SQLite: an in-memory database has no secondary schema; name a file",
            ))
        } else {
            Ok(url.with_path_end(&format!("-{name}")))
        }
    }

    fn settings(&self) -> BTreeMap<String, String> {
        [
            "page_size",
            "journal_mode",
            "synchronous",
            "cache_size",
            "mmap_size",
            "wal_autocheckpoint",
        ]
        .into_iter()
        .filter_map(|name| {
            let value = self.with_control(name, |c| {
                c.query_row(&format!("PRAGMA {name}"), [], |row| {
                    row.get::<_, rusqlite::types::Value>(0)
                })
            });
            let value = match value.ok()? {
                rusqlite::types::Value::Integer(n) => n.to_string(),
                rusqlite::types::Value::Text(text) => text,
                _ => return None,
            };
            Some((name.to_owned(), value))
        })
        .collect()
    }
}

impl Target for SqliteTarget {
    fn record(&self) -> TargetRecord {
        TargetRecord {
            name: "sqlite".into(),
            url: self.url.clone(),
            engine: "SQLite".into(),
            engine_version: rusqlite::version().into(),
            nodes: 1,
            device: None,
            settings: self.settings(),
            rights_missing: None,
        }
    }

    fn lacks(&self, feature: Feature) -> Option<String> {
        lacks(matches!(self.place, Location::Memory(_)), feature)
    }

    fn open_session(&self) -> Result<Box<dyn Session>> {
        let connection = self.set_up.connect(&self.place)?;
        Ok(Box::new(SqliteSession::new(
            connection,
            self.set_up.page_bytes,
        )))
    }

    fn data_path(&self) -> Option<&Path> {
        match &self.place {
            Location::File(path) => Some(path),
            Location::Memory(_) => None,
        }
    }

    fn storage_paths(&self) -> std::result::Result<Vec<(Purpose, PathBuf)>, String> {
        let data = self.data_directory()?;
        let mut paths = vec![(Purpose::Data, data.clone()), (Purpose::Log, data)];
        paths.extend(temporary_directory().map(|path| (Purpose::Temporary, path)));
        Ok(paths)
    }

    /// Pages that the cache does not have come from the data file or from the log; the library does not tell which. Of a
    /// checkpoint's writes into the data file, and of temporary files, it counts nothing.
    fn file_io(&self, counters: &Counters) -> Vec<FileIo> {
        if self.data_path().is_none() {
            return Vec::new();
        }
        let page_bytes = self.set_up.page_bytes;
        let reads = Counted {
            count: counters.pages_read,
            bytes: counters.pages_read.map(|pages| pages * page_bytes),
            time_ns: None,
        };
        let log = Counted {
            bytes: counters.redo_bytes,
            ..Counted::default()
        };
        let not_counted =
            |purpose, operation| FileIo::unknown(purpose, operation, IoUnknown::NotCounted);
        vec![
            FileIo::counted(Purpose::Data, IoOperation::Read, STATUS, reads),
            not_counted(Purpose::Data, IoOperation::Write),
            FileIo::unknown(Purpose::Log, IoOperation::Read, IoUnknown::CountedAsData),
            FileIo::counted(Purpose::Log, IoOperation::Write, STATUS, log),
            not_counted(Purpose::Temporary, IoOperation::Read),
            not_counted(Purpose::Temporary, IoOperation::Write),
        ]
    }

    fn checkpoint(&self) -> Result<()> {
        let busy = self.with_control("checkpoint", |c| {
            // A connection that has not looked at the database yet would do so within the checkpoint, and wait for its
            // own lock until it gives up.
            c.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
            c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
                row.get::<_, i64>(0)
            })
        })?;
        match busy {
            0 => Ok(()),
            _ => Err(TargetError::new(
                ErrorKind::Conflict,
                "SQLite: the checkpoint could not finish because a session is still reading",
            )),
        }
    }

    fn cool(&self) -> Result<Cooled> {
        let Location::File(path) = &self.place else {
            return Ok(Cooled::Lukewarm(
                "an in-memory database has no cold state".into(),
            ));
        };
        self.checkpoint()?;
        // The control's own page cache is the engine's only cache while no session is open.
        self.with_control("release memory", |c| {
            c.execute_batch("PRAGMA shrink_memory")
        })?;
        files::cool(path).map_err(|e| {
            TargetError::unreachable(format!(
                "cannot drop the page cache of {}: {e}",
                path.display()
            ))
        })
    }

    fn source(&self) -> Result<Box<dyn Source>> {
        match &self.place {
            Location::File(path) => Ok(Box::new(SqliteSource::of_file(path, &self.url))),
            Location::Memory(_) => Err(TargetError::statement(
                "SQLite: a column store cannot be populated from an in-memory database; name a file",
            )),
        }
    }

    /// A file of its own beside this one: with its own writer, its own log and its own cache.
    fn secondary_schema(&self, name: &str) -> Result<Arc<dyn Target>> {
        Ok(Arc::new(Self::open(&self.secondary_url(name)?)?))
    }

    fn remove_secondary_schema(&self, name: &str) -> Result<()> {
        let url = self.secondary_url(name)?;
        let path = resolved(Path::new(&url.path))?;
        // An empty file was made by somebody else.
        if !path.metadata().is_ok_and(|file| file.len() > 0) {
            return Ok(());
        }
        // Opening refuses what is not dbdyno's, and what another process has.
        let secondary = Self::open(&url)?;
        if let Ok(copy) = secondary.snapshot() {
            copy.remove()?;
        }
        drop(secondary);
        remove_files(&path)
    }

    fn snapshot(&self) -> std::result::Result<&dyn Snapshot, String> {
        match &self.place {
            Location::File(_) => Ok(self),
            Location::Memory(_) => Err("this database is in memory and has no file to copy".into()),
        }
    }

    fn backup(&self) -> std::result::Result<&dyn Backup, String> {
        match &self.place {
            Location::File(_) => Ok(self),
            Location::Memory(_) => {
                Err("this database is in memory; name a file to back it up".into())
            }
        }
    }
}
