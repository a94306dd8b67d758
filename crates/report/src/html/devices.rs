//! Activity of each block device: a table per level, and request times over time at the best level.

mod charts;

use archive::{Component, Point, Table};

use super::figure::Figure;
use super::section::Fragment;
use super::sweep::Rate;
use crate::devices::{AtLevel, COLUMNS, best, cells, of_level};
use crate::level::{Curve, Level, TestGroup};

/// Most devices of one level; the archive and the JSON have all.
const DEVICES_MAX: usize = 24;
/// Most levels of one test besides the best ones.
const LEVELS_MAX: usize = 24;
const FIGURES_MAX: usize = 12;

/// The tables of all curves, and the charts of their best levels; empty if devices were not sampled.
pub fn view(group: &TestGroup<'_>, rate: Rate) -> Fragment {
    let (mut at_best, mut at_others) = (Table::new(COLUMNS), Table::new(COLUMNS));
    let mut figures = Vec::new();
    let mut levels_more = 0;
    let mut others = 0;
    for curve in &group.curves {
        let Some(best) = best(curve, rate.name) else {
            continue;
        };
        for level in curve
            .levels
            .iter()
            .filter(|level| level.number != best.number)
        {
            if others == LEVELS_MAX {
                levels_more += usize::from(!of_level(level, 1).devices.is_empty());
            } else if !add(&mut at_others, curve, &level.shown()).is_empty() {
                others += 1;
            }
        }
        let names = add(&mut at_best, curve, &best);
        figures.extend(charts(curve, &best, &names));
    }
    let figures_more = figures.len().saturating_sub(FIGURES_MAX);
    figures.truncate(FIGURES_MAX);
    let mut parts = Fragment::default();
    if at_best.rows.is_empty() {
        return parts;
    }
    let label = |place: &str| format!("Devices of {} at the {place}", group.test);
    let (mut of_others, mut drawn) = (Fragment::default(), Fragment::default());
    of_others
        .table("devices", &label("other levels"), &at_others)
        .left_out("Levels not shown", levels_more);
    drawn
        .figures(&figures)
        .left_out("Charts not drawn", figures_more);
    // Work that does not aim at the devices has its charts folded.
    if group.component != Component::Storage {
        drawn = drawn.folded("Requests at the devices over time", false);
    }
    parts
        .heading(4, "Devices")
        .table("devices", &label("best level"), &at_best)
        .add(&of_others.folded("Devices at the other levels", false))
        .add(&drawn);
    parts
}

/// Names of the devices whose rows were added.
fn add(table: &mut Table, curve: &Curve<'_>, level: &Level<'_>) -> Vec<String> {
    let AtLevel { devices, more } = of_level(level, DEVICES_MAX);
    if !devices.is_empty() {
        table.heading(place(curve, level));
    }
    let names = devices.iter().map(|device| device.name.clone()).collect();
    devices.iter().for_each(|device| table.row(cells(device)));
    if more > 0 {
        table.heading(format!(
            "\nand {more} more; see the data embedded in this page"
        ));
    }
    names
}

/// "sqlite @4".
fn place(curve: &Curve<'_>, level: &Level<'_>) -> String {
    format!("{} @{}", curve.label, level.dop())
}

/// Charts of the repetition with the most samples.
fn charts(curve: &Curve<'_>, best: &Level<'_>, names: &[String]) -> Vec<Figure> {
    let samples = |point: &Point| -> usize { point.devices.iter().map(|d| d.samples.len()).sum() };
    let point = best.points.iter().max_by_key(|point| samples(point));
    let of = |name: &String| {
        let device = point?.devices.iter().find(|device| device.name == *name)?;
        Some(charts::figures(
            &format!("{} · {name}", place(curve, best)),
            device,
        ))
    };
    names.iter().filter_map(of).flatten().collect()
}
