//! Systems with both sides, built from their windows.

use std::collections::BTreeMap;

use serde::Serialize;

use super::window::{LIMITS, Mix, Operation, Side, Window};

/// I/Os of one kind of one side of a system.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    pub count: u64,
    /// Share of them at or below each limit; `None` if a bucket includes times on both sides of it.
    pub shares: [Option<f64>; LIMITS],
    pub mean_us: f64,
    /// The same shares in each window.
    pub of_windows: [Vec<f64>; LIMITS],
    pub means_us: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub before: Times,
    pub after: Times,
}

#[derive(Debug, Clone, PartialEq)]
pub struct System {
    pub name: String,
    /// By operation, in the order of [`Operation::ALL`]; `None` if a side lacks it.
    pub pairs: [Option<Pair>; 2],
    /// Mix before and after: as stated, otherwise as counted.
    pub mix: [Mix; 2],
}

impl System {
    pub fn pair(&self, operation: Operation) -> Option<&Pair> {
        self.pairs[operation as usize].as_ref()
    }
}

/// Systems that tell nothing of a shift, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Systems with a side without I/Os, or without I/Os of the same kind on both.
    pub one_sided: Vec<String>,
    /// Systems whose *after* begins before the end of *before*: a clock or a file is wrong.
    pub misordered: Vec<String>,
}

pub fn systems(windows: &[Window]) -> (Vec<System>, LeftOut) {
    let mut by_name: BTreeMap<&str, Vec<&Window>> = BTreeMap::new();
    for window in windows.iter().filter(|window| window.count > 0) {
        by_name.entry(&window.system).or_default().push(window);
    }
    let mut left_out = LeftOut::default();
    let mut systems = Vec::new();
    for (name, windows) in by_name {
        let pairs = Operation::ALL.map(|operation| {
            Some(Pair {
                before: times(&windows, Side::Before, operation)?,
                after: times(&windows, Side::After, operation)?,
            })
        });
        if pairs.iter().all(Option::is_none) {
            left_out.one_sided.push(name.to_owned());
        } else if !is_in_order(&windows) {
            left_out.misordered.push(name.to_owned());
        } else {
            systems.push(System {
                name: name.to_owned(),
                pairs,
                mix: Side::ALL.map(|side| mix(&windows, side)),
            });
        }
    }
    (systems, left_out)
}

fn of<'a>(windows: &'a [&'a Window], side: Side) -> impl Iterator<Item = &'a Window> {
    windows.iter().copied().filter(move |w| w.side == side)
}

fn is_in_order(windows: &[&Window]) -> bool {
    let last_before = of(windows, Side::Before).map(|w| w.began_us).max();
    let first_after = of(windows, Side::After).map(|w| w.began_us).min();
    last_before < first_after
}

/// Histograms are merged: all I/Os of a side count alike, whatever their window.
fn times(windows: &[&Window], side: Side, operation: Operation) -> Option<Times> {
    let chosen: Vec<&Window> = of(windows, side)
        .filter(|w| w.operation == operation)
        .collect();
    let count: u64 = chosen.iter().map(|w| w.count).sum();
    if count == 0 {
        return None;
    }
    let all = count as f64;
    let share = |limit: usize| {
        let is_decided = chosen.iter().all(|w| w.undecided[limit] == 0);
        let within: u64 = chosen.iter().map(|w| w.within[limit]).sum();
        is_decided.then_some(within as f64 / all)
    };
    let of_windows = |limit: usize| -> Vec<f64> {
        let shares = chosen
            .iter()
            .map(|w| w.within[limit] as f64 / w.count as f64);
        shares.collect()
    };
    let mean_us = |w: &&Window| w.mean_us * (w.count as f64 / all);
    Some(Times {
        count,
        shares: [share(0), share(1)],
        mean_us: chosen.iter().map(mean_us).sum(),
        of_windows: [of_windows(0), of_windows(1)],
        means_us: chosen.iter().map(|w| w.mean_us).collect(),
    })
}

/// Means over the windows that state them; reads of all I/Os are counted if no window does.
fn mix(windows: &[&Window], side: Side) -> Mix {
    let stated = |part: fn(&Mix) -> Option<f64>| {
        let values: Vec<f64> = of(windows, side).filter_map(|w| part(&w.mix)).collect();
        stats::summary::mean(&values)
    };
    let count = |operation: Option<Operation>| -> u64 {
        let is = |w: &&Window| operation.is_none_or(|o| w.operation == o);
        of(windows, side).filter(is).map(|w| w.count).sum()
    };
    let all = count(None);
    let counted = (all > 0).then(|| count(Some(Operation::Read)) as f64 / all as f64 * 100.0);
    Mix {
        read_pct: stated(|mix| mix.read_pct).or(counted),
        size_kib: stated(|mix| mix.size_kib),
        iops: stated(|mix| mix.iops),
    }
}
