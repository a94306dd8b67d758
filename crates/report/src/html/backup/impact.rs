//! Throughput and latency of users during backups, over time.

use archive::{Point, Sample};

use crate::html::figure::{Figure, Table};
use crate::html::series::{thin, time_axis};
use crate::number::{self, tick, tick_latency};
use crate::svg::{Axis, Chart, Dash, Series, Shape};

/// Fewer samples show no course.
const SAMPLES_MIN: usize = 3;
/// A longer course is thinned to about this many samples.
const SAMPLES_MAX: usize = 150;
/// More lines would be indistinguishable.
const LINES_MAX: usize = 8;

/// Neighbours differ in dash because colours are not enough to distinguish them.
const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];

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
        |point: &Point| point.valid() && point.figures.foreground_beside_per_s.is_some();
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
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (nth, (name, point)) in drawn.iter().enumerate() {
        let all = point.samples.iter();
        let all: Vec<(f64, Option<f64>)> = all.map(|s| (s.at_s, (quantity.value)(s))).collect();
        let points = thin(&all, SAMPLES_MAX, quantity.is_latency);
        rows.extend(points.iter().map(|(at_s, value)| {
            let value = if quantity.is_latency {
                number::latency(*value)
            } else {
                number::figure_or_unknown(*value)
            };
            (name.clone(), vec![number::figure(*at_s), value])
        }));
        lines.push(Series {
            label: name.clone(),
            colour: nth,
            shape: Shape::None,
            dash: DASHES[nth % DASHES.len()],
            points,
            ranges: Vec::new(),
            rejected: Vec::new(),
            extras: Vec::new(),
        });
    }
    let values = || {
        lines
            .iter()
            .flat_map(|line| &line.points)
            .filter_map(|p| p.1)
    };
    let high = values().reduce(f64::max).filter(|high| *high > 0.0)?;
    let y = if quantity.is_latency {
        let low = values().filter(|v| *v > 0.0).fold(high, f64::min);
        Axis::log("", low, high, tick_latency)
    } else {
        Axis::linear("", high, tick)
    };
    let chart = Chart {
        title: quantity.caption.to_owned(),
        x: time_axis(&lines),
        y,
        series: lines,
        marks: Vec::new(),
        traces: Vec::new(),
    };
    let table = Table::new(&["second", "value"], rows);
    let (caption, how) = (quantity.caption.to_owned(), quantity.how.to_owned());
    Some(Figure::new(caption, chart.render(), how, table))
}
