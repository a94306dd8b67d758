//! Fleets with known truth: intervals, calls, named systems, changed mixes, missing sides.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod simulated;

use simulated::{Plan, fleet, truth};
use verdict::fleet::{
    Call, Figure, Fleet, FleetError, LIMITS_US_DEFAULT, Measure, Mix, MixClass, Operation,
    Question, Side, Window, judge,
};

const PLAN: Plan = Plan {
    systems: 500,
    windows: 1,
    shift_ln: -0.5,
    responding: 1.0,
};

fn question() -> Question {
    Question {
        limits_us: LIMITS_US_DEFAULT,
        primary: Measure {
            operation: Operation::Write,
            figure: Figure::Within(0),
        },
        seed: 1,
    }
}

fn judged(windows: &[Window]) -> Fleet {
    judge(windows, question()).unwrap()
}

fn window(system: &str, side: Side, within: u64) -> Window {
    Window {
        system: system.to_owned(),
        began_us: side as i64 * 1_000_000,
        side,
        operation: Operation::Write,
        mix: Mix {
            read_pct: Some(50.0),
            ..Mix::default()
        },
        count: 100,
        within: [within, 90],
        undecided: [0, 0],
        mean_us: 200.0,
    }
}

/// Twenty systems whose share goes from 0.1 to 0.30, 0.31 … 0.39, 0.41 … 0.50: by 0.3 on average.
fn twenty() -> Vec<Window> {
    let pair = |n: u64| {
        let name = format!("array-{n}");
        let after = 30 + n + u64::from(n >= 10);
        [
            window(&name, Side::Before, 10),
            window(&name, Side::After, after),
        ]
    };
    (0..20).flat_map(pair).collect()
}

#[test]
fn golden_shift() {
    let fleet = judged(&twenty());
    let shift = &fleet.shifts[0];
    assert_eq!((shift.systems, shift.undecided, shift.smaller), (20, 0, 0));
    assert!((shift.before - 0.1).abs() < 1e-12 && (shift.after - 0.4).abs() < 1e-12);
    let interval = shift.interval.as_ref().unwrap();
    assert!((interval.estimate - 0.3).abs() < 1e-12, "{interval:?}");
    // ± 2.576·s/√20 with s = 0.0622, a little less because the variance of resamples has n and not n − 1.
    assert!((interval.low - 0.265).abs() < 0.003 && (interval.high - 0.335).abs() < 0.003);
    assert_eq!(fleet.call, Call::Higher);
    assert_eq!(fleet, judged(&twenty()), "the same seed, the same figures");
    let mean = &fleet.shifts[2];
    assert_eq!(mean.measure.figure, Figure::Mean);
    assert_eq!(mean.interval.as_ref().unwrap().estimate, 1.0);
}

/// The longer study with a thousand fleets each is `examples/fleets`.
#[test]
fn a_known_shift_lies_in_the_interval_and_none_is_not_called() {
    let known = truth(&PLAN);
    let none = Plan {
        shift_ln: 0.0,
        ..PLAN
    };
    let (mut held, mut found, mut called) = (0, 0, 0);
    for seed in 0..20 {
        let shifted = judged(&fleet(&PLAN, seed).windows);
        held += u32::from(shifted.shifts[0].interval.as_ref().unwrap().covers(known));
        found += u32::from(shifted.call == Call::Higher);
        let still = judged(&fleet(&none, 1_000 + seed).windows);
        called += u32::from(still.call != Call::NotShown);
    }
    assert!(
        held >= 19 && found == 20 && called <= 1,
        "{held} {found} {called}"
    );
}

#[test]
fn systems_that_became_worse_are_named_with_few_false_ones_among_them() {
    let plan = Plan {
        systems: 400,
        windows: 6,
        shift_ln: 0.8,
        responding: 0.2,
    };
    let simulated = fleet(&plan, 3);
    let judged = judged(&simulated.windows);
    assert_eq!(judged.which.tested, 400);
    let worse = &judged.which.worse;
    assert!(worse.len() > 20, "{}", worse.len());
    let is_false = |name: &str| {
        let number: usize = name.strip_prefix("array-").unwrap().parse().unwrap();
        !simulated.shifted[number]
    };
    let wrong = worse.iter().filter(|n| is_false(&n.name)).count();
    assert!(wrong * 10 <= worse.len(), "{wrong} of {}", worse.len());
    assert!(worse[0].after < worse[0].before);
    assert!(judged.which.lowest.is_empty());
}

#[test]
fn without_repetitions_systems_are_listed_and_none_is_claimed() {
    let which = judged(&fleet(&PLAN, 1).windows).which;
    assert_eq!(which.tested, 0);
    assert_eq!(which.worse.len(), 0);
    assert_eq!(which.better.len(), 0);
    assert!(which.lowest.iter().all(|n| n.adjusted_p.is_none()));
}

#[test]
fn a_system_that_does_something_else_afterwards_is_a_stratum_of_its_own() {
    let mut windows = twenty();
    for window in windows.iter_mut().filter(|w| w.side == Side::After).take(5) {
        window.mix.read_pct = Some(85.0);
        window.within[0] = 95;
    }
    let fleet = judged(&windows);
    assert_eq!((fleet.changed.any, fleet.changed.reads), (5, 5));
    assert_eq!(fleet.shifts[0].systems, 15);
    assert_eq!(fleet.call, Call::TooFew, "fifteen are left");
    let classes: Vec<_> = fleet.strata.iter().map(|(c, s)| (*c, s.systems)).collect();
    assert_eq!(classes, [(MixClass::Mixed, 15), (MixClass::Changed, 5)]);
    for window in windows.iter_mut().filter(|w| w.side == Side::After) {
        window.mix.iops = Some(900.0);
    }
    for window in windows.iter_mut().filter(|w| w.side == Side::Before) {
        window.mix.iops = Some(300.0);
    }
    let fleet = judged(&windows);
    assert_eq!((fleet.changed.rate, fleet.call), (20, Call::OtherMix));
}

#[test]
fn what_has_one_side_or_a_wrong_clock_is_told_and_left_out() {
    let mut windows = twenty();
    windows.retain(|w| !(w.system == "array-3" && w.side == Side::Before));
    for window in windows.iter_mut().filter(|w| w.system == "array-4") {
        window.began_us = -window.began_us;
    }
    let fleet = judged(&windows);
    assert_eq!(fleet.left_out.one_sided, ["array-3"]);
    assert_eq!(fleet.left_out.misordered, ["array-4"]);
    assert_eq!(fleet.systems.len(), 18);
    windows.retain(|w| w.side == Side::After);
    let refused = judge(&windows, question()).unwrap_err();
    assert_eq!(
        refused,
        FleetError::NoPairs {
            one_sided: 20,
            misordered: 0
        }
    );
}

#[test]
fn buckets_on_both_sides_of_a_limit_tell_no_share() {
    let mut windows = twenty();
    windows[0].undecided[0] = 1;
    let shift = &judged(&windows).shifts[0];
    assert_eq!((shift.systems, shift.undecided), (19, 1));
    windows.iter_mut().for_each(|w| w.undecided[0] = 1);
    let refused = judge(&windows, question()).unwrap_err().to_string();
    assert!(refused.contains("120 µs"), "{refused}");
    let reads = Question {
        primary: Measure {
            operation: Operation::Read,
            figure: Figure::Mean,
        },
        ..question()
    };
    let refused = judge(&windows, reads).unwrap_err();
    assert_eq!(refused, FleetError::NoPrimary { operation: "read" });
}
