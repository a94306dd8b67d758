//! Tables of others with the names of dbdyno's.

use std::sync::atomic::AtomicBool;

use crate::common::*;

/// Another session creates a table after dbdyno's check: neither a load, nor one that replaces a database, nor the
/// removal of everything touches it.
#[test]
fn a_table_of_our_name_is_never_removed_nor_filled() {
    let others = Database::mariadb_and_mysql();
    for database in [Database::sqlite(), Database::postgres()]
        .into_iter()
        .chain(others)
    {
        for table in ["orders", "warehouse", "dbdyno_oltp"] {
            let mut theirs = database.session();
            theirs
                .batch(&format!(
                    "CREATE TABLE {table} (x INTEGER); INSERT INTO {table} VALUES (7)"
                ))
                .unwrap();
            let replacing = oltp::LoadOptions {
                replace: true,
                ..options(1)
            };
            for options in [options(1), options(1), replacing, options(1)] {
                let message = database.load(&options).unwrap_err().to_string();
                assert!(message.contains(table), "{}: {message}", database.engine);
                // None of dbdyno's tables exist, so nothing is removed either.
                let _ = oltp::drop_all(database.target.as_ref(), database.engine);
                let sql = format!("SELECT sum(x) FROM {table}");
                assert_eq!(one(theirs.as_mut(), &sql), "7", "{}", database.engine);
            }
            theirs.batch(&format!("DROP TABLE {table}")).unwrap();
        }
        let never = AtomicBool::new(true);
        let broken_off = oltp::load(
            database.target.as_ref(),
            database.engine,
            &options(1),
            &never,
            &|_| (),
        );
        assert!(matches!(broken_off, Err(oltp::OltpError::Interrupted)));
        let mut theirs = database.session();
        theirs
            .batch("DROP TABLE stock; CREATE TABLE stock (x INTEGER); INSERT INTO stock VALUES (7)")
            .unwrap();
        let message = oltp::drop_all(database.target.as_ref(), database.engine);
        let message = message.unwrap_err().to_string();
        assert!(message.contains("stock"), "{}: {message}", database.engine);
        assert_eq!(one(theirs.as_mut(), "SELECT sum(x) FROM stock"), "7");
    }
}
