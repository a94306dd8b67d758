//! Whose I/O: what the engine counts by the purpose of its files, held against what the devices did that hold them.
//!
//! Files that share a device, or of which one device lies below the other's, are held together: the device does not know
//! whose a request was. Below a volume or a loop device the same I/O is counted twice, so only the lowest device that holds
//! something is taken.

use std::collections::HashMap;

use archive::{DeviceUse, IoOperation, IoUnknown, Purpose};

use crate::held_back::place as place_of;
use crate::level::{Curve, Level};
use crate::number;

/// A difference is told from this part of the larger side on …
const LARGE: f64 = 0.2;
/// … if it is at least so much, 10^6 bytes per second.
const LARGE_MB_PER_S: f64 = 1.0;
/// Most devices that are looked at; a machine with more of them below one database is none.
const DEVICES_MAX: usize = 32;

/// The I/O of a level.
pub struct IoByPurpose {
    pub groups: Vec<Group>,
    /// What other programs did at most on the devices of data, log and undo: read and written, 10^6 bytes per second.
    pub by_others: [Option<f64>; 2],
}

/// Purposes whose files cannot be told apart at the devices.
pub struct Group {
    pub accounts: Vec<Account>,
    /// Kernel's names of the devices; empty where none is known.
    pub devices: Vec<String>,
    pub held: [Held; 2],
}

/// What the engine counts of the files of one purpose.
pub struct Account {
    pub purpose: Purpose,
    pub told: [DirectionIo; 2],
}

/// What the engine counts of one direction.
#[derive(Clone, Default)]
pub struct DirectionIo {
    /// 10^6 bytes per second; `None` where the engine does not count them.
    pub mb_per_s: Option<f64>,
    pub source: String,
    pub unknown: Option<IoUnknown>,
}

/// The engine's account of one direction held against the devices.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Held {
    /// Sum over the purposes of which it is known.
    pub engine_mb_per_s: Option<f64>,
    pub device_mb_per_s: Option<f64>,
    /// `None` where one of the sides is unknown.
    pub difference: Option<Difference>,
}

/// What a difference between engine and devices comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    Small,
    /// The engine read more than the devices.
    PageCache,
    /// The devices read more than the engine.
    ReadBeside(Beside),
    /// The devices wrote more than the engine.
    WrittenBeside(Beside),
    /// The engine wrote more than the devices.
    NotWrittenBack,
}

/// What a device may have done beside the I/O that the engine counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// I/O of the engine itself that it does not count.
    pub is_uncounted: bool,
    /// I/O of other programs: false where they are known to have done less than a tenth of the difference.
    pub is_of_others: bool,
}

impl Difference {
    /// The likely causes, for people.
    pub fn causes(self) -> String {
        let beside = |beside: Beside, always: &[&str]| {
            let uncounted = beside
                .is_uncounted
                .then_some("I/O that the engine does not count");
            let others = beside.is_of_others.then_some("other programs");
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
            Self::ReadBeside(of) => beside(of, &["read-ahead", "metadata"]),
            Self::WrittenBeside(of) => {
                beside(of, &["file-system journal", "padding to whole pages"])
            }
            Self::NotWrittenBack => "still in the page cache, or overwritten there".into(),
        }
    }
}

/// Why nothing is known of some I/O, for people.
pub fn reason(unknown: IoUnknown) -> &'static str {
    match unknown {
        IoUnknown::NotCounted => "not counted by the engine",
        IoUnknown::CounterReset => "counters reset meanwhile",
        IoUnknown::CountedAsData => "counted with data",
    }
}

/// The best level of a curve of which the engine told, by a figure of throughput; else the first such level.
pub fn best<'a>(curve: &Curve<'a>, rate: &str) -> Option<Level<'a>> {
    let is_told = |level: &Level<'_>| level.points.iter().any(|p| !p.engine_io.is_empty());
    let peak = curve.peak(rate).filter(is_told);
    peak.or_else(|| curve.levels.iter().map(Level::shown).find(is_told))
}

/// What the engine did at a level and what its devices did; `None` where nobody asked the engine.
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
            let told = accounts.iter().map(|account| &account.told[at]);
            let others = by_others[at].filter(|_| has_figures(&purposes));
            hold(IoOperation::ALL[at], told, &lowest, others)
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

/// Whether the devices of these files are those of which the point's figures tell.
fn has_figures(purposes: &[Purpose]) -> bool {
    purposes
        .iter()
        .any(|purpose| *purpose != Purpose::Temporary)
}

/// A device, its repetitions together.
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

    /// 10^6 bytes per second, over the repetitions that know them.
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

/// Sums of amounts over seconds.
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
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut devices: Vec<Device<'a>> = Vec::new();
    for each in level.points.iter().flat_map(|point| &point.devices) {
        let place = *places.entry(&each.name).or_insert(devices.len());
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

/// Whether one device lies below another, however many there are between them.
fn is_below(devices: &[Device<'_>], lower: &str, upper: &str) -> bool {
    let mut seen: Vec<&str> = vec![lower];
    let mut at = 0;
    while let Some(name) = seen.get(at).copied() {
        at += 1;
        let found = devices.iter().filter(|device| device.name == name);
        for carried in found.flat_map(|d| d.each.iter().flat_map(|each| &each.carries)) {
            if carried == upper {
                return true;
            }
            // Only what is a device of the level can lead on.
            let is_known = devices.iter().any(|device| device.name == *carried);
            if is_known && !seen.contains(&carried.as_str()) {
                seen.push(carried);
            }
        }
    }
    false
}

/// The purposes that the engine tells of or that a device holds, those together that cannot be told apart.
fn groups(level: &Level<'_>, devices: &[Device<'_>]) -> Vec<Vec<Purpose>> {
    let all = Purpose::ALL;
    let mut group: [usize; Purpose::ALL.len()] = std::array::from_fn(|at| at);
    for (a, b) in inseparable(level, devices) {
        let [a, b] = [a, b].map(|of| group[of as usize]);
        let (low, high) = (a.min(b), a.max(b));
        let higher = group.iter_mut().filter(|of| **of == high);
        higher.for_each(|of| *of = low);
    }
    let is_told = |purpose: Purpose| {
        let mut account = level.points.iter().flat_map(|point| &point.engine_io);
        account.any(|io| io.purpose == purpose && io.unknown != Some(IoUnknown::CountedAsData))
    };
    let is_shown =
        |purpose: &Purpose| is_told(*purpose) || devices.iter().any(|d| d.holds(*purpose));
    let members = |first: usize| -> Vec<Purpose> {
        let members = all.into_iter().filter(|of| group[*of as usize] == first);
        members.filter(is_shown).collect()
    };
    let groups = (0..all.len()).map(members);
    groups.filter(|members| !members.is_empty()).collect()
}

/// Pairs of purposes whose I/O cannot be told apart: at a device, at one below the other's, or by the engine itself.
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

/// The devices that hold these files and carry no other that does.
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
    let told = IoOperation::ALL.map(|operation| {
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
    Account { purpose, told }
}

/// Holds the sum of some accounts against the sum of some devices; `others` is what other programs did at most.
fn hold<'t>(
    operation: IoOperation,
    told: impl Iterator<Item = &'t DirectionIo>,
    devices: &[&Device<'_>],
    others: Option<f64>,
) -> Held {
    let (mut engine, mut is_uncounted) = (None, false);
    for told in told {
        match told.mb_per_s {
            Some(mb) => engine = Some(engine.unwrap_or(0.0) + mb),
            None => is_uncounted |= told.unknown != Some(IoUnknown::CountedAsData),
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
    let apart = (device - engine).abs();
    // What is not a number is not large either.
    let is_large = apart >= LARGE_MB_PER_S && apart >= LARGE * device.max(engine);
    let beside = Beside {
        is_uncounted,
        is_of_others: others.is_none_or(|others| others >= 0.1 * apart),
    };
    match (operation, device > engine) {
        _ if !is_large => Difference::Small,
        (IoOperation::Read, false) => Difference::PageCache,
        (IoOperation::Read, true) => Difference::ReadBeside(beside),
        (IoOperation::Write, true) => Difference::WrittenBeside(beside),
        (IoOperation::Write, false) => Difference::NotWrittenBack,
    }
}

/// "data, log".
pub fn purposes(group: &Group) -> String {
    let names = group.accounts.iter().map(|account| account.purpose.name());
    names.collect::<Vec<_>>().join(", ")
}

/// A sentence for each group at the best level of a curve whose account and devices are far apart.
pub fn sentences(curve: &Curve<'_>, rate: &str) -> Vec<String> {
    let Some(level) = best(curve, rate) else {
        return Vec::new();
    };
    let Some(io) = of_level(&level) else {
        return Vec::new();
    };
    let place = place_of(&level);
    let told = io.groups.iter().filter_map(sentence);
    told.map(|sentence| format!("{place}: {sentence}"))
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
