//! The arithmetic of schedules, to the nanosecond and without a clock.

use std::collections::BTreeSet;
use std::time::Duration;

use load::schedule::{Ticks, Timetable};
use load::{Arrivals, End, RampUp, Schedule, Think};
use stats::random::Random;

use super::{CLOSED, ms, open};

const SECOND: u64 = 1_000_000_000;

fn table(schedule: Schedule, ramp_up: RampUp, end: End, jobs: usize) -> Timetable {
    Timetable::new(schedule, ramp_up, end, jobs, 7).expect("all schedules here are possible")
}

fn ticks(arrivals: Arrivals, seed: u64, count: usize) -> Vec<u64> {
    let process = Ticks::new(1000.0, arrivals, seed);
    (0..count).map(|_| process.take_ns()).collect()
}

#[test]
fn even_ticks_do_not_drift() {
    let process = Ticks::new(3.0, Arrivals::Constant, 0);
    let all: Vec<u64> = (0..=3_000_000).map(|_| process.take_ns()).collect();
    assert_eq!(all[..4], [0, 333_333_333, 666_666_667, SECOND]);
    assert_eq!(all[3_000_000], 1_000_000 * SECOND);
}

/// Exponential gaps at 1000/s: mean 1 ms and standard deviation 1 ms; over 200 000 gaps the standard errors
/// are 0.22 % and 0.63 % (of the variance), and the share beyond 2 ms is e⁻² = 13.5 %. Golden for the seed.
#[test]
fn poisson_gaps_have_the_right_mean_and_variance() {
    let times = ticks(Arrivals::Poisson, 1, 200_000);
    assert!(times.is_sorted_by(|a, b| a < b));
    let gaps: Vec<f64> = times
        .windows(2)
        .map(|w| (w[1] - w[0]) as f64 / 1e6)
        .collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n;
    let long = gaps.iter().filter(|g| **g > 2.0).count() as f64 / n;
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
    assert!((variance - 1.0).abs() < 0.025, "{variance}");
    assert!((long - 0.1353).abs() < 0.004, "{long}");
    // Neighbouring gaps are independent: their correlation is 0 ± 1/√n.
    let joint = gaps
        .windows(2)
        .map(|w| (w[0] - mean) * (w[1] - mean))
        .sum::<f64>()
        / n;
    assert!((joint / variance).abs() < 0.01, "{joint}");
}

#[test]
fn the_seed_and_nothing_else_decides() {
    assert_eq!(
        ticks(Arrivals::Poisson, 5, 1000),
        ticks(Arrivals::Poisson, 5, 1000)
    );
    assert_ne!(
        ticks(Arrivals::Poisson, 5, 1000),
        ticks(Arrivals::Poisson, 6, 1000)
    );
    let draw = |job| {
        let schedule = Schedule::Closed {
            think: Think::Exponential { mean: ms(10) },
        };
        let table = table(schedule, RampUp::None, End::Operations { per_job: 50 }, 2);
        let mut pacer = table.pacer(job);
        let mut times = Vec::new();
        while let Some(step) = pacer.next(times.last().copied().unwrap_or(0)) {
            times.push(step.intended_ns);
        }
        times
    };
    assert_eq!(draw(0), draw(0));
    assert_ne!(draw(0), draw(1));
}

#[test]
fn ticks_are_shared_without_loss() {
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let process = Ticks::new(1000.0, arrivals, 5);
        let taken: BTreeSet<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| (0..5000).map(|_| process.take_ns()).collect::<Vec<_>>()))
                .collect();
            threads
                .into_iter()
                .flat_map(|t| t.join().unwrap())
                .collect()
        });
        assert_eq!(
            taken.into_iter().collect::<Vec<_>>(),
            ticks(arrivals, 5, 20_000)
        );
    }
}

/// The window is half open: an operation meant for its first instant counts, one meant for its last does not.
#[test]
fn only_the_window_counts() {
    let timed = table(open(10.0), RampUp::Time(ms(1000)), End::Time(ms(2000)), 1);
    let mut pacer = timed.pacer(0);
    let steps: Vec<_> = std::iter::from_fn(|| pacer.next(0)).collect();
    assert_eq!(steps.len(), 30);
    let measured: Vec<_> = steps.iter().filter(|s| s.measured).collect();
    assert_eq!(measured.len(), 20);
    assert_eq!(measured[0].intended_ns, SECOND);
    assert_eq!(measured[19].intended_ns, 2_900_000_000);
}

/// A job that was away for two seconds gets every tick it missed, with the time it was meant for.
#[test]
fn late_ticks_are_not_skipped() {
    let table = table(open(10.0), RampUp::None, End::Time(ms(3000)), 1);
    let mut pacer = table.pacer(0);
    let mut steps = vec![pacer.next(0).unwrap()];
    steps.extend(std::iter::from_fn(|| pacer.next(2 * SECOND)));
    let times: Vec<u64> = steps.iter().map(|s| s.intended_ns).collect();
    assert_eq!(times, (0..30).map(|i| i * SECOND / 10).collect::<Vec<_>>());
    assert_eq!(pacer.unserved(), 0);
}

#[test]
fn given_up_ticks_are_counted_once_the_time_to_drain_is_over() {
    let timed = table(open(10.0), RampUp::Time(ms(1000)), End::Time(ms(3000)), 1);
    let mut pacer = timed.pacer(0);
    assert!(pacer.next(0).is_some());
    assert_eq!(pacer.next(4 * SECOND + 3 * SECOND), None);
    assert_eq!(pacer.unserved(), 30, "ticks of the ramp-up are not missed");
}

#[test]
fn fixed_work_is_shared_in_open_models_and_each_jobs_own_in_closed() {
    let end = End::Operations { per_job: 5 };
    let shared = table(open(10.0), RampUp::None, end, 2);
    let mut alone = shared.pacer(0);
    assert_eq!(std::iter::from_fn(|| alone.next(0)).count(), 10);
    assert_eq!(shared.pacer(1).next(0), None);
    let own = table(CLOSED, RampUp::Time(ms(10)), end, 2);
    for job in 0..2 {
        let mut pacer = own.pacer(job);
        assert!(!pacer.next(0).unwrap().measured);
        assert_eq!(std::iter::from_fn(|| pacer.next(SECOND)).count(), 5);
    }
}

/// A session arrives, thinks twice, and the next one arrives; at the end of the window it is cut, but an overdue
/// arrival is still served.
#[test]
fn sessions_follow_arrivals() {
    let schedule = Schedule::SemiOpen {
        sessions_per_s: 1.0,
        arrivals: Arrivals::Constant,
        operations_per_session: 3,
        think: Think::Constant(ms(100)),
    };
    let table = table(schedule, RampUp::None, End::Time(ms(4000)), 1);
    let mut pacer = table.pacer(0);
    let mut at = |free_ms: u64| {
        let step = pacer.next(free_ms * 1_000_000)?;
        Some(step.intended_ns / 1_000_000)
    };
    assert_eq!([at(0), at(10), at(210)], [Some(0), Some(110), Some(310)]);
    assert_eq!(at(320), Some(1000), "the next session");
    assert_eq!(
        at(3950),
        Some(2000),
        "its second operation is beyond the end, an overdue session is not"
    );
    assert_eq!([at(3960), at(3970)], [Some(3000), None]);
}

#[test]
fn think_times_are_cut_at_ten_means() {
    let mut random = Random::new(1);
    let think = Think::Exponential { mean: ms(1) };
    let draws: Vec<u64> = (0..200_000).map(|_| think.draw_ns(&mut random)).collect();
    assert_eq!(
        draws.iter().max(),
        Some(&10_000_000),
        "e⁻¹⁰ of them, about 9, are cut"
    );
    assert_eq!(Think::None.draw_ns(&mut random), 0);
    let constant = Think::Constant(Duration::from_micros(3));
    assert_eq!(constant.draw_ns(&mut random), 3000);
}
