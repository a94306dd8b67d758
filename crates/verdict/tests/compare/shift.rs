use archive::{
    ByOperation, Component, OperationSample, OperationTimes, Point, PointKey, Run, StudyPart,
    WorkDone,
};
use stats::Histogram;
use stats::compare::Verdict;
use verdict::compare::Terms;
use verdict::shift::{Certainty, Shift, json, shifts};

use super::frame;

/// Writes of 330 µs except for every tenth, which takes 3 ms, `factor` times as fast, once in each repetition.
fn storage_run(label: &str, factors: &[f64]) -> Run {
    let mut run = frame(factors.len() as u32);
    run.label = label.into();
    run.points = factors
        .iter()
        .zip(1..)
        .map(|(factor, repetition)| point(repetition, *factor))
        .collect();
    run
}

fn point(repetition: u32, factor: f64) -> Point {
    let key = PointKey {
        repetition,
        ..PointKey::of("rd1", 4)
    };
    let us = |i: u64| factor * if i.is_multiple_of(10) { 3_000.0 } else { 330.0 };
    let mut histogram = Histogram::new();
    (0..1_000).for_each(|i| histogram.record_ns((us(i) * 1e3) as u64));
    let samples = (1..=24).map(|second| OperationSample {
        at_s: f64::from(second),
        operation: "write".into(),
        operations: 40,
        service_us_mean: Some(factor * (597.0 + f64::from(second % 3 - 1) * 6.0)),
        response_us_mean: None,
    });
    let times = |observer, phase| OperationTimes::of(observer, "", "write", phase);
    Point {
        work: WorkDone {
            below_database: true,
            ..WorkDone::default()
        },
        by_operation: ByOperation {
            times: vec![
                times("driver", "service").with(&histogram),
                times("device", "whole").counted(1_000, Some(factor * 500.0)),
            ],
            samples: samples.collect(),
            transactions: Vec::new(),
        },
        ..Point::blank(key, "8k".into(), Component::Storage)
    }
}

fn of<'a>(found: &'a [Shift], observer: &str) -> &'a Shift {
    found.iter().find(|s| s.observer == observer).unwrap()
}

#[test]
fn one_run_each_says_how_sure_its_own_means_are_and_carries_no_verdict() {
    let found = shifts(
        &storage_run("a", &[1.0]),
        &storage_run("b", &[0.5]),
        Terms::default(),
    );
    assert_eq!(found.len(), 2);
    let driver = of(&found, "driver");
    assert!((driver.improvement_pct().unwrap() - 50.0).abs() < 0.2);
    assert!(matches!(driver.certainty, Certainty::Within { .. }));
    let (low, high) = driver.improvement_interval_pct().unwrap();
    assert!(
        low > 49.0 && low < 50.0 && high > 50.0 && high < 51.0,
        "{low} {high}"
    );
    let shares = driver.before.shares.unwrap();
    assert_eq!(shares.above_1_ms_pct, 10.0);
    assert_eq!((shares.above_2_ms_pct, shares.above_4_ms_pct), (10.0, 0.0));
    assert_eq!(shares.within_62_us_pct, 0.0);
    assert_eq!(shares.within_120_us_pct, 0.0);
    assert_eq!(driver.before.over_time.len(), 24);
    // Only means are known of the device.
    let device = of(&found, "device");
    assert!((device.improvement_pct().unwrap() - 50.0).abs() < 1e-9);
    assert!(matches!(device.certainty, Certainty::Nothing));
    assert_eq!(device.improvement_interval_pct(), None);
    assert!(device.buckets.is_empty() && device.octaves().is_empty());
}

/// A device without a queue has a time of 0 before and after.
#[test]
fn no_time_before_is_no_improvement_and_no_nan() {
    let queue = |us: f64| {
        let mut run = storage_run("queue", &[1.0]);
        let times = OperationTimes::of("device", "", "write", "queue").counted(900, Some(us));
        run.points[0].by_operation.times = vec![times];
        run
    };
    for (before, after, improvement) in
        [(0.0, 0.0, None), (0.0, 5.0, None), (5.0, 0.0, Some(100.0))]
    {
        let found = shifts(&queue(before), &queue(after), Terms::default());
        assert_eq!(
            found[0].improvement_pct(),
            improvement,
            "{before} → {after}"
        );
        assert_eq!(found[0].improvement_interval_pct(), None);
        assert_eq!(json(&found)[0]["improvement_pct"].as_f64(), improvement);
    }
}

#[test]
fn repetitions_carry_a_verdict() {
    let wobble = [1.0, 1.01, 0.99, 1.005, 0.995, 1.002];
    let half = wobble.map(|w| w / 2.0);
    let (a, b) = (storage_run("a", &wobble), storage_run("b", &half));
    let first = json(&shifts(&a, &b, Terms::default()));
    assert_eq!(first[0]["verdict"], "inconclusive", "{first}");
    let trusted = Terms {
        trust_sequential: true,
        ..Terms::default()
    };
    let found = shifts(&a, &b, trusted);
    for shift in &found {
        let Certainty::Repetitions(compared) = &shift.certainty else {
            panic!("{:?}", shift.certainty)
        };
        assert_eq!(compared.verdict, Verdict::Better);
        let (low, high) = shift.improvement_interval_pct().unwrap();
        assert!(low > 45.0 && high < 55.0);
    }
    let message = json(&found);
    assert_eq!(message[0]["verdict"], "better");
    assert_eq!(message[0]["known_by"], "repetitions");
    assert!(message[1]["a"]["p99_us"].is_null());
}

/// Pairs differ by up to a fifth from each other and by exactly a tenth within: a missing half must drop its
/// counterpart, and not shift later ones to another pair.
#[test]
fn pairs_stay_pairs_where_a_half_is_invalid() {
    let level = [1.0, 1.2, 0.9, 1.1, 1.05, 0.95, 1.15, 1.0];
    let sides = ["a", "b"].map(|label| {
        let factor = if label == "a" { 1.0 } else { 0.9 };
        let mut run = storage_run(label, &level.map(|l| l * factor));
        run.study = Some(StudyPart {
            name: "s".into(),
            side: label.into(),
            order: "ab".repeat(level.len()),
            settings: Vec::new(),
            slice_ms: None,
            ..StudyPart::default()
        });
        run
    });
    let [mut a, mut b] = sides;
    a.points[1].reasons = vec![archive::Remark::NoIo];
    b.points[4].reasons = vec![archive::Remark::NoIo];
    for shift in shifts(&a, &b, Terms::default()) {
        let Certainty::Repetitions(compared) = &shift.certainty else {
            panic!("{:?}", shift.certainty)
        };
        let ratio = compared.ratio.unwrap();
        assert!(
            (ratio.low - 0.9).abs() < 5e-3 && (ratio.high - 0.9).abs() < 5e-3,
            "{ratio:?}"
        );
    }
}

/// Means of all operations may contradict the pairs, so those of the verdict are shown.
#[test]
fn means_have_the_ratio_that_is_told_with_them() {
    // Seven pairs are a tenth slower, and the first point of A was extremely slow.
    let level = [20.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let after = [2.0, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1];
    for is_study in [false, true] {
        let sides = [("a", level), ("b", after)].map(|(label, factors)| {
            let mut run = storage_run(label, &factors);
            run.study = is_study.then(|| StudyPart {
                name: "s".into(),
                side: label.into(),
                order: "ab".repeat(factors.len()),
                ..StudyPart::default()
            });
            run
        });
        for shift in shifts(&sides[0], &sides[1], Terms::default()) {
            let Certainty::Repetitions(compared) = &shift.certainty else {
                panic!("{:?}", shift.certainty)
            };
            let estimate = compared.ratio.unwrap().estimate;
            let of_means = shift.after.mean_us / shift.before.mean_us;
            assert!((of_means - estimate).abs() < 1e-9, "{of_means} {estimate}");
            assert!((shift.ratio().unwrap() - estimate).abs() < 1e-9);
            assert!(estimate > 1.05 && shift.improvement_pct().unwrap() < -5.0);
        }
    }
}

/// During a read-only test the device had two writes and a flush.
#[test]
fn a_mean_of_two_is_not_compared_and_what_a_test_does_not_issue_is_told_apart() {
    let beside = |label: &str, writes: u64| {
        let mut run = storage_run(label, &[1.0; 4]);
        for point in &mut run.points {
            let own = OperationTimes::of("driver", "", "read", "service");
            let of = |operation| OperationTimes::of("device", "", operation, "whole");
            point.by_operation.times = vec![
                own.counted(1_000, Some(500.0)),
                of("read").counted(1_000, Some(400.0)),
                of("write").counted(writes, Some(1_020.0)),
                of("flush").counted(60, Some(200.0)),
            ];
        }
        run
    };
    let found = shifts(&beside("a", 500), &beside("b", 2), Terms::default());
    let issued: Vec<(&str, &str, bool)> = found
        .iter()
        .map(|s| (s.observer.as_str(), s.operation.as_str(), s.is_issued))
        .collect();
    let all = [
        ("driver", "read", true),
        ("device", "read", true),
        ("device", "write", false),
        ("device", "flush", false),
    ];
    assert_eq!(issued, all);
    let write = &found[2];
    assert_eq!((write.before.count, write.after.count), (2_000, 8));
    assert!(write.has_too_few() && write.ratio().is_none());
    assert_eq!(write.improvement_interval_pct(), None);
    let message = json(&found);
    assert_eq!(message[2]["b"]["count"], 8);
    assert_eq!(message[2]["issued_by_test"], false);
    assert!(message[2]["improvement_pct"].is_null() && message[2]["verdict"].is_null());
    assert!(!found[3].has_too_few() && found[3].repetitions.usable == 4);
}

/// Points of another step with the same name are no repetitions.
#[test]
fn steps_of_one_name_are_not_mixed() {
    let (mut a, b) = (storage_run("a", &[1.0]), storage_run("b", &[0.5]));
    let mut other = point(1, 7.0);
    other.key.step = 2;
    a.points.push(other);
    let found = shifts(&a, &b, Terms::default());
    assert!((of(&found, "device").before.mean_us - 500.0).abs() < 1e-9);
}

#[test]
fn buckets_are_those_of_arrays_and_hold_everything() {
    let found = shifts(
        &storage_run("a", &[1.0]),
        &storage_run("b", &[0.5]),
        Terms::default(),
    );
    let octaves = of(&found, "driver").octaves();
    let ends: Vec<f64> = octaves.iter().map(|b| b.high_us).collect();
    assert_eq!(ends, [250.0, 500.0, 1_000.0, 2_000.0, 4_000.0]);
    let all = |share: fn(&verdict::shift::Bucket) -> f64| octaves.iter().map(share).sum::<f64>();
    assert!((all(|b| b.before_pct) - 100.0).abs() < 1e-9);
    assert!((all(|b| b.after_pct) - 100.0).abs() < 1e-9);
    assert!(
        (octaves[1].before_pct - 90.0).abs() < 1e-9,
        "330 µs: {octaves:?}"
    );
    assert!((octaves[0].after_pct - 90.0).abs() < 1e-9, "165 µs");
    assert!((octaves[4].before_pct - 10.0).abs() < 1e-9, "3 ms");
}

#[test]
fn what_is_not_valid_or_of_another_kind_shifts_nothing() {
    let (before, mut after) = (storage_run("a", &[1.0]), storage_run("b", &[0.5]));
    after.points[0].reasons = vec![archive::Remark::NoIo];
    assert!(shifts(&before, &after, Terms::default()).is_empty());
    let mut through = before.clone();
    through.points[0].work.below_database = false;
    assert!(shifts(&through, &before, Terms::default()).is_empty());
}

/// The device below a database shifts as well, unless it was nearly idle.
#[test]
fn devices_below_databases_shift() {
    let through = |label: &str, factor: f64, requests: u64| {
        let mut run = storage_run(label, &[factor; 4]);
        for point in &mut run.points {
            point.work.below_database = false;
            let device = OperationTimes::of("device", "vda", "write", "whole");
            let mean_us = Some(factor * 500.0);
            point.by_operation.times = vec![device.counted(requests, mean_us)];
        }
        run
    };
    let shifted = |requests: u64| {
        let [before, after] = [("a", 1.0), ("b", 0.5)].map(|(l, f)| through(l, f, requests));
        shifts(&before, &after, Terms::default())
    };
    let [shift] = &shifted(100)[..] else {
        panic!("one operation, one phase");
    };
    assert!(shift.is_of_database);
    assert_eq!((shift.jobs, shift.jobs_after, shift.threads), (4, 4, 1));
    assert!((shift.improvement_pct().unwrap() - 50.0).abs() < 1e-9);
    assert!(shifted(99).is_empty());
}
