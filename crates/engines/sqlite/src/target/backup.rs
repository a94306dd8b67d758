//! Backups of a database file while it is in use: by the library's online backup, and by `VACUUM INTO`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::SqliteTarget;
use crate::explain;
use engine::Target;
use engine::TargetUrl;
use engine::backup::warm;
use engine::backup_adapter::{Adapter, bound, described};
use engine::{
    BackedUp, Backup, BackupMethod, BackupOptions, ErrorKind, Method, RestoreOptions, Restored,
    Result, TargetError,
};

const ADAPTERS: [Adapter<SqliteTarget>; 2] = [
    Adapter {
        about: BackupMethod {
            name: "online",
            how: "SQLite's online backup (sqlite3_backup_step), all pages in one step, then fsync",
            ..BackupMethod::SIMPLE
        },
        on: |target| {
            Box::new(Copied {
                target,
                copy: online,
            })
        },
    },
    Adapter {
        about: BackupMethod {
            name: "vacuum-into",
            how: "VACUUM INTO: the rows are rewritten without free pages, then fsync",
            ..BackupMethod::SIMPLE
        },
        on: |target| {
            Box::new(Copied {
                target,
                copy: vacuum,
            })
        },
    },
];
/// The database in a repository.
const FILE: &str = "backup.sqlite";
/// The database that it becomes.
const RESTORED: &str = "restored.sqlite";
/// More pages than a database has: everything is copied in one step, so that no writer makes it begin again.
const ALL_PAGES: i32 = i32::MAX;

/// The methods of databases in files.
pub fn methods() -> Vec<BackupMethod> {
    described(&ADAPTERS)
}

impl Backup for SqliteTarget {
    fn logical_bytes(&self) -> Result<u64> {
        self.with_control("cannot count the pages", |c| {
            let number =
                |pragma: &str| c.query_row(&format!("PRAGMA {pragma}"), [], |r| r.get::<_, i64>(0));
            let pages = number("page_count")? - number("freelist_count")?;
            Ok((pages * number("page_size")?).unsigned_abs())
        })
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

/// A method that ends in one file.
struct Copied<'t> {
    target: &'t SqliteTarget,
    copy: fn(&Connection, &Path) -> Result<()>,
}

impl Method for Copied<'_> {
    fn back_up(&self, _options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let file = into.join(FILE);
        let source = self.target.set_up.connect(&self.target.place)?;
        (self.copy)(&source, &file)?;
        sync(&file)
            .and_then(|()| sync(into))
            .map_err(failed(&file))?;
        Ok(BackedUp::default())
    }

    fn verify(&self, from: &Path) -> Result<Option<String>> {
        let path = from.join(FILE);
        // Read only and immutable: looking must not leave a log beside the backup.
        let uri = format!("file:{}?immutable=1", encoded(path_text(&path)?));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let looked = Connection::open_with_flags(uri, flags)
            .and_then(|c| c.query_row("PRAGMA integrity_check(1)", [], |r| r.get::<_, String>(0)));
        Ok(match looked {
            Ok(found) if found == "ok" => None,
            Ok(found) => Some(format!("PRAGMA integrity_check: {found}")),
            Err(error) => Some(explain("PRAGMA integrity_check", &error).message),
        })
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        let RestoreOptions { from, into, .. } = *of;
        let begun = Instant::now();
        let file = into.join(RESTORED);
        fs::copy(from.join(FILE), &file)
            .and_then(|_| sync(&file))
            .and_then(|()| sync(into))
            .map_err(failed(&file))?;
        let copy_took = begun.elapsed();
        let url = TargetUrl::read_back(&self.target.url)
            .map_err(|e| TargetError::statement(e.to_string()))?
            .with_path(path_text(&file)?);
        let target = SqliteTarget::open(&url)?;
        target
            .open_session()?
            .texts("SELECT count(*) FROM sqlite_schema")?;
        Ok(Restored::since(begun, copy_took, Arc::new(target)))
    }
}

fn online(source: &Connection, file: &Path) -> Result<()> {
    let failed = |e: rusqlite::Error| explain("the online backup failed", &e);
    let mut copy = Connection::open(file).map_err(failed)?;
    // The file is synchronised once, when it is whole; a backup that was interrupted is worth nothing.
    copy.execute_batch("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF;")
        .map_err(failed)?;
    let backup = rusqlite::backup::Backup::new(source, &mut copy).map_err(failed)?;
    backup
        .run_to_completion(ALL_PAGES, Duration::ZERO, None)
        .map_err(failed)
}

fn vacuum(source: &Connection, file: &Path) -> Result<()> {
    let vacuumed = source.execute("VACUUM INTO ?1", [path_text(file)?]);
    vacuumed
        .map(|_| ())
        .map_err(|e| explain("VACUUM INTO failed", &e))
}

fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> TargetError {
    let path: PathBuf = path.to_owned();
    move |error| {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull => ErrorKind::Full,
            _ => ErrorKind::Statement,
        };
        TargetError::new(kind, format!("SQLite: {}: {error}", path.display()))
    }
}

fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        TargetError::statement(format!(
            "SQLite: the path {} is not UTF-8; choose another",
            path.display()
        ))
    })
}

/// A path within a URI of SQLite.
fn encoded(path: &str) -> String {
    path.replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23")
}
