//! An overloaded device, in virtual time: service time stays constant, and response time from the intended start
//! includes the queue. vdbench and most other tools show only the first.

use std::time::Duration;

use storage::engine::{Latencies, MockDevice, Outcome};
use storage::run::{Arrivals, Rate, Run};

use super::common::{MIB, fast, mocked, of, of_size, run, stream};

const SECONDS: u32 = 4;

fn latencies(outcome: &Outcome) -> Latencies {
    outcome.latencies_of(|_, _, _| true)
}

fn offered(iops: f64) -> Run {
    let mut only = of_size("sd1", 64 * MIB);
    only.threads = 1;
    Run {
        rate: Rate::Fixed { iops },
        arrivals: Arrivals::Deterministic,
        elapsed_s: Some(SECONDS),
        ..run(vec![only], vec![stream("wd1", 0)])
    }
}

fn assert_about(what: &str, found: f64, wanted: f64) {
    // The tolerance is that of the histogram's buckets.
    assert!(
        (found / wanted - 1.0).abs() < 0.01,
        "{what}: {found}, not {wanted}"
    );
}

/// A device of 1 ms serves 1000 I/Os per second.
#[test]
fn half_is_served_at_once_and_twice_waits() {
    let device = MockDevice::of(1, Duration::from_millis(1));
    let maximum = Run {
        rate: Rate::max(false, false),
        ..offered(1.0)
    };
    assert_eq!(mocked(&maximum, &device).rate_iops(), 1000.0);

    let half = mocked(&offered(500.0), &device);
    let views = latencies(&half);
    assert_eq!((half.rate_iops(), half.unserved), (500.0, 0));
    for view in [&views.service, &views.issued, &views.response] {
        assert_about("half", view.percentile_us(50.0), 1000.0);
        assert_about("half", view.max_us(), 1000.0);
    }

    let twice = mocked(&offered(2000.0), &device);
    let views = latencies(&twice);
    assert_eq!(twice.rate_iops(), 1000.0);
    assert_about("service", views.service.max_us(), 1000.0);
    // The I/O that ends at t was due at t / 2: those of the second to the fourth second waited from 0.5 to 2 s.
    assert_about("median", views.response.percentile_us(50.0), 1.25e6);
    assert_about("longest", views.response.max_us(), 2e6);
    // Half of the 8000 due I/Os were carried out; the oldest of the others has waited for two seconds.
    assert!(
        (3999..=4001).contains(&twice.unserved),
        "{}",
        twice.unserved
    );
    assert_about("oldest", twice.unserved_wait_max.as_secs_f64(), 2.0);
    assert_eq!(twice.driver.late_starts, 0, "it is the device that is late");
}

/// The backlog of a halt counts as the driver's, although its I/Os wait for each other: 3000 became due meanwhile.
#[test]
fn what_became_due_in_a_halt_is_late_whatever_the_depth() {
    for threads in [1, 8, 64] {
        let mut requested = offered(1000.0);
        requested.storage[0].threads = threads;
        requested.elapsed_s = Some(10);
        let (at, length) = (Duration::from_micros(2_000_500), Duration::from_secs(3));
        let device = MockDevice::of(64, Duration::from_micros(100)).with_halt(at, length);
        let driver = mocked(&requested, &device).driver;
        assert_eq!(
            driver.late_starts, 2999,
            "{threads}: all but the last millisecond's"
        );
        let stopped_ms = driver.stopped.as_millis();
        assert!((2999..=3001).contains(&stopped_ms), "{stopped_ms} ms");
    }
    let mut short = offered(1000.0);
    short.storage[0].threads = 8;
    let halt = (Duration::from_millis(2001), Duration::from_millis(100));
    let driver = mocked(&short, &fast().with_halt(halt.0, halt.1)).driver;
    assert_eq!(
        driver.stopped,
        Duration::ZERO,
        "a tenth of a second is no stop"
    );
}

/// Without a queue the three times are equal.
#[test]
fn without_a_queue_the_views_agree() {
    let outcome = mocked(&offered(200.0), &fast());
    let views = latencies(&outcome);
    let [service, issued, response] = [&views.service, &views.issued, &views.response]
        .map(|view| (view.count(), view.max_us().to_bits()));
    assert_eq!((service, service), (issued, response));
}

/// Nothing begins while the machine halts; I/Os that became due begin afterwards, and their delay is the driver's.
#[test]
fn a_halt_of_the_machine_is_in_the_response_and_counts_as_late() {
    let mut requested = offered(100.0);
    requested.storage[0].threads = 64;
    let (at, length) = (Duration::from_millis(2001), Duration::from_millis(300));
    let outcome = mocked(&requested, &fast().with_halt(at, length));
    let stamps: Vec<u64> = of(&outcome, 0).iter().map(|r| r.intended_ns).collect();
    let even: Vec<u64> = (1..=stamps.len() as u64).map(|i| i * 10_000_000).collect();
    assert_eq!(stamps, even, "no intended start is skipped or moved");
    // The I/Os were due at 2.01 … 2.30 s and began at 2.301 s; only the last one is within the tolerated millisecond.
    let late = of(&outcome, 0);
    let late = late.iter().filter(|r| r.issued_ns > r.intended_ns);
    assert_eq!(late.count(), 30);
    assert_eq!(outcome.driver.late_starts, 29);
    assert_eq!(outcome.driver.late_max, Duration::from_millis(291));
    assert_eq!(
        outcome.driver.late_queued, 30,
        "with the one of a millisecond"
    );
    assert_about("longest", latencies(&outcome).response.max_us(), 291_000.0);
    assert_about("service", latencies(&outcome).service.max_us(), 1.0);
}
