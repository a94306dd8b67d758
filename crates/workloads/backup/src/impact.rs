//! Impact of a backup on the users.

use std::time::{Duration, Instant};

use archive::{Point, Remark, Sample};
use lab::point::series;
use load::Outcome;
use stats::Histogram;

use super::step::BackupStep;

/// Quantile of the normal distribution for a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;
const PERCENTILE: f64 = 95.0;

/// Work of the users before and during a backup.
pub(super) struct Impact {
    pub alone: Outcome,
    pub during: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Figure {
    value: f64,
    low: f64,
    high: f64,
}

impl Impact {
    /// Adds the users' operations and latencies to the samples of the machine.
    pub fn over_time(
        &self,
        samples: Vec<Sample>,
        began: Option<Instant>,
        interval: Duration,
    ) -> Vec<Sample> {
        let Some((backup, users)) = began.zip(self.during.started) else {
            return samples;
        };
        // The intervals count from the start of the backup; work before it is left out.
        let shifted = |since: &load::Interval| {
            let at = (users + since.at).checked_duration_since(backup)?;
            Some(load::Interval {
                at,
                ..since.clone()
            })
        };
        let during = Outcome {
            intervals: self.during.intervals.iter().filter_map(shifted).collect(),
            ..Outcome::default()
        };
        series(&samples, &during, interval)
    }

    pub fn enter(&self, point: &mut Point, options: &BackupStep) {
        let of = |outcome: &Outcome| {
            let total = outcome.total();
            let rate = rate(total.completed, outcome.elapsed.as_secs_f64())?;
            Some((rate, p95_us(&total.response)?))
        };
        let (Some(alone), Some(during)) = (of(&self.alone), of(&self.during)) else {
            // Without a single transaction nothing is known.
            return;
        };
        let figures = &mut point.figures;
        figures.foreground_alone_per_s = Some(alone.0.value);
        figures.foreground_during_per_s = Some(during.0.value);
        figures.foreground_alone_us_p95 = Some(alone.1.value);
        figures.foreground_during_us_p95 = Some(during.1.value);
        point.notes.push(Remark::BackupUnderLoad {
            users: options.users,
            offered_per_s: options.during_per_s.unwrap_or_default(),
            alone_per_s: alone.0.value,
            alone_low_per_s: alone.0.low,
            alone_high_per_s: alone.0.high,
            during_per_s: during.0.value,
            during_low_per_s: during.0.low,
            during_high_per_s: during.0.high,
            alone_us_p95: alone.1.value,
            alone_low_us_p95: alone.1.low,
            alone_high_us_p95: alone.1.high,
            during_us_p95: during.1.value,
            during_low_us_p95: during.1.low,
            during_high_us_p95: during.1.high,
        });
    }
}

/// Rate with Poisson's interval, which holds for independent arrivals.
fn rate(count: u64, elapsed_s: f64) -> Option<Figure> {
    let count = count as f64;
    let spread = Z * count.sqrt();
    (count > 0.0 && elapsed_s > 0.0).then(|| Figure {
        value: count / elapsed_s,
        low: ((count - spread) / elapsed_s).max(0.0),
        high: (count + spread) / elapsed_s,
    })
}

/// 95th percentile, with an interval between the ranks that a binomial distribution gives.
fn p95_us(times: &Histogram) -> Option<Figure> {
    let share = PERCENTILE / 100.0;
    let count = times.count() as f64;
    let spread = 100.0 * Z * (share * (1.0 - share) / count).sqrt();
    (count > 0.0).then(|| Figure {
        value: times.percentile_us(PERCENTILE),
        low: times.percentile_us((PERCENTILE - spread).max(0.0)),
        high: times.percentile_us((PERCENTILE + spread).min(100.0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_percentiles_have_the_intervals_of_their_numbers() {
        let of = rate(400, 4.0).unwrap();
        assert_eq!(of.value, 100.0);
        assert!(
            (of.low - 90.2).abs() < 0.01 && (of.high - 109.8).abs() < 0.01,
            "{of:?}"
        );
        assert_eq!(rate(0, 4.0), None);
        let mut times = Histogram::new();
        (1..=1000).for_each(|us| times.record_ns(us * 1000));
        let of = p95_us(&times).unwrap();
        let near = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 0.01;
        assert!(
            near(of.value, 950.0) && near(of.low, 937.0) && near(of.high, 964.0),
            "{of:?}"
        );
        assert_eq!(p95_us(&Histogram::new()), None);
    }

    #[test]
    fn the_course_of_a_backup_has_what_its_users_did_in_it() {
        let each = Duration::from_millis(100);
        let interval = |number: u32| {
            let mut kind = load::KindInterval::default();
            (0..number).for_each(|_| kind.response.record_ns(1_000_000));
            load::Interval {
                at: each * number,
                length: each,
                kinds: vec![kind],
            }
        };
        // The users began two intervals before the backup.
        let began = Instant::now();
        let during = Outcome {
            started: began.checked_sub(each * 2),
            intervals: (0..5).map(interval).collect(),
            ..Outcome::default()
        };
        let alone = Outcome::default();
        let impact = Impact { alone, during };
        let samples = [0.1, 0.2, 0.3, 0.4].map(|at_s| Sample {
            at_s,
            ..Sample::default()
        });
        let course = impact.over_time(samples.to_vec(), Some(began), each);
        let rates: Vec<Option<f64>> = course.iter().map(|s| s.operations_per_s).collect();
        assert_eq!(rates, [Some(20.0), Some(30.0), Some(40.0), None]);
        assert!(
            course[0]
                .response_us_p99
                .is_some_and(|us| (us / 1000.0 - 1.0).abs() < 0.05)
        );
        assert_eq!(impact.over_time(samples.to_vec(), None, each), samples);
    }
}
