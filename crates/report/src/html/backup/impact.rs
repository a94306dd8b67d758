//! Throughput and latency of users during backups, over time.

use archive::{Axis, Chart, Point, Sample, Series};

use crate::html::figure::Figure;
use crate::html::section;
use crate::html::series::{SINCE_START, thin};

/// Fewer samples show no course.
const SAMPLES_MIN: usize = 3;
/// A longer course is thinned to about this many samples.
const SAMPLES_MAX: usize = 150;
/// More lines would be indistinguishable.
const LINES_MAX: usize = 8;

struct Quantity {
    caption: &'static str,
    how: &'static str,
    is_latency: bool,
    value: fn(&Sample) -> Option<f64>,
}

const QUANTITIES: [Quantity; 2] = [
    Quantity {
        caption: "Users' response time p99 during the backup",
        how: "Of the transactions that ended in each interval; a gap is an interval in which none ended. Peaks are transactions that \
              the backup held up. What the devices did at the same time stands with each method, by purpose.",
        is_latency: true,
        value: |sample| sample.response_us_p99,
    },
    Quantity {
        caption: "Users' throughput during the backup, transactions/s",
        how: "The users are offered the same rate all the time: what is below it waits, and is done later.",
        is_latency: false,
        value: |sample| sample.operations_per_s,
    },
];

/// The charts, one line per backup with concurrent users; empty if no backup was long enough.
pub fn figures(backups: &[(String, &Point)]) -> Vec<Figure> {
    let is_beside =
        |point: &Point| point.valid() && point.figures.foreground_during_per_s.is_some();
    let mut drawn: Vec<&(String, &Point)> = Vec::new();
    for backup in backups.iter().filter(|(_, point)| is_beside(point)) {
        // The first repetition represents the others.
        if backup.1.samples.len() >= SAMPLES_MIN && backup.1.key.repetition == 1 {
            drawn.push(backup);
        }
    }
    drawn.truncate(LINES_MAX);
    let figures = QUANTITIES.iter();
    figures
        .filter_map(|quantity| figure(quantity, &drawn))
        .collect()
}

fn figure(quantity: &Quantity, drawn: &[&(String, &Point)]) -> Option<Figure> {
    let line = |(name, point): &&(String, &Point)| {
        let all = point.samples.iter().map(|s| (s.at_s, (quantity.value)(s)));
        Series {
            name: name.clone(),
            points: thin(&all.collect::<Vec<_>>(), SAMPLES_MAX, quantity.is_latency),
        }
    };
    let series: Vec<Series> = drawn.iter().map(line).collect();
    let mut values = series
        .iter()
        .flat_map(|line| &line.points)
        .filter_map(|point| point.1);
    let is_known = values.any(|value| value > 0.0);
    let chart = Chart {
        title: quantity.caption.to_owned(),
        note: Some(quantity.how.to_owned()),
        x: Axis::new(SINCE_START, "s"),
        y: if quantity.is_latency {
            Axis::new("p99", "µs").logarithmic()
        } else {
            Axis::new("throughput", "1/s")
        },
        series,
    };
    is_known.then(|| section::figure(&chart))
}
