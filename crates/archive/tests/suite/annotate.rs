//! Names, notes and removal of runs: what was measured stays as it was sealed, or goes whole.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::fs;
use std::path::Path;

use crate::common::{empty, key, measure, new_run, point};
use archive::{Archive, ArchiveError, NewRun, RunName, RunState, StudyPart};
use rusqlite::Connection;

const NOW: &str = "2026-02-03T04:05:06Z";

fn called(archive: &Archive, name: &str) -> Option<i64> {
    archive.run_id(&name.parse::<RunName>().unwrap()).ok()
}

/// A run with its digest as it stands in the file.
fn record(archive: &Archive, id: i64) -> (String, String) {
    let connection = Connection::open(archive.path()).unwrap();
    let sql = "SELECT label, digest FROM run WHERE id = ?1";
    connection
        .query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
}

#[test]
fn a_renamed_run_is_found_by_both_names_and_its_record_is_untouched() {
    let (_directory, mut archive) = empty();
    let id = measure(&mut archive, Some("before"), &[point(key(1))]);
    let other = measure(&mut archive, None, &[point(key(1))]);
    let sealed = record(&archive, id);
    archive.rename(id, "baseline", NOW).unwrap();
    let reader = Archive::open_read_only(archive.path()).unwrap();
    for name in ["before", "baseline", "1"] {
        assert_eq!(called(&reader, name), Some(id), "{name}");
    }
    let run = reader.load_run(&RunName::Id(id)).unwrap();
    assert_eq!(run.label.as_str(), "baseline");
    assert_eq!(run.renamed_from.as_deref(), Some("before"));
    assert!(run.valid(), "{:?}", run.reasons);
    assert_eq!(reader.label(id).unwrap(), "baseline");
    assert_eq!(reader.list_runs().unwrap()[0].label, "baseline");
    assert_eq!(reader.runs_of_plan("quick").unwrap()[0].1, "baseline");
    assert_eq!(archive::export::json(&run)["run"]["renamed_from"], "before");
    // Neither name leads to another run.
    for taken in ["before", "baseline"] {
        let error = archive.rename(other, taken, NOW).unwrap_err();
        assert!(matches!(error, ArchiveError::LabelTaken { .. }), "{error}");
        let error = archive
            .create_run(&new_run(Some(taken), vec![key(1)]))
            .unwrap_err();
        assert!(matches!(error, ArchiveError::LabelTaken { .. }), "{error}");
    }
    for unusable in ["", "7", "last", "run-1"] {
        let error = archive.rename(id, unusable, NOW).unwrap_err();
        assert!(
            matches!(error, ArchiveError::LabelUnusable { .. }),
            "{error}"
        );
    }
    // Its own label takes the name away, which is free then.
    archive.rename(id, "before", NOW).unwrap();
    let run = archive.load_run(&RunName::Id(id)).unwrap();
    assert_eq!((run.label.as_str(), run.renamed_from), ("before", None));
    archive.rename(other, "baseline", NOW).unwrap();
    assert_eq!(record(&archive, id), sealed);
}

#[test]
fn a_note_is_kept_replaced_and_taken_away() {
    let (_directory, mut archive) = empty();
    let id = measure(&mut archive, Some("before"), &[point(key(1))]);
    let sealed = record(&archive, id);
    let note = |archive: &Archive| archive.load_run(&RunName::Id(id)).unwrap().note;
    for (text, kept) in [
        ("after the new firmware ", Some("after the new firmware")),
        ("größer\nas expected", Some("größer\nas expected")),
        ("", None),
    ] {
        archive.note(id, text, NOW).unwrap();
        assert_eq!(note(&archive).as_deref(), kept);
    }
    archive.note(id, "x", NOW).unwrap();
    archive.rename(id, "baseline", NOW).unwrap();
    assert_eq!(
        note(&archive).as_deref(),
        Some("x"),
        "a name changes no note"
    );
    for bad in ["\u{7}".to_owned(), "x".repeat(1001)] {
        assert!(archive.note(id, &bad, NOW).is_err());
    }
    let unknown = archive.note(7, "x", NOW).unwrap_err();
    assert!(matches!(unknown, ArchiveError::UnknownRun { .. }));
    assert!(archive.load_run(&RunName::Id(id)).unwrap().valid());
    assert_eq!(record(&archive, id), sealed);
}

/// Rows of every table that belong to no run.
fn left_over(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let mut tables = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        .unwrap();
    let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let mut found = Vec::new();
    for table in names.map(Result::unwrap).filter(|t| t != "deleted_run") {
        let column = ["run_id", "point_id"].into_iter().find(|column| {
            let sql = format!("SELECT {column} FROM {table}");
            connection.prepare(&sql).is_ok()
        });
        let orphans = match column {
            Some("run_id") => "run_id NOT IN (SELECT id FROM run)",
            Some(_) => "point_id NOT IN (SELECT id FROM point)",
            None => "id NOT IN (SELECT id FROM run)",
        };
        let sql = format!("SELECT count(*) FROM {table} WHERE {orphans}");
        let count: i64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        if count > 0 {
            found.push(format!("{table}: {count}"));
        }
    }
    found
}

#[test]
fn a_deleted_run_is_gone_whole_and_its_number_is_not_given_again() {
    let (_directory, mut archive) = empty();
    let kept = measure(&mut archive, Some("kept"), &[point(key(1))]);
    let first = measure(&mut archive, Some("first"), &[point(key(1)), point(key(2))]);
    let last = measure(&mut archive, None, &[point(key(1))]);
    archive.rename(first, "second name", NOW).unwrap();
    let before = archive.load_run(&RunName::Id(kept)).unwrap();
    archive.delete_runs(&[first, last], NOW).unwrap();
    assert_eq!(archive.load_run(&RunName::Id(kept)).unwrap(), before);
    assert!(before.valid());
    assert_eq!(left_over(archive.path()), Vec::<String>::new());
    for name in ["first", "second name", "2", "3"] {
        assert_eq!(called(&archive, name), None, "{name}");
    }
    let next = archive
        .create_run(&new_run(Some("first"), vec![key(1)]))
        .unwrap();
    assert_eq!(next, last + 1);
    let connection = Connection::open(archive.path()).unwrap();
    let sql = "SELECT group_concat(id || ' ' || label || ' ' || points || ' ' || deleted_at, ', ') FROM deleted_run";
    let reported: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(reported, format!("2 first 2 {NOW}, 3 run-3 1 {NOW}"));
    drop(connection);
    let path = archive.path().to_owned();
    drop(archive);
    let bytes = std::fs::read(path).unwrap();
    assert!(!bytes.windows(11).any(|bytes| bytes == b"second name"));
}

fn kept(archive: &mut Archive, ids: &[i64]) -> String {
    let before = archive.list_runs().unwrap();
    let error = archive.delete_runs(ids, NOW).unwrap_err();
    assert!(matches!(error, ArchiveError::NotDeleted { .. }), "{error}");
    assert_eq!(archive.list_runs().unwrap(), before, "all of them or none");
    error.to_string()
}

#[test]
fn a_run_under_way_stays_and_has_one_holder() {
    let (_directory, mut archive) = empty();
    let whole = measure(&mut archive, None, &[point(key(1))]);
    let open = archive
        .create_run(&new_run(None, vec![key(1), key(2)]))
        .unwrap();
    archive.append_point(open, &point(key(1))).unwrap();
    let mut other = Archive::open(archive.path()).unwrap();
    let refused = |other: &mut Archive| {
        let before = other.list_runs().unwrap();
        let deleted = other.delete_runs(&[whole, open], NOW);
        for error in [deleted.unwrap_err(), other.lock_run(open).unwrap_err()] {
            assert!(matches!(error, ArchiveError::RunInUse { .. }), "{error}");
        }
        assert_eq!(other.list_runs().unwrap(), before, "all of them or none");
    };
    refused(&mut other);
    archive.finish_run(open, RunState::Running, None).unwrap();
    refused(&mut other);
    archive
        .finish_run(open, RunState::Interrupted, None)
        .unwrap();
    other.lock_run(open).unwrap();
    other.lock_run(open).unwrap();
    refused(&mut archive);
    drop(other);
    archive.finish_run(open, RunState::Running, None).unwrap();
    archive.delete_runs(&[whole, open], NOW).unwrap();
    assert_eq!(archive.list_runs().unwrap(), []);
    let folder = archive.path().parent().unwrap();
    let left = fs::read_dir(folder).unwrap().flatten();
    let locks = left.filter(|entry| entry.path().extension().is_some_and(|end| end == "lock"));
    assert_eq!(locks.count(), 0);
}

#[test]
fn a_run_that_was_changed_stays_as_evidence() {
    for sql in [
        "UPDATE point SET rows_per_s = 7 WHERE run_id = 1 AND jobs = 2",
        "UPDATE run SET seed = '5' WHERE id = 1",
        "UPDATE point SET document = json_remove(document, '$.samples') WHERE id = 1",
    ] {
        let (_directory, mut archive) = empty();
        let id = measure(&mut archive, None, &[point(key(1)), point(key(2))]);
        let tamper = Connection::open(archive.path()).unwrap();
        assert_eq!(tamper.execute(sql, []).unwrap(), 1, "{sql}");
        let why = kept(&mut archive, &[id]);
        assert!(why.contains("digests differ"), "{why}");
    }
}

#[test]
fn a_study_goes_with_both_sides_or_not_at_all() {
    let (_directory, mut archive) = empty();
    let ids = ["a", "b"].map(|side| {
        let study = StudyPart {
            name: "s".into(),
            side: side.into(),
            order: "ab".into(),
            settings: Vec::new(),
            slice_ms: None,
            ..StudyPart::default()
        };
        let new = NewRun {
            study: Some(study),
            ..new_run(Some(&format!("s-{side}")), vec![key(1)])
        };
        let id = archive.create_run(&new).unwrap();
        archive.append_point(id, &point(key(1))).unwrap();
        archive.finish_run(id, RunState::Complete, None).unwrap();
        id
    });
    let why = kept(&mut archive, &ids[..1]);
    assert!(why.contains("s-b") && why.contains("delete both"), "{why}");
    archive.delete_runs(&ids, NOW).unwrap();
}
