//! Request times of one device over time: mean, 99th percentile and maximum, with separate lines for reads and writes.

use archive::{DeviceSample, DeviceUse};

use crate::html::figure::{Figure, Table};
use crate::html::series::{self, SAMPLES_MIN};
use crate::number::{self, tick_latency};
use crate::svg::{Axis, Chart, Dash, Series, Shape};

/// A longer series is thinned to about this many intervals.
const SAMPLES_MAX: usize = 100;

/// Value of an interval over time; `None` if unknown.
type Line = Vec<(f64, Option<f64>)>;

struct Lines {
    operation: &'static str,
    mean: Line,
    p99: Line,
    max: Line,
}

/// A chart of reads and writes, and one of flushes, each if enough intervals have such requests.
pub fn figures(title: &str, device: &DeviceUse) -> Vec<Figure> {
    let moved = ["read", "write"].map(|operation| lines(operation, device));
    let flushes = [lines("flush", device)];
    let both = figure(
        format!("{title}: request times over time"),
        "requests",
        "A stall of the device shows in the maximum first.",
        &moved,
    );
    let flushes = figure(
        format!("{title}: flush times over time"),
        "flushes",
        "A commit waits for them where the log is on this device.",
        &flushes,
    );
    both.into_iter().chain(flushes).collect()
}

fn lines(operation: &'static str, device: &DeviceUse) -> Lines {
    let mut ends: Vec<f64> = device.samples.iter().map(|sample| sample.at_s).collect();
    ends.retain(|at_s| at_s.is_finite());
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    let mut own: Vec<&DeviceSample> = (device.samples.iter())
        .filter(|sample| sample.operation == operation)
        .collect();
    own.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let line = |value: fn(&DeviceSample) -> Option<f64>| -> Line {
        let at = |at_s: f64| {
            let found = own.binary_search_by(|sample| sample.at_s.total_cmp(&at_s));
            found.ok().and_then(|index| value(own[index]))
        };
        ends.iter().map(|at_s| (*at_s, at(*at_s))).collect()
    };
    let thin =
        |line: &[(f64, Option<f64>)], keep_largest| series::thin(line, SAMPLES_MAX, keep_largest);
    // Joined intervals get the mean over all requests instead of the mean of means.
    let weights = line(|s| s.service_us_mean.map(|_| s.requests as f64));
    let sums = line(|s| s.service_us_mean.map(|mean| mean * s.requests as f64));
    let joined = thin(&sums, false).into_iter().zip(thin(&weights, false));
    let mean = joined.map(|((at_s, sum), (_, weight))| {
        let mean = sum.zip(weight).filter(|(_, weight)| *weight > 0.0);
        (at_s, mean.map(|(sum, weight)| sum / weight))
    });
    Lines {
        operation,
        mean: mean.collect(),
        p99: thin(&line(|s| s.service_us_p99), true),
        max: thin(&line(|s| s.service_us_max), true),
    }
}

fn known(line: &[(f64, Option<f64>)]) -> usize {
    line.iter().filter(|(_, value)| value.is_some()).count()
}

/// Caption: the lines of the chart and their meaning.
fn how(what: &str, reading: &str, is_timed: bool) -> String {
    if is_timed {
        format!(
            "Time of the {what} that ended in each interval, logarithmic. Solid: mean; dashed: p99; dotted: maximum. {reading}"
        )
    } else {
        format!(
            "Mean time of the {what} that ended in each interval, logarithmic; the kernel did not time them one by one."
        )
    }
}

fn figure(caption: String, what: &str, reading: &str, kinds: &[Lines]) -> Option<Figure> {
    let kinds: Vec<&Lines> = kinds
        .iter()
        .filter(|lines| known(&lines.mean) >= SAMPLES_MIN)
        .collect();
    let drawn = || {
        kinds.iter().flat_map(|lines| {
            let all = [
                ("mean", Dash::Solid, &lines.mean),
                ("p99", Dash::Dashed, &lines.p99),
                ("max", Dash::Dotted, &lines.max),
            ];
            let some = all.into_iter().filter(|(.., line)| known(line) > 0);
            some.map(|(name, dash, line)| (lines.operation, name, dash, line))
        })
    };
    let series: Vec<Series> = drawn()
        .map(|(operation, name, dash, line)| Series {
            label: format!("{operation} {name}"),
            colour: match operation {
                "read" => 0,
                "write" => 1,
                _ => 2,
            },
            shape: Shape::None,
            dash,
            points: line.clone(),
            ranges: Vec::new(),
            rejected: Vec::new(),
            extras: Vec::new(),
        })
        .collect();
    let first = series.first()?;
    let heads: Vec<String> = series.iter().map(|s| s.label.clone()).collect();
    let heads: Vec<&str> = (["second"].into_iter())
        .chain(heads.iter().map(String::as_str))
        .collect();
    let rows = first.points.iter().enumerate().map(|(index, (at_s, _))| {
        let cells = series.iter().map(|s| number::latency(s.points[index].1));
        let row = std::iter::once(number::figure(*at_s)).chain(cells);
        (String::new(), row.collect())
    });
    let table = Table::new(&heads, rows);
    let values = || series.iter().flat_map(|s| &s.points).filter_map(|p| p.1);
    let low = values().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    let chart = Chart {
        title: caption.clone(),
        x: series::time_axis(&series),
        y: Axis::log("", low, values().fold(0.0, f64::max), tick_latency),
        series,
        marks: Vec::new(),
        traces: Vec::new(),
    };
    let is_timed = kinds
        .iter()
        .any(|lines| known(&lines.p99) > 0 || known(&lines.max) > 0);
    let svg = chart.render();
    Some(Figure::new(
        caption,
        svg,
        how(what, reading, is_timed),
        table,
    ))
}
