//! Limits of a test: the sentences of its curves, and the concurrent background work of the server.

use archive::{BackgroundEvent, Cell, Table, WaitHistogram};

use super::section::Fragment;
use super::sweep::Rate;
use crate::held_back::sentences;
use crate::level::TestGroup;
use crate::number;

const BACKGROUND: &str = "target @DOP | process | event | count | time [s] | mean [ms] |  [MB]";
const BACKGROUND_HOW: &str = "Work of the server's background processes while the sessions ran. The mean time of a log sync is the latency that \
     every commit pays.";
const WAITS: &str = "target @DOP | waits for | count | < 1 ms [%] | < 2 ms [%] | < 4 ms [%] | < 8 ms [%] | < 16 ms [%] | \
     < 32 ms [%] | source";
const WAITS_HOW: &str = "Share of waits shorter than each limit. They are counted in buckets that end at 1 ms, 2 ms, 4 ms …: which of them \
     lasted less than 0.062 ms or 0.12 ms is unknown. For requests of a device, see the table of times by operation.";
/// Limits (µs) of the shares of waits: the ends of their buckets.
const LIMITS_US: [u64; 6] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

/// The limits of each curve, and the background work and waits of the servers at their best levels.
pub fn view(group: &TestGroup<'_>, rate: Rate) -> Fragment {
    let mut parts = Fragment::default();
    let (mut background, mut waits) = (Table::new(BACKGROUND), Table::new(WAITS));
    // Waits of unknown duration: level, classes, reason.
    let mut unknown: Vec<[String; 3]> = Vec::new();
    for curve in &group.curves {
        for sentence in sentences(curve) {
            parts.element("p", "held", &format!("{}: {sentence}", curve.label));
        }
        let Some(peak) = curve.peak(rate.name) else {
            continue;
        };
        let level = format!("{} @{}", curve.label, peak.dop());
        let held = &peak.first().held_back;
        (held.background_events.iter()).for_each(|event| background.row(row(&level, event)));
        for histogram in &held.wait_histograms {
            let same = |line: &&mut [String; 3]| line[0] == level && line[2] == histogram.remark;
            match (histogram.waits(), unknown.iter_mut().find(same)) {
                (Some(counted), _) => waits.row(wait_row(&level, histogram, counted)),
                (None, Some(line)) => line[1] += &format!(", {}", histogram.class),
                (None, None) => {
                    unknown.push([&level, &histogram.class, &histogram.remark].map(String::clone))
                }
            }
        }
    }
    if parts.is_empty() && background.rows.is_empty() {
        return parts;
    }
    let mut folded = Fragment::default();
    for (title, how, class, table) in [
        ("Background events", BACKGROUND_HOW, "words", &background),
        ("Wait times", WAITS_HOW, "times", &waits),
    ] {
        if !table.rows.is_empty() {
            folded
                .table(class, &format!("{title} of {}", group.test), table)
                .how(how);
        }
    }
    for [level, classes, reason] in &unknown {
        folded.how(&format!("{level}, wait times for {classes}: – ({reason})."));
    }
    let mut all = Fragment::default();
    all.heading(4, "Bottleneck")
        .add(&parts)
        .add(&folded.folded("Background events and wait times at the best level", false));
    all
}

fn row(level: &str, event: &BackgroundEvent) -> [Cell; 7] {
    [
        level.into(),
        event.process.as_str().into(),
        event.event.as_str().into(),
        event
            .count
            .map_or(None.into(), |count| number::count(count).into()),
        event.time_s.into(),
        event.mean_ms().into(),
        event.mb.into(),
    ]
}

/// Waits of a class, with the shares shorter than each limit.
fn wait_row(level: &str, histogram: &WaitHistogram, waits: u64) -> Vec<String> {
    let shares = LIMITS_US.map(|limit_us| {
        let share_pct = histogram.share_below_us_pct(limit_us);
        share_pct.map_or_else(|| number::UNKNOWN.to_owned(), |pct| format!("{pct:.2}"))
    });
    let first = [
        level.to_owned(),
        histogram.class.clone(),
        number::count(waits),
    ];
    first
        .into_iter()
        .chain(shares)
        .chain([histogram.remark.clone()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_waits_are_known_at_the_ends_of_their_buckets() {
        let histogram = |counts| WaitHistogram {
            class: "log sync".into(),
            counts: Some(counts),
            remark: "counted".into(),
        };
        let row = |counts| {
            let histogram = histogram(counts);
            let waits = histogram.waits().unwrap_or_default();
            wait_row("J 1", &histogram, waits).join(" ")
        };
        assert_eq!(
            row(vec![812, 0, 5, 1]),
            "J 1 log sync 818 99.27 99.27 99.88 – – – counted"
        );
        assert_eq!(row(vec![0; 17]), "J 1 log sync 0 – – – – – – counted");
    }
}
