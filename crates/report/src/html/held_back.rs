//! What held a test back: the sentences of its curves, and below them what the server did beside.

use archive::{BackgroundEvent, WaitHistogram};
use askama::Template;

use super::sweep::Rate;
use crate::held_back::sentences;
use crate::level::{Curve, TestGroup};
use crate::number;

/// The part of a test's section.
#[derive(Template)]
#[template(path = "held_back.html", whitespace = "minimize")]
pub struct View {
    code: String,
    /// Name of a curve and its sentences.
    curves: Vec<(String, Vec<String>)>,
    /// What the servers did beside, at each curve's best level.
    background: Vec<[String; 7]>,
    /// Waits by class and length, at each curve's best level.
    waits: Vec<[String; WAIT_CELLS]>,
    /// Waits of which nobody tells how long they lasted: place, classes, reason.
    untold: Vec<[String; 3]>,
}

/// Limits of the shares of waits, µs: the ends of their buckets.
const LIMITS_US: [u64; 6] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000];
/// Place, class, count, a share for each limit, and the source.
const WAIT_CELLS: usize = LIMITS_US.len() + 4;

pub fn view(group: &TestGroup<'_>, rate: Rate) -> View {
    let mut view = View {
        code: group.test.to_owned(),
        curves: Vec::new(),
        background: Vec::new(),
        waits: Vec::new(),
        untold: Vec::new(),
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
        let place = format!("{} @{}", curve.label, peak.dop());
        let held = &peak.first().held_back;
        let events = held.background_events.iter();
        self.background.extend(events.map(|e| row(&place, e)));
        for histogram in &held.wait_histograms {
            match histogram.waits() {
                Some(waits) => self.waits.push(wait_row(&place, histogram, waits)),
                None => self.add_untold(&place, histogram),
            }
        }
    }

    fn add_untold(&mut self, place: &str, histogram: &WaitHistogram) {
        let reason = &histogram.remark;
        let same = |line: &&mut [String; 3]| line[0] == place && line[2] == *reason;
        match self.untold.iter_mut().find(same) {
            Some(line) => line[1] = format!("{}, {}", line[1], histogram.class),
            None => {
                let line = [place.to_owned(), histogram.class.clone(), reason.clone()];
                self.untold.push(line);
            }
        }
    }
}

fn row(place: &str, event: &BackgroundEvent) -> [String; 7] {
    let known = |text: Option<String>| text.unwrap_or_else(|| number::UNKNOWN.to_owned());
    [
        place.to_owned(),
        event.process.clone(),
        event.event.clone(),
        known(event.count.map(number::count)),
        known(event.time_s.map(number::figure)),
        known(event.mean_ms().map(number::figure)),
        known(event.mb.map(number::figure)),
    ]
}

/// Waits of a class with the share that lasted less than each limit.
fn wait_row(place: &str, histogram: &WaitHistogram, waits: u64) -> [String; WAIT_CELLS] {
    let shares = LIMITS_US.map(|limit_us| {
        let share_pct = histogram.share_below_us_pct(limit_us);
        share_pct.map_or_else(|| number::UNKNOWN.to_owned(), |pct| format!("{pct:.2}"))
    });
    let first = [
        place.to_owned(),
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
    fn shares_of_waits_are_told_at_the_ends_of_their_buckets() {
        let histogram = |counts| WaitHistogram {
            class: "log sync".into(),
            counts: Some(counts),
            remark: "counted".into(),
        };
        let told = |counts| {
            let histogram = histogram(counts);
            let waits = histogram.waits().unwrap_or_default();
            wait_row("J 1", &histogram, waits).join(" ")
        };
        assert_eq!(
            told(vec![812, 0, 5, 1]),
            "J 1 log sync 818 99.27 99.27 99.88 – – – counted"
        );
        assert_eq!(told(vec![0; 17]), "J 1 log sync 0 – – – – – – counted");
    }
}
