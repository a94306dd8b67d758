//! The files that SQLite has next to a database: it overwrites any file with their names.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::lock_file::real_path;
use crate::open_here::is_open_here;

const COMPANIONS: [(&str, &[&[u8]]); 3] = [
    ("-wal", &[b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"]),
    // The version of its format, in the machine's order.
    ("-shm", &[&3_007_000_u32.to_ne_bytes()]),
    ("-journal", &[b"\xd9\xd5\x05\xf9"]),
];

/// A file next to the database at `path` that has a name of SQLite's and is none of its files: a link, a pipe, a file
/// with other contents.
///
/// # Errors
/// It cannot be read.
pub fn foreign(path: &Path) -> io::Result<Option<PathBuf>> {
    for (end, marks) in COMPANIONS {
        let mut name = OsString::from(real_path(path));
        name.push(end);
        let companion = PathBuf::from(name);
        let found = match fs::symlink_metadata(&companion) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found?,
        };
        // A file that is open here was checked when it was opened.
        let is_known = found.is_file() && is_open_here(&found);
        if !is_known && (!found.is_file() || !is_own(&companion, marks)?) {
            return Ok(Some(companion));
        }
    }
    Ok(None)
}

/// Empty or zeros: SQLite clears what it will use again, and cuts its shared memory down to three bytes before that: killed
/// then, it leaves the beginning of a mark.
fn is_own(companion: &Path, marks: &[&[u8]]) -> io::Result<bool> {
    let mut begins = Vec::new();
    match File::open(companion) {
        // Its last user has closed the database meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        file => file?.take(4).read_to_end(&mut begins)?,
    };
    let is_cleared = begins.iter().all(|byte| *byte == 0);
    Ok(is_cleared || marks.iter().any(|mark| mark.starts_with(&begins)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sqlite_writes_is_its_own_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        // Files that are open here are not checked; copies are.
        let copies_are_own = |mode: &str| {
            let copy = folder.path().join("copy.db");
            for (end, _) in COMPANIONS {
                let of = |file: &Path| PathBuf::from(format!("{}{end}", file.display()));
                let _ = fs::copy(of(&path), of(&copy));
            }
            assert_eq!(foreign(&path).unwrap(), None, "{mode}");
            assert_eq!(foreign(&copy).unwrap(), None, "{mode}");
        };
        for mode in ["WAL", "PERSIST", "DELETE"] {
            let connection = rusqlite::Connection::open(&path).unwrap();
            let sql = format!("PRAGMA journal_mode = {mode}; CREATE TABLE {mode}_ (x)");
            connection.execute_batch(&sql).unwrap();
            copies_are_own(mode);
            let sql = format!("BEGIN; INSERT INTO {mode}_ VALUES (1)");
            connection.execute_batch(&sql).unwrap();
            copies_are_own(mode);
        }
        for (end, marks) in COMPANIONS {
            let companion = folder.path().join(format!("y.db{end}"));
            // A process that was killed has cut it down to three bytes.
            fs::write(&companion, &marks[0][..3]).unwrap();
            assert_eq!(foreign(&folder.path().join("y.db")).unwrap(), None, "{end}");
            for text in ["precious", "a"] {
                fs::write(&companion, text).unwrap();
                let found = foreign(&folder.path().join("y.db")).unwrap();
                assert_eq!(found.as_deref(), Some(companion.as_path()));
            }
            fs::remove_file(&companion).unwrap();
        }
    }
}
