//! I/O by purpose: a table per level of the engine's counts next to those of the devices.

use askama::Template;

use super::sweep::Rate;
use crate::io_by_purpose::{
    Account, Difference, DirectionIo, Group, Held, IoByPurpose, best, of_level, purposes, reason,
};
use crate::level::{Curve, Level, TestGroup};
use crate::number;

/// Most levels of one test besides the best ones.
const LEVELS_MAX: usize = 24;

#[derive(Template)]
#[template(path = "io_by_purpose.html", whitespace = "minimize")]
pub struct View {
    code: String,
    best: Vec<LevelView>,
    others: Vec<LevelView>,
    levels_more: usize,
}

struct LevelView {
    /// "sqlite @4".
    title: String,
    rows: Vec<RowView>,
}

/// One purpose, or several that share devices.
struct RowView {
    /// "data", "data + log".
    name: String,
    place: String,
    sides: [SideView; 2],
    /// The engine's counter, or the reason for its absence.
    source: String,
}

#[derive(Default)]
struct SideView {
    engine: String,
    device: String,
    difference: String,
}

/// Builds the part; empty if no engine reported its I/O.
pub fn view(group: &TestGroup<'_>, rate: Rate) -> View {
    let mut view = View {
        code: group.test.to_owned(),
        best: Vec::new(),
        others: Vec::new(),
        levels_more: 0,
    };
    for curve in &group.curves {
        let best = best(curve, rate.name);
        for level in &curve.levels {
            let is_best = best.as_ref().is_some_and(|b| b.number == level.number);
            let Some(level) = level_view(curve, &level.shown()) else {
                continue;
            };
            if is_best {
                view.best.push(level)
            } else {
                view.others.push(level)
            }
        }
    }
    view.levels_more = view.others.len().saturating_sub(LEVELS_MAX);
    view.others.truncate(LEVELS_MAX);
    view
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.best.is_empty()
    }
}

fn level_view(curve: &Curve<'_>, level: &Level<'_>) -> Option<LevelView> {
    let io = of_level(level)?;
    Some(LevelView {
        title: format!("{} @{}", curve.label, level.dop()),
        rows: rows(&io),
    })
}

fn rows(io: &IoByPurpose) -> Vec<RowView> {
    let mut rows: Vec<RowView> = io.groups.iter().flat_map(of_group).collect();
    if io.by_others.iter().any(Option::is_some) {
        rows.push(RowView {
            name: "other programs".into(),
            place: "at most".into(),
            sides: io.by_others.map(|mb_per_s| SideView {
                device: number::figure_or_unknown(mb_per_s),
                ..SideView::default()
            }),
            source: "/proc/PID/io".into(),
        });
    }
    rows
}

/// A single purpose has one row; of several that share devices each has its account, and their sum is compared with the devices.
fn of_group(group: &Group) -> Vec<RowView> {
    let place = group.devices.join(", ");
    let side = |held: &Held| SideView {
        engine: number::figure_or_unknown(held.engine_mb_per_s),
        device: number::figure_or_unknown(held.device_mb_per_s),
        difference: held
            .difference
            .map_or_else(|| number::UNKNOWN.to_owned(), Difference::causes),
    };
    let sides = || [side(&group.held[0]), side(&group.held[1])];
    if let [only] = &group.accounts[..] {
        return vec![RowView {
            name: only.purpose.name().to_owned(),
            place,
            sides: sides(),
            source: source(only),
        }];
    }
    let alone = |account: &Account| RowView {
        name: account.purpose.name().to_owned(),
        place: String::new(),
        sides: [0, 1].map(|at| SideView {
            engine: number::figure_or_unknown(account.counted[at].mb_per_s),
            ..SideView::default()
        }),
        source: source(account),
    };
    let mut rows: Vec<RowView> = group.accounts.iter().map(alone).collect();
    rows.push(RowView {
        name: purposes(group).replace(", ", " + "),
        place,
        sides: sides(),
        source: String::new(),
    });
    rows
}

/// "pg_stat_io", "reads not counted by the engine; writes pg_stat_wal".
fn source(account: &Account) -> String {
    let word = |counted: &DirectionIo| match counted.unknown {
        Some(why) if counted.mb_per_s.is_none() => reason(why).to_owned(),
        _ => counted.source.clone(),
    };
    let [reads, writes] = [word(&account.counted[0]), word(&account.counted[1])];
    match () {
        () if reads == writes => reads,
        () if reads.is_empty() => format!("writes {writes}"),
        () if writes.is_empty() => format!("reads {reads}"),
        () => format!("reads {reads}; writes {writes}"),
    }
}
