//! Charts of a fleet: every system before and after, its workload mix, and the distribution of the shifts.

use archive::Table;
use chart::{Axis, Chart, Dash, Series, Shape, Trace, tick};
use stats::summary::mean;
use stats::trend::theil_sen;
use verdict::fleet::{Figure as Of, Fleet, LIMITS, Measure, Operation, System};

use crate::fleet::{limit, measure, signed};
use crate::html::figure::{Figure, grouped};
use crate::number::count;

/// Most systems drawn per side; a larger fleet is thinned to every k-th in order.
const DRAWN_MAX: usize = 600;
/// Groups of neighbouring systems in tables and in the chart of the mix.
const GROUPS: usize = 20;
/// Approximate number of bars of the distribution.
const BARS: f64 = 40.0;

/// A system in the order of a chart.
struct Placed<'a> {
    system: &'a System,
    rank_pct: f64,
    sides_pct: [f64; 2],
}

/// All figures by operation, the primary one's first.
pub fn figures(fleet: &Fleet) -> Vec<(&'static str, Vec<Figure>)> {
    let first = fleet.question.primary.operation;
    let other = match first {
        Operation::Read => Operation::Write,
        Operation::Write => Operation::Read,
    };
    let of_operation = [first, other].map(|operation| {
        let title = match operation {
            Operation::Read => "Reads",
            Operation::Write => "Writes",
        };
        let mut figures = Vec::new();
        for index in 0..LIMITS {
            let of = Measure {
                operation,
                figure: Of::Within(index),
            };
            let systems = placed(fleet, of);
            if systems.is_empty() {
                continue;
            }
            let limit = limit(fleet.question.limits_us[index]);
            figures.push(sides(&systems, of, &limit));
            if index == 0 {
                figures.push(mix(&systems, operation, &limit));
            }
            figures.push(shifts(fleet, &systems, of));
        }
        (title, figures)
    });
    let drawn = of_operation.into_iter();
    drawn.filter(|(_, figures)| !figures.is_empty()).collect()
}

/// Systems with a known share, ordered by their share before.
fn placed(fleet: &Fleet, of: Measure) -> Vec<Placed<'_>> {
    let mut placed: Vec<Placed<'_>> = (fleet.systems.iter())
        .filter_map(|system| {
            let pair = system.pair(of.operation)?;
            let sides = [of.of(&pair.before)?, of.of(&pair.after)?];
            Some(Placed {
                system,
                rank_pct: 0.0,
                sides_pct: sides.map(|share| 100.0 * share),
            })
        })
        .collect();
    // The sort is stable and the systems come by name, so that equal shares have a fixed order.
    placed.sort_by(|a, b| a.sides_pct[0].total_cmp(&b.sides_pct[0]));
    let all = placed.len() as f64;
    for (index, system) in placed.iter_mut().enumerate() {
        system.rank_pct = (index as f64 + 0.5) / all * 100.0;
    }
    placed
}

fn groups<'a, 'b>(systems: &'b [Placed<'a>]) -> impl Iterator<Item = &'b [Placed<'a>]> {
    systems.chunks(systems.len().div_ceil(GROUPS).max(1))
}

fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    mean(&values.collect::<Vec<f64>>())
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"))
}

/// The published form of telemetry: all systems before and after, with trends.
fn sides(systems: &[Placed<'_>], of: Measure, limit: &str) -> Figure {
    let every = systems.len().div_ceil(DRAWN_MAX).max(1);
    let mut series = Vec::new();
    for (side, name) in ["before", "after"].into_iter().enumerate() {
        let all: Vec<(f64, f64)> = (systems.iter())
            .map(|s| (s.rank_pct, s.sides_pct[side]))
            .collect();
        let drawn = all.iter().step_by(every).map(|(x, y)| (*x, Some(*y)));
        series.push(line(name, side, Shape::Circle, Dash::None, drawn.collect()));
        if let Some(trend) = theil_sen(&all) {
            let dash = [Dash::Dashed, Dash::Solid][side];
            let points = [0.0, 100.0].map(|x| (x, Some(trend.at(x).clamp(0.0, 100.0))));
            let name = format!("trend {name}");
            series.push(line(&name, side, Shape::None, dash, points.to_vec()));
        }
    }
    let rows = groups(systems).map(|group| {
        let side = |at: usize| cell(average(group.iter().map(|s| s.sides_pct[at])));
        (String::new(), vec![to(group), side(0), side(1)])
    });
    let operation = of.operation.name();
    let drawn = match every {
        1 => String::new(),
        _ => format!(
            " Of {} systems every {every}th is drawn.",
            count(systems.len() as u64)
        ),
    };
    chart(
        format!("Share of {operation}s at or below {limit} by system, %"),
        format!(
            "Each system is a dot before and one after, in the order of its share before. Lines: Theil–Sen trend over that order, \
             through all systems. The order alone lets the lowest rise and the highest fall a little.{drawn}"
        ),
        series,
        Vec::new(),
        rank_axis(),
        percent_axis(),
        grouped(&["systems up to, %", "before, %", "after, %"], rows),
    )
}

/// The workload mix of the systems, in the same order.
fn mix(systems: &[Placed<'_>], operation: Operation, limit: &str) -> Figure {
    let groups: Vec<(&[Placed<'_>], [Option<f64>; 2])> = groups(systems)
        .map(|group| {
            let reads =
                |side: usize| average(group.iter().filter_map(|s| s.system.mix[side].read_pct));
            (group, [reads(0), reads(1)])
        })
        .collect();
    let series = ["before", "after"].into_iter().enumerate();
    let series = series.map(|(side, name)| {
        let points = groups.iter().map(|(group, reads)| {
            let x = average(group.iter().map(|s| s.rank_pct)).unwrap_or_default();
            (x, reads[side])
        });
        let dash = [Dash::Dashed, Dash::Solid][side];
        line(name, side, Shape::nth(side), dash, points.collect())
    });
    let rows = groups.iter().map(|(group, reads)| {
        (
            String::new(),
            vec![to(group), cell(reads[0]), cell(reads[1])],
        )
    });
    chart(
        "Workload mix of the same systems: reads of all I/Os, %".to_owned(),
        format!(
            "In the order of the share of {}s at or below {limit} before; means of groups of neighbours.",
            operation.name()
        ),
        series.collect(),
        Vec::new(),
        rank_axis(),
        percent_axis(),
        grouped(
            &["systems up to, %", "reads before, %", "reads after, %"],
            rows,
        ),
    )
}

/// Distribution of the systems' shifts, with the interval of their mean.
fn shifts(fleet: &Fleet, systems: &[Placed<'_>], of: Measure) -> Figure {
    let values: Vec<f64> = systems
        .iter()
        .map(|s| s.sides_pct[1] - s.sides_pct[0])
        .collect();
    let (low, high) = values.iter().fold((0.0_f64, 0.0_f64), |(low, high), v| {
        (low.min(*v), high.max(*v))
    });
    let width = bar_width(high - low);
    let first = (low / width).floor() as i64;
    let last = (high / width).floor() as i64;
    let mut bars = vec![0_u64; (last - first + 1).clamp(1, 1_000) as usize];
    for value in &values {
        let index = ((value / width).floor() as i64 - first) as usize;
        let within = index.min(bars.len() - 1);
        bars[within] += 1;
    }
    let start = |bar: usize| (first + bar as i64) as f64 * width;
    let pct = |count: u64| 100.0 * count as f64 / values.len() as f64;
    let top = bars.iter().copied().map(pct).fold(0.0, f64::max);
    let mut outline = vec![(start(0), Some(0.0))];
    for (bar, count) in bars.iter().enumerate() {
        outline.extend([
            (start(bar), Some(pct(*count))),
            (start(bar + 1), Some(pct(*count))),
        ]);
    }
    outline.push((start(bars.len()), Some(0.0)));
    let none = vec![(0.0, Some(0.0)), (0.0, Some(top))];
    let mut series = vec![
        line("systems", 2, Shape::None, Dash::Solid, outline),
        line("no shift", 7, Shape::None, Dash::Dotted, none),
    ];
    let mut traces = Vec::new();
    let shift = fleet.shifts.iter().find(|shift| shift.measure == of);
    let interval = shift.and_then(|shift| shift.interval.as_ref().ok());
    let mut said = String::new();
    if let Some(interval) = interval {
        let [at, low, high] =
            [interval.estimate, interval.low, interval.high].map(|share| 100.0 * share);
        let mean = vec![(at, Some(0.0)), (at, Some(top))];
        series.push(line("mean", 1, Shape::None, Dash::Dashed, mean));
        traces.push(Trace {
            colour: 1,
            dash: Dash::Solid,
            points: Vec::new(),
            band: vec![(low, 0.0, top), (high, 0.0, top)],
        });
        said = format!(
            " Mean of the systems with the same mix {} points, 99 % interval {} to {} (shaded).",
            signed(at),
            signed(low),
            signed(high)
        );
    }
    let rows = bars.iter().enumerate().filter(|(_, count)| **count > 0);
    let rows = rows.map(|(bar, systems)| {
        let ends = format!("{} to {}", tick(start(bar)), tick(start(bar + 1)));
        (String::new(), vec![ends, count(*systems)])
    });
    let x = Axis::around_zero("points", start(0), start(bars.len()), tick);
    chart(
        format!(
            "Shift of {}: % of systems by points",
            measure(of, fleet.question.limits_us)
        ),
        format!("Right of the dotted line more I/Os stay within the limit after.{said}"),
        series,
        traces,
        x,
        Axis::linear("", top, tick),
        grouped(&["shift, points", "systems"], rows),
    )
}

/// A round width that divides the range into about [`BARS`] bars.
fn bar_width(range: f64) -> f64 {
    let wanted = (range / BARS).max(0.01);
    let power = 10_f64.powf(wanted.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let step = steps.into_iter().find(|step| step * power >= wanted);
    step.unwrap_or(10.0) * power
}

/// Rank of the last system of a group.
fn to(group: &[Placed<'_>]) -> String {
    cell(group.last().map(|system| system.rank_pct))
}

fn rank_axis() -> Axis {
    Axis::linear("systems by their share before, %", 100.0, tick)
}

fn percent_axis() -> Axis {
    Axis::linear("", 100.0, tick)
}

fn line(
    label: &str,
    colour: usize,
    shape: Shape,
    dash: Dash,
    points: Vec<(f64, Option<f64>)>,
) -> Series {
    Series::new(label, colour, shape, dash, points)
}

fn chart(
    caption: String,
    how: String,
    series: Vec<Series>,
    traces: Vec<Trace>,
    x: Axis,
    y: Axis,
    table: Table,
) -> Figure {
    let chart = Chart {
        traces,
        ..Chart::new(&caption, x, y, series)
    };
    Figure::new(caption, chart.render(), how, table)
}
