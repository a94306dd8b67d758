//! Analysis of the jobs' time, by the server's own data if it has any, otherwise by the kernel's.

use archive::{
    BackgroundEvent, Bottleneck, EngineIo, Figures, HeldBack, Remark, Resource, TimedEvent,
    WaitHistogram,
};
use host::HostUse;
use load::Outcome;

use crate::bottleneck::{Evidence, judge};
use crate::session_sampler::SessionSamples;
use crate::{checks, requests, timed};

/// Stored timed events; one more line sums up the rest.
const TOP: usize = 5;

/// Reason why an embedded engine has no histograms of its waits.
const NO_HISTOGRAM: &str = "an embedded engine keeps no distribution of its waits; see those of the \
     device's requests";

#[derive(Debug, Clone, PartialEq)]
pub struct WaitProfile {
    watched: Option<SessionSamples>,
    events: Vec<timed::Event>,
    background: Vec<BackgroundEvent>,
}

impl WaitProfile {
    /// The profile of a drive, with the samples of its server; `None` for an embedded engine.
    pub fn of(outcome: &Outcome, watched: Option<SessionSamples>) -> Self {
        let events = match &watched {
            Some(watched) => timed::server_events(outcome, watched),
            None => timed::events(outcome),
        };
        let background = watched.as_ref().map(timed::background).unwrap_or_default();
        Self {
            watched,
            events,
            background,
        }
    }

    pub fn top(&self) -> Vec<TimedEvent> {
        timed::top(&self.events, TOP)
    }

    pub fn note(&self) -> Option<Remark> {
        self.watched.as_ref()?.note()
    }

    /// Sets the figures of the engine's own counters; `elapsed_s` must be set.
    pub fn write_into(&self, figures: &mut Figures) {
        if let Some(watched) = &self.watched {
            watched.write_into(figures);
        }
    }

    /// The server's own statistics of its I/O; `None` for an embedded engine.
    pub fn engine_io(&self) -> Option<Vec<EngineIo>> {
        let watched = self.watched.as_ref()?;
        Some(watched.counts.files.iter().map(EngineIo::from).collect())
    }

    /// The bottleneck of the point, whose figures must be complete.
    pub fn held_back(
        &self,
        outcome: &Outcome,
        figures: &Figures,
        device: Option<&str>,
        used: &HostUse,
    ) -> HeldBack {
        let still = checks::stalled(outcome).map(|why| Bottleneck {
            resource: Resource::Unknown,
            sentence: format!("Unknown: {why}."),
        });
        // The waits before and after a stall do not explain it.
        let bottleneck = still.unwrap_or_else(|| {
            judge(&Evidence {
                figures,
                events: &self.events,
                background: &self.background,
                driver_pct: checks::own_pct(outcome),
                device,
                jobs: outcome.clients.len() as u32,
                is_observed: false,
                reported_by_server: self.watched.is_some(),
                link: self.watched.as_ref().and_then(|watched| watched.link),
            })
        });
        let mut wait_histograms = match &self.watched {
            Some(watched) => watched.counts.histograms.clone(),
            None => vec![WaitHistogram::unknown("blocked", NO_HISTOGRAM)],
        };
        wait_histograms.extend(requests::histograms(used));
        HeldBack {
            bottleneck: Some(bottleneck),
            background_events: self.background.clone(),
            wait_histograms,
        }
    }
}
