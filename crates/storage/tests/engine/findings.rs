//! Findings about a run's figures, in virtual time.

use std::time::Duration;

use archive::Remark;
use host::Rates;
use storage::engine::{MockDevice, Outcome};
use storage::execution::{notes, reasons};
use storage::run::{Arrivals, Rate, Run, Seek};

use super::common::{MIB, fast, mocked, of_size, run, stream};
use testing::Says;

/// Reads of 4 KiB that bypass the page cache, evenly spaced; the first of ten seconds does not count.
fn paced(iops: f64) -> Run {
    let mut only = of_size("sd1", 64 * MIB);
    only.open_flags.direct = true;
    Run {
        rate: Rate::Fixed { iops },
        arrivals: Arrivals::Deterministic,
        elapsed_s: Some(10),
        ..run(vec![only], vec![stream("wd1", 0)])
    }
}

fn device(read_iops: f64) -> Rates {
    Rates {
        read_iops: Some(read_iops),
        write_iops: Some(0.0),
        read_mb_per_s: Some(read_iops * 4096.0 / 1e6),
        write_mb_per_s: Some(0.0),
        ..Rates::default()
    }
}

fn message(requested: &Run, outcome: &Outcome, rates: &Rates) -> Vec<String> {
    let notes = notes(requested, outcome, rates);
    notes.iter().map(Remark::to_string).collect()
}

#[test]
fn nothing_is_noted_of_a_run_that_went_well() {
    for iops in [100.0, 1000.0] {
        let outcome = mocked(&paced(iops), &fast());
        let message = message(&paced(iops), &outcome, &device(iops));
        assert!(
            message.is_empty() && reasons(&outcome).is_empty(),
            "{message:?}"
        );
    }
}

/// The device stands still for the five seconds of the warm-up, and carries out their I/Os afterwards.
#[test]
fn a_backlog_of_the_warm_up_is_named_where_it_exceeds_the_rate() {
    let requested = Run {
        warmup_s: 5,
        ..paced(1000.0)
    };
    let slow = MockDevice::new(8, |io| {
        if io.at < Duration::from_secs(5) {
            Duration::from_millis(80)
        } else {
            Duration::from_micros(100)
        }
    });
    let outcome = mocked(&requested, &slow);
    assert!(outcome.rate_iops() > 1300.0, "{}", outcome.rate_iops());
    let message = message(&requested, &outcome, &device(outcome.rate_iops()));
    assert_eq!(message.len(), 1, "{message:?}");
    message[0].says("times the requested rate of 1000.0/s");
}

#[test]
fn a_stop_of_the_driver_is_noted_and_a_long_one_invalid() {
    let stopped = |seconds| {
        let halt = (Duration::from_secs(2), Duration::from_secs(seconds));
        mocked(&paced(1000.0), &fast().with_halt(halt.0, halt.1))
    };
    let outcome = stopped(2);
    let message = message(&paced(1000.0), &outcome, &device(1000.0));
    message[0].says("the driver was stopped for 2.0 s of 10.0 s");
    assert!(message[1].contains("more than 1 ms late"), "{message:?}");
    assert!(reasons(&outcome).is_empty());
    let [Remark::DriverStopped { stopped_s, .. }] = reasons(&stopped(4))[..] else {
        panic!("4 s of 10 s are more than a quarter");
    };
    assert!((stopped_s - 4.0).abs() < 0.01, "{stopped_s}");
}

#[test]
fn a_device_that_others_use_is_named_with_both_counts() {
    let outcome = mocked(&paced(100.0), &fast());
    let of = |read_iops, requested: &Run| message(requested, &outcome, &device(read_iops));
    let shared = of(400.0, &paced(100.0));
    shared[0].says("others had 75 % of the device's requests");
    shared[0].says("3600 requests, of which 900");
    assert!(of(110.0, &paced(100.0)).is_empty());
    // With the page cache the device reads ahead for the run itself.
    let mut cached = paced(100.0);
    cached.storage[0].open_flags.direct = false;
    assert!(of(400.0, &cached).is_empty());
}

#[test]
fn reads_that_the_device_knows_nothing_of_are_named() {
    let outcome = mocked(&paced(1000.0), &fast());
    let holes = message(&paced(1000.0), &outcome, &device(0.5));
    assert_eq!(holes.len(), 1);
    holes[0].says("9000 reads of the test were 4 requests at the device");
    let unknown = message(&paced(1000.0), &outcome, &Rates::default());
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The 64 MiB are read once in a fraction of the first interval, or within a warm-up.
#[test]
fn a_run_that_ends_in_its_first_interval_has_figures() {
    for warmup_s in [0, 5] {
        let mut requested = Run {
            rate: Rate::max(false, false),
            warmup_s,
            ..paced(1.0)
        };
        requested.streams[0].seek = Seek::SequentialToEnd;
        let outcome = mocked(&requested, &MockDevice::of(8, Duration::from_micros(100)));
        assert_eq!(outcome.total().operations, 16_384);
        assert_eq!(outcome.latencies_of(|_, _, _| true).service.count(), 16_384);
        assert_eq!(outcome.counted, outcome.elapsed);
        assert!(outcome.rate_iops() > 70_000.0, "{}", outcome.rate_iops());
        let message = message(&requested, &outcome, &Rates::default());
        message[0].says("its figures are of all of it");
    }
}
