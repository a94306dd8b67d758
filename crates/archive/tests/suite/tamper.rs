//! A row or a bucket changed behind the tool's back makes the figure invalid.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use crate::common::{histogram, key, measure, new_run, point, remark};
use archive::{Archive, Remark, Run, RunName, RunState};
use rusqlite::Connection;

/// Measures two points, lets `tamper` at the file by plain SQL, and loads the run again.
fn after(tamper: impl Fn(&Connection)) -> Run {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    let mut archive = Archive::open(&path).unwrap();
    let mut second = point(key(2));
    second.reasons.push(remark("the row count was wrong"));
    measure(&mut archive, None, &[point(key(1)), second]);
    drop(archive);
    let connection = Connection::open(&path).unwrap();
    connection
        .pragma_update(None, "foreign_keys", false)
        .unwrap();
    tamper(&connection);
    drop(connection);
    let archive = Archive::open(&path).unwrap();
    let run = archive.load_run(&RunName::Last).unwrap();
    assert_eq!(archive.list_runs().unwrap()[0].valid, run.valid());
    run
}

fn after_sql(sql: &str) -> Run {
    after(|connection| {
        let changed = connection.execute(sql, []).unwrap();
        assert_eq!(changed, 1, "{sql}");
    })
}

#[test]
fn an_untouched_run_has_only_its_own_reasons() {
    let run = after(|connection| connection.execute_batch("VACUUM; REINDEX;").unwrap());
    assert_eq!(run.reasons, []);
    assert!(run.points[0].valid());
    assert_eq!(run.points[1].reasons, [remark("the row count was wrong")]);
}

#[test]
fn a_changed_point_is_invalid_whatever_was_changed() {
    for sql in [
        "UPDATE point SET rows_per_s = rows_per_s * 2 WHERE id = 1",
        "UPDATE point SET rows = NULL WHERE id = 1 AND rows NOT NULL",
        "UPDATE point SET queries_per_min = 1 WHERE id = 1 AND queries_per_min IS NULL",
        "UPDATE point SET late_start_us_max = 0.5 WHERE id = 1",
        "UPDATE point SET jobs = 8 WHERE id = 1",
        "UPDATE point SET test = 'T621' WHERE id = 1",
        "UPDATE point SET title = 'Other' WHERE id = 1",
        "UPDATE point SET component = 'cpu' WHERE id = 1",
        "UPDATE point SET definition = 'other SQL' WHERE id = 1",
        "UPDATE point SET seed = '7' WHERE id = 1",
        "UPDATE point SET seed = 'seven' WHERE id = 1",
        "UPDATE point SET steady = NULL WHERE id = 1",
        "UPDATE point SET work = '{}' WHERE id = 1",
        "UPDATE point SET work = '[7]' WHERE id = 1",
        "UPDATE point SET digest = '' WHERE id = 1",
        "UPDATE point SET bottleneck_resource = 'none' WHERE id = 1",
        "UPDATE reason SET text = 'SQLite has many writers.' WHERE point_id = 1 AND seq = 1",
        "UPDATE reason SET code = 'serial' WHERE point_id = 1 AND seq = 1",
        "UPDATE reason SET fields = '{\"elapsed_s\":1.0}' WHERE point_id = 1 AND seq = 0",
        "UPDATE reason SET code = 'of a later version' WHERE point_id = 1 AND seq = 0",
        "DELETE FROM reason WHERE point_id = 1 AND seq = 1",
        "UPDATE point SET document = '{}' WHERE id = 1",
        "UPDATE point SET document = '[7]' WHERE id = 1",
    ] {
        let run = after_sql(sql);
        assert!(!run.points[0].valid(), "{sql}");
        assert!(
            run.points[0].reasons.contains(&Remark::PointAltered),
            "{sql}"
        );
    }
}

#[test]
fn a_point_is_invalid_whatever_of_its_document_was_changed() {
    for change in [
        "json_set(document, '$.samples[0].operations_per_s', 2000)",
        "json_set(document, '$.samples[0].pressure_io_pct', NULL)",
        "json_set(document, '$.samples[0].swap_mb', 1)",
        "json_remove(document, '$.samples[0]')",
        "json_insert(document, '$.samples[#]', json('{\"at_s\":2.0}'))",
        "json_set(document, '$.timed_events[0].share_pct', 5)",
        "json_remove(document, '$.timed_events[0]')",
        "json_set(document, '$.background_events[0].time_s', 0.01)",
        "json_set(document, '$.wait_histograms[0].counts', json('[12]'))",
        "json_set(document, '$.transactions[0].rows', 61)",
        "json_remove(document, '$.transactions[1]')",
        "json_set(document, '$.operation_times[1].mean_us', 1)",
        "json_set(document, '$.operation_times[0].histogram', 'AA==')",
        "json_set(document, '$.operation_samples[0].operations', 1)",
        "json_set(document, '$.devices[0].reads.await_ms', 0.01)",
        "json_set(document, '$.devices[0].holds', json('[\"undo\"]'))",
        "json_remove(document, '$.devices[2]')",
        "json_set(document, '$.devices[1].samples[0].service_us_p99', 9)",
        "json_remove(document, '$.devices[1].samples[1]')",
        "json_set(document, '$.engine_io[0].mb', 1)",
        "json_set(document, '$.interfaces[0].received.bytes', 9)",
        "json_set(document, '$.interfaces[0].kind', 'virtual')",
        "json_remove(document, '$.interfaces[1]')",
        "json_set(document, '$.executions[0].elapsed_us', 1)",
        "json_set(document, '$.executions[0].plan', NULL)",
        "json_remove(document, '$.executions[1]')",
        "json_set(document, '$.observed[0].rows[0][1]', 9)",
    ] {
        let changed = format!("UPDATE point SET document = {change} WHERE id = 1");
        let run = after_sql(&changed);
        assert_eq!(run.points[0].reasons[0], Remark::PointAltered, "{change}");
    }
}

#[test]
fn removing_the_reason_does_not_make_a_point_valid() {
    let run = after_sql("DELETE FROM reason WHERE point_id = 2 AND kind = 'invalid'");
    assert_eq!(run.points[1].reasons, [Remark::PointAltered]);
}

#[test]
fn a_changed_histogram_makes_its_point_invalid() {
    // One bucket of one thousand, the encoding still perfect.
    let other = histogram((1..=999).chain([900])).encode();
    let run = after(|connection| {
        let sql = "UPDATE histogram SET v2_deflate = ?1 WHERE point_id = 1 AND kind = 'service'";
        assert_eq!(connection.execute(sql, [&other]).unwrap(), 1);
    });
    assert_eq!(run.points[0].reasons, [Remark::PointAltered]);
    assert_eq!(run.points[0].histograms.service.count(), 1_000);
}

#[test]
fn a_histogram_that_cannot_be_read_is_a_reason_not_a_crash() {
    for sql in [
        "UPDATE histogram SET v2_deflate = x'00' WHERE point_id = 1 AND kind = 'response'",
        "UPDATE histogram SET v2_deflate = substr(v2_deflate, 1, 40) WHERE point_id = 1 AND kind = 'response'",
        "DELETE FROM histogram WHERE point_id = 1 AND kind = 'response'",
    ] {
        let run = after_sql(sql);
        assert_eq!(run.points[0].reasons.len(), 2, "{sql}");
        assert!(
            run.points[0].reasons[1].to_string().contains("histogram"),
            "{sql}"
        );
        assert!(run.points[0].histograms.response.is_empty(), "{sql}");
    }
}

#[test]
fn a_changed_record_makes_the_run_invalid() {
    for sql in [
        "UPDATE run SET label = 'better'",
        "UPDATE run SET started_at = '2020-01-01T00:00:00Z'",
        "UPDATE run SET plan_toml = ''",
        "UPDATE run SET seed = '1'",
        "UPDATE run SET targets = '[]'",
        "UPDATE run SET targets = '{\"name\": 7}'",
        "UPDATE run SET platform = '{\"cores\": 64}'",
        "UPDATE run SET platform = '{\"cores\": \"many\"}'",
        "UPDATE run SET inventory = '{\"facts\": 7}'",
        "UPDATE run SET study = NULL",
        "UPDATE run SET study = '{\"name\": 7}'",
        "UPDATE run SET digest = 'x'",
        "UPDATE missing SET reason = 'none'",
        "UPDATE missing SET fields = '{}'",
        "DELETE FROM missing",
        "UPDATE planned SET seq = 9 WHERE seq = 1",
        "DELETE FROM planned WHERE seq = 1",
    ] {
        let run = after_sql(sql);
        assert_eq!(run.reasons.first(), Some(&Remark::RunAltered), "{sql}");
        assert!(!run.valid(), "{sql}");
        assert!(
            run.points[0].valid(),
            "{sql}: the point itself was not touched"
        );
        // An export must cope with whatever is left.
        assert_eq!(archive::export::json(&run)["run"]["valid"], false, "{sql}");
    }
}

#[test]
fn a_point_taken_from_a_complete_run_is_missed() {
    let run = after_sql("DELETE FROM point WHERE id = 1");
    assert_eq!(run.points.len(), 1);
    assert_eq!(
        run.reasons,
        [Remark::PointsGone {
            gone: 1,
            planned: 2
        }]
    );
}

#[test]
fn finishing_a_run_does_not_hide_what_was_changed_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    let mut archive = Archive::open(&path).unwrap();
    let id = archive.create_run(&new_run(None, vec![key(1)])).unwrap();
    archive.append_point(id, &point(key(1))).unwrap();
    let tamper = Connection::open(&path).unwrap();
    tamper.execute("UPDATE run SET seed = '5'", []).unwrap();
    archive.finish_run(id, RunState::Complete, None).unwrap();
    let run = archive.load_run(&RunName::Last).unwrap();
    assert_eq!(run.reasons, [Remark::RunAltered]);
}
