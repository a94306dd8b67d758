//! Common parts of every point: its seed, its fingerprints, and the figures of a drive.

use std::time::Duration;

use archive::{Figures, PointKey, Sample, Steady};
use engine::Counters;
use host::HostUse;
use load::Outcome;
use sha2::{Digest, Sha256};
use stats::random::mix;

/// Relative slope over a point that still counts as steady.
pub const STEADY_LIMIT: f64 = 0.1;

/// The seed of a point depends on the run's seed, the test, its parallelism and the repetition, but not on the target
/// or the step, so that two configurations get the same keys.
pub fn point_seed(seed: u64, key: &PointKey) -> u64 {
    let code = key.test.bytes().fold(0, |h: u64, b| mix(h ^ u64::from(b)));
    let place = u64::from(key.jobs) << 32 | u64::from(key.repetition);
    mix(seed ^ mix(code ^ mix(place)))
}

/// Sixteen hexadecimal digits that change with any of the texts.
pub fn fingerprint(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash.finalize()
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect()
}

/// The figures of every drive; `closing` is the measured time after its last job, and `is_inside` marks an engine
/// inside this process.
pub fn figures_of(
    outcome: &Outcome,
    closing: Duration,
    operations: u64,
    used: &HostUse,
    is_inside: bool,
    counters: Counters,
) -> Figures {
    let elapsed_s = (outcome.elapsed + closing).as_secs_f64();
    let over = |s: f64| move |n: f64| (s > 0.0).then(|| n / s);
    // The counters cover all the time, including operations that ended after the window.
    let per_s = over(elapsed_s);
    let done_per_s = over((outcome.rate_time() + closing).as_secs_f64());
    let rows = Some(outcome.rows() as f64).filter(|n| *n > 0.0);
    let operations = operations as f64;
    let mut figures = Figures::default();
    used.write_into(&mut figures);
    figures.rows = rows;
    figures.rows_per_s = rows.and_then(done_per_s);
    figures.operations = Some(operations);
    figures.operations_per_s = done_per_s(operations);
    figures.buffer_gets_per_s = counters.buffer_gets.and_then(|n| per_s(n as f64));
    figures.redo_mb_per_s = counters.redo_bytes.and_then(|n| per_s(n as f64 / 1e6));
    figures.elapsed_s = Some(elapsed_s);
    figures.first_finish_s = outcome.first_finish().map(|d| d.as_secs_f64());
    figures.last_finish_s = Some(outcome.elapsed.as_secs_f64());
    figures.errors = Some(outcome.errors() as f64);
    figures.retries = Some(outcome.retries() as f64);
    figures.in_flight_mean = outcome.in_flight_mean();
    figures.little_error_pct = outcome.little_error_pct();
    let of_threads = |cpu: Duration| per_s((cpu.as_secs_f64() + used.sampler_cpu_s) * 100.0);
    figures.driver_cpu_pct = if is_inside {
        of_threads(outcome.driver_cpu())
    } else {
        // All of this process is the driver; for two sides in slices only the time of each side's threads is known.
        (used.rates.process_cpu_pct).or_else(|| of_threads(outcome.threads_cpu()))
    };
    used.write_owners_into(&mut figures);
    figures.forget_short_shares();
    figures.late_starts = Some(outcome.late_starts as f64);
    figures.late_start_us_max = Some(outcome.late_start_max.as_secs_f64() * 1e6);
    figures
}

/// Steadiness of the rates of intervals of equal length; `None` for too few.
pub fn steady(rates_per_s: &[f64]) -> Option<Steady> {
    match stats::steady::judge(rates_per_s, STEADY_LIMIT) {
        stats::steady::Steady::Yes => Some(Steady::Yes),
        stats::steady::Steady::No => Some(Steady::No),
        stats::steady::Steady::Trend => Some(Steady::Trend),
        stats::steady::Steady::Unknown => None,
    }
}

/// Mean rates of intervals `times` as long; a remainder is dropped.
pub fn joined(rates_per_s: &[f64], times: usize) -> Vec<f64> {
    let whole = rates_per_s.chunks_exact(times.max(1));
    whole.filter_map(stats::summary::mean).collect()
}

/// An interval of the jobs without the host, as a line of the time series.
pub fn sample(interval: &load::Interval) -> Sample {
    let length_s = interval.length.as_secs_f64();
    Sample {
        at_s: (interval.at + interval.length).as_secs_f64(),
        operations_per_s: (length_s > 0.0).then(|| interval.operations() as f64 / length_s),
        response_us_p99: interval.response_p99().map(|d| d.as_secs_f64() * 1e6),
        ..Sample::default()
    }
}

/// Combines each sample of the host with the jobs' interval that ends nearest to it.
pub fn series(samples: &[Sample], outcome: &Outcome, interval: Duration) -> Vec<Sample> {
    let half_s = interval.as_secs_f64() / 2.0;
    samples
        .iter()
        .map(|sample| {
            let near = outcome
                .intervals
                .iter()
                .find(|i| ((i.at + i.length).as_secs_f64() - sample.at_s).abs() <= half_s);
            Sample {
                operations_per_s: near
                    .filter(|i| !i.length.is_zero())
                    .map(|i| i.operations() as f64 / i.length.as_secs_f64()),
                response_us_p99: near
                    .and_then(|i| i.response_p99())
                    .map(|d| d.as_secs_f64() * 1e6),
                ..sample.clone()
            }
        })
        .collect()
}
