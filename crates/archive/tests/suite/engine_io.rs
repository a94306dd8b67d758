//! The engine's own I/O: stored whole, and exported.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use archive::export::{json, json_schema};
use archive::{EngineIo, IoOperation, IoUnknown, Purpose, Remark, RunName};
use proptest::prelude::*;

use crate::common::{empty, key, maybe_number, measure, point};

/// Any account that an archive can keep.
pub fn any_engine_io() -> impl Strategy<Value = EngineIo> {
    let kind = (
        proptest::sample::select(Purpose::ALL.to_vec()),
        proptest::sample::select(IoOperation::ALL.to_vec()),
    );
    let count = proptest::option::of(0..=i64::MAX as u64);
    let values = (count, maybe_number(), maybe_number());
    let unknown = proptest::option::of(proptest::sample::select(IoUnknown::ALL.to_vec()));
    (kind, values, any::<String>(), unknown).prop_map(
        |((purpose, operation), (count, mb, time_s), source, unknown)| EngineIo {
            purpose,
            operation,
            count,
            mb,
            time_s,
            source,
            unknown,
        },
    )
}

#[test]
fn an_export_has_the_account_with_its_sources_and_reasons() {
    let (_directory, mut archive) = empty();
    measure(&mut archive, None, &[point(key(1))]);
    let run = archive.load_run(&RunName::Last).unwrap();
    assert_eq!(run.points[0].engine_io, point(key(1)).engine_io);
    let exported = json(&run);
    let account = &exported["points"][0]["engine_io"];
    assert_eq!(account[0]["purpose"], "data");
    assert_eq!(account[0]["operation"], "read");
    assert_eq!(account[0]["mb"], 12.5);
    assert_eq!(account[0]["source"], "pg_stat_io");
    assert!(account[0]["unknown"].is_null());
    assert_eq!(account[2]["unknown"], "not_counted");
    assert!(account[2]["count"].is_null() && account[2]["source"] == "");
    let validator = jsonschema::draft202012::new(&json_schema()).unwrap();
    assert!(validator.is_valid(&exported));
}

#[test]
fn what_is_not_a_number_becomes_unknown_and_is_reported() {
    let (_directory, mut archive) = empty();
    let mut odd = point(key(1));
    odd.engine_io[0].mb = Some(f64::NAN);
    odd.engine_io[1].time_s = Some(f64::INFINITY);
    measure(&mut archive, None, &[odd]);
    let run = archive.load_run(&RunName::Last).unwrap();
    let back = &run.points[0];
    assert!(run.valid());
    assert!(back.notes.contains(&Remark::EngineIoNotANumber));
    assert_eq!(back.engine_io[0].mb, None);
    assert_eq!(back.engine_io[1].time_s, None);
    assert_eq!(back.engine_io[0].count, Some(1_525));
    assert_eq!(back.engine_io[2], point(key(1)).engine_io[2]);
}
