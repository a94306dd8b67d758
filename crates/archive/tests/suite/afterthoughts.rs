//! Findings after points were measured: points that belong together, that turn out to be wrong, or
//! that a rule made needless.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use crate::common::{key, new_run, point, remark};
use archive::{Archive, ArchiveError, Missing, RunName, RunState};

fn begun(jobs: &[u32]) -> (tempfile::TempDir, Archive, i64) {
    let directory = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(directory.path().join("a.dbdyno")).unwrap();
    let planned = jobs.iter().map(|jobs| key(*jobs)).collect();
    let id = archive.create_run(&new_run(None, planned)).unwrap();
    (directory, archive, id)
}

fn left_out(reason: &str) -> Missing {
    Missing {
        target: 0,
        test: "OLTP".into(),
        title: "A ramp".into(),
        reason: remark(reason),
    }
}

#[test]
fn points_that_belong_together_are_entered_together_or_not_at_all() {
    let (_directory, mut archive, id) = begun(&[1, 2]);
    let refused = archive.append_points(id, &[point(key(1)), point(key(3))]);
    assert!(matches!(refused, Err(ArchiveError::NotPlanned { .. })));
    assert_eq!(archive.finished(id).unwrap(), []);
    archive
        .append_points(id, &[point(key(1)), point(key(2))])
        .unwrap();
    assert_eq!(archive.finished(id).unwrap(), [key(1), key(2)]);
}

#[test]
fn a_condemned_point_is_invalid_with_the_reason_and_unaltered() {
    let (_directory, mut archive, id) = begun(&[1, 2]);
    archive
        .append_points(id, &[point(key(1)), point(key(2))])
        .unwrap();
    archive
        .invalidate(id, &[key(2)], &remark("the sums differ"))
        .unwrap();
    let run = archive.load_run(&RunName::Id(id)).unwrap();
    assert!(run.points[0].valid());
    assert_eq!(run.points[1].reasons, [remark("the sums differ")]);
    let absent = archive
        .invalidate(id, &[key(3)], &remark("why"))
        .unwrap_err();
    assert!(matches!(absent, ArchiveError::NotThere { .. }), "{absent}");
}

#[test]
fn what_was_altered_before_stays_altered() {
    let (_directory, mut archive, id) = begun(&[1]);
    archive.append_point(id, &point(key(1))).unwrap();
    let direct = rusqlite::Connection::open(archive.path()).unwrap();
    direct
        .execute("UPDATE point SET operations_per_s = 1e9", [])
        .unwrap();
    archive
        .invalidate(id, &[key(1)], &remark("the sums differ"))
        .unwrap();
    let run = archive.load_run(&RunName::Id(id)).unwrap();
    assert_eq!(
        run.points[0].reasons.len(),
        2,
        "{:?}",
        run.points[0].reasons
    );
}

#[test]
fn a_run_is_complete_without_what_was_left_out() {
    let (_directory, mut archive, id) = begun(&[1, 2, 3]);
    archive.append_point(id, &point(key(1))).unwrap();
    let refused = archive.skip(id, &[key(1)], &left_out("no"));
    assert!(matches!(refused, Err(ArchiveError::PointTwice { .. })));
    let reason = left_out("2 and 3 users: the limit was passed before");
    archive.skip(id, &[key(2), key(3)], &reason).unwrap();
    archive
        .finish_run(id, RunState::Complete, Some("2026-01-02T03:05:00Z"))
        .unwrap();
    let run = archive.load_run(&RunName::Id(id)).unwrap();
    assert!(run.valid(), "{:?}", run.reasons);
    assert_eq!(run.points_planned, 1);
    assert_eq!(run.missing.last(), Some(&reason));
}
