//! Tables of others with the names of dbdyno's.

use engine::{ErrorKind, Session};
use olap::{Function, LoadOptions};

use crate::common::*;
use crate::refreshes::{refresh, work};

fn number(session: &mut dyn Session, sql: &str) -> String {
    let rows = session.texts(sql).unwrap();
    rows[0][0].clone().unwrap_or_default()
}

/// Another session creates a table after dbdyno's check: neither a load, nor one that replaces a database, nor the
/// removal of everything touches it.
#[test]
fn a_table_of_our_name_is_never_removed_nor_filled() {
    for database in Database::all() {
        let (engine, target) = (database.engine, database.target.as_ref());
        let mut theirs = database.session();
        for table in ["lineitem", "orders", "region", "dbdyno_olap"] {
            theirs
                .batch(&format!(
                    "CREATE TABLE {table} (x INTEGER); INSERT INTO {table} VALUES (7)"
                ))
                .unwrap();
            let replacing = LoadOptions {
                replace: true,
                ..options(0.01)
            };
            for options in [options(0.01), replacing, options(0.01)] {
                let message = database.load(&options).unwrap_err().to_string();
                assert!(message.contains(table), "{engine}: {message}");
                // None of dbdyno's tables exist, so nothing is removed either.
                let _ = olap::drop_all(target);
                let sum = number(theirs.as_mut(), &format!("SELECT sum(x) FROM {table}"));
                assert_eq!(sum, "7", "{engine}");
            }
            theirs.batch(&format!("DROP TABLE {table}")).unwrap();
        }
        drop(theirs);
        // It takes the name of one of dbdyno's.
        database.load_least();
        let mut theirs = database.session();
        theirs
            .batch(
                "DROP TABLE region; CREATE TABLE region (x INTEGER); INSERT INTO region VALUES (7)",
            )
            .unwrap();
        let message = olap::drop_all(target).unwrap_err().to_string();
        assert!(message.contains("region"), "{engine}: {message}");
        assert_eq!(
            number(theirs.as_mut(), "SELECT sum(x) FROM region"),
            "7",
            "{engine}"
        );
    }
}

/// Tables of the same names in another schema or database, where every session without a setting of its own would work.
#[test]
fn a_table_of_our_name_elsewhere_is_never_changed() {
    const NAMES: [&str; 3] = ["orders", "lineitem", "customer"];
    let made = |place: &str| {
        let made = |name: &str| {
            format!(
                "; CREATE TABLE {place}.{name} (x INTEGER); INSERT INTO {place}.{name} VALUES (7)"
            )
        };
        NAMES.map(made).concat()
    };
    let postgres = (
        Database::postgres(),
        "public",
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public', current_database()); END $$",
    );
    let others = Database::mariadb_and_mysql().into_iter();
    let others = others.map(|database| (database, "shop", "CREATE DATABASE shop"));
    for (database, place, before) in std::iter::once(postgres).chain(others) {
        let engine = database.engine;
        let mut theirs = database.session();
        theirs.batch(&(before.to_owned() + &made(place))).unwrap();
        database.load_least();
        work(&database).note_refresh(1).unwrap();
        refresh(
            &database,
            &[(Function::NewSales, 1), (Function::OldSales, 1)],
        );
        assert!(olap::undo_refreshes(database.target.as_ref()).unwrap());
        assert!(database.check(&[1, 6]).is_sound(), "{engine}");
        assert!(olap::drop_all(database.target.as_ref()).unwrap());
        for name in NAMES {
            let sql = format!("SELECT count(*) * 10 + sum(x) FROM {place}.{name}");
            assert_eq!(number(theirs.as_mut(), &sql), "17", "{engine} {name}");
        }
    }
}

/// The secondary schema of a database in which order entry would be.
#[test]
fn a_secondary_schema_that_is_somebody_elses_is_refused() {
    let others = Database::mariadb_and_mysql();
    for database in [Database::sqlite(), Database::postgres()]
        .into_iter()
        .chain(others)
    {
        let (engine, target) = (database.engine, database.target.as_ref());
        let mut theirs = database.session();
        let own = theirs.schema().trim_matches('`').to_owned();
        let place = format!("{own}_oltp");
        let (place, before, after) = match target.data_path().filter(|_| engine == "sqlite") {
            Some(path) => {
                let attach = format!("ATTACH DATABASE '{}-oltp' AS beside", path.display());
                ("beside".to_owned(), attach, "DETACH DATABASE beside")
            }
            None => (place.clone(), format!("CREATE SCHEMA {place}"), ""),
        };
        theirs
            .batch(&format!(
                "{before}; CREATE TABLE {place}.customer (x INTEGER); INSERT INTO {place}.customer VALUES (7); {after}"
            ))
            .unwrap();
        let error = target.secondary_schema("oltp").err();
        let error = error.unwrap_or_else(|| panic!("{engine}: {place} was taken"));
        assert_eq!(error.kind, ErrorKind::Foreign, "{engine}: {error}");
        if !after.is_empty() {
            theirs.batch(&before).unwrap();
        }
        let sql = format!("SELECT count(*) * 10 + sum(x) FROM {place}.customer");
        assert_eq!(number(theirs.as_mut(), &sql), "17", "{engine}");
    }
}
