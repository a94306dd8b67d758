//! Golden numbers and bounds of the scaling laws.

use stats::Warning;
use stats::random::Random;
use stats::scaling::Load;
use stats::usl::{Law, Peak, Resampling, amdahl, usl};

/// Measurements in the tests of the crate `usl-rs` 0.3.0, N = 1 … 32.
const RATES: [f64; 32] = [
    955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37, 6531.08, 7219.8, 7867.61,
    8278.71, 8646.7, 9047.84, 9426.55, 9645.37, 9897.24, 10097.6, 10240.5, 10532.39, 10798.52,
    11151.43, 11518.63, 11806.0, 12089.37, 12075.41, 12177.29, 12211.41, 12158.93, 12155.27,
    12118.04, 12140.4, 12074.39,
];
const RESAMPLING: Resampling = Resampling {
    confidence: 0.95,
    resamples: 1000,
    seed: 1,
};

fn loads(dops: impl IntoIterator<Item = u32>) -> Vec<Load> {
    dops.into_iter()
        .map(|dop| Load {
            dop,
            rate: RATES[dop as usize - 1],
        })
        .collect()
}

/// σ, κ, R² and N* of a part of the measurements, each to half a unit of the last golden digit.
fn golden(
    dops: impl IntoIterator<Item = u32>,
    contention: (f64, f64),
    coherency: (f64, f64),
    r: (f64, f64),
    peak: u32,
) {
    let fit = usl(&loads(dops), &RESAMPLING).expect("four positive rates can be fitted");
    let close = |found: f64, (golden, digit): (f64, f64)| {
        assert!(
            (found - golden).abs() <= digit * 0.51,
            "{found} is not {golden}: {fit:?}"
        );
    };
    close(fit.law.contention, contention);
    close(fit.law.coherency, coherency);
    close(fit.r_squared, r);
    assert_eq!(fit.law.turning_point(), Some(peak));
    // Every one of these maxima lies beyond what was measured, or was not reached in it.
    let observed = matches!(fit.peak, Peak::Observed { .. });
    assert!(!observed && fit.warnings.contains(&Warning::PeakNotObserved));
}

#[test]
fn golden_usl_all_points() {
    golden(
        1..=32,
        (0.0267159, 1e-7),
        (7.69094e-4, 1e-8),
        (0.9972, 1e-4),
        35,
    );
    let law = usl(&loads(1..=32), &RESAMPLING).unwrap().law;
    assert!((law.rate_of_one - 995.6488).abs() < 1e-3, "{law:?}");
    assert!(
        (law.rate(35.0) - 12_341.745).abs() < 0.1,
        "{}",
        law.rate(35.0)
    );
}

#[test]
fn golden_usl_of_parts() {
    golden(
        [1, 2, 4, 8, 16, 32],
        (0.0255, 1e-4),
        (8.22e-4, 1e-6),
        (0.9998, 1e-4),
        34,
    );
    golden(1..=16, (0.0, 1e-9), (1.98e-3, 1e-5), (0.9997, 1e-4), 22);
    golden(1..=8, (0.0182, 1e-4), (3.09e-4, 1e-6), (0.9996, 1e-4), 56);
}

#[test]
fn a_parameter_on_its_bound_is_named() {
    let fit = usl(&loads(1..=16), &RESAMPLING).unwrap();
    assert_eq!(fit.law.contention, 0.0);
    assert!(fit.warnings.contains(&Warning::AtBound {
        parameter: "the contention σ"
    }));
    assert!(fit.contention.unwrap().low == 0.0);
}

#[test]
fn an_observed_peak_has_an_interval() {
    let law = stats::usl::Law {
        rate_of_one: 100.0,
        contention: 0.05,
        coherency: 0.01,
    };
    let wobble = [1.01, 0.99, 1.0, 1.01, 0.99, 1.0, 1.01];
    let loads: Vec<Load> = [1, 2, 4, 8, 12, 16, 24]
        .iter()
        .zip(wobble)
        .map(|(dop, w)| Load {
            dop: *dop,
            rate: w * law.rate(f64::from(*dop)),
        })
        .collect();
    let fit = usl(&loads, &RESAMPLING).unwrap();
    let Peak::Observed { dop, rate } = fit.peak else {
        panic!("the peak at 9 lies within the measured range: {fit:?}");
    };
    assert!((8..=11).contains(&dop) && rate > 400.0, "{fit:?}");
    assert!(
        fit.peak_dop.unwrap().covers(9.0) && fit.warnings.is_empty(),
        "{fit:?}"
    );
    assert!(fit.contention.unwrap().covers(0.05) && fit.coherency.unwrap().covers(0.01));
    assert_eq!(
        usl(&loads, &RESAMPLING).unwrap(),
        fit,
        "the same seed gives the same fit"
    );
}

#[test]
fn few_or_odd_loads() {
    let three = usl(&loads(1..=3), &RESAMPLING);
    assert_eq!(three, Err(Warning::TooFew { have: 3, need: 4 }));
    let four = usl(&loads([1, 2, 4, 8]), &RESAMPLING).unwrap();
    assert!(
        four.contention.is_none()
            && four
                .warnings
                .contains(&Warning::TooFew { have: 4, need: 6 })
    );
    let mut odd = loads(1..=8);
    odd[2].rate = 0.0;
    assert_eq!(
        usl(&odd, &RESAMPLING),
        Err(Warning::NotPositive { count: 1 })
    );
    odd[2].rate = f64::NAN;
    assert_eq!(
        usl(&odd, &RESAMPLING),
        Err(Warning::NotFinite { dropped: 1 })
    );
    let flat: Vec<Load> = (1..=8).map(|dop| Load { dop, rate: 100.0 }).collect();
    assert!((usl(&flat, &RESAMPLING).unwrap().law.contention - 1.0).abs() < 1e-6);
}

#[test]
fn golden_amdahl() {
    let fit = amdahl(&[(1, 10.0), (2, 5.5), (4, 3.25), (8, 2.125)], &RESAMPLING).unwrap();
    assert!(
        (fit.serial_share - 0.1).abs() < 1e-6 && (fit.time_of_one - 10.0).abs() < 1e-5,
        "{fit:?}"
    );
    let interval = fit.serial_interval.unwrap();
    assert!(
        (interval.low - 0.1).abs() < 1e-6 && (interval.high - 0.1).abs() < 1e-6,
        "{interval:?}"
    );
    let perfect = amdahl(&[(1, 8.0), (2, 4.0), (4, 2.0)], &RESAMPLING).unwrap();
    assert!(perfect.serial_share < 1e-6 && perfect.serial_interval.is_none());
    assert_eq!(
        amdahl(&[(1, 0.0), (2, 1.0), (4, 1.0)], &RESAMPLING),
        Err(Warning::NotFinite { dropped: 1 })
    );
    assert!(amdahl(&[(1, 1.0), (2, 1.0)], &RESAMPLING).is_err());
}

#[test]
fn the_interval_of_a_rate_lies_around_the_law_and_widens_beyond_the_data() {
    let fit = usl(&loads(1..=16), &RESAMPLING).expect("sixteen positive rates can be fitted");
    let share = |dop: f64| {
        let interval = fit.rate_interval(dop).expect("sixteen levels have one");
        assert!(interval.low < interval.estimate && interval.estimate < interval.high);
        (interval.high - interval.low) / interval.estimate
    };
    assert!(
        share(32.0) > 2.0 * share(8.0),
        "{} {}",
        share(32.0),
        share(8.0)
    );
    let few = usl(&loads(1..=4), &RESAMPLING).expect("four positive rates can be fitted");
    assert_eq!(few.rate_interval(2.0), None);
}

/// Five repetitions at eight levels; 2 % of noise moves a level as a whole and 0.5 % each repetition. Counts how
/// often the interval covers the true contention, from all repetitions and from one median a level.
#[test]
fn repetitions_of_a_level_are_no_levels_of_their_own() {
    const TRIALS: u32 = 200;
    const DOPS: [u32; 8] = [1, 2, 4, 8, 12, 16, 24, 32];
    let truth = Law {
        rate_of_one: 1000.0,
        contention: 0.05,
        coherency: 0.001,
    };
    let mut random = Random::new(7);
    let (mut by_repetitions, mut by_levels) = (0, 0);
    for seed in 0..TRIALS {
        let (mut all, mut medians) = (Vec::new(), Vec::new());
        for dop in DOPS {
            let level = truth.rate(f64::from(dop)) * (0.02 * random.normal()).exp();
            let mut rates = [(); 5].map(|()| level * (0.005 * random.normal()).exp());
            all.extend(rates.map(|rate| Load { dop, rate }));
            rates.sort_by(f64::total_cmp);
            medians.push(Load {
                dop,
                rate: rates[2],
            });
        }
        let resampling = Resampling {
            confidence: 0.95,
            resamples: 200,
            seed: seed.into(),
        };
        let covers = |loads: &[Load]| {
            let interval = usl(loads, &resampling).unwrap().contention.unwrap();
            interval.low <= truth.contention && truth.contention <= interval.high
        };
        by_repetitions += u32::from(covers(&all));
        by_levels += u32::from(covers(&medians));
    }
    // 93 to 95 % is expected of the one; the other claimed 95 % as well.
    assert!(by_levels >= 174, "{by_levels} of {TRIALS}");
    assert!(by_repetitions <= 150, "{by_repetitions} of {TRIALS}");
}
