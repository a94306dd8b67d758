//! Loaded rows lie in whole groups.

use super::*;
use crate::GROUP_ROWS;

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
        assert_eq!(sum, engine::cell_digest(0, (rows * (rows - 1) / 2) as i64));
    }
}
