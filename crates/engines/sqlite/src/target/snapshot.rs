//! A copy of the database file, taken and put back while nobody has it open.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::{Location, SqliteTarget, file_snapshot};
use crate::explain;
use engine::file_snapshot::FileSnapshot;
use engine::{Cooled, ErrorKind, Result, Snapshot, TargetError, files};

impl SqliteTarget {
    fn file(&self) -> Result<&Path> {
        match &self.place {
            Location::File(path) => Ok(path),
            Location::Memory(_) => Err(TargetError::statement(
                "SQLite: an in-memory database has no snapshot",
            )),
        }
    }

    /// Does something to the file while it is closed. `whole` says that the file has to be sound.
    fn closed(
        &self,
        whole: bool,
        work: impl FnOnce(&FileSnapshot) -> Result<()>,
    ) -> Result<Cooled> {
        let path = self.file()?;
        let files = file_snapshot(path);
        let mut control = self
            .control
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Err(error) = leave_log(&control, path, whole) {
            self.set_up.apply(&control, &self.place)?;
            return Err(error);
        }
        let nothing = Connection::open_in_memory()
            .map_err(|e| explain("cannot open an in-memory database", &e))?;
        drop(std::mem::replace(&mut *control, nothing));
        let outcome = work(&files).and_then(|()| forget(path, &files));
        if path.exists() {
            *control = self.set_up.connect(&self.place)?;
        }
        outcome.map(|()| Cooled::Cold)
    }
}

/// Brings everything into the file, which SQLite does for the only one who has it open: so it also shows
/// whether somebody else has.
fn leave_log(connection: &Connection, path: &Path, whole: bool) -> Result<()> {
    // Whoever has it open will not close it because somebody waits.
    let _ = connection.busy_timeout(Duration::ZERO);
    let left = connection.query_row("PRAGMA journal_mode=DELETE", [], |row| {
        row.get::<_, String>(0)
    });
    let is_in_use = match &left {
        Ok(mode) => mode != "delete",
        Err(error) => explain("", error).is_conflict(),
    };
    match left {
        _ if is_in_use => Err(TargetError::new(
            ErrorKind::Conflict,
            format!(
                "SQLite: {} is still open in dbdyno or another program; close it",
                path.display()
            ),
        )),
        // A file that is damaged is a reason to put the copy back.
        Err(error) if whole => Err(explain(&format!("cannot copy {}", path.display()), &error)),
        _ => Ok(()),
    }
}

fn forget(path: &Path, files: &FileSnapshot) -> Result<()> {
    let mut paths = vec![path];
    if files.copy().exists() {
        paths.push(files.copy());
    }
    for path in paths {
        files::forget_cached_pages(path).map_err(|e| {
            TargetError::unreachable(format!(
                "cannot drop the page cache of {}: {e}",
                path.display()
            ))
        })?;
    }
    Ok(())
}

impl Snapshot for SqliteTarget {
    fn label(&self) -> Result<Option<String>> {
        file_snapshot(self.file()?).label()
    }

    fn take(&self, label: &str) -> Result<Cooled> {
        self.closed(true, |files| files.take(label))
    }

    fn restore(&self) -> Result<Cooled> {
        self.closed(false, FileSnapshot::restore)
    }

    fn remove(&self) -> Result<()> {
        file_snapshot(self.file()?).remove()
    }
}
