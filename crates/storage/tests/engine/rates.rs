//! Rates, arrivals, shares and priorities, from the intended and the real starts of the recording.

use storage::engine::{Ended, Outcome, Reached, TraceRecord, resolve};
use storage::run::{
    Arrivals, CurvePoint, DataLimit, Rate, RateStep, Run, Seek, Sizes, Stop, Stream,
};

use super::attempts::in_one_attempt;
use super::common::{KIB, MIB, assert_share, file, of, one, recorded, run, sd, stream, try_run};
use super::distribution::{distance, exponential, uniform};

const S: u64 = 1_000_000_000;

fn paced(iops: f64, arrivals: Arrivals) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", 16 * MIB);
    recorded(&Run {
        rate: Rate::Fixed { iops },
        arrivals,
        ..one(&path, stream("wd1", 0))
    })
}

fn intended(outcome: &Outcome) -> Vec<u64> {
    of(outcome, 0).iter().map(|r| r.intended_ns).collect()
}

/// The stamps follow the distribution exactly (1.95/√n is passed once in a thousand seeds, and the seed is fixed);
/// the real starts do so loosely, as far as a busy machine allows, in the best of eight runs.
#[test]
fn gaps_follow_the_distribution() {
    type Distribution = fn(f64) -> f64;
    let kinds: [(Arrivals, Distribution, Distribution); 2] = [
        (Arrivals::Exponential, exponential, uniform),
        (Arrivals::Uniform, uniform, exponential),
    ];
    for (arrivals, right, wrong) in kinds {
        let mut closest = f64::INFINITY;
        for _ in 0..8 {
            let outcome = paced(500.0, arrivals);
            let stamps = intended(&outcome);
            let bound = 1.95 / (stamps.len() as f64).sqrt();
            assert!(stamps.len() > 800, "{arrivals:?}: {}", stamps.len());
            assert!(distance(&stamps, 2e6, right) < bound, "{arrivals:?}");
            assert!(distance(&stamps, 2e6, wrong) > bound, "{arrivals:?}");
            let real: Vec<u64> = of(&outcome, 0).iter().map(|r| r.submitted_ns).collect();
            closest = closest.min(distance(&real, 2e6, right));
            if closest < 0.6 {
                break;
            }
        }
        assert!(
            closest < 0.6,
            "{arrivals:?}: real gaps are off by {closest}"
        );
    }
}

/// Evenly spaced stamps have no hole, whatever the machine did meanwhile: late work is done, not skipped.
#[test]
fn nothing_is_skipped() {
    let outcome = paced(1000.0, Arrivals::Deterministic);
    let stamps = intended(&outcome);
    for (number, stamp) in stamps.iter().enumerate() {
        assert_eq!(*stamp, (number as u64 + 1) * 1_000_000);
    }
    let due = stamps.len() as u64 + outcome.unserved;
    assert!((1999..=2000).contains(&due), "{due}");
    for record in of(&outcome, 0) {
        assert!(record.issued_ns >= record.intended_ns, "none starts early");
    }
}

#[test]
fn spikes_begin_on_the_second() {
    in_one_attempt(|| {
        let outcome = paced(300.0, Arrivals::Spike);
        let stamps = intended(&outcome);
        let of_second = |second: u64| stamps.iter().filter(|at| **at == second * S).count();
        assert_eq!((of_second(0), of_second(1), stamps.len()), (300, 300, 600));
    });
}

#[test]
fn the_rate_varies_by_the_second() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", 16 * MIB);
    let steps = [200.0, 1000.0].map(|iops| RateStep { iops, seconds: 1 });
    let outcome = recorded(&Run {
        rate: Rate::Variable {
            steps: steps.to_vec(),
        },
        arrivals: Arrivals::Deterministic,
        elapsed_s: Some(3),
        ..one(&path, stream("wd1", 0))
    });
    let mut of_second = [0_u64; 3];
    for at in intended(&outcome) {
        of_second[(at / S) as usize] += 1;
    }
    let off = |second: usize, want: u64| of_second[second].abs_diff(want);
    assert!(off(0, 200) <= 1 && off(1, 1000) <= 1, "{of_second:?}");
    assert!(of_second[2] + outcome.unserved >= 199, "{of_second:?}");
}

/// Two streams on different SDs share the rate as asked.
#[test]
fn a_rate_is_shared_by_skew() {
    let folder = tempfile::tempdir().unwrap();
    let sds = ["a", "b"].map(|name| sd(name, &file(folder.path(), name, 16 * MIB)));
    let mut asked = run(sds.to_vec(), vec![stream("wd1", 0), stream("wd2", 1)]);
    asked.streams[0].share = 0.7;
    asked.streams[1].share = 0.3;
    asked.rate = Rate::Fixed { iops: 2000.0 };
    let outcome = recorded(&asked);
    let all = outcome.trace.as_ref().unwrap().records.clone();
    let done = all.len() as f64 + outcome.unserved as f64;
    assert!((done - 4000.0).abs() < 5.0 * 4000_f64.sqrt(), "{done}");
    assert_share("wd1", &all, 0.7, |r| r.stream == 0);
}

/// A controlled maximum keeps shares although one SD would be far faster alone.
#[test]
fn the_slower_sd_holds_the_faster_back() {
    let folder = tempfile::tempdir().unwrap();
    let sds = ["a", "b"].map(|name| sd(name, &file(folder.path(), name, 64 * MIB)));
    let slow = Stream {
        sizes: Sizes::Fixed(256 * KIB),
        ..stream("slow", 0)
    };
    let mut asked = run(sds.to_vec(), vec![slow, stream("fast", 1)]);
    asked.streams[0].share = 0.25;
    asked.streams[1].share = 0.75;
    asked.elapsed_s = Some(4);
    let mut done = |controlled: bool| {
        asked.rate = Rate::Max {
            controlled,
            curve: false,
        };
        let cells = try_run(&asked, |_| {}).unwrap().all_cells;
        let [slow, fast] = [0, 1].map(|i| cells[i].all().operations as f64);
        assert!(slow > 100.0, "{slow}");
        (slow, fast)
    };
    // Each may be 2000 I/Os of its own ahead of the other.
    let ahead = 2000.0 + 3.0 * 2000.0 + 100.0;
    let (slow, fast) = done(true);
    let off = (fast - 3.0 * slow).abs();
    assert!(off <= ahead + 0.05 * fast, "{slow} {fast}");
    let (slow, fast) = done(false);
    assert!(
        fast - 3.0 * slow > 2.0 * ahead + 0.1 * fast,
        "{slow} {fast}"
    );
}

/// Of two streams on one SD that both are behind, the one with the better priority goes first.
#[test]
fn priorities_decide_who_waits() {
    in_one_attempt(|| {
        let folder = tempfile::tempdir().unwrap();
        let mut only = sd("sd1", &file(folder.path(), "data", 64 * MIB));
        only.threads = 1;
        let stream_of = |name, priority, iops| Stream {
            priority: Some(priority),
            iops: Some(iops),
            sizes: Sizes::Fixed(4 * MIB),
            ..stream(name, 0)
        };
        let streams = vec![stream_of("second", 2, 1e5), stream_of("first", 1, 20.0)];
        let outcome = recorded(&Run {
            arrivals: Arrivals::Deterministic,
            ..run(vec![only], streams)
        });
        let first = of(&outcome, 1).len() as u64;
        assert!((30..=40).contains(&first), "{first} of 39");
        assert!(outcome.unserved > 10_000, "the other one had to wait");
    });
}

#[test]
fn an_amount_of_data_ends_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", 16 * MIB);
    let outcome = recorded(&Run {
        elapsed_s: Some(30),
        rate: Rate::Fixed { iops: 500.0 },
        stop: Stop {
            read_max: Some(DataLimit::Bytes(400 * 4 * KIB)),
            ..Stop::default()
        },
        ..one(&path, stream("wd1", 0))
    });
    assert_eq!(outcome.ended, Ended::DataLimit);
    assert!(
        (1..=5).contains(&outcome.counted.as_secs()),
        "{:?}",
        outcome.counted
    );
}

/// An eof stream reads its range once and ends the run, although another one would go on for ever.
#[test]
fn a_stream_that_ends_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let sds = ["a", "b"].map(|name| sd(name, &file(folder.path(), name, MIB)));
    let ending = Stream {
        seek: Seek::SequentialToEnd,
        ..stream("ending", 0)
    };
    let outcome = recorded(&Run {
        elapsed_s: None,
        ..run(sds.to_vec(), vec![ending, stream("endless", 1)])
    });
    assert_eq!(outcome.ended, Ended::StreamsDone);
    let mut blocks: Vec<u64> = of(&outcome, 0)
        .iter()
        .map(|r: &TraceRecord| r.offset_bytes / (4 * KIB))
        .collect();
    blocks.sort_unstable();
    assert_eq!(blocks, (0..256).collect::<Vec<_>>());
    assert_eq!(outcome.all_cells[0].all().operations, 256);
}

#[test]
fn points_of_a_curve_take_rate_and_shares_from_its_maximum() {
    let maximum = paced(500.0, Arrivals::Exponential);
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", MIB);
    let point = |rate| Run {
        rate,
        ..one(&path, stream("wd1", 0))
    };
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
