//! What a plan is going to write, foretold before any target is opened.

use std::collections::HashSet;

use workload::columnar::Level;
use workload::volume::{
    Extent, Volume, of_analytical_load, of_order_entry_load, of_point, of_small_transactions,
    of_table, table_of,
};
use workload::{Library, Table};

use crate::agenda::foreseen;
use crate::plan::{Mode, OlapOrder, OlapStep, OltpStep, Order, Used};
use crate::{Plan, Result, Step};

/// What one target is asked to write by a plan; the same for each node of a cluster together.
///
/// It is the most that can be: what the target turns out to lack is in it.
///
/// # Errors
/// A test or size that does not exist.
pub fn foretell(
    plan: &Plan,
    library: &Library,
    engine: &str,
    nodes: u32,
    fresh_each_time: bool,
) -> Result<Volume> {
    let threads = host::facts(std::path::Path::new("/")).threads.unwrap_or(1);
    let (mut points, mut room_of_points) = (0u64, 0u64);
    let mut tables: HashSet<(Table, &str)> = HashSet::new();
    for step in &plan.step {
        let of_workload = match step.used() {
            Used::Tests => None,
            Used::Oltp(oltp) => Some(of_order_entry(step, oltp)),
            Used::Olap(olap) => Some(match (olap.order, olap.scale) {
                (OlapOrder::Load, Some(scale)) => of_analytical_load(scale),
                _ => Volume::default(),
            }),
            Used::Mixed(oltp, olap) => Some(of_mixed(step, oltp, olap)),
            // Lifted tables are written to memory.
            Used::Columnar(_) => Some(Volume::default()),
        };
        if let Some(volume) = of_workload {
            points = points.saturating_add(volume.written_bytes);
            room_of_points = room_of_points.max(volume.room_bytes);
            continue;
        }
        let size = library.size(&step.size)?;
        for (test, jobs) in foreseen(step, library, engine, threads)? {
            if let Some(table) = table_of(test) {
                tables.insert((table, step.size.as_str()));
            }
            let extent = match (step.mode, step.seconds) {
                (Mode::Time, seconds) => {
                    Extent::Seconds(seconds.unwrap_or(1.0) + step.ramp_up_seconds.unwrap_or(0.0))
                }
                (Mode::Work, _) => Extent::Work(test.amount(size, engine)),
            };
            let point = of_point(test, size, extent, jobs);
            points = points.saturating_add(point.written_bytes);
            room_of_points = room_of_points.max(point.room_bytes);
        }
    }
    let mut loads = 0u64;
    for (table, size) in tables {
        let volume = of_table(library.size(size)?, table);
        loads = loads.saturating_add(volume.written_bytes.saturating_mul(u64::from(nodes)));
    }
    let repeat = u64::from(plan.repeat);
    let loaded = if fresh_each_time { repeat } else { 1 };
    Ok(Volume {
        written_bytes: points
            .saturating_mul(repeat)
            .saturating_add(loads.saturating_mul(loaded)),
        room_bytes: loads.saturating_add(room_of_points),
    })
}

/// What a step of the order-entry workload writes; a load may be done for every repetition.
fn of_order_entry(step: &Step, oltp: &OltpStep) -> Volume {
    match oltp.order {
        Order::Check => Volume::default(),
        Order::Load => of_order_entry_load(oltp.warehouses.unwrap_or(1)),
        Order::Run => {
            let level_s = step.seconds.unwrap_or(1.0) + step.ramp_up_seconds.unwrap_or(0.0);
            of_small_transactions(level_s * oltp.users().len() as f64)
        }
    }
}

/// Order entry goes on alone, and at each degree beside queries of the target and of every copy that there may be; each
/// time behind a load, of which a copy may be kept.
fn of_mixed(step: &Step, oltp: &OltpStep, olap: &OlapStep) -> Volume {
    let sides = 1 + Level::ALL.len() as u64;
    let times = 1 + sides * olap.dop.len().max(1) as u64;
    let load = of_order_entry_load(oltp.warehouses.unwrap_or(1));
    let run = of_order_entry(step, oltp);
    let written_bytes = load.written_bytes.saturating_add(run.written_bytes);
    Volume {
        written_bytes: written_bytes.saturating_mul(times),
        room_bytes: (load.room_bytes.saturating_mul(2)).saturating_add(run.room_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, fresh: bool) -> Volume {
        let plan = Plan::parse(text, &[]).unwrap();
        foretell(&plan, &Library::embedded().unwrap(), "sqlite", 1, fresh).unwrap()
    }

    const READ: &str = "name='p'\nrepeat=3\n[[step]]\nuse='library'\ntests=['T611']\njobs=[1,2]\n";
    const LOAD: &str = "name='p'\nrepeat=3\n[[step]]\nuse='library'\ntests=['T331']\njobs=[1,2]\n";

    #[test]
    fn tables_are_loaded_once_and_points_are_repeated() {
        // 64,000 rows of 288 + 72 + 32 bytes, to the log and to the files.
        let table = 64_000 * 392 * 2;
        assert_eq!(written(READ, false).written_bytes, table);
        assert_eq!(written(READ, true).written_bytes, 3 * table);
        let load = 120_000 * 360 * 2;
        let volume = written(LOAD, false);
        assert_eq!(volume.written_bytes, 3 * (1 + 2) * load);
        assert_eq!(volume.room_bytes, 2 * load, "points drop what they loaded");
    }

    #[test]
    fn order_entry_beside_queries_is_loaded_for_each_side() {
        let mixed = |warehouses: u32| {
            let text = format!(
                "name='p'\n[[step]]\nuse='mixed'\nseconds=1\n[step.oltp]\ndo='run'\nwarehouses={warehouses}\n\
                 [step.olap]\ndo='run'\n"
            );
            written(&text, false).written_bytes
        };
        let load = of_order_entry_load(2).written_bytes - of_order_entry_load(1).written_bytes;
        // Alone, and beside the queries of six sides.
        assert_eq!(mixed(2) - mixed(1), 7 * load);
    }

    #[test]
    fn a_large_size_is_foretold_as_large() {
        let large = written("name='p'\n[[step]]\nuse='library'\nsize='medium'\n", false);
        assert!(large.written_bytes > 10_000_000_000, "{large:?}");
        let none = written("name='p'\n[[step]]\nuse='library'\ntests=['T132']\n", false);
        assert_eq!(none, Volume::default());
    }
}
