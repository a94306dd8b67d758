//! The place of the suite's own: it goes again, unless somebody made it before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{ErrorKind, OWN_TABLES, Result, Session, TargetError};

/// What the suite's tables begin with.
const OWN: &str = "dbdyno_check_";
/// What embedded engines put beside a file.
const BESIDE: [&str; 5] = ["", "-wal", "-shm", "-journal", ".wal"];

/// Tables of the suite that are still there.
pub(super) fn left_behind(session: &mut dyn Session) -> Result<Vec<String>> {
    let tables = session.relations()?.into_keys();
    Ok(tables.filter(|name| name.starts_with(OWN)).collect())
}

/// Removes the schema of a session in which nothing is but dbdyno's register; leaves any other.
pub(super) fn remove_schema(session: &mut dyn Session) -> Result<()> {
    if session.relations()?.keys().any(|name| name != OWN_TABLES) {
        return Ok(());
    }
    let schema = session.schema().to_owned();
    session.batch(&format!("DROP TABLE IF EXISTS {schema}.{OWN_TABLES}"))?;
    session.batch(&format!("DROP SCHEMA {schema}"))
}

/// Removes a database file with everything that its engine puts beside it.
pub(super) fn remove_files(file: &Path) -> Result<()> {
    for end in BESIDE {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        let path = PathBuf::from(name);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(TargetError::new(
                    ErrorKind::Unreachable,
                    format!("cannot remove {}: {error}", path.display()),
                ));
            }
        }
    }
    Ok(())
}
