//! About how long work of a fixed amount takes, so that whoever starts a study knows whether to wait for it.
//!
//! The figures are those of one server with two cores (PostgreSQL 15, data in memory). A faster one needs less; a wrong
//! guess costs patience, never a figure.

use crate::Test;
use crate::below::test::WARM_UP_S;
use crate::library::SizeClass;
use crate::volume::tables_of;

/// What a load writes, logs included, in bytes per second: scale 1 of the analytical database took 115 s.
const LOAD_BYTES_PER_S: f64 = 40e6;
/// The twelve conditions of a warehouse of order entry.
const CHECK_S_PER_WAREHOUSE: f64 = 1.0;
/// A point of a component test at the size `quick`, with what is done before and after it.
const POINT_S: f64 = 1.5;
/// Writing the file of a test below the database past the page cache.
const FILE_BYTES_PER_S: f64 = 250e6;
/// A query of the analytical workload on a database of scale 1.
const QUERY_S_PER_SCALE: f64 = 3.0;
/// A query takes no less, with its check.
const QUERY_S_MIN: f64 = 0.03;
/// A query on tables in memory takes this part of the time on disk.
const REPLICA_SHARE: f64 = 0.2;
/// Lifting the tables of an analytical database of scale 1 into one replica, with the verification.
const LIFT_S_PER_SCALE: f64 = 60.0;
/// Changing a thousandth of the orders at scale 1, and bringing them back.
const CHANGE_S_PER_SCALE: f64 = 5.0;

/// A load that writes so much.
pub fn of_load(written_bytes: u64) -> f64 {
    written_bytes as f64 / LOAD_BYTES_PER_S
}

/// One check of an order-entry database.
pub fn of_check(whole_warehouses: f64) -> f64 {
    CHECK_S_PER_WAREHOUSE * whole_warehouses
}

/// A point of a component test at a size, at so many jobs on so many hardware threads.
pub fn of_point(
    test: &Test,
    (size, quick): (SizeClass, SizeClass),
    engine: &str,
    jobs: u32,
    threads: u32,
) -> f64 {
    let times_quick = work(test, size, engine) / work(test, quick, engine);
    let turns = (f64::from(jobs) / f64::from(threads.max(1))).max(1.0);
    POINT_S * times_quick.max(1.0) * turns
}

/// A point of a test below the database, whatever the size and however many jobs: its file is written, and its seconds are measured.
pub fn of_point_below(file_mib: u64, seconds: u32) -> f64 {
    let file_s = (file_mib << 20) as f64 / FILE_BYTES_PER_S;
    file_s + f64::from(WARM_UP_S + seconds)
}

/// Rows, or operations where these have none, that a job works on; those of the whole table where an operation does.
fn work(test: &Test, size: SizeClass, engine: &str) -> f64 {
    let amount = test.amount(size, engine);
    let rows = match tables_of(test).first() {
        Some(&table) if test.definition.exercise.uses_a_whole_table() => size.rows(table),
        _ => amount.rows.max(1),
    };
    let passes = test.definition.exercise.passes(size.is_published());
    amount.operations.max(1) as f64 * passes as f64 * rows as f64
}

/// So many executions of queries at a scale, on disk and on each of the replicas.
pub fn of_queries(executions: f64, scale: f64, replicas: u32) -> f64 {
    let one_s = (QUERY_S_PER_SCALE * scale).max(QUERY_S_MIN);
    let on_replicas_s = (one_s * REPLICA_SHARE).max(QUERY_S_MIN) * f64::from(replicas);
    executions * (one_s + on_replicas_s)
}

/// Lifting all tables of a scale into replicas.
pub fn of_lift(scale: f64, replicas: u32) -> f64 {
    LIFT_S_PER_SCALE * scale * f64::from(replicas)
}

/// So many cycles of changes on disk, and with each of the replicas following.
pub fn of_changes(cycles: f64, scale: f64, replicas: u32) -> f64 {
    cycles * CHANGE_S_PER_SCALE * scale * f64::from(1 + replicas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Library;
    use crate::library::Kind;

    fn of_test(code: &str, size: &str, jobs: u32, threads: u32) -> f64 {
        let library = Library::embedded().unwrap();
        let sizes = (library.size(size).unwrap(), library.size("quick").unwrap());
        of_point(
            library.test(code).unwrap(),
            sizes,
            "postgres",
            jobs,
            threads,
        )
    }

    /// fib(39) is 204,668,309 calls and fib(24), which is computed in its place, 150,049: 1364 times 1.5 s.
    #[test]
    fn golden_time_of_a_computation() {
        assert!(
            (of_test("T154", "published", 1, 2) - 1.5 * 204_668_309.0 / 150_049.0).abs() < 1e-6
        );
        for size in ["quick", "small", "medium"] {
            let factor = of_test("T154", size, 1, 2) / of_test("T151", size, 1, 2);
            assert!((factor - 1.0).abs() < 1e-9, "{size}: {factor}");
        }
    }

    /// 256 MiB at 250 MB/s, a second of warm-up and three that count.
    #[test]
    fn golden_time_below_the_database() {
        assert!((of_point_below(256, 3) - 5.073_741_824).abs() < 1e-9);
        let library = Library::embedded().unwrap();
        for code in ["D111", "D112", "D121", "D122"] {
            let exercise = &library.test(code).unwrap().definition.exercise;
            let is_so = matches!(
                exercise,
                Kind::Below {
                    file_mib: 256,
                    seconds: 3,
                    ..
                }
            );
            assert!(is_so, "{code}: {exercise:?}");
        }
    }
}
