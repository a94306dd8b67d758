//! What comes in lies in whole groups, and is text where it says so.

use super::*;
use crate::catalogue::{Cell, SourceTable};
use crate::duckdb::GROUP_ROWS;
use crate::lifted::{Level, Store};

/// Rows of each group of `dbdyno_t`.
fn groups(session: &mut dyn Session) -> Vec<u64> {
    let sql = "SELECT sum(count)::VARCHAR FROM pragma_storage_info('dbdyno_t') WHERE column_name = 'id' \
         AND segment_type <> 'VALIDITY' GROUP BY row_group_id ORDER BY row_group_id";
    let rows = session.texts(sql).unwrap();
    let count = |row: Vec<Option<String>>| row[0].as_ref().unwrap().parse().unwrap();
    rows.into_iter().map(count).collect()
}

#[test]
fn groups_are_whole_but_for_the_last() {
    let rows = 2 * GROUP_ROWS + 54_240;
    let dir = tempfile::tempdir().unwrap();
    for target in [target("duckdb:"), file_target(&dir)] {
        let mut session = target.open_session().unwrap();
        let without_a_key = CREATE.replace(" PRIMARY KEY", "");
        session.batch(&without_a_key).unwrap();
        let loaded = session.bulk_load("dbdyno_t", &mut Rows(0..rows as i64));
        assert_eq!(loaded.unwrap(), rows);
        assert_eq!(groups(session.as_mut()), [GROUP_ROWS, GROUP_ROWS, 54_240]);
        let sum = digest(session.as_mut(), "SELECT sum(id)::BIGINT FROM dbdyno_t");
        assert_eq!(sum, crate::cell_digest(0, (rows * (rows - 1) / 2) as i64));
    }
}

/// A table of a text and of bytes, as a source describes it.
fn described() -> SourceTable {
    let target = target("duckdb:");
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE words (word TEXT, raw BLOB)")
        .unwrap();
    let tables = target.source().unwrap().tables().unwrap();
    (tables.into_iter().find(|table| table.name == "words")).unwrap()
}

#[test]
fn bytes_that_are_no_text_are_refused_where_text_belongs() {
    let (table, bytes) = (described(), b"thirteen bytes or more\xff".as_slice());
    let store = Store::open(Level::None, 200_000_000).unwrap();
    store.begin(&table, 1).unwrap();
    let mut writer = store.writer(&table, 1).unwrap();
    let right = [
        Cell::Bytes("größer als zwölf".as_bytes()),
        Cell::Bytes(bytes),
    ];
    for row in [right, [Cell::Null, Cell::Bytes(b"")]] {
        assert!(!writer.put(&row).unwrap());
    }
    writer.finish().unwrap();
    let mut back = Vec::new();
    let mut reader = store.source().open_reader().unwrap();
    let copy = store.source().tables().unwrap().remove(0);
    reader
        .read(&copy, &None, &mut |row| {
            back.push(format!("{row:?}"));
            Ok(())
        })
        .unwrap();
    let nulls = [Cell::Null, Cell::Bytes(b"")];
    assert_eq!(back, [format!("{right:?}"), format!("{nulls:?}")]);
    for wrong in [bytes, b"\xff"] {
        let mut writer = store.writer(&table, 1).unwrap();
        let error = writer.put(&[Cell::Bytes(wrong), Cell::Null]).unwrap_err();
        assert!(error.message.contains("column 1 are not valid"), "{error}");
    }
}
