//! The head of the screen, and the charts of the point at work.

use std::collections::BTreeMap;

use archive::stream::{DeviceRates, PointHead};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use report::{number, parallelism};

use super::chart::{self, Plot, nice};
use super::paint::{Paint, put, rows_of};
use super::state::{Interval, State};

/// A panel is at least so wide …
const WIDTH_MIN: u16 = 38;
/// … and so high: title, parts, and bars.
const HEIGHT_MIN: u16 = 5;
const COLUMNS_MAX: u16 = 4;
/// Between panels.
const GAP: u16 = 2;

/// What runs, how far it is, and the figures of the last interval.
pub fn head(buffer: &mut Buffer, area: Rect, state: &State, now_s: f64, paint: Paint) {
    let newest = state.intervals.back();
    let run = state
        .run
        .as_ref()
        .map_or("dbdyno".into(), |run| format!("Run {run}"));
    let x = put(buffer, area, area.x, 0, &run, paint.strong());
    let rate = newest.and_then(|interval| interval.operations_per_s);
    let doing = match (&state.over, &state.head) {
        (Some(over), _) => over.clone(),
        (None, Some(head)) => {
            let PointHead {
                key,
                title,
                target_name,
            } = head;
            let preparing = if rate.is_none() { "preparing · " } else { "" };
            let parallel = match state.observes() {
                true => String::new(),
                false => format!(", {}", parallelism(key)),
            };
            format!("{preparing}{target_name} · {} {title}{parallel}", key.test)
        }
        (None, None) => "preparing".to_owned(),
    };
    put(buffer, area, x, 0, &format!(" · {doing}"), Style::new());
    progress(buffer, area, state, now_s, paint);
    let Some(newest) = newest else {
        return;
    };
    let host = state
        .intervals
        .iter()
        .rev()
        .find_map(|interval| interval.cpu_pct);
    let cpu = format!("CPU {} %", number::whole(host));
    let figures = match state.observes() {
        true => figures_observed(newest, cpu),
        false => figures_of_load(newest, cpu),
    };
    put(buffer, area, area.x, 2, &figures.join("  "), Style::new());
}

/// What a database at work did in the last interval.
fn figures_observed(newest: &Interval, cpu: String) -> Vec<String> {
    let sessions = number::one_decimal(newest.active_sessions());
    vec![
        format!(
            "{} transactions/s",
            number::figure_or_unknown(newest.operations_per_s)
        ),
        format!("{sessions} active sessions"),
        cpu,
    ]
}

/// What the jobs did in the last interval.
fn figures_of_load(newest: &Interval, cpu: String) -> Vec<String> {
    let rate = newest.operations_per_s;
    let mut figures = vec![format!("{} ops/s", number::figure_or_unknown(rate))];
    if let Some(mean_us) = newest.mean_us {
        figures.push(format!("mean {}", number::latency(Some(mean_us))));
    }
    for (name, us) in [
        ("p50", newest.p50_us),
        ("p95", newest.p95_us),
        ("p99", newest.p99_us),
    ] {
        figures.push(format!("{name} {}", number::latency(us)));
    }
    figures.push(cpu);
    let errors = newest.errors.map(|errors| number::counted(errors, "error"));
    figures.push(errors.unwrap_or_else(|| format!("{} errors", number::UNKNOWN)));
    figures.push(number::counted(newest.users.into(), "job"));
    figures
}

fn progress(buffer: &mut Buffer, area: Rect, state: &State, now_s: f64, paint: Paint) {
    if state.run.is_none() {
        return;
    }
    let mut text = format!(
        " {} of {}",
        state.done,
        number::counted(state.todo as u64, "point")
    );
    if state.over.is_none() {
        text.push_str(&format!(" · {}", time(now_s - state.begun_s)));
        let left = state.left_s();
        text.push_str(&left.map_or(String::new(), |s| format!(" · about {} left", time(s))));
    }
    let wide = usize::from(area.width / 3).min(40);
    let filled = state.done * wide / state.todo.max(1);
    let bar = "█".repeat(filled.min(wide));
    let x = put(buffer, area, area.x, 1, &bar, paint.part(0));
    let rest = "░".repeat(wide - filled.min(wide));
    let x = put(buffer, area, x, 1, &rest, paint.soft());
    put(buffer, area, x, 1, &text, Style::new());
}

fn time(s: f64) -> String {
    match s {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

type Draw = fn(&mut Buffer, Rect, &State, Paint);

/// Draws the charts, from a row of them on; gives how many rows of charts have no room.
pub fn charts(buffer: &mut Buffer, area: Rect, state: &State, down: usize, paint: Paint) -> usize {
    let mut panels: Vec<Draw> = match state.observes() {
        true => vec![throughput, cpu, waits, devices],
        false => vec![throughput, response, cpu, waits, devices, heat],
    };
    let columns = usize::from((area.width / WIDTH_MIN).clamp(1, COLUMNS_MAX));
    // The figures at the top have the jobs too.
    if !state.observes() && !panels.len().is_multiple_of(columns) {
        panels.push(jobs);
    }
    let rows = panels.len().div_ceil(columns);
    let shown = rows.min(usize::from(area.height / HEIGHT_MIN).max(1));
    let down = down.min(rows - shown);
    let width = area.width / columns as u16;
    let height = area.height / shown as u16;
    let higher = usize::from(area.height) % shown;
    let mut y = 0;
    for (row, panels) in panels.chunks(columns).skip(down).take(shown).enumerate() {
        let height = height + u16::from(row < higher);
        let strip = rows_of(area, y, height);
        y += height;
        for (column, panel) in panels.iter().enumerate() {
            let cell = Rect {
                x: area.x + column as u16 * width,
                width: width.saturating_sub(GAP),
                // The last row is a gap, where there is room for one.
                height: strip.height - u16::from(strip.height > HEIGHT_MIN),
                ..strip
            };
            panel(buffer, cell, state, paint);
        }
    }
    rows - shown
}

type Value = fn(&Interval) -> Option<f64>;

/// One of several values over time that are drawn upon each other.
struct Part {
    name: String,
    /// The newest value.
    shown: String,
    values: Vec<Option<f64>>,
}

impl Part {
    fn of(
        state: &State,
        name: &str,
        shown: fn(f64) -> String,
        of: impl Fn(&Interval) -> Option<f64>,
    ) -> Self {
        let values: Vec<_> = state.intervals.iter().map(of).collect();
        let newest = values.iter().rev().find_map(|value| *value);
        Self {
            name: name.to_owned(),
            shown: newest.map_or(number::UNKNOWN.to_owned(), shown),
            values,
        }
    }
}

/// The scale of a chart.
struct Scale {
    tick: fn(f64) -> String,
    /// Where it ends; where it is not given, above the highest value.
    top: Option<f64>,
    /// A value that is marked.
    mark: Option<f64>,
}

/// Draws a chart; its title, its parts with their newest values, and its bars.
fn bars(
    buffer: &mut Buffer,
    area: Rect,
    title: &str,
    parts: Vec<Part>,
    scale: &Scale,
    paint: Paint,
) {
    let is_known = |part: &Part| part.values.iter().any(Option::is_some);
    let is_empty = parts.iter().all(|part| part.values.is_empty());
    let parts: Vec<(usize, Part)> = parts
        .into_iter()
        .enumerate()
        .filter(|(_, part)| is_known(part))
        .collect();
    let x = put(buffer, area, area.x, 0, title, paint.strong());
    match &parts[..] {
        [(_, only)] if only.name.is_empty() => {
            put(
                buffer,
                area,
                x,
                0,
                &format!("  {}", only.shown),
                Style::new(),
            );
        }
        _ => {
            let mut x = area.x;
            for (number, part) in &parts {
                x = put(
                    buffer,
                    area,
                    x,
                    1,
                    chart::fill(*number),
                    paint.part(*number),
                );
                let text = format!("{} {} ", part.name, part.shown);
                x = put(buffer, area, x, 1, &text, Style::new());
            }
        }
    }
    let plot = rows_of(area, 2, area.height);
    if plot.height == 0 {
        return;
    }
    let mut drawn = Plot::new(buffer, plot, paint);
    if parts.is_empty() {
        return drawn.sentence(if is_empty { "nothing yet" } else { "not known" });
    }
    let stacks = stacks(&parts);
    let shown = &stacks[stacks.len().saturating_sub(Plot::columns(plot))..];
    let sums = shown.iter().flatten().map(|stack| stack.iter().sum());
    let highest = sums.fold(scale.mark.unwrap_or_default(), f64::max);
    let top = scale.top.unwrap_or_else(|| nice(highest));
    drawn.stacks(&stacks, top);
    drawn.scale(&(scale.tick)(top), "0");
    if let Some(mark) = scale.mark {
        drawn.line(mark, top, &(scale.tick)(mark));
    }
}

/// What is upon each other in each interval, by the number of its part; nothing where nothing is known.
fn stacks(parts: &[(usize, Part)]) -> Vec<Option<Vec<f64>>> {
    let intervals = parts.first().map_or(0, |(_, part)| part.values.len());
    let places = parts.last().map_or(0, |(number, _)| number + 1);
    let stack = |at: usize| {
        let values: Vec<_> = parts
            .iter()
            .map(|(number, part)| (*number, part.values[at]))
            .collect();
        let is_known = values.iter().any(|(_, value)| value.is_some());
        is_known.then(|| {
            let mut stack = vec![0.0; places];
            for (number, value) in values {
                stack[number] = value.unwrap_or_default().max(0.0);
            }
            stack
        })
    };
    (0..intervals).map(stack).collect()
}

const NUMBERS: Scale = Scale {
    tick: number::tick,
    top: None,
    mark: None,
};

fn throughput(buffer: &mut Buffer, area: Rect, state: &State, paint: Paint) {
    let part = Part::of(state, "", number::figure, |i| i.operations_per_s);
    let title = format!("Throughput, {}", state.work());
    bars(buffer, area, &title, vec![part], &NUMBERS, paint);
}

fn jobs(buffer: &mut Buffer, area: Rect, state: &State, paint: Paint) {
    let part = Part::of(state, "", number::figure, |i| Some(f64::from(i.users)));
    bars(buffer, area, "Jobs or users", vec![part], &NUMBERS, paint);
}

/// Each percentile from the one below it on.
fn response(buffer: &mut Buffer, area: Rect, state: &State, paint: Paint) {
    let times: [(&str, Value); 4] = [
        ("mean", |i| i.mean_us),
        ("p50", |i| i.p50_us),
        ("p95", |i| i.p95_us),
        ("p99", |i| i.p99_us),
    ];
    let latency = |us| number::latency(Some(us));
    let of_percentile = |(name, of): (&str, Value)| {
        let shown = Part::of(state, name, latency, of).shown;
        let lower = times.iter().take_while(|(lower, _)| *lower != name);
        let below = |i: &Interval| {
            lower
                .clone()
                .filter_map(|(_, of)| of(i))
                .fold(0.0, f64::max)
        };
        let part = Part::of(state, name, latency, |i| Some(of(i)? - below(i)));
        Part { shown, ..part }
    };
    let parts = times.into_iter().map(of_percentile).collect();
    let scale = Scale {
        tick: number::tick_latency,
        ..NUMBERS
    };
    bars(buffer, area, "Response time", parts, &scale, paint);
}

fn cpu(buffer: &mut Buffer, area: Rect, state: &State, paint: Paint) {
    let part = |at: usize, name| {
        Part::of(
            state,
            name,
            |v| number::one_decimal(Some(v)),
            move |i| i.cpu_parts_pct[at],
        )
    };
    let parts = vec![part(0, "user"), part(1, "system"), part(2, "I/O wait")];
    let scale = Scale {
        top: Some(100.0),
        ..NUMBERS
    };
    bars(
        buffer,
        area,
        "CPU of the database's machine, %",
        parts,
        &scale,
        paint,
    );
}

fn waits(buffer: &mut Buffer, area: Rect, state: &State, paint: Paint) {
    let mut classes = Vec::new();
    for (class, _) in state.intervals.iter().flat_map(|interval| &interval.waits) {
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    let parts = classes.iter().map(|class| {
        let of = |interval: &Interval| {
            let of_class = interval.waits.iter().find(|(other, _)| other == *class);
            // Where sessions were looked at, a class that none is in has 0.
            let none = (!interval.waits.is_empty()).then_some(0.0);
            of_class.map(|(_, sessions)| *sessions).or(none)
        };
        Part::of(state, class.name(), |v| number::one_decimal(Some(v)), of)
    });
    let mut parts: Vec<Part> = parts.collect();
    if parts.is_empty() {
        parts.push(Part::of(state, "", number::figure, |_| None));
    }
    let cores = state
        .intervals
        .iter()
        .rev()
        .find_map(|interval| interval.cores);
    let scale = Scale {
        mark: cores.map(f64::from),
        ..NUMBERS
    };
    let title = match cores {
        Some(cores) => format!(
            "Sessions by wait ╌ {}",
            number::counted(cores.into(), "hardware thread")
        ),
        None => "Sessions by wait".to_owned(),
    };
    bars(buffer, area, &title, parts, &scale, paint);
}

/// Requests of all devices over time, and those of each in the last interval.
fn devices(buffer: &mut Buffer, area: Rect, state: &State, paint: Paint) {
    let sum = |interval: &Interval, of: fn(&DeviceRates) -> Option<f64>| {
        let known: Vec<f64> = interval.devices.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    };
    let parts = vec![
        Part::of(state, "reads", number::figure, |i| sum(i, |d| d.read_iops)),
        Part::of(state, "writes", number::figure, |i| {
            sum(i, |d| d.write_iops)
        }),
    ];
    let newest = state
        .intervals
        .iter()
        .rev()
        .find(|interval| !interval.devices.is_empty());
    let mut devices: Vec<&DeviceRates> = newest.map_or(Vec::new(), |i| i.devices.iter().collect());
    let all = |d: &DeviceRates| d.read_iops.unwrap_or_default() + d.write_iops.unwrap_or_default();
    devices.sort_by(|a, b| all(b).total_cmp(&all(a)));
    // One device has its figures in the line of the parts.
    let room = usize::from(area.height.saturating_sub(2)) / 2;
    let told = if devices.len() > 1 {
        devices.len().min(room)
    } else {
        0
    };
    let title = match devices[..] {
        [only] => format!("Device requests/s of {}", only.name),
        _ if told < devices.len() => format!("Device requests/s, busiest of {}", devices.len()),
        _ => "Device requests/s".to_owned(),
    };
    let chart = rows_of(area, 0, area.height - told as u16);
    bars(buffer, chart, &title, parts, &NUMBERS, paint);
    for (row, device) in devices.iter().take(told).enumerate() {
        let busy = device
            .busy_pct
            .map_or(String::new(), |pct| format!(", {pct:.0} % busy"));
        let [reads, writes] = [device.read_iops, device.write_iops].map(number::figure_or_unknown);
        let text = format!("{}: {reads} reads, {writes} writes{busy}", device.name);
        put(
            buffer,
            area,
            area.x,
            chart.height + row as u16,
            &text,
            Style::new(),
        );
    }
}

fn heat(buffer: &mut Buffer, area: Rect, state: &State, paint: Paint) {
    put(
        buffer,
        area,
        area.x,
        0,
        "Operations by response time",
        paint.strong(),
    );
    put(
        buffer,
        area,
        area.x,
        1,
        "darker: more of them",
        paint.soft(),
    );
    let plot = rows_of(area, 2, area.height);
    if plot.height == 0 {
        return;
    }
    let maps: Vec<&BTreeMap<i32, f64>> = state.intervals.iter().map(|i| &i.heat).collect();
    let shown = &maps[maps.len().saturating_sub(Plot::columns(plot))..];
    let lowest = shown.iter().filter_map(|map| map.keys().next()).min();
    let highest = shown.iter().filter_map(|map| map.keys().next_back()).max();
    let mut drawn = Plot::new(buffer, plot, paint);
    let (Some(low), Some(high)) = (lowest, highest) else {
        let why = if maps.is_empty() {
            "nothing yet"
        } else {
            "not kept by interval"
        };
        return drawn.sentence(why);
    };
    let range = (*low, high + 1);
    drawn.heat(&maps, range);
    drawn.scale(&of_half_octave(range.1), &of_half_octave(range.0));
}

/// Where a half octave of nanoseconds begins, with two digits.
fn of_half_octave(place: i32) -> String {
    let us = 2f64.powf(f64::from(place) / 2.0) / 1e3;
    let unit = 10f64.powf(us.log10().floor() - 1.0);
    number::tick_latency((us / unit).round() * unit)
}
