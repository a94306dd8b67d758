//! Request times of one device over time: mean, 99th percentile and maximum, with separate lines for reads and writes.

use archive::{Axis, Chart, DeviceSample, DeviceUse, Series};

use crate::html::figure::Figure;
use crate::html::section;
use crate::html::series::{self, SAMPLES_MIN, SINCE_START};

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
        format!("Time of the {what} that ended in each interval, logarithmic. {reading}")
    } else {
        format!(
            "Mean time of the {what} that ended in each interval, logarithmic; the kernel did not time them one by one."
        )
    }
}

fn figure(caption: String, what: &str, reading: &str, kinds: &[Lines]) -> Option<Figure> {
    let kinds = kinds
        .iter()
        .filter(|lines| known(&lines.mean) >= SAMPLES_MIN);
    let lines = kinds.flat_map(|lines| {
        let all = [
            ("mean", &lines.mean),
            ("p99", &lines.p99),
            ("max", &lines.max),
        ];
        all.map(|(name, line)| (lines.operation, name, line))
    });
    let drawn: Vec<_> = lines.filter(|(.., line)| known(line) > 0).collect();
    let is_timed = drawn.iter().any(|(_, name, _)| *name != "mean");
    let series = drawn.iter().map(|(operation, name, line)| Series {
        name: format!("{operation} {name}"),
        points: (*line).clone(),
    });
    let chart = Chart {
        title: caption,
        note: Some(how(what, reading, is_timed)),
        x: Axis::new(SINCE_START, "s"),
        y: Axis::new("time", "µs").logarithmic(),
        series: series.collect(),
    };
    (!drawn.is_empty()).then(|| section::figure(&chart))
}
