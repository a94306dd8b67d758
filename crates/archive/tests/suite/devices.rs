//! What block devices did: kept whole, and read within bounds whatever the file says.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use archive::export::{json, json_schema};
use archive::{Archive, DeviceSample, DeviceUse, Point, Purpose, Remark, Requests, RunName};
use proptest::prelude::*;
use rusqlite::Connection;
use testing::peak_bytes;

use crate::common::{empty, key, maybe_number, measure, number, point};

fn requests() -> impl Strategy<Value = Option<Requests>> {
    let counted = (0..=i64::MAX as u64, number(), maybe_number());
    proptest::option::of(counted.prop_map(|(count, mb, await_ms)| Requests {
        count,
        mb,
        await_ms,
    }))
}

fn sample() -> impl Strategy<Value = DeviceSample> {
    let times = proptest::array::uniform3(maybe_number());
    (number(), any::<String>(), 0..=i64::MAX as u64, times).prop_map(
        |(at_s, operation, requests, [mean, p99, max])| DeviceSample {
            at_s,
            operation,
            requests,
            service_us_mean: mean,
            service_us_p99: p99,
            service_us_max: max,
        },
    )
}

/// Any device that an archive can keep.
pub fn any_device() -> impl Strategy<Value = DeviceUse> {
    let holds = proptest::sample::subsequence(Purpose::ALL.to_vec(), 0..=Purpose::ALL.len());
    let carries = proptest::collection::vec(any::<String>(), 0..3);
    let names = (any::<String>(), holds, carries);
    let samples = proptest::collection::vec(sample(), 0..4);
    let values = proptest::array::uniform3(maybe_number());
    (names, (requests(), requests()), values, samples).prop_map(
        |((name, holds, carries), (reads, writes), [elapsed_s, busy_pct, queue_mean], samples)| {
            DeviceUse {
                name,
                holds,
                carries,
                elapsed_s,
                reads,
                writes,
                busy_pct,
                queue_mean,
                samples,
            }
        },
    )
}

#[test]
fn an_export_has_every_device_with_its_samples() {
    let (_directory, mut archive) = empty();
    measure(&mut archive, None, &[point(key(1))]);
    let exported = json(&archive.load_run(&RunName::Last).unwrap());
    let devices = &exported["points"][0]["devices"];
    assert_eq!(devices[0]["holds"], serde_json::json!(["data", "log"]));
    assert_eq!(devices[1]["carries"], serde_json::json!(["dm-0"]));
    assert_eq!(devices[1]["samples"][1]["operation"], "flush");
    assert_eq!(devices[0]["reads"]["count"], 46);
    assert!(devices[2]["reads"].is_null() && devices[2]["busy_pct"].is_null());
    assert_eq!(
        exported["points"][0]["samples"][0]["page_cache_mb"],
        8_192.5
    );
}

#[test]
fn what_is_not_a_number_becomes_unknown_and_is_told() {
    let (_directory, mut archive) = empty();
    let mut odd = point(key(1));
    let [volume, disk, _] = odd.devices.as_mut_slice() else {
        panic!("three devices")
    };
    volume.reads.as_mut().unwrap().mb = f64::NAN;
    volume.writes.as_mut().unwrap().await_ms = Some(f64::INFINITY);
    volume.busy_pct = Some(f64::NAN);
    disk.samples[0].service_us_max = Some(f64::INFINITY);
    disk.samples[1].at_s = f64::NAN;
    odd.samples[0].swap_mb = Some(f64::NAN);
    measure(&mut archive, None, &[odd.clone()]);
    let run = archive.load_run(&RunName::Last).unwrap();
    let back = &run.points[0];
    assert!(run.valid());
    assert!(
        back.notes
            .contains(&Remark::DevicesNotANumber { devices: 2 })
    );
    assert!(
        back.notes
            .contains(&Remark::SamplesNotANumber { samples: 1 })
    );
    let [volume, disk, unknown] = back.devices.as_slice() else {
        panic!("three devices")
    };
    assert_eq!((volume.reads, volume.busy_pct), (None, None));
    assert_eq!(volume.writes, Some(Requests::default()));
    assert_eq!(volume.queue_mean, Some(0.001));
    assert_eq!(disk.samples.len(), 1);
    assert_eq!(disk.samples[0].service_us_max, None);
    assert_eq!(unknown, &odd.devices[2]);
    // An export that was never archived is the same.
    let mut run = run;
    run.points = vec![odd];
    let validator = jsonschema::draft202012::new(&json_schema()).unwrap();
    assert!(validator.is_valid(&json(&run)));
}

/// The point, and how much memory reading it took, after its archive was changed by plain SQL.
fn after(sql: &str) -> (Point, usize) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    measure(&mut Archive::open(&path).unwrap(), None, &[point(key(1))]);
    let hostile = Connection::open(&path).unwrap();
    hostile.execute_batch(sql).unwrap();
    drop(hostile);
    let archive = Archive::open_read_only(&path).unwrap();
    let (run, taken) = peak_bytes(|| archive.load_run(&RunName::Last).unwrap());
    // An export must cope with whatever is left.
    assert_eq!(json(&run)["run"]["valid"], false, "{sql}");
    (run.points[0].clone(), taken)
}

#[test]
fn odd_lists_are_a_reason_not_a_crash() {
    for (sql, told) in [
        ("holds = '7'", "holds: invalid type"),
        ("holds = '{}'", "holds: invalid type"),
        ("holds = '[7]'", "holds: invalid type"),
        ("holds = '[\"redo\"]'", "unknown purpose \"redo\""),
        ("carries = '[[\"dm-0\"]]'", "carries: invalid type"),
        (
            "carries = '[' || replace(hex(zeroblob(50000)), '00', '[],') || '1]'",
            "carries has 150003 bytes",
        ),
    ] {
        let (point, _) = after(&format!("UPDATE device SET {sql} WHERE seq = 1"));
        assert_eq!(point.reasons[0], Remark::PointAltered, "{sql}");
        let said = point.reasons[1].to_string();
        assert!(said.contains("nvme0n1") && said.contains(told), "{said}");
        // The others stand as they were.
        assert_eq!(point.devices[0], crate::common::point(key(1)).devices[0]);
        assert_eq!(point.devices[1].samples.len(), 2);
    }
    // What is known of a list stays.
    let (point, _) =
        after("UPDATE device SET holds = '[\"log\", \"redo\", \"data\"]' WHERE seq = 0");
    assert_eq!(point.devices[0].holds, [Purpose::Log, Purpose::Data]);
}

#[test]
fn a_list_that_would_take_all_memory_is_not_read() {
    // Twenty million empty names, which take half a gigabyte once they are read.
    let list = "'[' || replace(hex(zeroblob(20000000)), '00', '\"\",') || '\"\"]'";
    let (point, taken) = after(&format!("UPDATE device SET carries = {list} WHERE seq = 1"));
    assert!(point.devices[1].carries.is_empty());
    assert!(taken < 200 << 20, "{taken} bytes");
}

#[test]
fn samples_of_no_device_are_told() {
    let (point, _) = after("DELETE FROM device WHERE seq = 1");
    let stray = Remark::DeviceSamplesStray { samples: 2 };
    assert_eq!(point.reasons, [Remark::PointAltered, stray]);
    assert_eq!(point.devices.len(), 2);
    // Numbers with gaps find their devices.
    assert_eq!(point.devices[0].samples.len(), 1);
    let (point, _) = after("UPDATE device_sample SET device = -1 - seq");
    let stray = Remark::DeviceSamplesStray { samples: 3 };
    assert_eq!(point.reasons, [Remark::PointAltered, stray]);
}

#[test]
fn what_nobody_counted_is_whole_or_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.dbdyno");
    measure(&mut Archive::open(&path).unwrap(), None, &[point(key(1))]);
    let hostile = Connection::open(&path).unwrap();
    for sql in [
        "UPDATE device SET read_mb = NULL WHERE seq = 0",
        "UPDATE device SET write_count = NULL WHERE seq = 0",
        "UPDATE device SET read_count = -1 WHERE seq = 0",
        "UPDATE device SET holds = 'data' WHERE seq = 0",
    ] {
        assert!(hostile.execute(sql, []).is_err(), "{sql}");
    }
}
