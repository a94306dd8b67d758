//! A point without a load: a server with active users is sampled together with its machine.

use std::time::Duration;

use archive::{EngineIo, Figures, HeldBack, Observed, Point, Remark, Sample};
use engine::{Counters, Tally};
use host::HostUse;

use super::Observation;
use crate::bottleneck::{Evidence, judge};
use crate::checks;
use crate::context::RunContext;
use crate::done::Measured;
use crate::point::steady;
use crate::requests;
use crate::session_sampler::SessionSamples;
use crate::start::Start;
use crate::timed;

/// Stored timed events; one more line sums up the rest.
const TOP: usize = 10;

pub struct AtWork {
    pub watched: SessionSamples,
    pub figures: Figures,
    /// Transactions per second at the end of each interval, in seconds from the start.
    pub rates: Vec<(f64, Option<f64>)>,
    pub observed: Vec<Observed>,
    pub notes: Vec<Remark>,
}

impl RunContext<'_> {
    /// Reports the sampled sessions, for a duration, to the observer of the run.
    pub fn tell_waits(&self, look: &Tally, stands_for: Duration) {
        if let Some(waits) = &self.waits_seen {
            waits.add(look, stands_for);
        }
    }

    /// Reports the transactions per second of the last interval to the observer of the run; `None` if unknown.
    pub fn tell_rate(&self, per_s: Option<f64>) {
        if let Some(waits) = &self.waits_seen {
            waits.set_rate(per_s);
        }
    }
}

impl Observation<'_> {
    /// Observes an active server together with its host. `observe` takes the start and ends the window.
    pub fn look(
        self,
        look: impl FnOnce(&Start<'_>) -> Result<AtWork, Measured>,
    ) -> Result<Point, Measured> {
        let context = self.context;
        let start = Start::new(context, self.site, None, true);
        let seen = look(&start)?;
        let (used, _) = start.finish(Counters::default());
        let figures = figures(&seen, &used);
        let events = timed::seen(&seen.watched);
        let background = timed::background(&seen.watched);
        let device = context.samplers[self.site as usize].device();
        let bottleneck = judge(&Evidence {
            figures: &figures,
            events: &events,
            background: &background,
            driver_pct: None,
            device,
            jobs: figures.active_sessions_mean.unwrap_or(0.0).ceil() as u32,
            is_observed: true,
            reported_by_server: true,
            link: None,
        });
        let mut wait_histograms = seen.watched.counts.histograms.clone();
        wait_histograms.extend(requests::histograms(&used));
        let rates: Vec<f64> = seen.rates.iter().filter_map(|(_, rate)| *rate).collect();
        let mut point = self.blank;
        point.started_at = self.stopwatch.started_at();
        point.notes.extend(seen.notes);
        point.notes.extend(checks::host_notes(&used));
        point.notes.extend(checks::clock_note(&self.stopwatch));
        Ok(Point {
            steady: steady(&rates),
            samples: series(&used.samples, &seen.rates),
            by_operation: archive::ByOperation {
                times: requests::below_database(&used),
                ..point.by_operation
            },
            timed_events: timed::top(&events, TOP),
            held_back: HeldBack {
                bottleneck: Some(bottleneck),
                background_events: background,
                wait_histograms,
            },
            engine_io: seen
                .watched
                .counts
                .files
                .iter()
                .map(EngineIo::from)
                .collect(),
            devices: used.devices.clone(),
            interfaces: used.interfaces.clone(),
            observed: seen.observed,
            figures,
            ..point
        })
    }
}

fn figures(seen: &AtWork, used: &HostUse) -> Figures {
    let mut figures = seen.figures.clone();
    used.write_into(&mut figures);
    // The observed database is a server, so all of this process is the driver.
    figures.driver_cpu_pct = used.rates.process_cpu_pct;
    used.write_owners_into(&mut figures);
    seen.watched.write_into(&mut figures);
    figures
}

/// Samples of the machine, each with the rate of the nearest interval end.
fn series(samples: &[Sample], rates: &[(f64, Option<f64>)]) -> Vec<Sample> {
    let rate = |at_s: f64| rates.iter().find(|(end_s, _)| *end_s >= at_s - 1e-3);
    let with_rate = |sample: &Sample| Sample {
        operations_per_s: rate(sample.at_s).and_then(|(_, rate)| *rate),
        ..sample.clone()
    };
    samples.iter().map(with_rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_rate_of_the_interval_that_it_lies_in() {
        let at = |at_s| Sample {
            at_s,
            ..Sample::default()
        };
        let rates = [(1.0, Some(10.0)), (2.0, None), (3.0, Some(30.0))];
        let samples = series(&[at(0.5), at(1.0), at(1.5), at(2.5), at(3.5)], &rates);
        let nearest: Vec<_> = samples.iter().map(|s| s.operations_per_s).collect();
        assert_eq!(nearest, [Some(10.0), Some(10.0), None, Some(30.0), None]);
    }
}
