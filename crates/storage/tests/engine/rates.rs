//! Rates, arrivals, shares and priorities, by the intended and actual starts of the recording, in virtual time.

use std::time::Duration;

use storage::engine::{MockDevice, Outcome, Reached, resolve};
use storage::run::{Arrivals, CurvePoint, Rate, RateStep, Run, Stream};

use super::common::{MIB, assert_share, fast, mocked, of, of_size, run, stream, try_run};
use super::distribution::{distance, exponential, uniform};

const S: u64 = 1_000_000_000;

fn one() -> Run {
    run(vec![of_size("sd1", 16 * MIB)], vec![stream("wd1", 0)])
}

fn two() -> Run {
    let sds = ["a", "b"].map(|name| of_size(name, 64 * MIB));
    run(sds.to_vec(), vec![stream("wd1", 0), stream("wd2", 1)])
}

fn paced(iops: f64, arrivals: Arrivals) -> Outcome {
    let requested = Run {
        rate: Rate::Fixed { iops },
        arrivals,
        ..one()
    };
    mocked(&requested, &fast())
}

fn intended(outcome: &Outcome) -> Vec<u64> {
    of(outcome, 0).iter().map(|r| r.intended_ns).collect()
}

/// The intended starts follow the distribution (one in a thousand seeds exceeds 1.95/√n, and the seed is fixed), and
/// on a fast device every I/O starts on time.
#[test]
fn gaps_follow_the_distribution() {
    type Distribution = fn(f64) -> f64;
    let kinds: [(Arrivals, Distribution, Distribution); 2] = [
        (Arrivals::Exponential, exponential, uniform),
        (Arrivals::Uniform, uniform, exponential),
    ];
    for (arrivals, right, wrong) in kinds {
        let outcome = paced(500.0, arrivals);
        let stamps = intended(&outcome);
        let bound = 1.95 / (stamps.len() as f64).sqrt();
        assert!(stamps.len() > 800, "{arrivals:?}: {}", stamps.len());
        assert!(distance(&stamps, 2e6, right) < bound, "{arrivals:?}");
        assert!(distance(&stamps, 2e6, wrong) > bound, "{arrivals:?}");
        for record in of(&outcome, 0) {
            assert_eq!(record.issued_ns, record.intended_ns, "{arrivals:?}");
            assert_eq!(record.submitted_ns, record.intended_ns, "{arrivals:?}");
        }
        assert_eq!((outcome.unserved, outcome.driver.late_starts), (0, 0));
    }
}

#[test]
fn spikes_begin_on_the_second() {
    let stamps = intended(&paced(300.0, Arrivals::Spike));
    let of_second = |second: u64| stamps.iter().filter(|at| **at == second * S).count();
    assert_eq!((of_second(0), of_second(1), stamps.len()), (300, 300, 600));
}

#[test]
fn the_rate_varies_by_the_second() {
    let steps = [200.0, 1000.0].map(|iops| RateStep { iops, seconds: 1 });
    let requested = Run {
        rate: Rate::Variable {
            steps: steps.to_vec(),
        },
        arrivals: Arrivals::Deterministic,
        elapsed_s: Some(3),
        ..one()
    };
    let mut of_second = [0_u64; 3];
    for at in intended(&mocked(&requested, &fast())) {
        // An even gap ends on the second and belongs to the previous one.
        of_second[((at - 1) / S) as usize] += 1;
    }
    // The last I/O is due at the end.
    assert_eq!(of_second, [200, 1000, 199]);
}

#[test]
fn a_rate_is_shared_by_skew() {
    let mut requested = two();
    requested.streams[0].share = 0.7;
    requested.streams[1].share = 0.3;
    requested.rate = Rate::Fixed { iops: 2000.0 };
    let outcome = mocked(&requested, &fast());
    let all = outcome.trace.as_ref().unwrap().records.clone();
    let done = all.len() as f64;
    assert_eq!(outcome.unserved, 0);
    assert!((done - 4000.0).abs() < 5.0 * 4000_f64.sqrt(), "{done}");
    assert_share("wd1", &all, 0.7, |r| r.stream == 0);
}

/// A controlled maximum keeps shares although one SD is a hundred times faster.
#[test]
fn the_slower_sd_holds_the_faster_back() {
    let mut requested = two();
    requested.arrivals = Arrivals::Deterministic;
    requested.streams[0].share = 0.25;
    requested.streams[1].share = 0.75;
    let mut done = |controlled: bool| {
        requested.rate = Rate::Max {
            controlled,
            curve: false,
        };
        let device = MockDevice::new(64, |io| Duration::from_micros([1000, 10][io.storage]));
        let cells = mocked(&requested, &device).all_cells;
        [0, 1].map(|i| cells[i].all().operations)
    };
    // Eight at a time, 1 ms each, for two seconds. The faster stream may lead by the 2000 I/Os of the slower one's
    // queue.
    let [slow, fast] = done(true);
    assert_eq!(slow, 16_000);
    let ahead = fast - 3 * slow;
    assert!((5900..=6100).contains(&ahead), "{ahead}");
    assert_eq!(done(false), [16_000, 1_600_000]);
}

/// Of two late streams on one SD, the one with the better priority goes first.
#[test]
fn priorities_decide_who_waits() {
    let mut only = of_size("sd1", 64 * MIB);
    only.threads = 1;
    let stream_of = |name, priority, iops| Stream {
        priority: Some(priority),
        iops: Some(iops),
        ..stream(name, 0)
    };
    let streams = vec![stream_of("second", 2, 1e5), stream_of("first", 1, 20.0)];
    let requested = Run {
        arrivals: Arrivals::Deterministic,
        ..run(vec![only], streams)
    };
    let outcome = mocked(&requested, &MockDevice::of(1, Duration::from_millis(7)));
    let first = of(&outcome, 1);
    // Due every 50 ms, the last but one at 1.95 s; each begins as soon as the current I/O ends.
    assert_eq!(first.len(), 39);
    for record in &first {
        assert!(
            record.issued_ns - record.intended_ns <= 7_000_000,
            "{record:?}"
        );
    }
    // Two seconds contain 285 ends of 7 ms; one more is in flight.
    assert_eq!(of(&outcome, 0).len() + first.len(), 286);
    let due = 200_000 - 1;
    let begun = of(&outcome, 0).len() as u64;
    assert!(
        outcome.unserved.abs_diff(due - begun) <= 1,
        "{}",
        outcome.unserved
    );
}

#[test]
fn points_of_a_curve_take_rate_and_shares_from_its_maximum() {
    let maximum = paced(500.0, Arrivals::Exponential);
    let point = |rate| Run { rate, ..one() };
    let half = CurvePoint {
        pct: 50.0,
        maximum_run: 0,
        shares_observed: true,
    };
    let curve = point(Rate::Curve(half));
    let refused = try_run(&curve, |_| {}).unwrap_err().to_string();
    assert!(refused.contains("another run"), "{refused}");
    let reached = maximum.rate_iops();
    let iops_of = |run: Run| match run.rate {
        Rate::Fixed { iops } => iops,
        other => panic!("{other:?}"),
    };
    let previous = &[Reached::of(&maximum, 1)];
    let curve_iops = iops_of(resolve(&curve, previous));
    assert!(curve_iops % 10.0 == 0.0 && (curve_iops - reached / 2.0).abs() <= 11.0);
    let tenth = point(Rate::PercentOfPrevious { pct: 10.0 });
    assert!((iops_of(resolve(&tenth, previous)) - reached / 10.0).abs() < 1e-9);
    assert_eq!(resolve(&curve, previous).streams[0].share, 1.0);
}
