//! Time series of each sweep's best level, including compared runs: throughput, p99, CPU, device.

use archive::{Point, Sample};
use chart::{Axis, Chart, Dash, Series, Shape, tick, tick_latency};

use super::figure::Figure;
use super::series::{SAMPLES_MIN, thin, time_axis};
use super::sweep::{Rate, Sweep};
use crate::number;

/// A longer series is thinned to about this many samples.
const SAMPLES_MAX: usize = 150;

pub(super) struct Quantity {
    pub caption: &'static str,
    pub how: &'static str,
    pub latency: bool,
    /// True for a rate of recorded operations.
    pub counted: bool,
    pub lines: &'static [Line],
}

pub(super) struct Line {
    /// Empty if the chart has a single line.
    pub name: &'static str,
    pub dash: Dash,
    /// Its value in a sample of this many seconds.
    pub value: fn(&Sample, f64) -> Option<f64>,
}

pub(super) const fn line(
    name: &'static str,
    dash: Dash,
    value: fn(&Sample, f64) -> Option<f64>,
) -> Line {
    Line { name, dash, value }
}

const QUANTITIES: [Quantity; 4] = [
    Quantity {
        caption: "Throughput over time, ops/s",
        how: "A flat line is steady; a sawtooth indicates checkpoints, pauses or other work.",
        latency: false,
        counted: true,
        lines: &[line("", Dash::Solid, |s, _| s.operations_per_s)],
    },
    Quantity {
        caption: "Response time p99 over time",
        how: "Peaks are operations that stalled; see whether device throughput changed at the same time.",
        latency: true,
        counted: false,
        lines: &[line("", Dash::Solid, |s, _| s.response_us_p99)],
    },
    Quantity {
        caption: "Host CPU utilisation over time, %",
        how: "At 100 % the processors are the limit; the dashed line is iowait: idle time with I/O outstanding.",
        latency: false,
        counted: false,
        lines: &[
            line("busy", Dash::Solid, |s, _| s.cpu_pct),
            line("iowait", Dash::Dashed, |s, _| s.cpu_iowait_pct),
        ],
    },
    Quantity {
        caption: "Device throughput over time, MB/s",
        how: "Bytes read and written by the block device under the target during the measurement.",
        latency: false,
        counted: false,
        lines: &[
            line("read", Dash::Solid, |s, _| s.read_mb_per_s),
            line("write", Dash::Dashed, |s, _| s.write_mb_per_s),
        ],
    },
];

/// The driver below a database records the mean of each interval, and the distribution of the whole point alone.
const MEAN_RESPONSE: Quantity = Quantity {
    caption: "Mean response time over time",
    how: "Time since the intended start, mean of each interval. Peaks are intervals in which I/Os stalled.",
    latency: true,
    counted: false,
    lines: &[],
};

/// The charts over time of one test; empty if no best level has enough samples.
pub fn figures(sweeps: &[Sweep<'_>], rate: Rate) -> Vec<Figure> {
    let points = points(sweeps, rate);
    let drawn = QUANTITIES.iter();
    drawn
        .filter_map(|quantity| figure(quantity, &points))
        .chain(mean_response(&points))
        .collect()
}

fn mean_response(points: &[(&Sweep<'_>, &Point)]) -> Option<Figure> {
    let mut series = Vec::new();
    for (sweep, point) in points {
        for (operation, dash) in [("read", Dash::Solid), ("write", Dash::Dashed)] {
            let samples = point.by_operation.samples.iter();
            let own = samples.filter(|sample| sample.operation == operation);
            let own: Vec<_> = own.map(|s| (s.at_s, s.response_us_mean)).collect();
            if own.iter().any(|(_, us)| us.is_some()) {
                let label = format!("{} @{} {operation}", sweep.label, point.key.dop());
                let thinned = thin(&own, SAMPLES_MAX, true);
                series.push(Series::new(
                    &label,
                    sweep.colour,
                    Shape::None,
                    dash,
                    thinned,
                ));
            }
        }
    }
    drawn(&MEAN_RESPONSE, series)
}

/// The repetition with the most samples of each sweep's best level; empty if no own sweep has enough.
pub(super) fn points<'a, 's>(
    sweeps: &'s [Sweep<'a>],
    rate: Rate,
) -> Vec<(&'s Sweep<'a>, &'a Point)> {
    let points: Vec<(&Sweep<'_>, &Point)> = sweeps
        .iter()
        .filter_map(|s| {
            let peak = s.curve.as_ref()?.peak(rate.name)?;
            let point = peak.points.into_iter().max_by_key(|p| p.samples.len())?;
            (point.samples.len() >= SAMPLES_MIN).then_some((s, point))
        })
        .collect();
    if !points.iter().any(|(sweep, _)| sweep.own) {
        return Vec::new();
    }
    points
}

/// Values of a line at all samples of a point.
pub(super) fn values(line: &Line, point: &Point) -> Vec<(f64, Option<f64>)> {
    let starts = std::iter::once(0.0).chain(point.samples.iter().map(|s| s.at_s));
    let intervals = point.samples.iter().zip(starts);
    intervals
        .map(|(s, start_s)| (s.at_s, (line.value)(s, s.at_s - start_s)))
        .collect()
}

pub(super) fn figure(quantity: &Quantity, points: &[(&Sweep<'_>, &Point)]) -> Option<Figure> {
    let mut series = Vec::new();
    for (sweep, point) in points {
        let scale = if quantity.counted {
            per_recorded(point)
        } else {
            1.0
        };
        for line in quantity.lines {
            let all = values(line, point).into_iter();
            let all: Vec<(f64, Option<f64>)> =
                all.map(|(at_s, v)| (at_s, v.map(|v| v * scale))).collect();
            if all.iter().all(|(_, v)| v.is_none()) {
                continue;
            }
            let label = format!("{} @{} {}", sweep.label, point.key.dop(), line.name);
            // If dashes distinguish the lines of a point, colours distinguish the runs.
            let dash = match quantity.lines {
                [_] => sweep.dash,
                _ => line.dash,
            };
            let points = thin(&all, SAMPLES_MAX, quantity.latency);
            series.push(Series::new(
                label.trim(),
                sweep.colour,
                Shape::None,
                dash,
                points,
            ));
        }
    }
    drawn(quantity, series)
}

fn drawn(quantity: &Quantity, series: Vec<Series>) -> Option<Figure> {
    // The result row already shows a quantity that stayed at zero.
    let moved = |s: &Series| s.points.iter().any(|p| p.1.is_some_and(|v| v > 0.0));
    if !series.iter().any(moved) {
        return None;
    }
    let y = value_axis(quantity, &series);
    let write = if quantity.latency {
        number::latency
    } else {
        number::figure_or_unknown
    };
    let chart = Chart::new(quantity.caption, time_axis(&series), y, series);
    Some(Figure::of(&chart, quantity.how, ["second", "value"], write))
}

/// Operations of the result row per recorded operation: a statement may be 100,000 loop passes.
fn per_recorded(point: &Point) -> f64 {
    let recorded = point.histograms.response.count() as f64;
    let operations = point
        .figures
        .operations
        .filter(|n| *n > 0.0 && recorded > 0.0);
    operations.map_or(1.0, |n| n / recorded)
}

fn value_axis(quantity: &Quantity, series: &[Series]) -> Axis {
    let values = || series.iter().flat_map(|s| &s.points).filter_map(|p| p.1);
    let high = values().fold(0.0, f64::max);
    if quantity.latency {
        let low = values().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        Axis::log("", low, high, tick_latency)
    } else {
        Axis::linear("", high, tick)
    }
}
