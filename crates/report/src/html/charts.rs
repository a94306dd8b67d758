//! The charts of one test: throughput, response time and efficiency against parallelism, percentiles.

use archive::Table;
use chart::{Axis, Bar, Chart, Dash, Mark, Series, Shape, bars, tick, tick_latency};
use stats::{HistogramSnapshot, scaling};

use super::figure::{Figure, grouped};
use super::load::Load;
use super::scaling::Laws;
use super::sweep::{LevelDrawn, Rate, Sweep};
use crate::number;

/// A rate axis is logarithmic from this ratio of the largest to the smallest best value.
const LOG_RATIO: f64 = 8.0;
/// Note on a published figure whose language runtime differs from the run's.
const OTHER_RUNTIME: &str =
    " * Published for another language runtime: not a comparison of processors.";
/// Colour class of elements outside any series: the ink.
pub(super) const INK: usize = 7;
const PERCENTILES: [f64; 16] = [
    0.0, 10.0, 25.0, 50.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999,
    99.9999,
];
/// Largest relative difference of percentiles between distributions that count as alike.
const ALIKE: f64 = 0.02;

/// Throughput against parallelism with the scaling laws; bars if every sweep has only one level.
pub fn throughput(sweeps: &[Sweep<'_>], rate: Rate, laws: &Laws<'_>, load: Load) -> Option<Figure> {
    if !sweeps
        .iter()
        .any(|s| s.levels.iter().any(|p| p.rate.is_some()))
    {
        return None;
    }
    let lines = sweeps.iter().any(|s| s.levels.len() > 1);
    let table = throughput_table(sweeps, rate, load);
    let caption = format!("Throughput, {}", rate.unit);
    // A single run of a parameter file is a row of the table.
    if !lines && load == Load::InFlight && sweeps.len() == 1 {
        return None;
    }
    if !lines {
        let svg = bars(&caption, &throughput_bars(sweeps));
        return Some(Figure::new(caption, svg, bars_how(sweeps, load), table));
    }
    let axis = rate_axis(sweeps, laws);
    let logarithmic = axis.scale == chart::Scale::Log;
    let dops: Vec<u32> = dops(sweeps).into_iter().chain(laws.dops()).collect();
    let chart = Chart {
        title: format!("{caption}, by {}", load.words()),
        x: load.axis(&dops),
        y: axis,
        series: sweeps.iter().map(throughput_series).collect(),
        marks: saturations(sweeps),
        traces: laws.traces(),
    };
    let how = throughput_how(sweeps, laws, logarithmic, load);
    let mut figure = Figure::new(caption, chart.render(), how, table);
    figure.said = laws.sentences();
    figure.tables.extend(laws.table());
    Some(figure)
}

fn throughput_how(sweeps: &[Sweep<'_>], laws: &Laws<'_>, logarithmic: bool, load: Load) -> String {
    let (step, more) = match load {
        Load::Parallelism => (
            "; each step to the right doubles the parallelism",
            "more sessions no longer help; the ring marks the saturation point, the fewest within 5 % of the maximum",
        ),
        Load::InFlight => (
            "; each step to the right doubles the I/Os in flight",
            "more I/Os in flight only wait longer; the ring marks the saturation point, the fewest within 5 % of the maximum",
        ),
        Load::Users => (
            "",
            "more users only wait longer; the ring marks the smallest number of users within 5 % of the maximum",
        ),
    };
    let mut how = format!("Higher is better{step}. Where a curve flattens, {more}.");
    if logarithmic {
        how.push_str(" The vertical axis is logarithmic.");
    }
    if sweeps.iter().any(|s| s.levels.iter().any(|p| !p.valid)) {
        how.push_str(" A cross marks a point that failed a check.");
    }
    if sweeps.iter().any(|s| s.levels.iter().any(|p| p.extra)) {
        how.push_str(
            " A hollow diamond marks contention, measured as an extra that does not count.",
        );
    }
    if sweeps.iter().any(|s| s.other_runtime) {
        how.push_str(OTHER_RUNTIME);
    }
    how.push_str(&laws.how());
    how
}

fn bars_how(sweeps: &[Sweep<'_>], load: Load) -> String {
    let how = match load {
        Load::InFlight => "Longer is better.",
        _ => "Longer is better. Only one level was measured, so scaling is unknown.",
    };
    let other = sweeps.iter().any(|s| s.other_runtime);
    format!("{how}{}", if other { OTHER_RUNTIME } else { "" })
}

fn dops(sweeps: &[Sweep<'_>]) -> Vec<u32> {
    sweeps
        .iter()
        .flat_map(|s| s.levels.iter().map(|p| p.dop))
        .collect()
}

fn rate_axis(sweeps: &[Sweep<'_>], laws: &Laws<'_>) -> Axis {
    let drawn = laws.rates();
    let rates = || {
        sweeps
            .iter()
            .flat_map(|s| &s.levels)
            .flat_map(|p| [p.rate, p.range.map(|r| r.1)])
            .flatten()
            .chain(drawn.iter().copied())
            .filter(|v| *v > 0.0)
    };
    let best: Vec<f64> = sweeps.iter().filter_map(Sweep::best).collect();
    let smallest_best = best.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates().fold(0.0, f64::max);
    if smallest_best > 0.0 && high / smallest_best > LOG_RATIO {
        Axis::log("", rates().fold(f64::INFINITY, f64::min), high, tick)
    } else {
        Axis::linear("", high, tick)
    }
}

fn throughput_series(sweep: &Sweep<'_>) -> Series {
    let valid = || sweep.levels.iter().filter(|p| p.counts());
    let extras = sweep.levels.iter().filter(|p| p.valid && p.extra);
    Series {
        label: sweep.label.clone(),
        colour: sweep.colour,
        shape: sweep.shape,
        dash: sweep.dash,
        points: valid().map(|p| (f64::from(p.dop), p.rate)).collect(),
        ranges: valid()
            .filter_map(|p| p.range.map(|(low, high)| (f64::from(p.dop), low, high)))
            .collect(),
        rejected: sweep
            .levels
            .iter()
            .filter(|p| !p.valid)
            .filter_map(|p| p.rate.map(|rate| (f64::from(p.dop), rate)))
            .collect(),
        extras: extras
            .filter_map(|p| p.rate.map(|rate| (f64::from(p.dop), rate)))
            .collect(),
    }
}

fn throughput_bars(sweeps: &[Sweep<'_>]) -> Vec<Bar> {
    sweeps
        .iter()
        .flat_map(|s| s.levels.iter().map(move |p| (s, p)))
        .map(|(sweep, level)| Bar {
            label: sweep.label.clone(),
            value: level.rate,
            text: marked(level),
            colour: sweep.colour,
            hollow: !level.valid || !sweep.own,
        })
        .collect()
}

/// Saturation points of the run's own sweeps with at least three levels; fewer do not show one.
fn saturations(sweeps: &[Sweep<'_>]) -> Vec<Mark> {
    sweeps
        .iter()
        .filter(|s| s.own && s.loads().len() > 2)
        .filter_map(|s| scaling::saturation(&s.loads()).map(|k| (s, k)))
        .map(|(sweep, level)| Mark {
            x: f64::from(level.dop),
            y: level.rate,
            colour: sweep.colour,
        })
        .collect()
}

/// The rate, and the reason why it is no regular rate.
fn marked(level: &LevelDrawn) -> String {
    let rate = number::figure_or_unknown(level.rate);
    match (level.valid, level.extra) {
        (false, _) => format!("{rate} (invalid)"),
        (true, true) => format!("{rate} (extra)"),
        (true, false) => rate,
    }
}

fn throughput_table(sweeps: &[Sweep<'_>], rate: Rate, load: Load) -> Table {
    let repeated = sweeps
        .iter()
        .flat_map(|s| &s.levels)
        .any(|p| p.range.is_some());
    if !repeated {
        return by_level(sweeps, load, &[rate.unit], |p| vec![marked(p)]);
    }
    by_level(sweeps, load, &[rate.unit, "range"], |p| {
        let range = p.range.map_or_else(String::new, |(low, high)| {
            format!("{}–{}", number::figure(low), number::figure(high))
        });
        vec![marked(p), range]
    })
}

/// One row per level of each sweep.
fn by_level(
    sweeps: &[Sweep<'_>],
    load: Load,
    heads: &[&str],
    cells: impl Fn(&LevelDrawn) -> Vec<String>,
) -> Table {
    let mut rows = Vec::new();
    for sweep in sweeps {
        for level in &sweep.levels {
            let mut row = vec![level.dop.to_string()];
            row.extend(cells(level));
            rows.push((sweep.label.clone(), row));
        }
    }
    let heads: Vec<&str> = [load.head()].iter().chain(heads).copied().collect();
    grouped(&heads, rows)
}

/// p50, p95 and p99 of the response time against parallelism.
pub fn response(sweeps: &[Sweep<'_>], load: Load) -> Option<Figure> {
    let with: Vec<&Sweep<'_>> = sweeps
        .iter()
        .filter(|s| s.levels.iter().any(|p| p.response_us[0].is_some()))
        .collect();
    if with.is_empty() || with.iter().all(|s| s.levels.len() < 2) {
        return None;
    }
    let values: Vec<f64> = with
        .iter()
        .flat_map(|s| s.levels.iter().flat_map(|p| p.response_us))
        .flatten()
        .collect();
    let dashes = [
        ("p50", Dash::Solid),
        ("p95", Dash::Dashed),
        ("p99", Dash::Dotted),
    ];
    let mut series: Vec<Series> = with
        .iter()
        .map(|s| key(&s.label, s.colour, s.shape, Dash::Solid))
        .collect();
    series.extend(
        dashes
            .iter()
            .map(|(name, dash)| key(name, INK, Shape::None, *dash)),
    );
    for sweep in &with {
        for (at, (_, dash)) in dashes.iter().enumerate() {
            let valid = sweep.levels.iter().filter(|p| p.counts());
            series.push(Series {
                points: valid
                    .map(|p| (f64::from(p.dop), p.response_us[at]))
                    .collect(),
                ..unnamed(sweep.colour, sweep.shape, *dash)
            });
        }
    }
    let dops: Vec<u32> = with
        .iter()
        .flat_map(|s| s.levels.iter().map(|p| p.dop))
        .collect();
    let chart = Chart::new(
        &format!("Response time p50, p95 and p99 by {}", load.words()),
        load.axis(&dops),
        latency_axis(&values),
        series,
    );
    let names = ["p50", "p95", "p99"];
    Some(Figure::new(
        "Response time, p50 · p95 · p99".to_owned(),
        chart.render(),
        format!(
            "Lower is better; the vertical axis is logarithmic. A flat line means that added {} cause no queueing; \
             lines that diverge mean that tail latency grows faster than the median.",
            match load {
                Load::Parallelism => "sessions",
                Load::InFlight => "I/Os in flight",
                Load::Users => "users",
            }
        ),
        by_level(sweeps, load, &names, |p| {
            p.response_us.iter().map(|v| number::latency(*v)).collect()
        }),
    ))
}

/// A legend entry without points.
pub(super) fn key(label: &str, colour: usize, shape: Shape, dash: Dash) -> Series {
    Series {
        label: label.to_owned(),
        ..unnamed(colour, shape, dash)
    }
}

pub(super) fn unnamed(colour: usize, shape: Shape, dash: Dash) -> Series {
    Series::new("", colour, shape, dash, Vec::new())
}

pub(super) fn latency_axis(values: &[f64]) -> Axis {
    let positive = || values.iter().copied().filter(|v| *v > 0.0);
    Axis::log(
        "",
        positive().fold(f64::INFINITY, f64::min),
        positive().fold(0.0, f64::max),
        tick_latency,
    )
}

/// Throughput per unit of parallelism, relative to the smallest level.
pub fn efficiency(sweeps: &[Sweep<'_>], load: Load) -> Option<Figure> {
    let scaled: Vec<_> = sweeps
        .iter()
        .map(|s| (s, scaling::scale(&s.loads())))
        .filter(|(_, scaled)| scaled.len() > 1)
        .collect();
    if !scaled.iter().any(|(s, _)| s.own) {
        return None;
    }
    let high = scaled
        .iter()
        .flat_map(|(_, s)| s.iter().map(|s| s.efficiency))
        .fold(1.0, f64::max);
    let dops: Vec<u32> = scaled
        .iter()
        .flat_map(|(_, s)| s.iter().map(|s| s.dop))
        .collect();
    let chart = Chart::new(
        &format!("Scaling efficiency by {}", load.words()),
        load.axis(&dops),
        Axis::span("", high.max(1.05), |v| format!("{:.0}%", v * 100.0)),
        scaled
            .iter()
            .map(|(sweep, scaled)| Series {
                label: sweep.label.clone(),
                points: scaled
                    .iter()
                    .map(|s| (f64::from(s.dop), Some(s.efficiency)))
                    .collect(),
                ..unnamed(sweep.colour, sweep.shape, sweep.dash)
            })
            .collect(),
    );
    let rows = scaled.iter().flat_map(|(sweep, scaled)| {
        scaled.iter().map(|s| {
            let row = vec![
                s.dop.to_string(),
                number::figure(s.speed_up),
                format!("{:.0} %", s.efficiency * 100.0),
            ];
            (sweep.label.clone(), row)
        })
    });
    Some(Figure::new(
        "Scaling efficiency".to_owned(),
        chart.render(),
        "100 % is linear scaling from the smallest level; at 50 %, half of that throughput is lost. More than 100 % \
         means that the smallest level was slowed down, for instance by a cold cache.".to_owned(),
        grouped(&[load.head(), "speed-up", "efficiency"], rows),
    ))
}

/// Percentile curves, response against service time, at each sweep's best level.
pub fn percentiles(sweeps: &[Sweep<'_>], rate: Rate) -> Option<Figure> {
    let mut series = Vec::new();
    let mut columns: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    let mut same = false;
    for sweep in sweeps {
        let Some(peak) = sweep.curve.as_ref().and_then(|c| c.peak(rate.name)) else {
            continue;
        };
        let label = format!("{} @{}", sweep.label, peak.dop());
        let (response, service) = (
            percentiles_of(&peak.response()),
            percentiles_of(&peak.service()),
        );
        if response.is_empty() && service.is_empty() {
            continue;
        }
        series.push(key(&label, sweep.colour, Shape::None, Dash::Solid));
        let both = !alike(&response, &service);
        same |= !both;
        for (name, points, dash) in [
            ("response", response, Dash::Solid),
            ("service", service, Dash::Dashed),
        ] {
            if points.is_empty() || (!both && name == "service") {
                continue;
            }
            series.push(Series {
                points: points
                    .iter()
                    .map(|(p, us)| (Axis::of_percentile(*p), Some(*us)))
                    .collect(),
                ..unnamed(sweep.colour, Shape::None, dash)
            });
            columns.push((format!("{label}, {name}"), points));
        }
    }
    let points = || columns.iter().flat_map(|(_, points)| points);
    let values: Vec<f64> = points().map(|(_, us)| *us).collect();
    if values.is_empty() {
        return None;
    }
    series.push(key("response", INK, Shape::None, Dash::Solid));
    series.push(key("service", INK, Shape::None, Dash::Dashed));
    let chart = Chart::new(
        "Latency by percentile at the best level: response and service time",
        Axis::percentiles("percentile", points().map(|(p, _)| *p).fold(90.0, f64::max)),
        latency_axis(&values),
        series,
    );
    let mut how = "Time within which each percentage of all operations finished; both axes are logarithmic. Lower and \
                   flatter is better; where response time exceeds service time, operations had to queue.".to_owned();
    if same {
        how.push_str(" Service time is not drawn where it coincides with response time.");
    }
    Some(Figure::new(
        "Latency distribution at the best level".to_owned(),
        chart.render(),
        how,
        percentile_table(&columns),
    ))
}

/// The percentiles (µs) that a distribution determines: beyond 1 / count they equal the maximum.
fn percentiles_of(histogram: &HistogramSnapshot) -> Vec<(f64, f64)> {
    if histogram.is_empty() {
        return Vec::new();
    }
    let count = histogram.count() as f64;
    PERCENTILES
        .into_iter()
        .filter(|p| Axis::of_percentile(*p) <= count.max(2.0) * 1.001)
        .map(|p| (p, histogram.percentile_us(p)))
        .collect()
}

fn alike(response: &[(f64, f64)], service: &[(f64, f64)]) -> bool {
    let near = |(r, s): (&(f64, f64), &(f64, f64))| (r.1 - s.1).abs() <= ALIKE * r.1;
    response.len() == service.len() && response.iter().zip(service).all(near)
}

/// One row per percentile, one column per distribution; a cell is empty if too few operations determine it.
fn percentile_table(columns: &[(String, Vec<(f64, f64)>)]) -> Table {
    let percentiles_of = |p: f64| {
        columns
            .iter()
            .any(|(_, points)| points.iter().any(|x| x.0 == p))
    };
    let rows = PERCENTILES
        .into_iter()
        .filter(|p| percentiles_of(*p))
        .map(|p| {
            let cells = columns.iter().map(|(_, points)| {
                let at = points.iter().find(|x| x.0 == p);
                at.map_or_else(String::new, |x| number::latency(Some(x.1)))
            });
            let row = std::iter::once(format!("{p}")).chain(cells).collect();
            (String::new(), row)
        });
    let heads: Vec<&str> = std::iter::once("percentile")
        .chain(columns.iter().map(|(name, _)| name.as_str()))
        .collect();
    grouped(&heads, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_curves_that_coincide_are_alike() {
        let curve = |us: [f64; 3]| [(50.0, us[0]), (90.0, us[1]), (99.0, us[2])];
        let response = curve([100.0, 200.0, 300.0]);
        assert!(alike(&response, &curve([99.0, 199.0, 297.0])));
        assert!(!alike(&response, &curve([99.0, 199.0, 270.0])));
        assert!(!alike(&response, &[]));
        assert!(alike(&[], &[]));
    }
}
