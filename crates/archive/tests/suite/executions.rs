//! Single executions of statements: kept whole, and exported.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use archive::export::json;
use archive::{Execution, RunName};
use proptest::prelude::*;

use crate::common::{empty, key, measure, point};

/// Any execution that an archive can keep.
pub fn any_execution() -> impl Strategy<Value = Execution> {
    let count = || proptest::option::of(0..=i64::MAX as u64);
    let counts = (count(), count(), count(), count());
    let plan = proptest::option::of(any::<String>());
    (any::<u32>(), any::<String>(), plan, counts).prop_map(
        |(round, statement, plan, (elapsed_us, device_read_bytes, buffer_gets, pages_read))| {
            Execution {
                round,
                statement,
                elapsed_us,
                plan,
                device_read_bytes,
                buffer_gets,
                pages_read,
            }
        },
    )
}

#[test]
fn an_export_has_every_execution() {
    let (_directory, mut archive) = empty();
    measure(&mut archive, None, &[point(key(1))]);
    let exported = json(&archive.load_run(&RunName::Last).unwrap());
    let executions = &exported["points"][0]["executions"];
    assert_eq!(executions[0]["statement"], "Q14");
    assert_eq!(executions[0]["pages_read"], 50);
    assert!(executions[1]["elapsed_us"].is_null());
    assert_eq!(executions.as_array().unwrap().len(), 2);
}
