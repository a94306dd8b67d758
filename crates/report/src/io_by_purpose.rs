//! I/O by purpose: the engine's counts for files of each purpose, compared with the counts of their devices.
//!
//! Files are grouped if they share a device or one of their devices lies below the other, because a device does not know the purpose of a
//! request. Below a volume or a loop device the same I/O is counted twice, so that only the lowest device of the files counts.

use std::collections::HashMap;

use archive::{DeviceUse, IoOperation, IoUnknown, Purpose};

use crate::held_back::place as place_of;
use crate::level::{Curve, Level};
use crate::number;

/// A difference is reported if it is at least this part of the larger side …
const LARGE: f64 = 0.2;
/// … and at least this many 10^6 bytes per second.
const LARGE_MB_PER_S: f64 = 1.0;
/// Most devices examined; no machine has more of them below one database.
const DEVICES_MAX: usize = 32;

pub struct IoByPurpose {
    pub groups: Vec<Group>,
    /// Upper bound of other programs' I/O on the devices of data, log and undo: read and written, 10^6 bytes per second.
    pub by_others: [Option<f64>; 2],
}

/// Purposes whose files are indistinguishable at the devices.
pub struct Group {
    pub accounts: Vec<Account>,
    /// Kernel names of the devices; empty if unknown.
    pub devices: Vec<String>,
    pub held: [Held; 2],
}

/// The engine's counts for files of one purpose.
pub struct Account {
    pub purpose: Purpose,
    pub counted: [DirectionIo; 2],
}

#[derive(Clone, Default)]
pub struct DirectionIo {
    /// 10^6 bytes per second; `None` if the engine does not count them.
    pub mb_per_s: Option<f64>,
    pub source: String,
    pub unknown: Option<IoUnknown>,
}

/// The engine's account of one direction compared with the devices.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Held {
    /// Sum over the purposes with a known account.
    pub engine_mb_per_s: Option<f64>,
    pub device_mb_per_s: Option<f64>,
    /// `None` if one of the sides is unknown.
    pub difference: Option<Difference>,
}

/// Cause of a difference between engine and devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    Small,
    PageCache,
    ReadUnaccounted(Unaccounted),
    WrittenUnaccounted(Unaccounted),
    NotWrittenBack,
}

/// Sources of device I/O outside the engine's account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unaccounted {
    /// I/O of the engine itself that it does not count.
    pub is_uncounted: bool,
    /// I/O of other programs: false if they are known to have done less than a tenth of the difference.
    pub is_of_others: bool,
}

impl Difference {
    pub fn causes(self) -> String {
        let unaccounted = |unaccounted: Unaccounted, always: &[&str]| {
            let uncounted = unaccounted
                .is_uncounted
                .then_some("I/O that the engine does not count");
            let others = unaccounted.is_of_others.then_some("other programs");
            let always = always.iter().copied();
            let causes: Vec<&str> = uncounted.into_iter().chain(always).chain(others).collect();
            match causes.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                _ => causes.concat(),
            }
        };
        match self {
            Self::Small => "none".into(),
            Self::PageCache => "page cache".into(),
            Self::ReadUnaccounted(of) => unaccounted(of, &["read-ahead", "metadata"]),
            Self::WrittenUnaccounted(of) => {
                unaccounted(of, &["file-system journal", "padding to whole pages"])
            }
            Self::NotWrittenBack => "still in the page cache, or overwritten there".into(),
        }
    }
}

pub fn reason(unknown: IoUnknown) -> &'static str {
    match unknown {
        IoUnknown::NotCounted => "not counted by the engine",
        IoUnknown::CounterReset => "counters reset meanwhile",
        IoUnknown::CountedAsData => "counted with data",
    }
}

/// The best level with an engine account, by a figure of throughput, or else the first such level.
pub fn best<'a>(curve: &Curve<'a>, rate: &str) -> Option<Level<'a>> {
    let is_counted = |level: &Level<'_>| level.points.iter().any(|p| !p.engine_io.is_empty());
    let peak = curve.peak(rate).filter(is_counted);
    peak.or_else(|| curve.levels.iter().map(Level::shown).find(is_counted))
}

/// Engine and device I/O of a level; `None` if the engine has no account.
pub fn of_level(level: &Level<'_>) -> Option<IoByPurpose> {
    if level.points.iter().all(|point| point.engine_io.is_empty()) {
        return None;
    }
    let devices = devices(level);
    let others = ["read_by_others_mb_per_s", "write_by_others_mb_per_s"];
    let by_others = others.map(|name| level.figure(name));
    let groups = groups(level, &devices);
    let groups = groups.into_iter().map(|purposes| {
        let accounts: Vec<Account> = purposes.iter().map(|of| account(level, *of)).collect();
        let lowest = lowest(&devices, &purposes);
        let held = std::array::from_fn(|at| {
            let counted = accounts.iter().map(|account| &account.counted[at]);
            let others = by_others[at].filter(|_| has_figures(&purposes));
            hold(IoOperation::ALL[at], counted, &lowest, others)
        });
        Group {
            accounts,
            devices: lowest.iter().map(|device| device.name.clone()).collect(),
            held,
        }
    });
    Some(IoByPurpose {
        groups: groups.collect(),
        by_others,
    })
}

/// True if these files' devices are those of the point's figures.
fn has_figures(purposes: &[Purpose]) -> bool {
    purposes
        .iter()
        .any(|purpose| *purpose != Purpose::Temporary)
}

struct Device<'a> {
    name: String,
    each: Vec<&'a DeviceUse>,
}

impl Device<'_> {
    fn holds(&self, purpose: Purpose) -> bool {
        self.each.iter().any(|each| each.holds.contains(&purpose))
    }

    fn holds_any(&self, purposes: &[Purpose]) -> bool {
        purposes.iter().any(|purpose| self.holds(*purpose))
    }

    /// 10^6 bytes per second, over the repetitions with known values.
    fn mb_per_s(&self, operation: IoOperation) -> Option<f64> {
        let known = self.each.iter().filter_map(|each| {
            let requests = match operation {
                IoOperation::Read => each.reads?,
                IoOperation::Write => each.writes?,
            };
            Some((requests.mb, each.elapsed_s?))
        });
        rate(known)
    }
}

/// Sum of amounts divided by sum of seconds.
fn rate(known: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let is_number = |(mb, s): &(f64, f64)| mb.is_finite() && s.is_finite();
    let (mb, s) = known
        .filter(is_number)
        .fold((0.0, 0.0), |(mb, s), (more, longer)| {
            (mb + more, s + longer)
        });
    (s > 0.0).then(|| mb / s)
}

fn devices<'a>(level: &Level<'a>) -> Vec<Device<'a>> {
    let mut indices: HashMap<&str, usize> = HashMap::new();
    let mut devices: Vec<Device<'a>> = Vec::new();
    for each in level.points.iter().flat_map(|point| &point.devices) {
        let place = *indices.entry(&each.name).or_insert(devices.len());
        match devices.get_mut(place) {
            Some(same) => same.each.push(each),
            None if place < DEVICES_MAX => devices.push(Device {
                name: each.name.clone(),
                each: vec![each],
            }),
            None => {}
        }
    }
    devices
}

/// True if one device lies below another, at any depth.
fn is_below(devices: &[Device<'_>], lower: &str, upper: &str) -> bool {
    let mut reached: Vec<&str> = vec![lower];
    let mut at = 0;
    while let Some(name) = reached.get(at).copied() {
        at += 1;
        let found = devices.iter().filter(|device| device.name == name);
        for carried in found.flat_map(|d| d.each.iter().flat_map(|each| &each.carries)) {
            if carried == upper {
                return true;
            }
            // Only a device of the level can continue the chain.
            let is_known = devices.iter().any(|device| device.name == *carried);
            if is_known && !reached.contains(&carried.as_str()) {
                reached.push(carried);
            }
        }
    }
    false
}

/// Purposes with an engine account or a device, grouped if indistinguishable.
fn groups(level: &Level<'_>, devices: &[Device<'_>]) -> Vec<Vec<Purpose>> {
    let all = Purpose::ALL;
    let mut group: [usize; Purpose::ALL.len()] = std::array::from_fn(|at| at);
    for (a, b) in inseparable(level, devices) {
        let [a, b] = [a, b].map(|of| group[of as usize]);
        let (low, high) = (a.min(b), a.max(b));
        let higher = group.iter_mut().filter(|of| **of == high);
        higher.for_each(|of| *of = low);
    }
    let is_counted = |purpose: Purpose| {
        let mut account = level.points.iter().flat_map(|point| &point.engine_io);
        account.any(|io| io.purpose == purpose && io.unknown != Some(IoUnknown::CountedAsData))
    };
    let is_shown =
        |purpose: &Purpose| is_counted(*purpose) || devices.iter().any(|d| d.holds(*purpose));
    let members = |first: usize| -> Vec<Purpose> {
        let members = all.into_iter().filter(|of| group[*of as usize] == first);
        members.filter(is_shown).collect()
    };
    let groups = (0..all.len()).map(members);
    groups.filter(|members| !members.is_empty()).collect()
}

/// Pairs of purposes with indistinguishable I/O: on the same device, on one below the other's, or in the engine's account.
fn inseparable(level: &Level<'_>, devices: &[Device<'_>]) -> Vec<(Purpose, Purpose)> {
    let held = |device: &Device<'_>| -> Vec<Purpose> {
        let held = Purpose::ALL.into_iter().filter(|of| device.holds(*of));
        held.collect()
    };
    let all = devices
        .iter()
        .map(|device| (device.name.as_str(), held(device)));
    let holding: Vec<(&str, Vec<Purpose>)> = all.filter(|(_, held)| !held.is_empty()).collect();
    let mut pairs: Vec<(Purpose, Purpose)> = Vec::new();
    for (lower, held) in &holding {
        pairs.extend(held.windows(2).map(|pair| (pair[0], pair[1])));
        let above = holding
            .iter()
            .filter(|(upper, _)| is_below(devices, lower, upper));
        pairs.extend(above.map(|(_, of_upper)| (held[0], of_upper[0])));
    }
    let account = level.points.iter().flat_map(|point| &point.engine_io);
    let as_data = account.filter(|io| io.unknown == Some(IoUnknown::CountedAsData));
    pairs.extend(as_data.map(|io| (io.purpose, Purpose::Data)));
    pairs
}

/// Devices of these files that carry no other device of them.
fn lowest<'d, 'a>(devices: &'d [Device<'a>], purposes: &[Purpose]) -> Vec<&'d Device<'a>> {
    let holding = || devices.iter().filter(|device| device.holds_any(purposes));
    let is_lowest = |upper: &&Device<'_>| {
        !holding().any(|lower| {
            lower.name != upper.name
                && is_below(devices, &lower.name, &upper.name)
                && !is_below(devices, &upper.name, &lower.name)
        })
    };
    holding().filter(is_lowest).collect()
}

fn account(level: &Level<'_>, purpose: Purpose) -> Account {
    let counted = IoOperation::ALL.map(|operation| {
        let own = || {
            level.points.iter().flat_map(move |point| {
                let is = move |io: &&archive::EngineIo| {
                    (io.purpose, io.operation) == (purpose, operation)
                };
                point
                    .engine_io
                    .iter()
                    .filter(is)
                    .map(move |io| (*point, io))
            })
        };
        let known = own().filter_map(|(point, io)| Some((io.mb?, point.figures.elapsed_s?)));
        let source = own()
            .map(|(_, io)| &io.source)
            .find(|source| !source.is_empty());
        DirectionIo {
            mb_per_s: rate(known),
            source: source.cloned().unwrap_or_default(),
            unknown: own().find_map(|(_, io)| io.unknown),
        }
    });
    Account { purpose, counted }
}

/// Compares the sum of accounts with the sum of devices; `others` is the upper bound of other programs' I/O.
fn hold<'t>(
    operation: IoOperation,
    counted: impl Iterator<Item = &'t DirectionIo>,
    devices: &[&Device<'_>],
    others: Option<f64>,
) -> Held {
    let (mut engine, mut is_uncounted) = (None, false);
    for io in counted {
        match io.mb_per_s {
            Some(mb) => engine = Some(engine.unwrap_or(0.0) + mb),
            None => is_uncounted |= io.unknown != Some(IoUnknown::CountedAsData),
        }
    }
    let each = devices.iter().map(|device| device.mb_per_s(operation));
    let device: Option<f64> = if devices.is_empty() { None } else { each.sum() };
    let difference = engine
        .zip(device)
        .map(|(engine, device)| difference(operation, engine, device, is_uncounted, others));
    Held {
        engine_mb_per_s: engine,
        device_mb_per_s: device,
        difference,
    }
}

fn difference(
    operation: IoOperation,
    engine: f64,
    device: f64,
    is_uncounted: bool,
    others: Option<f64>,
) -> Difference {
    let difference = (device - engine).abs();
    // NaN does not count as large.
    let is_large = difference >= LARGE_MB_PER_S && difference >= LARGE * device.max(engine);
    let unaccounted = Unaccounted {
        is_uncounted,
        is_of_others: others.is_none_or(|others| others >= 0.1 * difference),
    };
    match (operation, device > engine) {
        _ if !is_large => Difference::Small,
        (IoOperation::Read, false) => Difference::PageCache,
        (IoOperation::Read, true) => Difference::ReadUnaccounted(unaccounted),
        (IoOperation::Write, true) => Difference::WrittenUnaccounted(unaccounted),
        (IoOperation::Write, false) => Difference::NotWrittenBack,
    }
}

/// "data, log".
pub fn purposes(group: &Group) -> String {
    let names = group.accounts.iter().map(|account| account.purpose.name());
    names.collect::<Vec<_>>().join(", ")
}

/// A sentence for each group at a curve's best level whose account and devices differ.
pub fn sentences(curve: &Curve<'_>, rate: &str) -> Vec<String> {
    let Some(level) = best(curve, rate) else {
        return Vec::new();
    };
    let Some(io) = of_level(&level) else {
        return Vec::new();
    };
    let place = place_of(&level);
    let sentences = io.groups.iter().filter_map(sentence);
    sentences
        .map(|sentence| format!("{place}: {sentence}"))
        .collect()
}

/// "vdb (log): wrote 45.0 MB/s, the engine 12.0 MB/s (file-system journal or other programs)".
fn sentence(group: &Group) -> Option<String> {
    let parts = group.held.iter().zip(["read", "wrote"]);
    let parts: Vec<String> = parts
        .filter_map(|(held, verb)| {
            let large = held.difference.filter(|of| *of != Difference::Small)?;
            let [device, engine] =
                [held.device_mb_per_s, held.engine_mb_per_s].map(number::figure_or_unknown);
            let causes = large.causes();
            Some(format!(
                "{verb} {device} MB/s, the engine {engine} MB/s ({causes})"
            ))
        })
        .collect();
    (!parts.is_empty()).then(|| {
        let devices = group.devices.join(", ");
        format!("{devices} ({}): {}", purposes(group), parts.join("; "))
    })
}

#[cfg(test)]
mod tests;
