//! Times of each kind of operation at a test's points, by observer.

use archive::{Latency, OperationTimes, Table};
use stats::Histogram;
use verdict::shift::Shares;

use super::section::Fragment;
use crate::level::TestGroup;
use crate::number;
use crate::shifted;

/// Most rows of one test; the archive and the JSON have all.
const ROWS_MAX: usize = 120;
const COLUMNS: &str = "operation | count | mean | p50 | p99 | p99.9 | max | ≤ 0.062 ms [%] | ≤ 0.12 ms [%] | > 1 ms [%] | \
     > 2 ms [%] | > 4 ms [%] | source";

/// The table; empty if points have no times by operation.
pub fn view(group: &TestGroup<'_>) -> Fragment {
    let mut table = Table::new(COLUMNS);
    let (mut shown, mut more) = (0, 0);
    for curve in &group.curves {
        for point in curve.points() {
            let times = &point.by_operation.times;
            let taken = times.len().min(ROWS_MAX - shown);
            (shown, more) = (shown + taken, more + times.len() - taken);
            if taken > 0 {
                let key = &point.key;
                let at_work = if point.work.below_database {
                    format!("{} in flight", key.jobs)
                } else {
                    format!("jobs {} × threads {}", key.jobs, key.threads)
                };
                table.heading(format!(
                    "{}, {at_work}, repetition {}",
                    curve.label, key.repetition
                ));
                times[..taken]
                    .iter()
                    .for_each(|times| table.row(row(times)));
            }
        }
    }
    let mut parts = Fragment::default();
    parts
        .table(
            "times",
            &format!("Times by operation of {}", group.test),
            &table,
        )
        .left_out("Rows not shown", more);
    // Device times of a database are one of many figures.
    if group.below_database() {
        parts
    } else {
        parts.folded("Requests at the device", false)
    }
}

fn row(times: &OperationTimes) -> [String; 13] {
    let histogram = times.histogram();
    let latency = histogram.as_ref().and_then(Latency::of);
    // The buckets of an array do not show on which side of a limit their I/Os lie.
    let exact = histogram.filter(|_| times.observer != "array");
    let shares = exact.and_then(|snapshot| {
        let mut histogram = Histogram::new();
        histogram.merge_snapshot(&snapshot);
        Shares::of(&histogram)
    });
    let share = |part: fn(&Shares) -> f64| number::figure_or_unknown(shares.as_ref().map(part));
    let of = |part: fn(&Latency) -> f64| number::latency(latency.as_ref().map(part));
    let mut what = shifted::what(&times.observer, &times.operation, &times.phase);
    if !times.subject.is_empty() {
        what.push_str(&format!(" ({})", times.subject));
    }
    [
        what,
        times
            .count
            .map_or_else(|| number::UNKNOWN.to_owned(), number::count),
        number::latency(times.mean_us),
        of(|l| l.p50_us),
        of(|l| l.p99_us),
        of(|l| l.p99_9_us),
        of(|l| l.max_us),
        share(|s| s.within_62_us_pct),
        share(|s| s.within_120_us_pct),
        share(|s| s.above_1_ms_pct),
        share(|s| s.above_2_ms_pct),
        share(|s| s.above_4_ms_pct),
        times.remark.clone(),
    ]
}
