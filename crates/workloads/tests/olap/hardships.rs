//! Queries that a server cannot finish: each is reported in the server's words, and the others are answered.

use std::time::Duration;

use olap::{Checked, LoadOptions, Verdict};

use crate::common::*;

fn check(database: &Database, queries: &[u32], limit: Option<Duration>) -> Checked {
    olap::check(
        database.target.as_ref(),
        database.engine,
        queries,
        limit,
        &|_| (),
    )
    .unwrap()
}

/// Reason why a query has no answer; 0 for the row counts.
fn reason(checked: &Checked, number: u32) -> String {
    let found = checked.findings.iter().find(|f| f.number == number);
    match &found.unwrap().verdict {
        Verdict::Wrong(what) => what.clone(),
        other => panic!("Q{number}: {other:?}"),
    }
}

fn is_right(checked: &Checked, number: u32) -> bool {
    let mut findings = checked.findings.iter();
    findings.any(|f| f.number == number && f.verdict == Verdict::Right)
}

/// Q4 joins many orders with their line items, Q18 groups all of them; Q6 reads one table and returns one row.
#[test]
fn a_query_that_runs_out_of_memory_is_reported_and_the_others_are_answered() {
    let postgres = Database::postgres_with("&work_mem=64kB&temp_file_limit=512kB");
    let mariadb = Database::mariadb();
    for (database, hungry, cause) in [
        (&postgres, 4, "temp_file_limit"),
        (&mariadb, 18, "max-session-mem-used"),
    ] {
        // Keys that one session creates are sorted in memory.
        let alone = LoadOptions {
            jobs: Some(1),
            ..options(0.01)
        };
        database.load(&alone).unwrap();
        if database.engine == "mysql" {
            // The loader needs more.
            let scarce = "SET GLOBAL max_session_mem_used = 2500000";
            database.session().batch(scarce).unwrap();
        }
        let checked = check(database, &[6, hungry], None);
        let scarce = reason(&checked, hungry);
        assert!(scarce.contains(cause), "{scarce}");
        assert!(is_right(&checked, 6), "{:?}", checked.findings);
    }
}

/// A table that somebody else has locked delays nobody beyond the limit.
#[test]
fn a_query_that_waits_for_a_lock_is_ended_by_its_limit() {
    let others = Database::mariadb_and_mysql();
    for database in std::iter::once(Database::postgres()).chain(others) {
        database.load_least();
        let mut other = database.session();
        let (lock, unlock) = match database.engine {
            "postgres" => (
                "BEGIN; LOCK TABLE customer IN ACCESS EXCLUSIVE MODE",
                "COMMIT",
            ),
            _ => ("LOCK TABLES customer WRITE", "UNLOCK TABLES"),
        };
        other.batch(lock).unwrap();
        let begun = std::time::Instant::now();
        let checked = check(&database, &[3, 6], Some(Duration::from_secs(2)));
        assert!(begun.elapsed() < Duration::from_secs(60));
        let (rows, three) = (reason(&checked, 0), reason(&checked, 3));
        assert!(rows.contains("customer"), "{rows}");
        assert!(three.contains("time"), "{three}");
        assert!(is_right(&checked, 6), "{:?}", checked.findings);
        other.batch(unlock).unwrap();
        assert!(check(&database, &[3], None).is_sound());
    }
}
