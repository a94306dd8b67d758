//! Times of each kind of operation at a test's points, by observer.

use archive::{Latency, OperationTimes};
use stats::Histogram;
use verdict::shift::Shares;

use crate::level::TestGroup;
use crate::number;
use crate::shifted;

/// Most rows of one test; the archive and the JSON have all.
const ROWS_MAX: usize = 120;
const CELLS: usize = 13;

pub struct View {
    pub points: Vec<(String, Vec<[String; CELLS]>)>,
    pub more: usize,
    /// True for databases, where device times are one of many figures.
    pub is_folded: bool,
}

/// Builds the table; empty if points have no times by operation.
pub fn view(group: &TestGroup<'_>) -> View {
    let mut points: Vec<(String, Vec<[String; CELLS]>)> = Vec::new();
    let (mut shown, mut more) = (0, 0);
    for curve in &group.curves {
        for point in curve.levels.iter().flat_map(|level| &level.points) {
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
                let name = format!("{}, {at_work}, repetition {}", curve.label, key.repetition);
                points.push((name, times[..taken].iter().map(row).collect()));
            }
        }
    }
    View {
        points,
        more,
        is_folded: !group.below_database(),
    }
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

fn row(times: &OperationTimes) -> [String; CELLS] {
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
