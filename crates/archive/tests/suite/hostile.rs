//! Archives that somebody made to do harm, or that a disk changed: refused or marked, never carried out, in bounded
//! memory.

use std::path::Path;

use archive::export::json_text;
use archive::{Archive, ArchiveError, RunName};
use rusqlite::Connection;
use testing::{each_seed, peak_bytes};

use crate::common::{key, measure, point};

/// A multiple of the memory that reading a small archive takes.
const MEMORY_BYTES_MAX: usize = 64 << 20;

/// Two points, the journal folded in.
fn small(path: &Path) {
    let mut archive = Archive::open(path).unwrap();
    measure(&mut archive, None, &[point(key(1)), point(key(2))]);
}

/// Opens and reads everything, as `report` and `export` do.
fn read(path: &Path) -> Result<(), ArchiveError> {
    let archive = Archive::open_read_only(path)?;
    archive.list_runs()?;
    let run = archive.load_run(&RunName::Last)?;
    json_text(&run);
    Ok(())
}

/// The error of reading and of writing an archive whose schema was changed by plain SQL.
fn refused(sql: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    small(&path);
    let hostile = Connection::open(&path).unwrap();
    hostile.execute_batch(sql).unwrap();
    drop(hostile);
    let before = std::fs::read(&path).unwrap();
    let (result, taken) = peak_bytes(|| read(&path));
    assert!(taken < MEMORY_BYTES_MAX, "{sql}: {taken} bytes");
    let written = Archive::open(&path).unwrap_err();
    assert!(
        matches!(written, ArchiveError::Damaged { .. }),
        "{written:?}"
    );
    assert!(
        std::fs::read(&path).unwrap() == before,
        "{sql}: it was changed"
    );
    result.unwrap_err().to_string()
}

#[test]
fn what_would_be_carried_out_is_refused() {
    // An endless answer in place of a table, which took all memory.
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, zeroblob(1000) FROM n";
    let view = refused(&format!(
        "DROP TABLE reason; CREATE VIEW reason AS {endless}"
    ));
    assert!(view.contains("its schema has view `reason`"), "{view}");
    let second = refused("CREATE VIEW mine AS SELECT 1");
    assert!(second.contains("view `mine`"), "{second}");
    let trigger = refused("CREATE TRIGGER t AFTER INSERT ON point BEGIN DELETE FROM run; END");
    assert!(trigger.contains("trigger `t`"), "{trigger}");
    let column = refused("ALTER TABLE run ADD COLUMN big BLOB AS (zeroblob(60000000))");
    assert!(column.contains("generated column `big`"), "{column}");
    let module = refused("CREATE VIRTUAL TABLE f USING fts5(a)");
    assert!(module.contains(" `f"), "{module}");
}

/// The view for people is no reason to refuse, whatever it says, and tables of others neither.
#[test]
fn what_is_never_read_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    small(&path);
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch(
            "DROP VIEW result; CREATE VIEW result AS SELECT 1; CREATE TABLE notes (text TEXT)",
        )
        .unwrap();
    drop(other);
    read(&path).unwrap();
    Archive::open(&path).unwrap();
}

#[test]
fn a_value_that_would_take_all_memory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    small(&path);
    let hostile = Connection::open(&path).unwrap();
    hostile
        .execute(
            "UPDATE run SET plan_toml = CAST(zeroblob(200000000) AS TEXT)",
            [],
        )
        .unwrap();
    drop(hostile);
    let (result, taken) = peak_bytes(|| read(&path));
    assert!(result.is_err());
    assert!(taken < MEMORY_BYTES_MAX, "{taken} bytes");
}

/// Bytes of the file changed anywhere, as by a disk or a hand: what still opens is read within bounds.
#[test]
fn a_changed_file_is_read_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let original = directory.path().join("a.dbdyno");
    small(&original);
    let bytes = std::fs::read(&original).unwrap();
    let path = directory.path().join("b.dbdyno");
    let mut was_read = 0;
    each_seed(300, |source| {
        let mut changed = bytes.clone();
        match source.below(3) {
            // Small changes, most of which stand in values: the file as such stays whole.
            0 | 1 => {
                for _ in 0..=source.below(6) {
                    let at = 100 + source.below(changed.len() - 100);
                    changed[at] = source.bits() as u8;
                }
            }
            _ => source.mutate(&mut changed),
        }
        std::fs::write(&path, &changed).unwrap();
        let (result, taken) = peak_bytes(|| read(&path));
        assert!(taken < MEMORY_BYTES_MAX, "{taken} bytes");
        was_read += u32::from(result.is_ok());
    });
    assert!(
        was_read > 0,
        "no changed file could be read: the changes are too large"
    );
}
