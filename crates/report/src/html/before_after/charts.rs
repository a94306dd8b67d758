//! Charts of shifts: means over the list and over time, overlaid distributions, and moved shares.

use archive::Table;
use chart::{Axis, Chart, Dash, Scale, Series, Shape, Tick, tick, tick_latency};
use verdict::shift::{Bucket, Shift, Side};

use crate::html::figure::{Figure, grouped};
use crate::number;
use crate::shifted;

/// Fewest runs of a list for a curve of their means.
const LIST_MIN: usize = 3;
const PLACES_LABELLED: usize = 8;
const SAMPLES_MIN: usize = 3;
/// Least relative difference from the service times for which times since the intended start are drawn as well.
const APART: f64 = 0.02;

/// Mean service times over the list in order; `None` for a short one.
pub fn overview(groups: &[&[Shift]], names: [&str; 2]) -> Option<Figure> {
    // Only the driver reports service times, and only for a list that it executed itself.
    let is_list = groups.iter().all(|group| group.iter().any(is_service));
    if groups.len() < LIST_MIN || !is_list {
        return None;
    }
    let mut lines = Vec::new();
    for operation in ["read", "write"] {
        for (side, name) in names.into_iter().enumerate() {
            let of_group = |group: &&[Shift]| {
                let is = |s: &&Shift| is_service(s) && s.operation == operation;
                group.iter().find(is).map(|s| sides(s)[side].mean_us)
            };
            let points = (1_u32..).zip(groups);
            let points = points.map(|(at, group)| (f64::from(at), of_group(group)));
            let label = format!("{name} {operation}");
            lines.push(line(&label, side, operation, points.collect()));
        }
    }
    let tests = groups
        .iter()
        .map(|group| group.first().map_or("", |s| s.test.as_str()));
    let rows = lines.iter().flat_map(|line| {
        let rows = tests.clone().zip(&line.points);
        rows.map(|(test, (_, mean))| {
            (
                line.label.clone(),
                vec![test.to_owned(), number::latency(*mean)],
            )
        })
    });
    let table = grouped(&["run", "mean"], rows);
    let caption = "Mean service time of each run in the list";
    let how = "In the order of the list; lower is better.";
    let (x, y) = (places(groups.len()), latency_axis(&lines));
    Some(chart(caption, how, x, y, lines, table))
}

/// Positions in a list, some of them labelled.
fn places(count: usize) -> Axis {
    let every = count.div_ceil(PLACES_LABELLED).max(1);
    let labelled = (1..=count).step_by(every);
    Axis {
        title: "place in the list".to_owned(),
        scale: Scale::Linear,
        low: 1.0,
        high: count as f64,
        ticks: labelled
            .map(|place| Tick {
                at: place as f64,
                label: place.to_string(),
            })
            .collect(),
    }
}

pub fn of_run(group: &[Shift], names: [&str; 2]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    let service = group.iter().filter(|shift| is_service(shift));
    figures.extend(over_time(service, "Mean service time over time", names));
    if group.iter().any(|shift| is_apart(shift, group)) {
        let caption = "Mean time since the intended start over time";
        let response = (group.iter()).filter(|s| s.observer == "driver" && s.phase == "response");
        figures.extend(over_time(response, caption, names));
    }
    for place in places_of_devices(group) {
        let caption = match place {
            "" | "data" => "Mean time at the device over time".to_owned(),
            place => format!("Mean time at the device over time ({place})"),
        };
        let whole = group.iter().filter(|s| is_whole(s) && s.place == place);
        figures.extend(over_time(whole, &caption, names));
    }
    for shift in group {
        let drawn = match shift.observer.as_str() {
            "driver" => is_service(shift) || is_apart(shift, group),
            "device" => is_whole(shift),
            _ => true,
        };
        if drawn && !shift.buckets.is_empty() {
            figures.push(distribution(shift, names));
            figures.push(moved(shift));
        }
    }
    figures
}

fn places_of_devices(group: &[Shift]) -> Vec<&str> {
    let mut places: Vec<&str> = Vec::new();
    for shift in group.iter().filter(|shift| is_whole(shift)) {
        if !places.contains(&shift.place.as_str()) {
            places.push(&shift.place);
        }
    }
    places
}

fn is_whole(shift: &Shift) -> bool {
    shift.observer == "device" && shift.phase == "whole"
}

fn is_service(shift: &Shift) -> bool {
    shift.observer == "driver" && shift.phase == "service"
}

/// True if times since the intended start differ from the service times.
fn is_apart(shift: &Shift, group: &[Shift]) -> bool {
    let is_response = shift.observer == "driver" && shift.phase == "response";
    let service = group
        .iter()
        .find(|s| is_service(s) && s.operation == shift.operation);
    let differs = |(own, service): (&Side, &Side)| own.mean_us > service.mean_us * (1.0 + APART);
    is_response
        && service.is_some_and(|service| sides(shift).into_iter().zip(sides(service)).any(differs))
}

fn sides(shift: &Shift) -> [&Side; 2] {
    [&shift.before, &shift.after]
}

fn over_time<'s>(
    shifts: impl Iterator<Item = &'s Shift>,
    caption: &str,
    names: [&str; 2],
) -> Option<Figure> {
    let mut lines = Vec::new();
    for shift in shifts {
        for (side, name) in names.into_iter().enumerate() {
            let points = &sides(shift)[side].over_time;
            if points.len() >= SAMPLES_MIN {
                let label = format!("{name} {}", shift.operation);
                lines.push(line(&label, side, &shift.operation, points.clone()));
            }
        }
    }
    let last = lines.iter().flat_map(|l| l.points.last()).map(|p| p.0);
    let x = Axis::span(
        "seconds since the start of the run",
        last.fold(0.0, f64::max),
        tick,
    );
    let how = "Mean of each interval of the first repetition; solid lines are reads, dashed lines writes, dotted lines flushes. Lower is \
               better.";
    let y = latency_axis(&lines);
    (!lines.is_empty()).then(|| {
        let chart = Chart::new(caption, x, y, lines);
        Figure::of(&chart, how, ["second", "mean"], number::latency)
    })
}

/// Both distributions, normalised, on a logarithmic axis.
fn distribution(shift: &Shift, names: [&str; 2]) -> Figure {
    let outline = |share: fn(&Bucket) -> f64| steps(&shift.buckets, share);
    let lines = vec![
        line(names[0], 0, "", outline(|b| b.before_pct)),
        line(names[1], 1, "", outline(|b| b.after_pct)),
    ];
    let shares = shift
        .buckets
        .iter()
        .flat_map(|b| [b.before_pct, b.after_pct]);
    let caption = format!("{}: distribution, % of I/Os", shifted::of_shift(shift));
    let rows = shift.octaves().into_iter().map(|b| {
        let cells = vec![
            bucket_name(&b),
            format!("{:.2}", b.before_pct),
            format!("{:.2}", b.after_pct),
            format!("{:+.2}", b.after_pct - b.before_pct),
        ];
        (String::new(), cells)
    });
    let mut figure = chart(
        &caption,
        "Share of all I/Os per bucket; four buckets per doubling, logarithmic time axis. Further left is better.",
        time_axis(&shift.buckets),
        Axis::linear("", shares.fold(0.0, f64::max), tick),
        lines,
        grouped(&["bucket", "% A", "% B", "shift"], rows),
    );
    figure.said.push(format!(
        "Within 0.062 ms: {}, 0.12 ms: {}; beyond 1 ms: {}, 2 ms: {}, 4 ms: {}; p99.9: {}.",
        shifted::shares(shift, |s| s.within_62_us_pct),
        shifted::shares(shift, |s| s.within_120_us_pct),
        shifted::tails(shift),
        shifted::shares(shift, |s| s.above_2_ms_pct),
        shifted::shares(shift, |s| s.above_4_ms_pct),
        shifted::latencies(shift, |side| side.latency.as_ref().map(|l| l.p99_9_us))
    ));
    figure
}

/// Percentage points that each bucket gained or lost.
fn moved(shift: &Shift) -> Figure {
    let octaves = shift.octaves();
    let change = |b: &Bucket| b.after_pct - b.before_pct;
    let largest = octaves.iter().map(|b| change(b).abs()).fold(0.0, f64::max);
    let lines = vec![
        line("", 2, "", steps(&octaves, change)),
        line(
            "",
            7,
            "write",
            vec![
                (octaves[0].low_us, Some(0.0)),
                (octaves[octaves.len() - 1].high_us, Some(0.0)),
            ],
        ),
    ];
    let rows = octaves.iter().map(|b| {
        let cells = vec![bucket_name(b), format!("{:+.2}", change(b))];
        (String::new(), cells)
    });
    let caption = format!("{}: shift by bucket, % points", shifted::of_shift(shift));
    chart(
        &caption,
        "Share of I/Os in B minus share in A, per bucket. Above the line on the left and below it on the right, I/Os \
         became faster. Buckets double in width; one ends at 1 ms, as on the scales of storage arrays.",
        time_axis(&octaves),
        around_zero(largest),
        lines,
        grouped(&["bucket", "shift"], rows),
    )
}

fn bucket_name(bucket: &Bucket) -> String {
    format!("up to {}", number::latency(Some(bucket.high_us)))
}

/// The outline of buckets as a staircase from zero to zero.
fn steps(buckets: &[Bucket], value: impl Fn(&Bucket) -> f64) -> Vec<(f64, Option<f64>)> {
    let first = buckets.first().map(|b| (b.low_us, Some(0.0)));
    let last = buckets.last().map(|b| (b.high_us, Some(0.0)));
    let treads = buckets.iter().flat_map(|b| {
        let height = Some(value(b));
        [(b.low_us, height), (b.high_us, height)]
    });
    first.into_iter().chain(treads).chain(last).collect()
}

fn time_axis(buckets: &[Bucket]) -> Axis {
    let low = buckets.first().map_or(1.0, |b| b.low_us);
    let high = buckets.last().map_or(10.0, |b| b.high_us);
    let mut axis = Axis::log("time of an I/O", low, high, tick_latency);
    // The axis is exactly as wide as the buckets.
    (axis.low, axis.high) = (low, high);
    axis.ticks.retain(|t| (low..=high).contains(&t.at));
    axis
}

/// A linear axis centred on zero.
fn around_zero(largest: f64) -> Axis {
    let up = Axis::linear("", largest, tick);
    let label = |at: f64| match at {
        at if at > 0.0 => format!("+{}", tick(at)),
        at => tick(at),
    };
    let signed = up.ticks.iter().flat_map(|t| [0.0 - t.at, t.at]);
    let mut ticks: Vec<Tick> = signed
        .map(|at| Tick {
            at,
            label: label(at),
        })
        .collect();
    ticks.sort_by(|a, b| a.at.total_cmp(&b.at));
    ticks.dedup_by(|a, b| a.at == b.at);
    Axis {
        scale: Scale::Linear,
        low: -up.high,
        ticks,
        ..up
    }
}

fn line(label: &str, colour: usize, operation: &str, points: Vec<(f64, Option<f64>)>) -> Series {
    Series::new(
        label,
        colour,
        Shape::None,
        match operation {
            "write" => Dash::Dashed,
            "flush" => Dash::Dotted,
            _ => Dash::Solid,
        },
        points,
    )
}

fn latency_axis(lines: &[Series]) -> Axis {
    let values = lines.iter().flat_map(|l| &l.points).filter_map(|p| p.1);
    Axis::linear("", values.fold(0.0, f64::max), tick_latency)
}

fn chart(caption: &str, how: &str, x: Axis, y: Axis, series: Vec<Series>, table: Table) -> Figure {
    let chart = Chart::new(caption, x, y, series);
    Figure::new(caption.to_owned(), chart.render(), how.to_owned(), table)
}
