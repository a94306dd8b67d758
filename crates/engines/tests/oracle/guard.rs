//! Schemas that are refused: tables of others, another dbdyno.

use engine::{ErrorKind, SCHEMA_MARK};

use crate::common::*;

#[test]
fn tables_of_others_keep_dbdyno_out() {
    let url = new_url();
    let target = opened(&url).unwrap();
    let mut session = target.open_session().unwrap();
    session.batch("CREATE TABLE orders (id NUMBER)").unwrap();
    drop((session, target));
    let error = refused(&url);
    assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
    assert!(error.message.contains("\"orders\""), "{error}");
}

#[test]
fn a_table_that_was_made_again_is_not_dbdynos() {
    let target = new_target();
    let mut session = target.open_session().unwrap();
    let made = format!("CREATE TABLE {SCHEMA_MARK}.mine (id BIGINT NOT NULL)");
    session.create_table("mine", &made).unwrap();
    assert!(session.is_entered("mine").unwrap());
    session
        .batch("DROP TABLE mine; CREATE TABLE mine (id NUMBER)")
        .unwrap();
    let error = session.drop_table("mine").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
    session.batch("DROP TABLE mine").unwrap();
    assert!(!session.drop_table("mine").unwrap());
}

#[test]
fn one_dbdyno_at_a_time() {
    let url = new_url();
    let target = opened(&url).unwrap();
    let error = refused(&url);
    assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
    assert!(error.message.contains("another dbdyno"), "{error}");
    let found = engines::inspect(&engines::parse(&url).unwrap()).unwrap();
    assert!(found.obstacles[0].contains("another dbdyno"), "{found:?}");
    drop(target);
    opened(&url).unwrap();
}

#[test]
fn the_servers_own_schemas_are_refused() {
    let url = engines::parse("oracle://system:hush@127.0.0.1:1/x?connect_timeout=1").unwrap();
    assert!(engines::inspect(&url).is_err());
}

#[test]
fn an_inspection_changes_nothing() {
    let url = engines::parse(&new_url()).unwrap();
    let found = engines::inspect(&url).unwrap();
    assert!(found.is_fit(), "{found:?}");
    // The server is on this machine.
    let ahead_us = found.clock.unwrap().ahead_us;
    assert!(ahead_us.abs() < 500_000, "{ahead_us}");
    assert!(found.round_trip.is_some());
    assert!(found.sessions_left.is_some());
    let again = engines::inspect(&url).unwrap();
    assert_eq!(found.place, again.place);
    let source = engines::open_source(&url).unwrap();
    assert!(source.tables().unwrap().is_empty());
}
