//! Tables of others with the names of dbdyno's.

use std::path::PathBuf;
use std::sync::Arc;

use engine::Session;
use workload::{Library, Table, exercise_for};

use super::{Workspace, amount_for, bench, carry_out};
use crate::database::Database;

/// Tests that create, fill, change and index tables, with those tables.
const TESTS: [(&str, &str); 7] = [
    // First, because the others create one.
    ("T611", "dbdyno_register"),
    ("T611", "dbdyno_small"),
    ("T512", "dbdyno_large"),
    ("T716", "dbdyno_changed"),
    ("T311", "dbdyno_insert"),
    ("T331", "dbdyno_load"),
    ("T211", "dbdyno_blob"),
];

fn databases() -> Vec<Database> {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("duckdb:{}/t.duckdb", directory.path().display());
    let mut databases = vec![
        Database::at("duckdb", &url, directory),
        Database::sqlite(),
        Database::postgres(),
    ];
    databases.extend(Database::mariadb_and_mysql());
    databases
}

fn place_of(database: &Database) -> Workspace {
    Workspace {
        _dir: tempfile::tempdir().unwrap(),
        path: PathBuf::new(),
        engine: database.engine,
        target: Arc::clone(&database.target),
        proven: Arc::default(),
    }
}

/// Rows and their sum, so that 7 alone is 17.
fn rows_of(session: &mut dyn Session, table: &str) -> String {
    let sql = format!("SELECT count(*) * 10 + sum(x) FROM {table}");
    session.texts(&sql).unwrap()[0][0].clone().unwrap()
}

#[test]
fn a_table_of_our_name_is_never_removed_nor_filled() {
    let library = Library::embedded().unwrap();
    for database in databases() {
        let place = place_of(&database);
        let mut theirs = database.session();
        for (code, table) in TESTS {
            theirs
                .batch(&format!(
                    "CREATE TABLE {table} (x INTEGER); INSERT INTO {table} VALUES (7)"
                ))
                .unwrap();
            let mut exercise = exercise_for(bench(&place, &library, code, amount_for(code)));
            let begun = exercise
                .prepare()
                .and_then(|_| exercise.clients(1).map(drop));
            let message = begun.unwrap_err().to_string();
            assert!(
                message.contains(table),
                "{} {code}: {message}",
                database.engine
            );
            drop(exercise);
            // A study does this before each block.
            let _ = workload::tables::restore(database.target.as_ref(), &Table::ALL.into());
            assert_eq!(
                rows_of(theirs.as_mut(), table),
                "17",
                "{} {code}",
                database.engine
            );
            theirs.batch(&format!("DROP TABLE {table}")).unwrap();
        }
    }
}

/// Tables of the same names in another schema or database, where every session without a setting of its own would work.
#[test]
fn a_table_of_our_name_elsewhere_is_never_changed() {
    let library = Library::embedded().unwrap();
    let postgres = (
        Database::postgres(),
        "public",
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public', current_database()); END $$",
    );
    let others = Database::mariadb_and_mysql().into_iter();
    let others = others.map(|database| (database, "shop", "CREATE DATABASE shop"));
    for (database, schema, before) in std::iter::once(postgres).chain(others) {
        let place = place_of(&database);
        let mut theirs = database.session();
        theirs.batch(before).unwrap();
        for (_, table) in TESTS {
            theirs
                .batch(&format!(
                    "CREATE TABLE {schema}.{table} (x INTEGER); INSERT INTO {schema}.{table} VALUES (7)"
                ))
                .unwrap();
        }
        for (code, _) in TESTS {
            let (outcome, wrong) = carry_out(&place, &library, code, 1, amount_for(code));
            assert_eq!((outcome.errors(), wrong), (0, Vec::new()), "{code}");
        }
        workload::tables::restore(database.target.as_ref(), &Table::ALL.into()).unwrap();
        for (_, table) in TESTS {
            let found = rows_of(theirs.as_mut(), &format!("{schema}.{table}"));
            assert_eq!(found, "17", "{} {table}", database.engine);
        }
    }
}
