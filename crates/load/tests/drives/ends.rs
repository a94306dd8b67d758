//! Beginning and end of the measurement.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use load::mock::Mock;
use load::{BlockingClient, Clock, Done, Drive, End, Failure, RampUp};

use super::{AN_HOUR, CLOSED, after, assert_us, ms, on_threads, open, plain, run, sessions, us};

/// The first five operations of every session take 300 ms, the others 1: after a ramp-up of five operations they are
/// neither in the histograms nor in the series nor in the elapsed time.
#[test]
fn a_ramp_up_of_operations_leaves_no_trace() {
    let how = after(
        RampUp::Operations { per_job: 5 },
        plain(CLOSED, End::Operations { per_job: 50 }),
    );
    let mock = Mock::new().latency(ms(1)).slow_start(5, ms(300));
    let outcome = run(&how, sessions(mock, 3));
    assert_eq!((outcome.operations(), outcome.elapsed), (150, ms(50)));
    assert_us(outcome.total().response.max_us(), ms(1));
}

/// Without the ramp-up the same drive shows all of it: the test above can fail.
#[test]
fn without_ramp_up_the_slow_start_is_measured() {
    let how = plain(CLOSED, End::Operations { per_job: 50 });
    let mock = Mock::new().latency(ms(1)).slow_start(5, ms(50));
    let outcome = run(&how, sessions(mock, 3));
    assert_eq!(outcome.total().response.count_above_us(49e3), 15);
    assert_eq!(outcome.elapsed, ms(5 * 50 + 45));
}

/// A timed ramp-up runs the schedule itself; only operations meant to start after it count.
#[test]
fn a_timed_ramp_up_leaves_no_trace() {
    for (schedule, operations) in [(CLOSED, 600), (open(100.0), 30)] {
        let how = after(RampUp::Time(ms(500)), plain(schedule, End::Time(ms(300))));
        let mock = Mock::new().latency(ms(1)).slow_start(1, ms(200));
        let outcome = run(&how, sessions(mock, 2));
        assert_us(outcome.total().response.max_us(), ms(1));
        assert_eq!(outcome.operations(), operations);
        assert_eq!(outcome.elapsed, ms(300));
    }
}

/// Each job has its own pace: the first finish belongs to the fast one, elapsed to the slow one.
#[test]
fn fixed_work_keeps_the_first_and_the_last_finish() {
    let outcome = run(&plain(CLOSED, End::Operations { per_job: 10 }), |clock| {
        let mut clients = Mock::new().on(clock).latency(ms(1)).sessions(1);
        clients.extend(Mock::new().on(clock).latency(ms(40)).sessions(1));
        clients
    });
    assert_eq!(outcome.clients[0].finish, ms(10));
    assert_eq!(outcome.clients[1].finish, ms(400));
    assert_eq!(outcome.elapsed, ms(400));
    assert_eq!(outcome.first_finish(), Some(ms(10)));
    assert_eq!(outcome.clients[0].operations, outcome.clients[1].operations);
}

#[test]
fn exhausted_jobs_end_well() {
    let outcome = run(&plain(CLOSED, End::Operations { per_job: 20 }), |clock| {
        let mock = Mock::new().on(clock).latency(ms(1));
        let mut clients = mock.clone().exhausted_after(7).sessions(1);
        clients.extend(mock.sessions(1));
        clients
    });
    assert_eq!((outcome.operations(), outcome.errors()), (27, 0));
    assert!(outcome.fatal.is_none() && !outcome.interrupted);

    let mock = Mock::new().latency(ms(1)).exhausted_after(7);
    let outcome = run(&plain(CLOSED, End::Time(AN_HOUR)), sessions(mock, 2));
    assert_eq!(
        (outcome.operations(), outcome.elapsed),
        (14, ms(7)),
        "no work left, nothing to wait for"
    );
}

struct Witness<'a>(&'a Mutex<Vec<u64>>);

impl BlockingClient for Witness<'_> {
    fn operate(&mut self, request: load::Request) -> Result<Done, Failure> {
        let index = request.index;
        self.0.lock().expect("no witness panics").push(index);
        Ok(Done {
            rows: 3,
            retries: 2,
            ..Done::default()
        })
    }
}

#[test]
fn indices_never_repeat_over_ramp_up_and_measurement() {
    let indices = Mutex::new(Vec::new());
    let how = after(
        RampUp::Operations { per_job: 4 },
        plain(CLOSED, End::Operations { per_job: 6 }),
    );
    let outcome = run(&how, |_| vec![Box::new(Witness(&indices))]);
    assert_eq!((outcome.rows(), outcome.retries()), (18, 12));
    assert_eq!(outcome.clients[0].rows, 18);
    let indices = indices.into_inner().unwrap();
    assert_eq!(indices, (0..10).collect::<Vec<_>>());
}

#[test]
fn nothing_to_do_is_done_at_once() {
    let nobody = run(&plain(CLOSED, End::Time(AN_HOUR)), |_| Vec::new());
    assert!(nobody.operations() == 0 && nobody.started.is_none() && nobody.fatal.is_none());
    let nothing = plain(CLOSED, End::Operations { per_job: 0 });
    let outcome = run(&nothing, sessions(Mock::new(), 2));
    assert_eq!((outcome.operations(), outcome.in_flight_mean()), (0, None));
}

/// Counts its operations, of 1 ms each, until the measurement begins.
struct Reported<'a> {
    clock: Clock,
    before: u64,
    reported: &'a AtomicU64,
}

impl BlockingClient for Reported<'_> {
    fn operate(&mut self, _request: load::Request) -> Result<Done, Failure> {
        self.before += 1;
        let until_ns = self.clock.now_ns() + 1_000_000;
        self.clock.sleep_until(until_ns, || false);
        Ok(Done::default())
    }

    fn measurement_begins(&mut self) {
        self.reported.store(self.before, Relaxed);
    }
}

#[test]
fn a_client_is_notified_once_when_its_ramp_up_is_over() {
    let reported = AtomicU64::new(u64::MAX);
    for (ramp_up, end, operations) in [
        (
            RampUp::Operations { per_job: 7 },
            End::Operations { per_job: 5 },
            7,
        ),
        (RampUp::Time(ms(60)), End::Time(ms(60)), 60),
    ] {
        let how = after(ramp_up, plain(CLOSED, end));
        run(&how, |clock| {
            vec![Box::new(Reported {
                clock: clock.clone(),
                before: 0,
                reported: &reported,
            })]
        });
        assert_eq!(reported.load(Relaxed), operations);
    }
}

/// The start of the window on the standard library's clock is its start on the drive's clock.
#[test]
fn the_start_is_that_of_the_window() {
    let (clock, time) = Clock::new_virtual();
    let how = Drive {
        ramp_up: RampUp::Time(ms(500)),
        clock: clock.clone(),
        ..plain(CLOSED, End::Time(ms(300)))
    };
    let begin = clock.instant_of(clock.now_ns());
    let outcome = on_threads(Mock::new().on(&clock).latency(ms(1)).sessions(2), &how);
    // Before the common start there is a lead of 1 ms and 20 µs for each job.
    let lead = Duration::from_micros(1040);
    assert_eq!(outcome.started, Some(begin + lead + ms(500)));
    assert_eq!(time.elapsed(), lead + ms(800));
}

/// A window of a third of a second holds twenty operations of a job and a part of one, and a ramp-up ends in the
/// middle of one: the rate is still that of sessions without pauses.
#[test]
fn a_short_window_has_the_rate_of_its_sessions() {
    for took in [us(16_200), us(17_200), us(19_200), us(140_000)] {
        for ramp_up in [RampUp::None, RampUp::Time(ms(37))] {
            let how = after(ramp_up, plain(CLOSED, End::Time(ms(350))));
            let outcome = run(&how, sessions(Mock::new().latency(took), 4));
            let (per_s, own) = (
                outcome.operations_per_s().unwrap(),
                4.0 / took.as_secs_f64(),
            );
            assert!((per_s / own - 1.0).abs() < 1e-6, "{took:?}: {per_s} {own}");
        }
    }
}

/// Jobs that are done wait 400 ms for one whose last operation is long: their rate is not divided by that time.
#[test]
fn who_ends_early_is_not_waited_for() {
    let outcome = run(&plain(CLOSED, End::Time(ms(1000))), |clock| {
        let mut clients = Mock::new().on(clock).latency(ms(10)).sessions(3);
        let slow = Mock::new().on(clock).latency(ms(10));
        clients.extend(slow.stall(ms(990), ms(400)).sessions(1));
        clients
    });
    assert!(outcome.elapsed >= ms(1390), "{:?}", outcome.elapsed);
    let mean_s = outcome.total().service.mean_us() / 1e6;
    let per_s = outcome.operations_per_s().unwrap();
    assert!(
        (per_s * mean_s / 4.0 - 1.0).abs() < 2e-3,
        "{per_s} {mean_s}"
    );
}

/// At 900/s a session of 2 ms is late from the start: it completes 500/s, though half of its operations in the window
/// were due in the ramp-up, and most of the others end after it.
#[test]
fn what_the_ramp_up_left_over_is_done_as_well() {
    let how = after(
        RampUp::Time(ms(500)),
        plain(open(900.0), End::Time(ms(1000))),
    );
    let outcome = run(&how, sessions(Mock::new().latency(ms(2)), 1));
    let per_s = outcome.operations_per_s().unwrap();
    assert!((per_s - 500.0).abs() < 0.1, "{per_s}");
}
