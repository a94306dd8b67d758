//! Golden tests of spare cores and their licences.

use archive::Component;

use super::*;
use crate::by_hand;

fn run(cores: u32, threads: u32) -> Run {
    let mut run = by_hand::run();
    run.platform.cores = Some(cores);
    run.platform.threads = Some(threads);
    run.platform.processor = Some("Intel(R) Xeon(R) CPU X7560".into());
    run
}

fn point(test: &str, jobs: u32, repetition: u32, rate: f64, cpu_pct: f64) -> Point {
    let mut point = by_hand::point(test, Component::Database, jobs, repetition);
    point.figures.operations_per_s = Some(rate);
    point.figures.cpu_pct_avg = Some(cpu_pct);
    point
}

/// A level of users with its response time, ms; the limit is 50 ms.
fn users(users: u32, repetition: u32, response_ms: u64, cpu_pct: f64) -> Point {
    let mut point = by_hand::users(USERS, users, repetition, response_ms);
    point.figures.operations_per_s = Some(f64::from(users));
    point.figures.cpu_pct_avg = Some(cpu_pct);
    point.figures.new_orders_per_min = Some(f64::from(users));
    point
}

/// The 32 cores of document 001 have two threads each: at 400 users, the most within the limit, 30, 33 and 35 % of
/// the processors are busy. 0.35 × 32 = 11.2 of 32 cores ÷ 0.7 = 16, so 16 are spare. With Oracle's factor of 0.5 for
/// a Xeon that is 8 licences of 47,500 and 3 years of their support at 10,450.
#[test]
fn half_of_the_cores_and_their_licences() {
    let mut run = run(32, 64);
    for (repetition, pct) in [(1, 30.0), (2, 35.0), (3, 33.0)] {
        run.points.push(users(200, repetition, 10, 15.0));
        run.points.push(users(400, repetition, 40, pct));
        run.points.push(users(800, repetition, 90, 80.0));
    }
    let [left] = &spare_cores(&run)[..] else {
        panic!("one target");
    };
    assert_eq!(
        (
            left.level,
            left.jobs,
            left.repetitions,
            left.threads_per_core
        ),
        (Level::Supported, 400, 3, 2.0)
    );
    let busy = left.busy.map(|cores| (cores * 100.0).round() / 100.0);
    assert_eq!(busy, [10.56, 9.6, 11.2]);
    assert_eq!(
        (left.cores_needed_by_use, left.cores_needed_by_threads),
        (16, None)
    );
    assert_eq!((left.cores_needed(), left.spare()), (16, 16));

    let oracle = include_str!("../../../../docs/examples/prices-oracle.toml");
    let list = PriceList::parse("prices.toml", oracle).unwrap();
    let found = saved(&list, &run, left).unwrap();
    let amounts: Vec<_> = found.iter().map(|s| (s.fewer, s.amount.list)).collect();
    assert_eq!(amounts, [(8.0, 380_000.0), (8.0, 250_800.0)]);
    let exported = &exported(&run, Some(&list))[0];
    let net = exported.saved.as_ref().map(|saved| saved.items[0].net);
    assert_eq!((exported.spare_cores, net), (16, Some(380_000.0)));

    // A file for another machine does not apply to this one.
    let own = "[platform]\ncores = 64\n[[core_factors]]";
    let other = PriceList::parse("p", &oracle.replacen("[[core_factors]]", own, 1)).unwrap();
    assert_eq!(
        saved(&other, &run, left).unwrap_err(),
        "the prices are for 64 cores (prices file), and 32 were measured"
    );
}

/// Without users the test that keeps the most cores busy at its best level decides, and jobs that only compute need
/// one core for two.
#[test]
fn the_most_demanding_test_decides() {
    let mut run = run(8, 8);
    run.repetitions = 1;
    run.points = vec![
        // The best level has 4 jobs, where 2 of 8 cores are busy; the level beyond does not count.
        point("T1", 4, 1, 100.0, 25.0),
        point("T1", 8, 1, 90.0, 90.0),
        // By its use 0.1 × 8 ÷ 0.7 = 1.14, so 2; its 12 jobs need 6.
        point("T2", 12, 1, 50.0, 10.0),
    ];
    let left = &spare_cores(&run)[0];
    assert_eq!((left.test.as_str(), left.level), ("T2", Level::Best));
    assert_eq!(
        (
            left.cores_needed_by_use,
            left.cores_needed_by_threads,
            left.spare()
        ),
        (2, Some(6), 2)
    );
    run.points.pop();
    let left = &spare_cores(&run)[0];
    assert_eq!(
        (left.cores_needed_by_use, left.cores_needed(), left.spare()),
        (3, 3, 5)
    );
}

#[test]
fn nothing_is_left_of_busy_cores_and_nothing_is_said_of_unknown_ones() {
    let mut run = run(2, 2);
    run.points = vec![point("T1", 2, 1, 10.0, 99.0)];
    assert_eq!(spare_cores(&run)[0].spare(), 0);
    run.points[0].figures.cpu_pct_avg = Some(0.0);
    assert_eq!(spare_cores(&run)[0].spare(), 1, "one stays");
    run.points[0].figures.cpu_pct_avg = None;
    assert_eq!(spare_cores(&run), []);
    run.points = vec![users(8, 1, 90, 10.0)];
    assert_eq!(spare_cores(&run), [], "not supported within the limit");
    run.points = vec![users(8, 1, 40, 10.0)];
    run.platform.cores = None;
    assert_eq!(spare_cores(&run), []);
}

/// 64 users of document 003 without think time on 32 cores wait for the log: by use alone 27 cores would be spare.
#[test]
fn users_without_think_time_count_as_threads() {
    let mut run = run(32, 64);
    run.points = vec![users(64, 1, 10, 10.0)];
    assert_eq!(spare_cores(&run)[0].spare(), 27);
    run.points[0].notes.push(Remark::NoThinkTime);
    let left = &spare_cores(&run)[0];
    assert_eq!((left.cores_needed_by_threads, left.spare()), (Some(32), 0));
}

/// Of 8 cores 7.6 were busy, 5.6 of them with other programs: 2 do not show the need of a load that waits for
/// processors.
#[test]
fn other_programs_are_no_need_and_saturated_cores_are_not_spare() {
    let mut run = run(8, 8);
    run.points = vec![point("T1", 1, 1, 10.0, 95.0)];
    run.points[0].figures.cpu_by_others_pct = Some(70.0);
    let left = &spare_cores(&run)[0];
    assert_eq!(left.busy.map(|cores| cores.round()), [2.0; 3]);
    assert_eq!(left.busy_by_others, Some(0.7 * 8.0));
    assert_eq!(left.cores_needed_by_use, 3, "2 ÷ 0.7");
    assert_eq!((left.is_saturated, left.spare()), (true, 0));

    run.points[0].figures.cpu_pct_avg = Some(85.0);
    run.points[0].figures.cpu_by_others_pct = Some(60.0);
    let left = &spare_cores(&run)[0];
    assert_eq!((left.is_saturated, left.spare()), (false, 5));
}

/// Over some milliseconds the share of the processors is rounding.
#[test]
fn a_point_of_milliseconds_is_no_evidence() {
    let mut run = run(2, 2);
    run.points = vec![point("Q12", 1, 1, 300.0, 100.0)];
    run.points[0].figures.elapsed_s = Some(0.003);
    assert_eq!(spare_cores(&run), []);
    run.points[0].figures.elapsed_s = Some(0.25);
    assert_eq!(spare_cores(&run).len(), 1);
}

#[test]
fn requests_below_the_database_are_no_threads() {
    let mut run = run(8, 8);
    run.points = vec![point("D121", 2, 1, 10.0, 20.0)];
    run.points[0].work.below_database = true;
    assert_eq!(spare_cores(&run), []);
}
