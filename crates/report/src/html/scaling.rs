//! Scaling laws of a test's own sweeps: thin lines on the chart of the throughput, and sentences.

use archive::{Run, Table};
use stats::Warning;
use stats::interval::Interval;
use stats::scaling::Load;
use stats::usl::{Amdahl, DOPS_MIN, Fit, Peak, Resampling, amdahl, usl};

use super::figure::grouped;
use super::sweep::{Rate, Sweep};
use crate::number;
use chart::{Dash, Trace};

/// A law that misses a level by more than this share does not describe the curve and is not drawn.
const MISFIT_MAX: f64 = 0.2;
/// The dashed part ends at this multiple of the largest measured parallelism.
const BEYOND: f64 = 2.0;
/// Segments of a drawn line per doubling.
const PIECES: f64 = 12.0;
const PIECES_MAX: f64 = 120.0;
const CONFIDENCE: f64 = 0.95;
const RESAMPLES: usize = 1000;

pub struct Laws<'a> {
    laws: Vec<Law<'a>>,
    threads: Option<u32>,
    unit: &'static str,
}

struct Law<'a> {
    label: &'a str,
    colour: usize,
    measured: (u32, u32),
    outcome: Outcome,
}

enum Outcome {
    Fitted {
        fit: Box<Fit>,
        /// Amdahl's law, which remains without a coherency term.
        amdahl: Option<Amdahl>,
        /// Largest deviation of a level from it, as a share.
        misfit: f64,
    },
    Refused(String),
}

impl<'a> Laws<'a> {
    /// Fits the run's own sweeps; a sweep of one level has no scaling.
    pub fn of(sweeps: &'a [Sweep<'_>], rate: Rate, run: &Run) -> Self {
        let resampling = Resampling {
            confidence: CONFIDENCE,
            resamples: RESAMPLES,
            seed: run.seed,
        };
        let own = sweeps.iter().filter(|s| s.own);
        Self {
            laws: own.filter_map(|s| law(s, &resampling)).collect(),
            threads: run.platform.threads,
            unit: rate.unit,
        }
    }

    fn fitted(&self) -> impl Iterator<Item = (&Law<'a>, &Fit)> {
        self.laws.iter().filter_map(|law| match &law.outcome {
            Outcome::Fitted { fit, .. } => Some((law, &**fit)),
            Outcome::Refused(_) => None,
        })
    }

    /// Ends of the dashed parts, so that the axis can include them.
    pub fn dops(&self) -> Vec<u32> {
        let ends = self.fitted().map(|(law, _)| law.end().round() as u32);
        ends.collect()
    }

    pub fn rates(&self) -> Vec<f64> {
        self.traces()
            .iter()
            .flat_map(|t| t.points.iter().map(|p| p.1))
            .collect()
    }

    /// The lines: solid within the measured range, dashed beyond it.
    pub fn traces(&self) -> Vec<Trace> {
        let trace = |law: &Law<'_>, fit: &Fit, dash, (from, to): (f64, f64)| Trace {
            colour: law.colour,
            dash,
            points: steps(from, to)
                .map(|dop| (dop, fit.law.rate(dop)))
                .collect(),
            band: steps(from, to)
                .filter_map(|dop| fit.rate_interval(dop).map(|i| (dop, i.low, i.high)))
                .collect(),
        };
        self.fitted()
            .flat_map(|(law, fit)| {
                let (low, high) = (f64::from(law.measured.0), f64::from(law.measured.1));
                [
                    trace(law, fit, Dash::Solid, (low, high)),
                    trace(law, fit, Dash::Dashed, (high, law.end())),
                ]
            })
            .collect()
    }

    /// How to read the lines; empty when there are none.
    pub fn how(&self) -> String {
        if self.fitted().next().is_none() {
            return String::new();
        }
        let mut how = " A thin line is the scaling law fitted to the points; dashed, it is an extrapolation beyond \
                       them.".to_owned();
        if self.fitted().any(|(_, fit)| fit.contention.is_some()) {
            how.push_str(" The band is its 95 % interval.");
        }
        let most = self.fitted().map(|(law, _)| law.measured.1).max();
        if let (Some(threads), Some(most)) = (self.threads, most)
            && most > threads
        {
            how.push_str(&format!(
                " Beyond DOP {threads} (the host's hardware threads), waiting for a processor counts as contention."
            ));
        }
        how
    }

    pub fn sentences(&self) -> Vec<String> {
        self.laws.iter().map(|law| law.sentence()).collect()
    }

    /// The parameters with their intervals; `None` if no law was fitted.
    pub fn table(&self) -> Option<Table> {
        let rows: Vec<(String, Vec<String>)> = self
            .fitted()
            .flat_map(|(law, fit)| {
                let row = |name: String, value: f64, interval: Option<Interval>| {
                    let end = |of: fn(&Interval) -> f64| {
                        number::figure_or_unknown(interval.as_ref().map(of))
                    };
                    let cells = [name, number::figure(value), end(|i| i.low), end(|i| i.high)];
                    (law.label.to_owned(), cells.to_vec())
                };
                [
                    row(
                        format!("λ, {} of one session", self.unit),
                        fit.law.rate_of_one,
                        None,
                    ),
                    row(
                        "σ, contention".to_owned(),
                        fit.law.contention,
                        law.contention(fit),
                    ),
                    row("κ, coherency".to_owned(), fit.law.coherency, fit.coherency),
                    row("R²".to_owned(), fit.r_squared, None),
                ]
            })
            .collect();
        let heads = ["scaling-law parameter", "estimate", "95 % from", "to"];
        (!rows.is_empty()).then(|| grouped(&heads, rows))
    }
}

fn law<'a>(sweep: &'a Sweep<'_>, resampling: &Resampling) -> Option<Law<'a>> {
    let levels = sweep.loads();
    let low = levels.iter().map(|l| l.dop).min()?;
    let high = levels.iter().map(|l| l.dop).max()?;
    (high > low).then(|| Law {
        label: &sweep.label,
        colour: sweep.colour,
        measured: (low, high),
        outcome: outcome(&levels, resampling),
    })
}

/// Fits the median rate of each level: repetitions of a level share its deviation from the law, so that they are not independent evidence.
fn outcome(levels: &[Load], resampling: &Resampling) -> Outcome {
    let fit = match usl(levels, resampling) {
        Ok(fit) => fit,
        Err(Warning::TooFew { have, need }) => {
            return Outcome::Refused(format!(
                "no scaling law: a fit needs {need} degrees of parallelism, {have} were measured"
            ));
        }
        Err(warning) => return Outcome::Refused(format!("no scaling law: {warning}")),
    };
    let misfit = levels
        .iter()
        .map(|level| (level.rate / fit.law.rate(f64::from(level.dop)) - 1.0).abs())
        .fold(0.0, f64::max);
    if misfit > MISFIT_MAX {
        return Outcome::Refused(format!(
            "no scaling law: the best fit misses a measured level by {:.0} %",
            misfit * 100.0
        ));
    }
    let times: Vec<(u32, f64)> = levels.iter().map(|l| (l.dop, 1.0 / l.rate)).collect();
    let no_coherency = fit.law.coherency == 0.0;
    Outcome::Fitted {
        amdahl: no_coherency
            .then(|| amdahl(&times, resampling).ok())
            .flatten(),
        fit: Box::new(fit),
        misfit,
    }
}

impl Law<'_> {
    fn end(&self) -> f64 {
        f64::from(self.measured.1) * BEYOND
    }

    /// Contention by Amdahl's law, whose interval needs fewer levels.
    fn contention(&self, fit: &Fit) -> Option<Interval> {
        match &self.outcome {
            Outcome::Fitted { amdahl, .. } => {
                fit.contention.or_else(|| amdahl.as_ref()?.serial_interval)
            }
            Outcome::Refused(_) => None,
        }
    }

    /// The maximum if it was observed, or else the way to find it; a maximum at the last level is no evidence of a fall.
    fn peak(&self, fit: &Fit) -> String {
        let within = |dop: u32| dop < self.measured.1;
        match fit.peak {
            Peak::Observed { dop, .. } if within(dop) => {
                let interval = fit.peak_dop.map_or_else(String::new, |i| {
                    if i.high.is_finite() {
                        format!(" (95 %: {:.0} to {:.0})", i.low, i.high)
                    } else {
                        format!(" (95 %: {:.0} or higher, or never)", i.low)
                    }
                });
                format!(" Throughput peaks at DOP {dop}{interval}.")
            }
            _ => format!(
                " {}.",
                number::capital(&Warning::PeakNotObserved.to_string())
            ),
        }
    }

    fn sentence(&self) -> String {
        let (fit, amdahl, misfit) = match &self.outcome {
            Outcome::Fitted {
                fit,
                amdahl,
                misfit,
            } => (fit, amdahl, misfit),
            Outcome::Refused(why) => return format!("{}: {why}.", self.label),
        };
        let contention = match (fit.law.contention, amdahl) {
            (0.0, _) => "no contention detected".to_owned(),
            (share, _) if share > 1.0 => format!(
                "several sessions together are slower than one (contention {})",
                percent(share, self.contention(fit))
            ),
            (share, Some(_)) => format!(
                "{} of the work is serial (Amdahl's law)",
                percent(share, self.contention(fit))
            ),
            (share, None) => format!("contention {}", percent(share, fit.contention)),
        };
        let coherency = match fit.law.coherency {
            0.0 => "no coherency cost detected".to_owned(),
            share => format!(
                "coherency {} per pair of sessions",
                percent(share, fit.coherency)
            ),
        };
        let mut text = format!(
            "{}: {contention}, {coherency}; the fit is within {:.0} % of every level.",
            self.label,
            (misfit * 100.0).ceil()
        );
        if fit.contention.is_none() && self.contention(fit).is_none() {
            let need = |w: &Warning| match w {
                Warning::TooFew { need, .. } => Some(*need),
                _ => None,
            };
            let need = fit.warnings.iter().find_map(need).unwrap_or(DOPS_MIN);
            text.push_str(&format!(
                " Confidence intervals need {need} degrees of parallelism."
            ));
        }
        text.push_str(&self.peak(fit));
        text
    }
}

fn percent(share: f64, interval: Option<Interval>) -> String {
    let figure = |share: f64| number::figure(share * 100.0);
    let interval = interval.map_or_else(String::new, |i| {
        format!(" (95 %: {} to {})", figure(i.low), figure(i.high))
    });
    format!("{} %{interval}", figure(share))
}

/// Equidistant parallelisms on the axis, with both ends.
fn steps(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let doublings = (to / from).log2();
    let pieces = (doublings * PIECES).ceil().clamp(1.0, PIECES_MAX) as u32;
    (0..=pieces).map(move |i| from * (doublings * f64::from(i) / f64::from(pieces)).exp2())
}

#[cfg(test)]
mod tests;
