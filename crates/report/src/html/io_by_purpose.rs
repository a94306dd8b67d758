//! I/O by purpose: a table per level of the engine's counts next to those of the devices.

use archive::{Cell, Table};

use super::section::Fragment;
use super::sweep::Rate;
use crate::io_by_purpose::{
    Account, Difference, DirectionIo, Group, Held, IoByPurpose, best, of_level, purposes, reason,
};
use crate::level::TestGroup;

/// Most levels of one test besides the best ones.
const LEVELS_MAX: usize = 24;

const COLUMNS: &str = "files | reads, MB/s [engine] | reads, MB/s [devices] | reads, MB/s [difference] | \
     writes, MB/s [engine] | writes, MB/s [devices] | writes, MB/s [difference] | counted in";
const HOW: &str = "The engine's own counters and the devices of its files; likely causes of a difference from a fifth and 1 MB/s on.";

/// The tables of all curves; empty if no engine reported its I/O.
pub fn view(group: &TestGroup<'_>, rate: Rate) -> Fragment {
    let (mut at_best, mut at_others) = (Table::new(COLUMNS), Table::new(COLUMNS));
    let mut others = 0;
    for curve in &group.curves {
        let best = best(curve, rate.name);
        for level in &curve.levels {
            let Some(io) = of_level(&level.shown()) else {
                continue;
            };
            let is_best = best.as_ref().is_some_and(|b| b.number == level.number);
            others += usize::from(!is_best);
            let table = match (is_best, others) {
                (true, _) => &mut at_best,
                (false, ..=LEVELS_MAX) => &mut at_others,
                (false, _) => continue,
            };
            table.heading(format!("{} @{}", curve.label, level.dop()));
            add(table, &io);
        }
    }
    let mut parts = Fragment::default();
    if at_best.rows.is_empty() {
        return parts;
    }
    let label = |place: &str| format!("I/O of {} by purpose at the {place}", group.test);
    let mut of_others = Fragment::default();
    of_others
        .table("devices", &label("other levels"), &at_others)
        .left_out("Levels not shown", others.saturating_sub(LEVELS_MAX));
    parts
        .heading(4, "Whose I/O")
        .how(HOW)
        .table("devices", &label("best level"), &at_best)
        .add(&of_others.folded("Whose I/O at the other levels", false));
    parts
}

fn add(table: &mut Table, io: &IoByPurpose) {
    io.groups.iter().for_each(|group| add_group(table, group));
    if io.by_others.iter().any(Option::is_some) {
        let empty = || Cell::from("");
        let sides = io
            .by_others
            .iter()
            .flat_map(|by_others| [empty(), (*by_others).into(), empty()]);
        let name: Cell = "other programs\nat most".into();
        table.row(
            std::iter::once(name)
                .chain(sides)
                .chain(["/proc/PID/io".into()]),
        );
    }
}

/// A single purpose has one row; of several that share devices each has its account, and their sum is compared with the devices.
fn add_group(table: &mut Table, group: &Group) {
    let side = |held: &Held| -> [Cell; 3] {
        let difference = held.difference.map(Difference::causes);
        let difference = difference.map_or_else(|| None.into(), Cell::from);
        [
            held.engine_mb_per_s.into(),
            held.device_mb_per_s.into(),
            difference,
        ]
    };
    let whole = |name: &str, source: String| {
        let name = format!("{name}\n{}", group.devices.join(", "));
        let sides = group.held.iter().flat_map(side);
        std::iter::once(name.trim_end().into())
            .chain(sides)
            .chain([source.into()])
            .collect()
    };
    if let [only] = &group.accounts[..] {
        return table.rows.push(whole(only.purpose.name(), source(only)));
    }
    for account in &group.accounts {
        let sides = (account.counted.iter())
            .flat_map(|counted| [counted.mb_per_s.into(), "".into(), "".into()]);
        let name: Cell = account.purpose.name().into();
        table.row(
            std::iter::once(name)
                .chain(sides)
                .chain([source(account).into()]),
        );
    }
    table
        .rows
        .push(whole(&purposes(group).replace(", ", " + "), String::new()));
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
