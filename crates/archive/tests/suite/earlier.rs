//! Archives that earlier versions made are read as they were measured.
//!
//! `tests/earlier/` holds archives of version 0.1.0 and what that version exported from each run as JSON.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::fs;
use std::path::{Path, PathBuf};

use archive::export::json_text;
use archive::{Archive, RunName};
use serde_json::{Value, json};

/// Archive, and how many runs it holds.
const ARCHIVES: &[(&str, i64)] = &[
    ("quick", 1),
    ("ramp", 1),
    ("ab", 2),
    ("columnar", 1),
    ("vdbench", 2),
    ("interrupted", 1),
];

fn earlier(file: &str) -> PathBuf {
    Path::new("tests/earlier").join(file)
}

/// Where `now` lacks or contradicts what `then` says. Keys that a later version added are no difference.
fn differences(then: &Value, now: &Value, place: &str, found: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (key, value) in then {
                let place = format!("{place}.{key}");
                match now.get(key) {
                    Some(other) => differences(value, other, &place, found),
                    None => found.push(format!("{place} is gone")),
                }
            }
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            for (at, (value, other)) in then.iter().zip(now).enumerate() {
                differences(value, other, &format!("{place}[{at}]"), found);
            }
        }
        // A remark has its sentence beside code and fields.
        (Value::String(then), Value::Object(now)) if now.get("text") == Some(&json!(then)) => {}
        (then, now) if then == now => {}
        (then, now) => found.push(format!("{place}: {then} then, {now} now")),
    }
}

/// What the version that made the archive exported.
fn then(archive: &str, run: i64) -> Value {
    let text = fs::read_to_string(earlier(&format!("{archive}-{run}.json"))).unwrap();
    let mut then: Value = serde_json::from_str(&text).unwrap();
    // Of the form of today alone.
    then["schema"] = archive::export::SCHEMA_NAME.into();
    then
}

/// Migrated when it is opened for measuring, and read as it is when it is not.
#[test]
fn every_run_says_what_it_said() {
    let place = tempfile::tempdir().unwrap();
    for (name, runs) in ARCHIVES {
        let copy = place.path().join(format!("{name}.dbdyno"));
        fs::copy(earlier(&format!("{name}.dbdyno")), &copy).unwrap();
        for open in [Archive::open_read_only, Archive::open] {
            let archive = open(&copy).unwrap();
            assert_eq!(archive.list_runs().unwrap().len() as i64, *runs, "{name}");
            for id in 1..=*runs {
                let run = archive.load_run(&RunName::Id(id)).unwrap();
                let now: Value = serde_json::from_str(&json_text(&run)).unwrap();
                let mut found = Vec::new();
                differences(&then(name, id), &now, name, &mut found);
                assert_eq!(found, Vec::<String>::new(), "{name}, run {id}");
            }
        }
    }
}

#[test]
fn a_difference_is_found() {
    let then = then("ramp", 1);
    let mut now = then.clone();
    now["points"][5]["service_us_p99"] = 1.into();
    now["points"][3].as_object_mut().unwrap().remove("valid");
    now["points"][0]["of_a_later_version"] = 1.into();
    let mut found = Vec::new();
    differences(&then, &now, "ramp", &mut found);
    assert_eq!(found.len(), 2, "{found:?}");
}
