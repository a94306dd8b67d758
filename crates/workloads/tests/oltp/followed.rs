//! A copy in the column store that follows order entry.

use std::sync::atomic::AtomicBool;

use columnar::Level;
use load::Progress;
use mixed::shared_tables::copy::OrderEntryCopy;
use mixed::shared_tables::query::{differing, queries};
use mixed::shared_tables::snapshot::{Clock, Snapshots};
use oltp::Mode;

use crate::common::*;
use crate::users::{By, RUN, context, serve, world};

const ROOM_BYTES: u64 = 1_000_000_000;

/// Runs every kind of transaction a few times.
fn work(database: &Database, run: u32) {
    let context = context(database, Mode::Client, world(database, run), None);
    let outcome = serve(database, &context, By::Blocking, 2, 250);
    assert_eq!(outcome.error_texts(), Vec::<String>::new());
    assert!(context.ledger.total().delivered > 0);
}

fn follows(engine: &'static str) {
    if let Some(why) = columnar::available() {
        testing::lacking(&why);
    }
    let database = Database::loaded(engine, 1);
    let from = database.target.as_ref();
    let (level, stop) = (Level::QueryHigh, AtomicBool::new(false));
    let (mut copy, wrong) = OrderEntryCopy::lift(from, level, Some(ROOM_BYTES), &stop).unwrap();
    assert_eq!(wrong, []);
    assert_eq!(copy.differing(from).unwrap(), None);
    let target = copy.target();
    let mut reader = target.open_session().unwrap();
    let orders = "SELECT count(*) FROM orders";
    for run in [RUN, RUN + 1] {
        work(&database, run);
        let difference = copy.differing(from).unwrap();
        assert!(difference.is_some(), "nothing has changed");
        reader.begin_snapshot().unwrap();
        let before = one(reader.as_mut(), orders);
        let cycle = copy.follow(from, 0).unwrap();
        assert!(cycle.rows > 0 && cycle.bytes > cycle.rows, "{cycle:?}");
        assert_eq!(one(reader.as_mut(), orders), before, "not one moment");
        reader.commit().unwrap();
        assert_ne!(one(reader.as_mut(), orders), before);
        assert_eq!(copy.differing(from).unwrap(), None, "{engine}");
    }
    let users = Progress::new();
    let clock = Clock {
        since: copy.since(),
        users: &users,
    };
    let mut here = Snapshots::new(database.session(), engine, None);
    let mut there = Snapshots::new(target.open_session().unwrap(), "duckdb", Some(clock));
    for query in queries() {
        let (right, found) = (here.ask(query).unwrap(), there.ask(query).unwrap());
        let same = differing(&found.answer, &right.answer);
        assert_eq!(same, None, "{engine}: query {}", query.number);
        assert_eq!((right.torn, found.torn), (None, None));
        assert_eq!(right.age, None);
        assert_eq!(found.age.map(|age| age.transactions), Some(0));
    }
    assert_eq!(there.check().unwrap(), None);
}

#[test]
fn a_copy_of_sqlite_follows() {
    follows("sqlite");
}

#[test]
fn a_copy_of_postgres_follows() {
    follows("postgres");
}

#[test]
fn a_copy_of_mariadb_follows() {
    follows("mariadb");
}
