//! Two drives that take turns, each in its own time.

use load::clock::Slices;

use super::*;

const SLICES: Slices = Slices {
    slice: Duration::from_millis(50),
    settle: Duration::from_millis(5),
    seed: 3,
};

type Load = (usize, Duration, Schedule);

/// Drives both sides for this long in their own time; also returns the real time that it took.
fn in_turn(
    slices: Slices,
    loads: [Load; 2],
    time: Duration,
    in_loops: bool,
) -> ([Outcome; 2], Duration) {
    let (base, passed) = Clock::new_virtual();
    let [a, b] = Clock::alternating(slices, &base);
    let drive = |(jobs, latency, schedule): Load, clock: Clock| {
        let how = on(clock, plain(schedule, End::Time(time)));
        let mock = Mock::new().on(&base).latency(latency);
        if in_loops {
            super::in_loops(mock.nonblocking(jobs).unwrap(), 1..=1, &how)
        } else {
            on_threads(mock.sessions(jobs), &how)
        }
    };
    let outcomes = std::thread::scope(|scope| {
        let other = scope.spawn(|| drive(loads[1], b));
        [drive(loads[0], a), other.join().unwrap()]
    });
    (outcomes, passed.elapsed())
}

/// Eighteen slices of 50 ms, of which 45 count: 45 operations of 1 ms begin in each, and 22 or 23 of 2 ms. Neither
/// side slows down the other, and every operation is measured whole.
#[test]
fn each_side_has_the_rate_that_it_has_alone() {
    for in_loops in [false, true] {
        let loads = [(1, ms(1), CLOSED), (3, ms(2), CLOSED)];
        let ([a, b], lasted) = in_turn(SLICES, loads, ms(900), in_loops);
        for (outcome, per_slice, took_us) in [(&a, 45..=45, 1e3), (&b, 3 * 22..=3 * 23, 2e3)] {
            let operations = outcome.operations();
            let (least, most) = (18 * per_slice.start(), 18 * per_slice.end());
            assert!(
                (least..=most).contains(&operations),
                "{operations} {per_slice:?}"
            );
            assert_eq!(outcome.elapsed, ms(900));
            let each = outcome.total().service;
            assert!(
                each.max_us() <= 1.01 * took_us && each.mean_us() >= 0.999 * took_us,
                "{each:?}"
            );
        }
        // Thirty-six slices and the time before; the last slice of one side may be the first of its pair.
        assert!(lasted >= ms(1750) && lasted <= ms(2300), "{lasted:?}");
    }
}

/// Operations of equal length run in phase with the slices, and few or many of them end in the part that counts: the
/// rate is still that of as many sessions without pauses, from a third of a slice to three of them.
#[test]
fn operations_in_phase_with_the_slices_have_their_rate() {
    let slices = Slices {
        slice: ms(100),
        settle: ms(10),
        seed: 5,
    };
    for in_loops in [false, true] {
        for [took_a, took_b] in [
            [16_200, 17_200],
            [17_200, 19_200],
            [10_000, 10_300],
            [33_400, 290_100],
        ] {
            let loads = [(4, us(took_a), CLOSED), (4, us(took_b), CLOSED)];
            let (outcomes, _) = in_turn(slices, loads, ms(6000), in_loops);
            for (outcome, took_us) in outcomes.iter().zip([took_a, took_b]) {
                let (per_s, own_per_s) =
                    (outcome.operations_per_s().unwrap(), 4e6 / took_us as f64);
                assert!(
                    (per_s / own_per_s - 1.0).abs() < 1e-3,
                    "{took_us} µs: {per_s} {own_per_s}"
                );
            }
        }
    }
}

/// The same with arrivals and pauses of equal length, which are in phase with the slices from the first one on.
#[test]
fn pauses_in_phase_with_the_slices_do_not_change_the_rate() {
    let thinking = Schedule::Closed {
        think: Think::Constant(ms(15)),
    };
    for schedule in [open(50.0), thinking] {
        let (outcomes, _) = in_turn(SLICES, [(1, ms(5), schedule); 2], ms(4000), true);
        for outcome in outcomes {
            let per_s = outcome.operations_per_s().unwrap();
            assert!((per_s / 50.0 - 1.0).abs() < 0.01, "{schedule:?}: {per_s}");
        }
    }
}

/// The other side never came: the one that waits ends as if it was stopped.
#[test]
fn a_side_that_is_alone_is_interrupted() {
    let (base, _) = Clock::new_virtual();
    let [a, b] = Clock::alternating(SLICES, &base);
    b.abandon();
    let how = on(a, plain(CLOSED, End::Time(ms(900))));
    let outcome = on_threads(Mock::new().on(&base).latency(ms(1)).sessions(2), &how);
    assert!(outcome.interrupted && outcome.operations() == 0);
}
