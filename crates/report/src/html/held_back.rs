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
    /// Test code.
    code: String,
    /// Name of a curve and its sentences.
    curves: Vec<(String, Vec<String>)>,
    /// What the servers did beside, at each curve's best level.
    background: Vec<[String; 7]>,
    /// Waits by class and length: place, class, counts or reason.
    waits: Vec<[String; 3]>,
}

/// Builds the view.
pub fn view(group: &TestGroup<'_>, rate: Rate) -> View {
    let mut view = View {
        code: group.test.to_owned(),
        curves: Vec::new(),
        background: Vec::new(),
        waits: Vec::new(),
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
    /// True when nobody judged.
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
            let lengths = lengths(histogram);
            let same = |line: &&mut [String; 3]| line[0] == place && line[2] == lengths;
            match self.waits.iter_mut().find(same) {
                Some(line) => line[1] = format!("{}, {}", line[1], histogram.class),
                None => {
                    let line = [place.clone(), histogram.class.clone(), lengths];
                    self.waits.push(line);
                }
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

/// "below 1 ms: 812, below 2 ms: 90 …", or why nobody knows.
fn lengths(histogram: &WaitHistogram) -> String {
    let Some(counts) = &histogram.counts else {
        return format!("{} ({})", number::UNKNOWN, histogram.remark);
    };
    let last = counts.len().saturating_sub(1);
    let some = counts.iter().enumerate().filter(|(_, n)| **n > 0);
    let parts: Vec<String> = some
        .map(|(at, n)| match at {
            at if at == last && at > 0 => {
                format!("{} ms or more: {}", 1_u64 << (at - 1), number::count(*n))
            }
            at => format!("below {} ms: {}", 1_u64 << at, number::count(*n)),
        })
        .collect();
    format!("{} ({})", parts.join(", "), histogram.remark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_told_bucket_by_bucket_or_with_the_reason() {
        let counted = WaitHistogram {
            class: "log sync".into(),
            counts: Some(vec![812, 0, 5, 1]),
            remark: "counted".into(),
        };
        assert_eq!(
            lengths(&counted),
            "below 1 ms: 812, below 4 ms: 5, 4 ms or more: 1 (counted)"
        );
        let unknown = WaitHistogram::unknown("log sync", "nobody tells");
        assert_eq!(lengths(&unknown), "– (nobody tells)");
    }
}
