//! Two drives that take turns, each in time of its own.

use load::clock::Slices;

use super::*;

const SLICES: Slices = Slices {
    slice: Duration::from_millis(50),
    settle: Duration::from_millis(5),
    seed: 3,
};

/// Drives both sides, each with so many sessions and its own latency, for so long in their own time; and how long that
/// lasted.
fn in_turn(jobs: [usize; 2], latencies: [Duration; 2], in_loops: bool) -> ([Outcome; 2], Duration) {
    let (base, time) = Clock::new_virtual();
    let [a, b] = Clock::alternating(SLICES, &base);
    let drive = |side: usize, clock: Clock| {
        let how = Drive {
            clock,
            ..plain(CLOSED, End::Time(ms(900)))
        };
        let mock = Mock::new().on(&base).latency(latencies[side]);
        match in_loops {
            true => super::in_loops(mock.nonblocking(jobs[side]).unwrap(), 1..=1, &how),
            false => on_threads(mock.sessions(jobs[side]), &how),
        }
    };
    let outcomes = std::thread::scope(|scope| {
        let other = scope.spawn(|| drive(1, b));
        [drive(0, a), other.join().unwrap()]
    });
    (outcomes, time.elapsed())
}

/// Twenty slices of 45 ms that count: with 1 ms an operation 45 in each, with 2 ms 22 or 23, because an operation counts
/// where it ends. Nobody is slowed down by the other.
#[test]
fn each_side_has_the_rate_that_it_has_alone() {
    for in_loops in [false, true] {
        let ([a, b], lasted) = in_turn([1, 3], [ms(1), ms(2)], in_loops);
        for (outcome, per_slice) in [(&a, 44..=45), (&b, 3 * 22..=3 * 23)] {
            let operations = outcome.operations();
            let (least, most) = (20 * per_slice.start(), 20 * per_slice.end());
            assert!(
                (least..=most).contains(&operations),
                "{operations} {per_slice:?}"
            );
            assert_eq!(outcome.elapsed, ms(900));
            let each = outcome.total().service;
            // The one under way when its slice begins to count is seen from there on.
            assert!(
                each.max_us() <= 2_010.0 && each.mean_us() >= 970.0,
                "{each:?}"
            );
        }
        // Forty slices and what went before; the last slice of one side may be the first of its pair.
        assert!(lasted >= ms(1950) && lasted <= ms(2500), "{lasted:?}");
    }
}

/// The other side never came: the one that waits ends as if it was stopped.
#[test]
fn a_side_that_is_alone_is_interrupted() {
    let (base, _) = Clock::new_virtual();
    let [a, b] = Clock::alternating(SLICES, &base);
    b.abandon();
    let how = Drive {
        clock: a,
        ..plain(CLOSED, End::Time(ms(900)))
    };
    let outcome = on_threads(Mock::new().on(&base).latency(ms(1)).sessions(2), &how);
    assert!(outcome.interrupted && outcome.operations() == 0);
}
