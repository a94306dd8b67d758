//! The target as a whole: counters, waits, settings, a second schema.

use engine::{SCHEMA_MARK, Tally};

use crate::common::*;

/// Statements on views that the stand-in lacks are read from tables that the test made of them.
#[test]
fn views_are_read_as_oracle_has_them() {
    let target = new_target();
    let counters = target.counters();
    assert!(
        counters.buffer_gets.is_some() && counters.redo_bytes.is_some(),
        "{counters:?}"
    );
    assert!(target.running_since().unwrap().ends_with('Z'));
    let left = target.sessions_left().unwrap();
    assert!(left.limit.starts_with("processes is 200"), "{left:?}");
    let mut watch = target.watch().unwrap().unwrap();
    let counts = watch.count().unwrap();
    let events: Vec<&str> = counts
        .waits
        .iter()
        .map(|(_, event, _)| event.as_str())
        .collect();
    assert!(
        events.contains(&"log file sync") && !events.contains(&"SQL*Net message from client"),
        "{events:?}"
    );
    let mut tally = Tally::default();
    watch.look(&mut tally).unwrap();
    let background = ("LGWR".to_owned(), "log file parallel write".to_owned());
    assert!(tally.background.contains_key(&background), "{tally:?}");
}

#[test]
fn a_second_schema_has_tables_of_the_same_names() {
    let target = new_target();
    let second = target.secondary_schema("second").unwrap();
    let (mut one, mut other) = (
        target.open_session().unwrap(),
        second.open_session().unwrap(),
    );
    assert_ne!(one.schema(), other.schema());
    let made = format!("CREATE TABLE {SCHEMA_MARK}.orders (id BIGINT NOT NULL)");
    one.create_table("orders", &made).unwrap();
    other.create_table("orders", &made).unwrap();
    one.batch("INSERT INTO orders VALUES (1)").unwrap();
    assert_eq!(number(other.as_mut(), "SELECT count(*) FROM orders"), 0);
    drop((other, second));
    target.remove_secondary_schema("second").unwrap();
    let error = target.secondary_schema("absent").err().unwrap();
    assert!(error.message.contains("CREATE USER"), "{error}");
}

#[test]
fn commits_can_return_before_they_are_durable() {
    let url = new_url();
    let target = opened(&format!("{url}&commit_wait=NOWAIT")).unwrap();
    assert_eq!(target.record().settings["commit_wait"], "NOWAIT");
    drop(target);
    cannot_be_set_by(&format!("{url}&nls_sort=FRENCH"), "dbdyno sets it");
}

fn cannot_be_set_by(url: &str, words: &str) {
    let error = engines::parse(url)
        .and_then(|url| engines::find(&url).map(drop))
        .unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
}
