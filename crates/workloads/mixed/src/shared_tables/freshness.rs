//! Age of a copy of the users' tables, and the cost of refreshing it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::load::Progress;
use archive::{Figures, Remark};
use columnar::Result;
use engine::Target;
use stats::summary::quantile;

use super::copy::{Cycle, OrderEntryCopy};
use super::snapshot::Age;

/// Interval at which a waiting copy checks for the end.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
const MB: f64 = 1e6;

/// Refreshes a copy while users work: a cycle starts a fixed time after the start of the one before, or as soon as that
/// one is over. The first cycle ends before the users begin, which `fresh` signals.
pub fn follow(
    copy: &mut OrderEntryCopy,
    from: &dyn Target,
    users: &Progress,
    every: Duration,
    is_over: &AtomicBool,
    fresh: impl FnOnce(),
) -> Result<Vec<Cycle>> {
    copy.follow(from, users.operations())?;
    fresh();
    let mut cycles = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        cycles.push(copy.follow(from, users.operations())?);
        while begun.elapsed() < every && !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(CHECK_INTERVAL.min(every.saturating_sub(begun.elapsed())));
        }
    }
    Ok(cycles)
}

pub(super) fn add_ages(ages: &[Age], figures: &mut Figures) {
    let ms: Vec<f64> = (ages.iter())
        .map(|age| age.time.as_secs_f64() * 1e3)
        .collect();
    let lags: Vec<f64> = ages.iter().map(|age| age.transactions as f64).collect();
    figures.copy_age_ms_p50 = quantile(&ms, 0.5);
    figures.copy_age_ms_p95 = quantile(&ms, 0.95);
    figures.copy_age_ms_max = quantile(&ms, 1.0);
    figures.copy_lag_transactions_p50 = quantile(&lags, 0.5);
    figures.copy_lag_transactions_p95 = quantile(&lags, 0.95);
    figures.copy_lag_transactions_max = quantile(&lags, 1.0);
}

pub fn cost(cycles: &[Cycle], every: Duration) -> Remark {
    let took_ms = |q| {
        let all: Vec<f64> = (cycles.iter())
            .map(|cycle| cycle.took.as_secs_f64() * 1e3)
            .collect();
        quantile(&all, q).unwrap_or_default()
    };
    Remark::CopyFollowed {
        cycles: cycles.len() as u64,
        every_s: every.as_secs_f64(),
        took_ms_p50: took_ms(0.5),
        took_ms_max: took_ms(1.0),
        rows: cycles.iter().map(|cycle| cycle.rows).sum(),
        read_mb: cycles.iter().map(|cycle| cycle.bytes).sum::<u64>() as f64 / MB,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_by_their_median_95_of_100_and_oldest() {
        let ages: Vec<Age> = (0..=100)
            .map(|n| Age {
                time: Duration::from_millis(10 * n),
                transactions: 3 * n,
            })
            .collect();
        let mut figures = Figures::default();
        add_ages(&ages, &mut figures);
        assert_eq!(figures.copy_age_ms_p50, Some(500.0));
        assert_eq!(figures.copy_age_ms_p95, Some(950.0));
        assert_eq!(figures.copy_age_ms_max, Some(1000.0));
        assert_eq!(figures.copy_lag_transactions_p50, Some(150.0));
        assert_eq!(figures.copy_lag_transactions_p95, Some(285.0));
        assert_eq!(figures.copy_lag_transactions_max, Some(300.0));
        let mut none = Figures::default();
        add_ages(&[], &mut none);
        assert_eq!(none, Figures::default());
    }

    #[test]
    fn what_following_took_is_of_all_cycles() {
        let cycle = |ms, rows| Cycle {
            took: Duration::from_millis(ms),
            rows,
            bytes: rows * 100_000,
        };
        let found = cost(
            &[cycle(10, 1), cycle(30, 5), cycle(20, 4)],
            Duration::from_secs(1),
        );
        let right = Remark::CopyFollowed {
            cycles: 3,
            every_s: 1.0,
            took_ms_p50: 20.0,
            took_ms_max: 30.0,
            rows: 10,
            read_mb: 1.0,
        };
        assert_eq!(found, right);
    }
}
