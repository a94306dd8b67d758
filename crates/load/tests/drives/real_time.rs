//! Properties of the machine's clock: threads and loops wake, and not before their time. Their lateness depends on
//! the machine; `cargo bench -p load --bench punctuality` shows it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use load::mock::Mock;
use load::{Drive, End, Outcome, RampUp, Schedule, Think};

use super::{AN_HOUR, CLOSED, after, check, in_loops, ms, on_threads, open, plain};

const BOTH: [fn(&Mock, &Drive) -> Outcome; 2] = [
    |mock, how| on_threads(mock.sessions(3), how),
    |mock, how| in_loops(mock.nonblocking(3).unwrap(), 1..=2, how),
];

#[test]
fn nothing_begins_or_ends_before_its_time() {
    let schedule = Schedule::Closed {
        think: Think::Constant(ms(5)),
    };
    let mock = Mock::new().latency(ms(2));
    for of in BOTH {
        let how = plain(schedule, End::Operations { per_job: 10 });
        let outcome = of(&mock, &how);
        check(&outcome);
        assert_eq!(outcome.operations(), 30);
        assert!(outcome.total().service.min_us() >= 1.99e3);
        for job in &outcome.clients {
            assert_eq!(job.idle, ms(45), "pauses are counted as meant");
            assert!(job.service >= ms(20) && job.finish >= ms(65), "{job:?}");
        }
        assert!(outcome.started.unwrap().elapsed() >= outcome.elapsed);
    }
}

#[test]
fn an_open_schedule_keeps_its_rate_and_the_window_its_length() {
    let mock = Mock::new().latency(ms(1));
    for of in BOTH {
        let how = after(RampUp::Time(ms(50)), plain(open(200.0), End::Time(ms(250))));
        let begin = Instant::now();
        let outcome = of(&mock, &how);
        check(&outcome);
        assert_eq!((outcome.operations(), outcome.unserved), (50, 0));
        assert!(outcome.elapsed >= ms(250) && begin.elapsed() >= ms(300));
    }
}

/// Jobs that work, wait for a tick, think or ramp up: the flag, set by another thread, ends the drive.
#[test]
fn the_stop_flag_ends_every_drive() {
    let thinking = Schedule::Closed {
        think: Think::Constant(AN_HOUR),
    };
    let endless = RampUp::Operations { per_job: u64::MAX };
    let mock = Mock::new().latency(ms(1));
    for of in BOTH {
        for (schedule, ramp_up) in [
            (CLOSED, RampUp::None),
            (thinking, RampUp::None),
            (open(0.001), RampUp::None),
            (CLOSED, endless),
        ] {
            let stop = AtomicBool::new(false);
            let how = Drive {
                ramp_up,
                stop: &stop,
                ..plain(schedule, End::Time(AN_HOUR))
            };
            let outcome = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(50));
                    stop.store(true, Relaxed);
                });
                of(&mock, &how)
            });
            assert!(outcome.interrupted && outcome.fatal.is_none());
        }
    }
}
