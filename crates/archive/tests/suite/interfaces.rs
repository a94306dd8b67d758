//! Network interfaces: stored whole, and exported.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use archive::export::{json, json_schema};
use archive::{InterfaceKind, InterfaceUse, Remark, RunName, Traffic};
use proptest::prelude::*;

use crate::common::{empty, key, maybe_number, measure, point};

fn traffic() -> impl Strategy<Value = Traffic> {
    let counts = proptest::array::uniform4(0..=i64::MAX as u64);
    counts.prop_map(|[bytes, packets, errors, drops]| Traffic {
        bytes,
        packets,
        errors,
        drops,
    })
}

/// Any interface that an archive can keep.
pub fn any_interface() -> impl Strategy<Value = InterfaceUse> {
    let kind = proptest::sample::select(InterfaceKind::ALL.to_vec());
    (any::<String>(), kind, maybe_number(), traffic(), traffic()).prop_map(
        |(name, kind, elapsed_s, received, sent)| InterfaceUse {
            name,
            kind,
            elapsed_s,
            received,
            sent,
        },
    )
}

#[test]
fn an_export_has_every_interface() {
    let (_directory, mut archive) = empty();
    measure(&mut archive, None, &[point(key(1))]);
    let exported = json(&archive.load_run(&RunName::Last).unwrap());
    let interfaces = &exported["points"][0]["interfaces"];
    assert_eq!(interfaces[0]["kind"], "physical");
    assert_eq!(interfaces[0]["received"]["drops"], 2);
    assert_eq!(interfaces[1]["name"], "lo");
    assert!(interfaces[1]["elapsed_s"].is_null());
}

#[test]
fn a_time_that_is_not_a_number_becomes_unknown_and_is_reported() {
    let (_directory, mut archive) = empty();
    let mut odd = point(key(1));
    odd.interfaces[0].elapsed_s = Some(f64::NAN);
    measure(&mut archive, None, &[odd.clone()]);
    let mut run = archive.load_run(&RunName::Last).unwrap();
    let reported = Remark::InterfacesNotANumber { interfaces: 1 };
    assert!(run.valid() && run.points[0].notes.contains(&reported));
    assert_eq!(run.points[0].interfaces[0].elapsed_s, None);
    // An export that was never archived is the same.
    run.points = vec![odd];
    let validator = jsonschema::draft202012::new(&json_schema()).unwrap();
    assert!(validator.is_valid(&json(&run)));
}
