//! Tables, indexes and temporary files that lie apart from the data.

use std::fs;
use std::path::Path;

use archive::Purpose;
use engine::Session;

use crate::common::*;
use crate::networked::directory;

/// Where a table or index lies: the name of its table space, nothing for the data's own.
fn space_of(session: &mut dyn Session, relation: &str) -> String {
    let sql = format!(
        "SELECT coalesce((SELECT spcname::text FROM pg_tablespace s WHERE s.oid = reltablespace), '') \
         FROM pg_class WHERE relname = '{relation}'"
    );
    let rows = session.texts(&sql).unwrap();
    rows[0][0].clone().unwrap()
}

fn files(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let count = |path: &Path| if path.is_dir() { files(path) } else { 1 };
    entries.map(|entry| count(&entry.path())).sum()
}

#[test]
fn tables_indexes_and_temporary_files_lie_where_the_url_says() {
    let parent = directory();
    let at = |name: &str| parent.path().join(name);
    let url = format!(
        "postgres+local:{}?version=15&shared_buffers=16MB&work_mem=64kB&place.indexes={}&place.temporary={}&place.table.stock={}",
        at("data").display(),
        at("indexes").display(),
        at("temporary").display(),
        at("stock").display()
    );
    let target = opened(&url).unwrap();
    let mut session = target.open_session().unwrap();
    for table in ["stock", "item"] {
        let sql = format!("CREATE TABLE {{schema}}.{table} (id BIGINT PRIMARY KEY, n BIGINT)");
        session.create_table(table, &sql).unwrap();
        let index = format!("{table}_n");
        session.create_index(table, &index, "n").unwrap();
    }
    session.create_table_as("copied", "SELECT 1 AS id").unwrap();
    for (relation, space) in [
        ("stock", "dbdyno_table_stock"),
        ("item", ""),
        ("copied", ""),
        ("stock_pkey", "dbdyno_indexes"),
        ("stock_n", "dbdyno_indexes"),
        ("item_pkey", "dbdyno_indexes"),
        ("item_n", "dbdyno_indexes"),
    ] {
        assert_eq!(space_of(session.as_mut(), relation), space, "{relation}");
    }
    // Keys of a workload's own are moved with its statistics, as those of order entry.
    let table = "CREATE TABLE {schema}.district (id BIGINT)";
    session.create_table("district", table).unwrap();
    session
        .batch("ALTER TABLE dbdyno.district ADD PRIMARY KEY (id)")
        .unwrap();
    assert_eq!(space_of(session.as_mut(), "district_pkey"), "");
    session.analyse("district").unwrap();
    let of_key = space_of(session.as_mut(), "district_pkey");
    assert_eq!(of_key, "dbdyno_indexes");
    // While a sort that does not fit into memory is under way, its file is there.
    session.batch("BEGIN").unwrap();
    session
        .batch("DECLARE sorted CURSOR FOR SELECT n, repeat('x', 100) FROM generate_series(1, 50000) n ORDER BY -n")
        .unwrap();
    session.batch("FETCH 1 FROM sorted").unwrap();
    assert!(files(&at("temporary").join("data")) > 0);
    session.batch("ROLLBACK").unwrap();

    let paths = target.storage_paths().unwrap();
    let of = |name: &str| at(name).join("data");
    for place in [
        (Purpose::Data, of("data")),
        (Purpose::Data, of("stock")),
        (Purpose::Indexes, of("indexes")),
        (Purpose::Temporary, of("temporary")),
    ] {
        assert!(paths.contains(&place), "{place:?} in {paths:?}");
    }
    for refused in [target.snapshot().err(), target.backup().err()] {
        let why = refused.unwrap();
        assert!(why.contains("apart from its data (place."), "{why}");
    }
    drop(session);
    drop(target);
    // Again on what is there.
    let target = opened(&url).unwrap();
    let mut session = target.open_session().unwrap();
    assert_eq!(space_of(session.as_mut(), "stock"), "dbdyno_table_stock");
    session.drop_table("stock").unwrap();
    let sql = "CREATE TABLE {schema}.stock (id BIGINT PRIMARY KEY)";
    session.create_table("stock", sql).unwrap();
    assert_eq!(space_of(session.as_mut(), "stock"), "dbdyno_table_stock");
    // A schema beside dbdyno's own, as of a study's other side.
    let other = target.secondary_schema("b").unwrap();
    let mut session = other.open_session().unwrap();
    session
        .create_table(
            "order_line",
            "CREATE TABLE {schema}.order_line (id BIGINT PRIMARY KEY)",
        )
        .unwrap();
    let index = "order_line_pkey";
    assert_eq!(space_of(session.as_mut(), index), "dbdyno_indexes");
}
