//! Copies in the column store follow the changes of their source.

use std::sync::atomic::AtomicBool;

use columnar::{Changed, Chosen, Level, LiftOptions, Lifted, differing, follow, lift};
use olap::Function;
use olap::refresh::{CHANGED, RefreshSet};

use crate::common::*;
use crate::refreshes::{refresh, work};

fn lifted(database: &Database, level: Level) -> Lifted {
    let options = LiftOptions {
        chosen: Chosen {
            tables: CHANGED.map(|(table, _)| table.to_owned()).to_vec(),
            ..Chosen::default()
        },
        level,
        memory_bytes: Some(1_000_000_000),
        jobs: Some(1),
    };
    let source = database.target.source().unwrap();
    lift(source.as_ref(), &options, &AtomicBool::new(false), &|_| {}).unwrap()
}

/// Changes of set 1, as the source describes them.
fn changed(database: &Database) -> Vec<Changed> {
    let tables = database.target.source().unwrap().tables().unwrap();
    let set = RefreshSet {
        scale: work(database).scale(),
        number: 1,
    };
    let of = |(name, key): (&str, &'static str)| Changed {
        table: tables.iter().find(|t| t.name == name).unwrap().clone(),
        key,
        keys: set.keys(),
    };
    CHANGED.map(of).to_vec()
}

#[test]
fn copies_follow_inserts_updates_and_deletes_on_all_engines() {
    for database in Database::all() {
        let engine = database.engine;
        database.load_least();
        let copies = [Level::QueryHigh, Level::CapacityLow].map(|level| lifted(&database, level));
        let changed = changed(&database);
        let orders = |copy: &Lifted| {
            let target = copy.store.target();
            let mut session = target.open_session().unwrap();
            let rows = session.texts(
                "SELECT count(*)::VARCHAR, round(sum(o_totalprice), 2)::VARCHAR, (SELECT count(*) FROM lineitem)::VARCHAR FROM orders",
            );
            rows.unwrap()
        };
        let before = copies.each_ref().map(orders);
        work(&database).note_refresh(1).unwrap();
        for function in [
            Function::NewSales,
            Function::ChangedSales,
            Function::OldSales,
        ] {
            refresh(&database, &[(function, 1)]);
            let source = database.target.source().unwrap();
            for copy in &copies {
                let (source, store) = (source.as_ref(), &copy.store);
                let difference = differing(source, store, &changed).unwrap();
                assert!(
                    difference.is_some(),
                    "{engine} {function:?}: nothing has changed"
                );
                let rows = follow(source, store, &changed).unwrap();
                assert!((15..500).contains(&rows), "{engine} {function:?}: {rows}");
                let difference = differing(source, store, &changed).unwrap();
                assert_eq!(difference, None, "{engine} {function:?}");
            }
        }
        olap::undo_refreshes(database.target.as_ref()).unwrap();
        let source = database.target.source().unwrap();
        for (copy, before) in copies.iter().zip(&before) {
            follow(source.as_ref(), &copy.store, &changed).unwrap();
            copy.store.pack().unwrap();
            assert_eq!(&orders(copy), before, "{engine}");
        }
    }
}
