//! Properties of the machine's clock: users are woken, not before their time, and leave when the drive is stopped.
//! Their lateness depends on the machine.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use load::mock::Mock;
use load::{Arrivals, Drive, RampUp, Schedule, Think};

use super::{AN_HOUR, Flock, KINDS, Log, WAYS, check, connections, drive_population, ms, plain};

#[test]
fn arrivals_are_served_and_the_window_has_its_length() {
    for way in WAYS {
        let (log, flock) = (Log::default(), Flock::new(5, Think::None));
        let how = Drive {
            schedule: Schedule::Open {
                rate_per_s: 200.0,
                arrivals: Arrivals::Constant,
            },
            ramp_up: RampUp::Time(ms(50)),
            ..plain(5, ms(250))
        };
        let begin = Instant::now();
        let mock = Mock::new().latency(ms(1));
        let outcome = drive_population(&flock, connections(way, &mock, 3, &log), KINDS, &how);
        check(&outcome);
        assert!(begin.elapsed() >= ms(300) && outcome.elapsed == ms(250));
        let total = outcome.total();
        // Operations of the ramp-up that end late are in the window as well.
        assert!(total.completed + outcome.unfinished >= 50);
        assert!(total.service.is_empty() || total.service.min_us() >= 0.99e3);
        assert_eq!(outcome.late_starts == 0, outcome.late_start_max.is_zero());
    }
}

#[test]
fn the_stop_flag_ends_every_crowd() {
    for way in WAYS {
        for think in [Think::None, Think::Constant(AN_HOUR)] {
            let stop = AtomicBool::new(false);
            let (log, flock) = (Log::default(), Flock::new(30, think));
            let how = Drive {
                stop: &stop,
                ..plain(30, AN_HOUR)
            };
            let mock = Mock::new().latency(ms(1));
            let outcome = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(ms(50));
                    stop.store(true, Relaxed);
                });
                drive_population(&flock, connections(way, &mock, 3, &log), KINDS, &how)
            });
            assert!(outcome.interrupted && outcome.fatal.is_none());
        }
    }
}
