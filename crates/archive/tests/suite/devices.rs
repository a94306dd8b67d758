//! Block devices: stored whole, and exported.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use archive::export::{json, json_schema};
use archive::{DeviceSample, DeviceUse, Purpose, Remark, Requests, RunName};
use proptest::prelude::*;

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
fn what_is_not_a_number_becomes_unknown_and_is_reported() {
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
