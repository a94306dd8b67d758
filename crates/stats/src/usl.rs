//! How throughput grows with parallelism: the Universal Scalability Law, fitted within its bounds, and
//! Amdahl's law for the times of one parallel statement.

use crate::interval::{Interval, share};
use crate::least_squares::fit;
use crate::random::Random;
use crate::scaling::Load;
use crate::summary::quantile;
use crate::warning::Warning;

pub use crate::law::Law;

pub const DOPS_MIN: usize = 4;
pub const DOPS_MIN_INTERVAL: usize = 6;
pub const LOADS_MAX: usize = 1_000;
pub const RESAMPLES_MAX: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Peak {
    Observed {
        dop: u32,
        rate: f64,
    },
    /// The maximum lies outside the measured range, or does not exist; it must not be printed.
    NotObserved,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub law: Law,
    /// Share of the variance that the law explains. Near 1 it does *not* say that the law holds beyond
    /// the measured range.
    pub r_squared: f64,
    /// Interval of σ; `None` below [`DOPS_MIN_INTERVAL`] degrees of parallelism.
    pub contention: Option<Interval>,
    pub coherency: Option<Interval>,
    /// Interval of the turning point, only where it was observed; its upper end is infinite when over
    /// α/2 of the resamples never turn.
    pub peak_dop: Option<Interval>,
    pub peak: Peak,
    pub warnings: Vec<Warning>,
    laws: Vec<Law>,
    confidence: f64,
}

impl Fit {
    /// Interval of the throughput at a parallelism, by the laws of the resamples: σ and κ depend on each other, so it
    /// cannot be made from their intervals. `None` below [`DOPS_MIN_INTERVAL`] degrees of parallelism. Beyond the
    /// measured range it shows the noise, and nothing about the law's validity there.
    pub fn rate_interval(&self, dop: f64) -> Option<Interval> {
        let rates = self.laws.iter().map(|law| law.rate(dop)).collect();
        between(self.law.rate(dop), rates, self.confidence)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    pub confidence: f64,
    pub resamples: usize,
    pub seed: u64,
}

/// Fits the Universal Scalability Law.
///
/// Method: least squares of X − X(N) within λ, σ, κ ≥ 0. Intervals by the bootstrap of residuals relative
/// to the fitted rate, widened by √(n/(n − 3)) for the three parameters. Source: Gunther 2007, "Guerrilla
/// Capacity Planning", chapters 4 and 5. Limits: [`DOPS_MIN`] different degrees of parallelism with positive
/// finite rates, and intervals from six; before the knee σ and κ are not distinguishable, whatever R² says
/// (the first 8 of the golden points give N* = 56, the first 16 give 22, all 32 give 35), so a maximum
/// outside the measured range is [`Peak::NotObserved`].
/// Golden (the data of `usl-rs`, N = 1 … 32): σ = 0.026 716, κ = 7.6909e-4, λ = 995.65, N* = 35.
pub fn usl(loads: &[Load], resampling: &Resampling) -> Result<Fit, Warning> {
    let (dops, rates) = usable(loads)?;
    let different = different(&dops);
    if different < DOPS_MIN {
        return Err(Warning::too_few(different, DOPS_MIN));
    }
    share("confidence", resampling.confidence)?;
    let law = fit(&dops, &rates, false);
    let mut warnings = Vec::new();
    for (value, parameter) in [
        (law.contention, "the contention σ"),
        (law.coherency, "the coherency κ"),
    ] {
        if value == 0.0 {
            warnings.push(Warning::AtBound { parameter });
        }
    }
    let measured = dops.iter().copied().fold(0.0, f64::max);
    let turn = law
        .turning_point()
        .filter(|dop| f64::from(*dop) <= measured);
    let peak = turn.map_or(Peak::NotObserved, |dop| Peak::Observed {
        dop,
        rate: law.rate(f64::from(dop)),
    });
    if peak == Peak::NotObserved {
        warnings.push(Warning::PeakNotObserved);
    }
    let laws = if different >= DOPS_MIN_INTERVAL {
        resampled(&law, &dops, &rates, resampling, false)
    } else {
        warnings.push(Warning::too_few(different, DOPS_MIN_INTERVAL));
        Vec::new()
    };
    let interval = |estimate: f64, of: &dyn Fn(&Law) -> f64| {
        between(
            estimate,
            laws.iter().map(of).collect(),
            resampling.confidence,
        )
    };
    Ok(Fit {
        r_squared: r_squared(&law, &dops, &rates),
        contention: interval(law.contention, &|law| law.contention),
        coherency: interval(law.coherency, &|law| law.coherency),
        peak_dop: turn.and_then(|dop| {
            interval(f64::from(dop), &|law| {
                law.turning_point().map_or(f64::INFINITY, f64::from)
            })
        }),
        law,
        peak,
        warnings,
        laws,
        confidence: resampling.confidence,
    })
}

/// Amdahl's law fitted to the times of one piece of work: T(p) = T₁(s + (1 − s)/p).
#[derive(Debug, Clone, PartialEq)]
pub struct Amdahl {
    /// T₁, in the unit of the times.
    pub time_of_one: f64,
    /// s: the share that does not run in parallel, 0 or more. Above 1 parallelism makes it slower.
    pub serial_share: f64,
    /// Interval of s; `None` below four degrees of parallelism.
    pub serial_interval: Option<Interval>,
    pub r_squared: f64,
    pub warnings: Vec<Warning>,
}

/// Fits Amdahl's law to (parallelism, time).
///
/// Formula: 1/T is the Universal Scalability Law with κ = 0, σ = s and λ = 1/T₁, fitted as in [`usl`]. Source:
/// Amdahl 1967; Gunther 2007. Limits: three different degrees of parallelism, four for an interval;
/// the limit 1/s of the speed-up lies outside what was measured and is not given.
/// Golden: times 10, 5.5, 3.25, 2.125 at 1, 2, 4, 8 have s = 0.1 and T₁ = 10.
pub fn amdahl(times: &[(u32, f64)], resampling: &Resampling) -> Result<Amdahl, Warning> {
    let loads: Vec<Load> = times
        .iter()
        .map(|(dop, time)| Load {
            dop: *dop,
            rate: 1.0 / time,
        })
        .collect();
    let (dops, rates) = usable(&loads)?;
    let different = different(&dops);
    if different < 3 {
        return Err(Warning::too_few(different, 3));
    }
    share("confidence", resampling.confidence)?;
    let law = fit(&dops, &rates, true);
    let mut warnings = Vec::new();
    if law.contention == 0.0 {
        warnings.push(Warning::AtBound {
            parameter: "the serial share",
        });
    }
    let laws = if different >= 4 {
        resampled(&law, &dops, &rates, resampling, true)
    } else {
        warnings.push(Warning::too_few(different, 4));
        Vec::new()
    };
    let shares = laws.iter().map(|law| law.contention).collect();
    Ok(Amdahl {
        time_of_one: 1.0 / law.rate_of_one,
        serial_share: law.contention,
        serial_interval: between(law.contention, shares, resampling.confidence),
        r_squared: r_squared(&law, &dops, &rates),
        warnings,
    })
}

fn usable(loads: &[Load]) -> Result<(Vec<f64>, Vec<f64>), Warning> {
    let dropped = loads.iter().filter(|l| !l.rate.is_finite()).count();
    if dropped > 0 {
        return Err(Warning::NotFinite { dropped });
    }
    let count = loads.iter().filter(|l| l.rate <= 0.0 || l.dop == 0).count();
    if count > 0 {
        return Err(Warning::NotPositive { count });
    }
    if loads.len() > LOADS_MAX {
        return Err(Warning::too_many(loads.len(), LOADS_MAX));
    }
    Ok(loads.iter().map(|l| (f64::from(l.dop), l.rate)).unzip())
}

fn different(dops: &[f64]) -> usize {
    let mut sorted = dops.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    sorted.len()
}

/// Laws fitted to the fitted rates with the residuals redistributed.
fn resampled(
    law: &Law,
    dops: &[f64],
    rates: &[f64],
    resampling: &Resampling,
    is_amdahl: bool,
) -> Vec<Law> {
    let n = dops.len();
    let parameters = if is_amdahl { 2.0 } else { 3.0 };
    let widened = (n as f64 / (n as f64 - parameters)).sqrt();
    let fitted: Vec<f64> = dops.iter().map(|dop| law.rate(*dop)).collect();
    let residuals: Vec<f64> = rates
        .iter()
        .zip(&fitted)
        .map(|(x, f)| widened * (x / f - 1.0))
        .collect();
    let mean = residuals.iter().sum::<f64>() / n as f64;
    let mut random = Random::new(resampling.seed);
    (0..resampling.resamples.clamp(100, RESAMPLES_MAX))
        .map(|_| {
            let dealt: Vec<f64> = fitted
                .iter()
                .map(|f| f * (1.0 + residuals[random.index(n)] - mean))
                .collect();
            fit(dops, &dealt, is_amdahl)
        })
        .collect()
}

fn between(estimate: f64, mut values: Vec<f64>, confidence: f64) -> Option<Interval> {
    values.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    // Interpolating between a number and infinity gives NaN; the order statistic itself does not.
    let at = |q: f64| {
        let rank = ((values.len().saturating_sub(1)) as f64 * q).round() as usize;
        quantile(&values, q)
            .filter(|v| v.is_finite())
            .or_else(|| values.get(rank).copied())
    };
    Some(Interval::new(
        estimate,
        [at(tail)?, at(1.0 - tail)?],
        confidence,
    ))
}

fn r_squared(law: &Law, dops: &[f64], rates: &[f64]) -> f64 {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let total: f64 = rates.iter().map(|x| (x - mean).powi(2)).sum();
    let left: f64 = dops
        .iter()
        .zip(rates)
        .map(|(n, x)| (x - law.rate(*n)).powi(2))
        .sum();
    if total > 0.0 { 1.0 - left / total } else { 1.0 }
}
