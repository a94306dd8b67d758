//! How much of the device the database delivers: the best of a test through the database, divided by the best of
//! the same kind of work below it.

use archive::Run;

use crate::level::{self, TestGroup};
use crate::number;

/// Work that is done below the database and through it.
struct Pair {
    what: &'static str,
    unit: &'static str,
    /// Test below the database.
    below: &'static str,
    /// Test through the database.
    through: &'static str,
    /// What the device did in both: of its own counters where the database is in between.
    figure: &'static str,
}

const PAIRS: [Pair; 4] = [
    Pair {
        what: "Sequential read",
        unit: "MB/s",
        below: "D111",
        through: "T426",
        figure: "read_mb_per_s",
    },
    Pair {
        what: "Sequential write",
        unit: "MB/s",
        below: "D112",
        through: "T211",
        figure: "write_mb_per_s",
    },
    Pair {
        what: "Random read",
        unit: "IOPS",
        below: "D121",
        through: "T626",
        figure: "read_iops",
    },
    Pair {
        what: "Random write",
        unit: "IOPS",
        below: "D122",
        through: "T721",
        figure: "write_iops",
    },
];

/// One line: how much of the device one target delivers.
pub struct Delivered {
    /// Name of the target.
    pub target: String,
    /// What is done.
    pub what: &'static str,
    /// "1,900 MB/s (D111 @8)".
    pub device: String,
    /// "812 MB/s (T426 @4)".
    pub database: String,
    /// "43 %"; "–" where one of the two is not known.
    pub share: String,
}

/// A line for each target and kind of work that was measured below the database.
pub fn delivered(run: &Run, groups: &[TestGroup<'_>]) -> Vec<Delivered> {
    let mut lines = Vec::new();
    for target in 0..run.targets.len() as u32 {
        for pair in &PAIRS {
            let below = best(groups, pair.below, target, pair.figure);
            let through = best(groups, pair.through, target, pair.figure);
            if below.is_none() {
                continue;
            }
            let share = below.as_ref().zip(through.as_ref());
            let share = share.filter(|(below, _)| below.0 > 0.0);
            let told = |best: &Option<(f64, u32)>, test| match best {
                Some((value, dop)) => {
                    format!("{} {} ({test} @{dop})", number::figure(*value), pair.unit)
                }
                None => number::UNKNOWN.to_owned(),
            };
            lines.push(Delivered {
                target: level::target_name(run, target),
                what: pair.what,
                device: told(&below, pair.below),
                database: told(&through, pair.through),
                share: share.map_or_else(
                    || number::UNKNOWN.to_owned(),
                    |(below, through)| format!("{:.0} %", through.0 * 100.0 / below.0),
                ),
            });
        }
    }
    lines
}

/// The largest value over all valid levels of a test on a target, and its degree of parallelism.
fn best(groups: &[TestGroup<'_>], test: &str, target: u32, figure: &str) -> Option<(f64, u32)> {
    let group = groups.iter().find(|group| group.test == test)?;
    let curves = group.curves.iter().filter(|curve| curve.target == target);
    let peaks = curves.filter_map(|curve| {
        let peak = curve.peak(figure)?;
        Some((peak.figure(figure)?, peak.dop()))
    });
    peaks.max_by(|a, b| a.0.total_cmp(&b.0))
}
