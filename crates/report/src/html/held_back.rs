//! Limits of a test: the sentences of its curves, and the concurrent background work of the server.

use archive::{BackgroundEvent, WaitHistogram};
use askama::Template;

use super::sweep::Rate;
use crate::held_back::sentences;
use crate::level::{Curve, TestGroup};
use crate::number;

#[derive(Template)]
#[template(path = "held_back.html", whitespace = "minimize")]
pub struct View {
    code: String,
    curves: Vec<(String, Vec<String>)>,
    /// Background work of the servers at each curve's best level.
    background: Vec<[String; 7]>,
    /// Waits by class and length, at each curve's best level.
    waits: Vec<[String; WAIT_CELLS]>,
    /// Waits of unknown duration: level, classes, reason.
    unknown: Vec<[String; 3]>,
}

/// Limits (µs) of the shares of waits: the ends of their buckets.
const LIMITS_US: [u64; 6] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000];
/// Level, class, count, a share for each limit, and the source.
const WAIT_CELLS: usize = LIMITS_US.len() + 4;

pub fn view(group: &TestGroup<'_>, rate: Rate) -> View {
    let mut view = View {
        code: group.test.to_owned(),
        curves: Vec::new(),
        background: Vec::new(),
        waits: Vec::new(),
        unknown: Vec::new(),
    };
    for curve in &group.curves {
        let sentences = sentences(curve);
        if !sentences.is_empty() {
            view.curves.push((curve.label.clone(), sentences));
        }
        view.add_peak(curve, rate);
    }
    view
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.curves.is_empty() && self.background.is_empty()
    }

    fn add_peak(&mut self, curve: &Curve<'_>, rate: Rate) {
        let Some(peak) = curve.peak(rate.name) else {
            return;
        };
        let level = format!("{} @{}", curve.label, peak.dop());
        let held = &peak.first().held_back;
        let events = held.background_events.iter();
        self.background.extend(events.map(|e| row(&level, e)));
        for histogram in &held.wait_histograms {
            match histogram.waits() {
                Some(waits) => self.waits.push(wait_row(&level, histogram, waits)),
                None => self.add_unknown(&level, histogram),
            }
        }
    }

    fn add_unknown(&mut self, level: &str, histogram: &WaitHistogram) {
        let reason = &histogram.remark;
        let same = |line: &&mut [String; 3]| line[0] == level && line[2] == *reason;
        match self.unknown.iter_mut().find(same) {
            Some(line) => line[1] = format!("{}, {}", line[1], histogram.class),
            None => {
                let line = [level.to_owned(), histogram.class.clone(), reason.clone()];
                self.unknown.push(line);
            }
        }
    }
}

fn row(level: &str, event: &BackgroundEvent) -> [String; 7] {
    let known = |text: Option<String>| text.unwrap_or_else(|| number::UNKNOWN.to_owned());
    [
        level.to_owned(),
        event.process.clone(),
        event.event.clone(),
        known(event.count.map(number::count)),
        known(event.time_s.map(number::figure)),
        known(event.mean_ms().map(number::figure)),
        known(event.mb.map(number::figure)),
    ]
}

/// Waits of a class, with the shares shorter than each limit.
fn wait_row(level: &str, histogram: &WaitHistogram, waits: u64) -> [String; WAIT_CELLS] {
    let shares = LIMITS_US.map(|limit_us| {
        let share_pct = histogram.share_below_us_pct(limit_us);
        share_pct.map_or_else(|| number::UNKNOWN.to_owned(), |pct| format!("{pct:.2}"))
    });
    let first = [
        level.to_owned(),
        histogram.class.clone(),
        number::count(waits),
    ];
    let mut all = first
        .into_iter()
        .chain(shares)
        .chain([histogram.remark.clone()]);
    std::array::from_fn(|_| all.next().unwrap_or_default())
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
