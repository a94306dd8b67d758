//! Activity of each block device at a level, over its repetitions.

use std::collections::HashMap;

use archive::{Cell, DeviceUse, Latency, Purpose, Requests};
use stats::Histogram;

use crate::held_back::place as place_of;
use crate::level::{Curve, Level};
use crate::number;

const SENTENCES_MAX: usize = 8;
/// Most devices that are sorted; no machine has more of them below one database.
const ORDERED_MAX: usize = 256;

pub struct AtLevel {
    pub devices: Vec<Used>,
    pub more: usize,
}

pub struct Used {
    pub name: String,
    /// "data, log", "below dm-0"; empty if neither is known.
    pub place: String,
    pub reads: Kind,
    pub writes: Kind,
    /// Count and time only: flushes have neither bytes nor a size.
    pub flushes: Kind,
    pub queue_mean: Option<f64>,
    /// Part of the time with a request in flight, in percent.
    pub busy_pct: Option<f64>,
}

#[derive(Default)]
pub struct Kind {
    pub iops: Option<f64>,
    pub mb_per_s: Option<f64>,
    /// Mean size, 10^3 bytes.
    pub kb_mean: Option<f64>,
    /// Mean time, µs.
    pub mean_us: Option<f64>,
    /// 99th percentile of the times, µs; known only where the kernel times each request.
    pub p99_us: Option<f64>,
}

/// Columns of a table of devices.
pub const COLUMNS: &str = "device | reads [/s] | reads [MB/s] | reads [kB each] | reads [mean] | reads [p99] | writes [/s] | \
     writes [MB/s] | writes [kB each] | writes [mean] | writes [p99] | flushes [/s] | flushes [mean] | \
     flushes [p99] | queue [mean] | busy [%]";

/// The row of a device under [`COLUMNS`].
pub fn cells(used: &Used) -> Vec<Cell> {
    let name = match used.place.as_str() {
        "" => used.name.clone(),
        place => format!("{}\n{place}", used.name),
    };
    let mut cells: Vec<Cell> = vec![name.into()];
    for (kind, is_moved) in [
        (&used.reads, true),
        (&used.writes, true),
        (&used.flushes, false),
    ] {
        cells.push(kind.iops.into());
        if is_moved {
            cells.extend([kind.mb_per_s.into(), kind.kb_mean.into()]);
        }
        cells.extend([kind.mean_us, kind.p99_us].map(|us| number::latency(us).into()));
    }
    cells.extend([used.queue_mean.into(), used.busy_pct.into()]);
    cells
}

/// The best level with known devices by a figure of throughput, or else the first such level.
pub fn best<'a>(curve: &Curve<'a>, rate: &str) -> Option<Level<'a>> {
    let is_known = |level: &Level<'_>| level.points.iter().any(|p| !p.devices.is_empty());
    let peak = curve.peak(rate).filter(is_known);
    peak.or_else(|| curve.levels.iter().map(Level::shown).find(is_known))
}

pub fn sentences(curve: &Curve<'_>, rate: &str) -> Vec<String> {
    let Some(level) = best(curve, rate) else {
        return Vec::new();
    };
    let place = place_of(&level);
    let AtLevel { devices, more } = of_level(&level, SENTENCES_MAX);
    let each = devices.iter();
    let each = each.map(|used| format!("{place}: {}", sentence(used)));
    let rest = (more > 0).then(|| format!("{place}: {more} more devices"));
    each.chain(rest).collect()
}

/// At most `most` devices of a level: those that hold the data come first, each followed by the devices below it.
pub fn of_level(level: &Level<'_>, most: usize) -> AtLevel {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut devices: Vec<Vec<&DeviceUse>> = Vec::new();
    for device in level.points.iter().flat_map(|point| &point.devices) {
        let place = *places.entry(&device.name).or_insert(devices.len());
        match devices.get_mut(place) {
            Some(same) => same.push(device),
            None => devices.push(vec![device]),
        }
    }
    let all = devices.len();
    devices.truncate(ORDERED_MAX);
    let order = in_order(&devices).into_iter().take(most);
    let devices: Vec<Used> = order.map(|at| used(level, &devices[at])).collect();
    AtLevel {
        more: all - devices.len(),
        devices,
    }
}

/// Indices of the devices: data before log, each followed by its carriers, the rest at the end.
fn in_order(devices: &[Vec<&DeviceUse>]) -> Vec<usize> {
    let first_held = |at: &usize| -> Option<Purpose> {
        let held = devices[*at].iter().flat_map(|device| &device.holds);
        held.min().copied()
    };
    let holds = |at: &usize| first_held(at).is_some();
    let carries = |at: usize, name: &str| {
        let mut carried = devices[at].iter().flat_map(|device| &device.carries);
        carried.any(|carried| carried == name)
    };
    let mut ordered: Vec<usize> = Vec::new();
    let mut is_placed = vec![false; devices.len()];
    let mut roots: Vec<usize> = (0..devices.len()).filter(holds).collect();
    roots.sort_by_key(first_held);
    for root in roots.into_iter().chain(0..devices.len()) {
        let mut waiting = vec![root];
        while let Some(at) = waiting.pop() {
            if std::mem::replace(&mut is_placed[at], true) {
                continue;
            }
            ordered.push(at);
            let name = devices[at]
                .first()
                .map_or("", |device| device.name.as_str());
            let below = (0..devices.len()).filter(|below| carries(*below, name));
            // A device that holds files itself appears in its own turn.
            waiting.extend(below.filter(|below| !holds(below)).rev());
        }
    }
    ordered
}

fn used(level: &Level<'_>, device: &[&DeviceUse]) -> Used {
    let name = device.first().map_or("", |device| device.name.as_str());
    let kind = |operation: &str, of: fn(&DeviceUse) -> Option<Requests>| {
        let mut kind = counted(device, of);
        let (mean_us, p99_us) = timed(level, name, operation);
        // The kernel's counters have a resolution of whole milliseconds, so their mean is only the fallback.
        kind.mean_us = mean_us.or(kind.mean_us);
        kind.p99_us = p99_us;
        kind
    };
    let (count, elapsed_s) = flushes(level, name, device);
    let (mean_us, p99_us) = timed(level, name, "flush");
    Used {
        name: name.to_owned(),
        place: place(device),
        reads: kind("read", |device| device.reads),
        writes: kind("write", |device| device.writes),
        flushes: Kind {
            iops: count.and_then(|count| per(count, elapsed_s)),
            mean_us: mean_us.or_else(|| mean_of_samples(device, "flush")),
            p99_us,
            ..Kind::default()
        },
        queue_mean: over_time(device, |device| device.queue_mean),
        busy_pct: over_time(device, |device| device.busy_pct),
    }
}

fn place(device: &[&DeviceUse]) -> String {
    let holds = |purpose: &Purpose| device.iter().any(|device| device.holds.contains(purpose));
    let held = Purpose::ALL.into_iter().filter(holds);
    let mut words: Vec<String> = held.map(|purpose| purpose.name().to_owned()).collect();
    let mut carried: Vec<&str> = Vec::new();
    for name in device.iter().flat_map(|device| &device.carries) {
        if !carried.contains(&name.as_str()) {
            carried.push(name);
        }
    }
    if !carried.is_empty() {
        words.push(format!("below {}", carried.join(", ")));
    }
    words.join(", ")
}

fn per(amount: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| amount / of)
}

/// Sums of the kernel's counters over all repetitions that have them.
fn counted(device: &[&DeviceUse], of: fn(&DeviceUse) -> Option<Requests>) -> Kind {
    let known = || device.iter().filter_map(|device| of(device));
    let (mut count, mut mb, mut elapsed_s) = (0.0, 0.0, 0.0);
    for device in device {
        if let Some((requests, s)) = of(device).zip(device.elapsed_s) {
            count += requests.count as f64;
            mb += requests.mb;
            elapsed_s += s;
        }
    }
    let all: f64 = known().map(|requests| requests.count as f64).sum();
    let all_mb: f64 = known().map(|requests| requests.mb).sum();
    let awaited = known().filter_map(|r| r.await_ms.map(|ms| (r.count as f64, ms)));
    let (waited, waited_us) = awaited.fold((0.0, 0.0), |(n, us), (count, ms)| {
        (n + count, us + count * ms * 1e3)
    });
    Kind {
        iops: per(count, elapsed_s),
        mb_per_s: per(mb, elapsed_s),
        kb_mean: per(all_mb * 1e3, all),
        mean_us: per(waited_us, waited),
        p99_us: None,
    }
}

/// Mean and 99th percentile of individually timed requests.
fn timed(level: &Level<'_>, name: &str, operation: &str) -> (Option<f64>, Option<f64>) {
    let times = level.points.iter().flat_map(|p| &p.by_operation.times);
    let own = times.filter(|t| t.subject == name && t.is("device", operation, "whole"));
    let mut merged = Histogram::new();
    let (mut count, mut sum_us) = (0.0, 0.0);
    for times in own {
        if let Some((n, mean_us)) = times.count.zip(times.mean_us) {
            count += n as f64;
            sum_us += n as f64 * mean_us;
        }
        if let Some(histogram) = times.histogram() {
            merged.merge_snapshot(&histogram);
        }
    }
    let latency = Latency::of(&(&merged).into());
    (per(sum_us, count), latency.map(|latency| latency.p99_us))
}

/// Number of flushes, and the seconds in which they happened.
fn flushes(level: &Level<'_>, name: &str, device: &[&DeviceUse]) -> (Option<f64>, f64) {
    let elapsed_s = device.iter().filter_map(|device| device.elapsed_s).sum();
    let times = level.points.iter().flat_map(|p| &p.by_operation.times);
    let own = times.filter(|t| t.subject == name && t.is("device", "flush", "whole"));
    let timed: Vec<u64> = own.filter_map(|times| times.count).collect();
    if !timed.is_empty() {
        return (Some(timed.iter().sum::<u64>() as f64), elapsed_s);
    }
    let samples = device.iter().flat_map(|device| &device.samples);
    let flushes = samples.filter(|sample| sample.operation == "flush");
    let counts: Vec<u64> = flushes.map(|sample| sample.requests).collect();
    let sum = || counts.iter().map(|count| *count as f64).sum();
    ((!counts.is_empty()).then(sum), elapsed_s)
}

fn mean_of_samples(device: &[&DeviceUse], operation: &str) -> Option<f64> {
    let samples = device.iter().flat_map(|device| &device.samples);
    let own = samples.filter(|sample| sample.operation == operation);
    let known = own.filter_map(|sample| Some((sample.requests as f64, sample.service_us_mean?)));
    let (count, sum_us) = known.fold((0.0, 0.0), |(n, us), (count, mean_us)| {
        (n + count, us + count * mean_us)
    });
    per(sum_us, count)
}

/// Mean over the repetitions, weighted by their length.
fn over_time(device: &[&DeviceUse], value: fn(&DeviceUse) -> Option<f64>) -> Option<f64> {
    let known = || {
        device
            .iter()
            .filter_map(|d| Some((d.elapsed_s?, value(d)?)))
    };
    let seconds: f64 = known().map(|(s, _)| s).sum();
    per(known().map(|(s, value)| s * value).sum(), seconds)
}

/// "vdb (log): writes 1,240 /s of 8.19 kB in 412 µs, p99 1.20 ms · flushes 310 /s in 1.10 ms · 61.0 % busy · queue 0.600".
fn sentence(used: &Used) -> String {
    let place = if used.place.is_empty() {
        String::new()
    } else {
        format!(" ({})", used.place)
    };
    let kinds = [
        ("reads", &used.reads),
        ("writes", &used.writes),
        ("flushes", &used.flushes),
    ];
    let described = kinds.into_iter().filter_map(|(word, kind)| {
        let rate = kind.iops.filter(|rate| *rate > 0.0)?;
        let size = kind
            .kb_mean
            .map(|kb| format!(" of {} kB", number::figure(kb)));
        let mean = kind
            .mean_us
            .map(|us| format!(" in {}", number::latency(Some(us))));
        let p99 = kind
            .p99_us
            .map(|us| format!(", p99 {}", number::latency(Some(us))));
        let parts = [size, mean, p99].map(Option::unwrap_or_default).concat();
        Some(format!("{word} {} /s{parts}", number::figure(rate)))
    });
    let mut parts: Vec<String> = described.collect();
    if parts.is_empty() && (used.reads.iops.is_some() || used.writes.iops.is_some()) {
        parts.push("no requests".to_owned());
    }
    parts.extend(
        used.busy_pct
            .map(|pct| format!("{} % busy", number::figure(pct))),
    );
    parts.extend(
        used.queue_mean
            .map(|mean| format!("queue {}", number::figure(mean))),
    );
    if parts.is_empty() {
        parts.push("nobody counted its requests".to_owned());
    }
    format!("{}{place}: {}", used.name, parts.join(" · "))
}
