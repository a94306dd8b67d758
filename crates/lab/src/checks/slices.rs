//! Checks of points that were measured in alternating slices.

use std::time::Duration;

use archive::Remark;
use load::Outcome;
use load::clock::Slices;

/// Shortest slice: a few times slices of the scheduler.
pub const SLICE_MIN: Duration = Duration::from_millis(20);
/// Longest slice; a longer one is better measured as a block.
pub const SLICE_MAX: Duration = Duration::from_secs(10);
/// One part in this many of a slice is not counted.
const SETTLE_PARTS: u32 = 10;
const SETTLE_MAX: Duration = Duration::from_millis(100);
/// Operations that each job must complete in a slice, because the one in progress when counting begins is counted
/// only from there on.
const OPERATIONS_MIN: f64 = 5.0;

/// Slices of this length, with the uncounted first part of each.
pub fn slices_of(slice: Duration, seed: u64) -> Slices {
    Slices {
        slice,
        settle: (slice / SETTLE_PARTS).min(SETTLE_MAX),
        seed,
    }
}

pub(crate) fn in_slices(slices: Slices) -> Remark {
    Remark::InSlices {
        slice_ms: slices.slice.as_millis() as u32,
        dropped_ms: slices.settle.as_millis() as u32,
    }
}

/// Note on operations so long that most slices contain only a few whole ones.
pub(crate) fn slices_too_short(outcome: &Outcome, slices: Slices) -> Option<Remark> {
    let service = outcome.total().service;
    let operation_ms = service.mean_us() / 1e3;
    let least_ms = operation_ms * OPERATIONS_MIN;
    let slice_ms = slices.slice.as_secs_f64() * 1e3;
    (!service.is_empty() && least_ms > slice_ms).then(|| Remark::SlicesTooShort {
        slice_ms: slice_ms as u32,
        operation_ms,
        slice_ms_min: least_ms.ceil() as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::KindOutcome;

    #[test]
    fn a_slice_holds_five_operations_of_each_job() {
        let outcome = |operation: Duration| {
            let mut kind = KindOutcome::default();
            kind.service.record_ns(operation.as_nanos() as u64);
            Outcome {
                kinds: vec![kind],
                ..Outcome::default()
            }
        };
        let slices = slices_of(Duration::from_millis(500), 1);
        assert_eq!(slices.settle, Duration::from_millis(50));
        assert_eq!(slices_too_short(&Outcome::default(), slices), None);
        let fits = outcome(Duration::from_millis(99));
        assert_eq!(slices_too_short(&fits, slices), None);
        let found = slices_too_short(&outcome(Duration::from_millis(120)), slices).unwrap();
        assert!(found.to_string().contains("use at least 6"), "{found}");
    }
}
