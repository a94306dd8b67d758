//! Response times by bucket, with a bar for each.

use stats::{Histogram, words};

use crate::engine::Latencies;
use crate::language::Buckets;

/// Percent that one character of a bar represents.
const SIGN_PCT: f64 = 2.0;

/// Tables of all I/Os, of reads and of writes; one if there was only one kind, and empty without I/Os.
pub(super) fn tables(read: &Latencies, write: &Latencies, buckets: &Buckets) -> String {
    match (read.issued.is_empty(), write.issued.is_empty()) {
        (true, true) => String::new(),
        (false, true) => table("Only reads done for this workload:", &read.issued, buckets),
        (true, false) => table(
            "Only writes done for this workload:",
            &write.issued,
            buckets,
        ),
        (false, false) => {
            let mut both = read.issued.clone();
            both.merge(&write.issued);
            [
                table("Reads and writes:", &both, buckets),
                table("Reads:", &read.issued, buckets),
                table("Writes:", &write.issued, buckets),
            ]
            .join("\n")
        }
    }
}

fn table(title: &str, histogram: &Histogram, buckets: &Buckets) -> String {
    let counts = counts(histogram, &buckets.bounds_us);
    let total: u64 = counts.iter().sum();
    let shown = shown(&counts, buckets.suppress);
    let mut text = format!(
        "{title}\n  min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%\n\n"
    );
    let mut before_pct = 0.0;
    let mut below = 0_u64;
    for (index, count) in counts.iter().enumerate() {
        let pct = *count as f64 * 100.0 / total.max(1) as f64;
        below += count;
        let cumulative_pct = below as f64 * 100.0 / total.max(1) as f64;
        if shown.contains(&index) {
            let low_ms = index
                .checked_sub(1)
                .map_or(0.0, |low| buckets.bounds_us[low] / 1e3);
            let high = buckets
                .bounds_us
                .get(index)
                .map_or("max".to_owned(), |us| format!("{:.3}", us / 1e3));
            text.push_str(&format!(
                "{low_ms:>9.3} < {high:>11} {:>12} {pct:>8.4} {cumulative_pct:>8.4}  {}{}\n",
                words::count(*count),
                signs('+', pct),
                signs('-', before_pct)
            ));
        }
        before_pct = cumulative_pct;
    }
    text
}

/// Number of I/Os between each two bounds; the last bucket has no upper one.
fn counts(histogram: &Histogram, bounds_us: &[f64]) -> Vec<u64> {
    let mut left = histogram.count();
    let mut counts = Vec::with_capacity(bounds_us.len() + 1);
    for bound in bounds_us {
        let above = histogram.count_above_us(*bound).min(left);
        counts.push(left - above);
        left = above;
    }
    counts.push(left);
    counts
}

/// Rows to show: all, or all but the empty ones at both ends, of which one is left at each.
fn shown(counts: &[u64], suppress: bool) -> std::ops::Range<usize> {
    let first = counts.iter().position(|count| *count > 0).unwrap_or(0);
    let last = counts.iter().rposition(|count| *count > 0).unwrap_or(0);
    if suppress {
        first.saturating_sub(1)..(last + 2).min(counts.len())
    } else {
        0..counts.len()
    }
}

fn signs(sign: char, pct: f64) -> String {
    std::iter::repeat_n(sign, (pct / SIGN_PCT) as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts and rows are from a real output of the second example.
    #[test]
    fn rows_are_set_as_the_real_ones() {
        let mut histogram = Histogram::new();
        let given = [
            (10, 5_u64),
            (30, 217),
            (50, 765),
            (70, 2850),
            (90, 7539),
            (150, 108_485),
            (300, 179_396),
            (500, 4214),
            (700, 582),
            (900, 336),
            (1500, 736),
            (3000, 175),
            (5000, 131),
            (9000, 6),
            (15_000, 66),
            (30_000, 16),
        ];
        for (us, count) in given {
            for _ in 0..count {
                histogram.record_ns(us * 1000);
            }
        }
        let text = table("Reads and writes:", &histogram, &Buckets::default());
        for row in [
            "    0.000 <       0.020            5   0.0016   0.0016  \n",
            "    0.080 <       0.100        7,539   2.4676   3.7235  +\n",
            "    0.100 <       0.200      108,485  35.5084  39.2319  +++++++++++++++++-\n",
            "    0.200 <       0.400      179,396  58.7184  97.9504  +++++++++++++++++++++++++++++-------------------\n",
            "   20.000 <      40.000           16   0.0052 100.0000  -------------------------------------------------\n",
            " 2000.000 <         max            0   0.0000 100.0000  --------------------------------------------------\n",
        ] {
            assert!(text.contains(row), "{row}\n{text}");
        }
        assert_eq!(text.lines().count(), 3 + 27);
    }

    #[test]
    fn empty_rows_at_the_ends_are_left_out_on_request() {
        let mut read = Latencies::default();
        read.issued.record_ns(150_000);
        let buckets = Buckets {
            suppress: true,
            ..Buckets::default()
        };
        let text = tables(&read, &Latencies::default(), &buckets);
        assert!(text.starts_with("Only reads done for this workload:"));
        assert_eq!(text.lines().count(), 3 + 3, "{text}");
        assert_eq!(
            tables(&Latencies::default(), &Latencies::default(), &buckets),
            ""
        );
    }
}
