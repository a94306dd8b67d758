use std::cell::Cell;
use std::time::Duration;

use storage::engine::MockDevice;
use storage::execution::{Completion, ExecutionError, Slo};
use storage::run::Rate;

use super::{Played, Workspace};
use testing::Says;

/// A device with at most 2000 I/Os per second, and nine counted of ten seconds.
const CAPPED: &str =
    "sd=sd1,lun=$dir/f,size=16m,threads=64\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,elapsed=10\n";
const SERVICE: Duration = Duration::from_micros(500);

fn searched(text: &str, objective: &str, device: &MockDevice<'_>) -> Played {
    let place = Workspace::new();
    place.file("f", 16 << 20);
    place.search(text, Slo::usual(objective.parse().unwrap()), device)
}

fn found(played: Played) -> (f64, Vec<String>) {
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let [done] = played.onlooker.done.as_slice() else {
        panic!("one run of the list")
    };
    assert!(!done.is_missed && done.run.loops.is_empty());
    let Rate::Fixed { iops } = done.run.rate else {
        panic!("{:?}", done.run.rate)
    };
    assert!(
        (done.rate / iops - 1.0).abs() < 0.1,
        "what is kept was measured at that rate"
    );
    (iops, done.findings.clone())
}

#[test]
fn the_highest_rate_that_holds_is_found_with_its_evidence() {
    let place = Workspace::new();
    place.file("f", 16 << 20);
    let device = MockDevice::of(1, SERVICE);
    let slo = Slo::usual("p99=5ms".parse().unwrap());
    let (iops, message) = found(place.search(CAPPED, slo, &device));
    // One server, exponential arrivals and a constant service: at about three quarters of the maximum p99 is 5 ms.
    assert!((1400.0..1600.0).contains(&iops), "{message:?}");
    assert!(
        message[0].starts_with(&format!("{iops:.1} I/Os/s meet p99=5ms, ")),
        "{message:?}"
    );
    assert!(message[1].starts_with("rates tried: "), "{message:?}");
    let evidence = &message[2];
    assert!(
        evidence.starts_with(&format!("p99: at {iops:.1}/s ")) && evidence.contains(" I/Os; at "),
        "{evidence}"
    );
    assert!(place.page("totals").contains(message[0].as_str()));
    assert!(
        place
            .page("summary")
            .contains(&format!("I/O rate: {iops};"))
    );
}

/// The device pauses once, which costs one more measurement and no bracket.
#[test]
fn a_measurement_that_fails_by_chance_is_made_again() {
    let (calm, _) = found(searched(CAPPED, "p99=5ms", &MockDevice::of(1, SERVICE)));
    let count = Cell::new(0_u32);
    let device = MockDevice::new(1, |_| {
        count.set(count.get() + 1);
        // This is in the measurement after the maximum, which has about 20,000 I/Os.
        if count.get() == 25_000 {
            Duration::from_millis(400)
        } else {
            SERVICE
        }
    });
    let (paused, message) = found(searched(CAPPED, "p99=5ms", &device));
    assert!(
        (paused / calm - 1.0).abs() < 0.1,
        "{paused} and {calm}: {message:?}"
    );
    assert!(message[1].contains("met it in 2 of 3"), "{message:?}");
}

/// A p99 needs 1000 I/Os, so no rate with fewer is tried.
#[test]
fn a_time_that_no_rate_holds_fails_with_the_reason() {
    let played = searched(CAPPED, "p99=1us", &MockDevice::of(1, SERVICE));
    let error = played.ended.unwrap_err();
    assert!(matches!(error, ExecutionError::Missed { .. }), "{error}");
    error.to_string().says("even 133.3/s did not");
    assert!(played.onlooker.done[0].is_missed);
}

#[test]
fn too_few_ios_decide_nothing() {
    let slow = MockDevice::of(1, Duration::from_millis(50));
    let played = searched(CAPPED, "p99=1s", &slow);
    let error = played.ended.unwrap_err().to_string();
    error.says_all(&["p99 cannot be judged: it needs 1000 I/Os", "20.0/s"]);
}

/// The machine is late and not the device, so nothing is said of the device.
#[test]
fn a_late_machine_decides_nothing() {
    let (at, length) = (Duration::from_secs(3), Duration::from_millis(900));
    let halting = MockDevice::of(1, SERVICE).with_halt(at, length);
    let played = searched(CAPPED, "p99=20ms", &halting);
    let error = played.ended.unwrap_err().to_string();
    error.says_all(&["p99=20ms cannot be judged at", "late"]);
    assert!(played.onlooker.done[0].is_missed);
}

#[test]
fn lists_that_change_their_rate_are_refused() {
    let place = Workspace::new();
    for (general, rd, said) in [
        ("", "iorate=curve", "rd1"),
        (
            "",
            "iorate=(100,2,200,2),distribution=variable",
            "its rate changes",
        ),
        ("", "iorate=max,steady=yes", "steady="),
        (
            "precondition=1\n",
            "iorate=(100,50%)",
            "depends on another run",
        ),
    ] {
        let text = format!("{general}sd=sd1,lun=$dir/f,size=1m\nrd=rd1,sd=sd1,{rd},elapsed=2\n");
        let refused = Slo::check(&place.script(&text).runs)
            .unwrap_err()
            .to_string();
        refused.says_all(&["cannot be searched", said]);
    }
    let fine = place.script(&format!("precondition=1\n{CAPPED}"));
    assert!(Slo::check(&fine.runs).is_ok());
}
