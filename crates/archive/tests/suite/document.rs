//! Lists and series of a point: read within bounds whatever the file says, and never too long to be stored.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use archive::export::json;
use archive::{Archive, OperationSample, Point, Remark, RunName, Sample};
use rusqlite::Connection;
use testing::peak_bytes;

use crate::common::{empty, key, measure, new_run, point};

/// The point, and how much memory reading it took, after its document was changed by plain SQL.
fn after(change: &str) -> (Point, usize) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    measure(&mut Archive::open(&path).unwrap(), None, &[point(key(1))]);
    let hostile = Connection::open(&path).unwrap();
    let sql = format!("UPDATE point SET document = {change}");
    hostile.execute_batch(&sql).unwrap();
    drop(hostile);
    let archive = Archive::open_read_only(&path).unwrap();
    let (run, taken) = peak_bytes(|| archive.load_run(&RunName::Last).unwrap());
    // An export must cope with whatever is left.
    assert_eq!(json(&run)["run"]["valid"], false, "{change}");
    (run.points[0].clone(), taken)
}

#[test]
fn an_odd_document_is_a_reason_not_a_crash() {
    for (change, why) in testing::rows(
        r#"
            '7'                                          => invalid type: integer `7`
            json_set(document, '$.devices', 7)           => invalid type
            json_set(document, '$.devices[0].holds', json('["redo"]')) => unknown variant `redo`
            json_set(document, '$.devices[1].carries', json('[["dm-0"]]')) => invalid type: sequence
            json_remove(document, '$.devices[0].reads.mb') => missing field `mb`
            json_set(document, '$.devices[0].reads.count', -1) => invalid value: integer `-1`
            json_set(document, '$.interfaces[0].kind', 'bridge') => unknown variant `bridge`
            json_set(document, '$.interfaces[0].sent.bytes', -1) => invalid value: integer `-1`
            json_set(document, '$.engine_io[1].purpose', 'redo') => unknown variant `redo`
            json_set(document, '$.engine_io[1].unknown', 'lost') => unknown variant `lost`
            json_set(document, '$.executions[0].elapsed_us', -1) => invalid value: integer `-1`
            json_set(document, '$.operation_times[0].histogram', '!') => Invalid symbol
        "#,
    ) {
        let (point, _) = after(change);
        assert_eq!(point.reasons[0], Remark::PointAltered, "{change}");
        let said = point.reasons[1].to_string();
        assert!(said.contains("`document`") && said.contains(why), "{said}");
        // Key, figures and distributions stay as they were.
        let whole = crate::common::point(key(1));
        assert_eq!((&point.key, &point.figures), (&whole.key, &whole.figures));
        assert_eq!(point.histograms, whole.histograms);
        assert!(point.devices.is_empty());
    }
}

#[test]
fn times_of_a_broken_distribution_are_reported_and_the_rest_stays() {
    let (point, _) = after("json_set(document, '$.operation_times[0].histogram', 'AA==')");
    let unreadable = |remark: &Remark| matches!(remark, Remark::OperationTimesUnreadable { operation, .. } if operation == "read");
    assert!(point.reasons.iter().any(unreadable), "{:?}", point.reasons);
    assert!(point.by_operation.times[0].histogram().is_none());
    let whole = crate::common::point(key(1));
    assert_eq!(point.by_operation.times[1], whole.by_operation.times[1]);
    assert_eq!(point.devices, whole.devices);
}

#[test]
fn a_document_that_would_take_all_memory_is_not_read() {
    // Twenty million empty names, which take half a gigabyte once they are read.
    let list = "json('[' || replace(hex(zeroblob(20000000)), '00', '\"\",') || '\"\"]')";
    let (point, taken) = after(&format!(
        "json_set(document, '$.devices[1].carries', {list})"
    ));
    assert!(point.devices.is_empty());
    assert!(taken < 200 << 20, "{taken} bytes");
    // Intervals of which nothing is known take the most memory for their bytes.
    let series =
        "json('[' || replace(hex(zeroblob(200000)), '00', '{\"at_s\":0},') || '{\"at_s\":0}]')";
    let (point, taken) = after(&format!("json_set(document, '$.samples', {series})"));
    assert_eq!(point.samples.len(), 200_001);
    assert!(taken < 200 << 20, "{taken} bytes");
}

#[test]
fn series_that_are_too_long_are_thinned_and_the_point_is_stored() {
    let mut long = point(key(1));
    let at_s = (1..=70_000).map(f64::from);
    long.samples = at_s
        .clone()
        .map(|at_s| Sample {
            at_s,
            ..Sample::default()
        })
        .collect();
    long.by_operation.samples = at_s
        .map(|at_s| OperationSample {
            at_s,
            ..OperationSample::default()
        })
        .collect();
    let (_directory, mut archive) = empty();
    measure(&mut archive, None, &[long]);
    let run = archive.load_run(&RunName::Last).unwrap();
    assert!(run.valid());
    let point = &run.points[0];
    assert!(
        point.notes.contains(&Remark::SeriesThinned { one_of: 2 }),
        "{:?}",
        point.notes
    );
    assert_eq!(point.samples.len(), 35_000);
    assert!((point.samples[0].at_s, point.samples[1].at_s) == (2.0, 4.0));
}

#[test]
fn a_point_that_could_not_be_read_is_refused() {
    let mut large = point(key(1));
    large.timed_events[0].event = "e".repeat(33 << 20);
    let (_directory, mut archive) = empty();
    let id = archive.create_run(&new_run(None, vec![key(1)])).unwrap();
    let refused = archive.append_point(id, &large).unwrap_err().to_string();
    assert!(refused.contains("at most 33554432 of a point"), "{refused}");
    assert_eq!(archive.finished(id).unwrap(), []);
}
