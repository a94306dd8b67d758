//! The jobs' busy time by resource.

use archive::{Figures, Resource};
use engine::WaitClass;

use super::{
    Between, CLIENT_OVER_SERVER_MIN, DEVICE_BUSY_PCT_MIN, DEVICE_IDLE_PCT_MAX, Evidence,
    FROM_DEVICE_MIN, NAMED_PCT_MIN, WOKEN_PER_QUEUED_MAX, processors_are_busy,
};
use crate::timed::{Class, Event};

/// Percent of the jobs' busy time by resource.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Shares {
    cpu: f64,
    queued: f64,
    round_trip: f64,
    read: f64,
    write: f64,
    log: f64,
    lock: f64,
    latch: f64,
    client: f64,
    blocked: f64,
    pub(super) unknown: f64,
    other: f64,
    driver: f64,
}

impl Shares {
    /// Shares, with the busy part of the jobs' time in percent; `None` when no job did anything. The driver's own
    /// time counts as a wait for a processor as far as it may have been one.
    pub(super) fn of(events: &[Event], driver_pct: Option<f64>) -> Option<(Self, f64)> {
        if events.is_empty() {
            return None;
        }
        let idle = events.iter().filter(|e| e.class == Class::Idle);
        let busy_pct = 100.0 - idle.map(|e| e.share_pct).sum::<f64>();
        let mut shares = Self::default();
        for event in events {
            let pct = event.share_pct * 100.0 / busy_pct.max(0.1);
            match event.class {
                Class::Idle => {}
                Class::Driver => {
                    let own = driver_pct.map_or(1.0, |own| (own / event.share_pct).min(1.0));
                    shares.driver += pct * own;
                    shares.queued += pct * (1.0 - own);
                }
                Class::Client => shares.driver += pct,
                Class::Queued => shares.queued += pct,
                Class::RoundTrip => shares.round_trip += pct,
                Class::Unknown => shares.unknown += pct,
                Class::Session(class) => *shares.of_session(class) += pct,
            }
        }
        Some((shares, busy_pct))
    }

    fn of_session(&mut self, class: WaitClass) -> &mut f64 {
        match class {
            WaitClass::Cpu => &mut self.cpu,
            WaitClass::DataRead => &mut self.read,
            WaitClass::DataWrite => &mut self.write,
            WaitClass::LogSync => &mut self.log,
            WaitClass::Lock => &mut self.lock,
            WaitClass::Latch => &mut self.latch,
            WaitClass::Client => &mut self.client,
            WaitClass::Blocked => &mut self.blocked,
            WaitClass::Other => &mut self.other,
        }
    }

    pub(super) fn by_resource(self, evidence: &Evidence<'_>) -> Vec<(Resource, f64)> {
        let shares = self
            .served_by_page_cache(evidence.figures)
            .known_by_the_device(evidence);
        // A driver that hardly used a processor limited nothing: its apparent time was a wait for one. An observer
        // does not drive the sessions that it observes.
        let driver_cpu_pct = evidence.figures.driver_cpu_pct;
        let is_at_work =
            evidence.is_observed || driver_cpu_pct.is_none_or(|pct| pct >= NAMED_PCT_MIN);
        let is_client = is_at_work
            && shares.driver > 0.0
            && shares.driver >= shares.cpu * CLIENT_OVER_SERVER_MIN;
        let (queued, driver) = if is_client {
            (0.0, shares.driver + shares.queued)
        } else {
            (shares.queued, shares.driver)
        };
        let mut way = Way::of(&shares, evidence);
        let mut driver = driver + way.driver;
        if !is_at_work {
            let waited = match evidence.link {
                Some(_) if !processors_are_busy(evidence.figures) => &mut way.scheduling,
                _ => &mut way.woken,
            };
            *waited += std::mem::take(&mut driver);
        }
        vec![
            (Resource::Cpu, shares.cpu + queued + way.woken),
            (Resource::Device, shares.read + shares.write),
            (Resource::LogSync, shares.log),
            (Resource::Lock, shares.lock),
            (Resource::Latch, shares.latch),
            (Resource::Network, way.network),
            (Resource::Scheduling, way.scheduling),
            (Resource::Driver, driver),
            (
                Resource::OtherWait,
                shares.other + shares.blocked + way.unknown,
            ),
        ]
    }

    /// Reads from the page cache are copies by the kernel, which use the processors.
    fn served_by_page_cache(mut self, figures: &Figures) -> Self {
        let rates = figures.read_mb_per_s.zip(figures.engine_read_mb_per_s);
        if rates.is_some_and(|(device, engine)| device < engine * FROM_DEVICE_MIN) {
            self.cpu += self.read;
            self.read = 0.0;
        }
        self
    }

    /// An embedded engine does not report waits. Its blocked time is the device's if that was busy, and a lock's if
    /// it was idle and several jobs could block each other. A server reports its locks, so other blocked time there
    /// has other causes.
    fn known_by_the_device(mut self, evidence: &Evidence<'_>) -> Self {
        let Some(busy_pct) = evidence.figures.device_busy_pct else {
            return self;
        };
        if busy_pct >= DEVICE_BUSY_PCT_MIN {
            self.write += self.blocked;
            self.blocked = 0.0;
        } else if busy_pct < DEVICE_IDLE_PCT_MAX
            && evidence.jobs > 1
            && !evidence.reported_by_server
        {
            self.lock += self.blocked;
            self.blocked = 0.0;
        }
        self
    }
}

/// Time between driver and server, in percent of the jobs' busy time.
#[derive(Debug, Default)]
struct Way {
    /// Wait for a processor: on busy processors, waking up takes time.
    woken: f64,
    network: f64,
    scheduling: f64,
    /// The server waited for the client to take rows.
    driver: f64,
    unknown: f64,
}

impl Way {
    fn of(shares: &Shares, evidence: &Evidence<'_>) -> Self {
        let is_busy = processors_are_busy(evidence.figures);
        let whole = shares.round_trip + shares.client;
        match Between::of(evidence.link) {
            Between::Scheduler if is_busy => Self {
                woken: whole,
                ..Self::default()
            },
            Between::Scheduler => Self {
                scheduling: shares.round_trip,
                driver: shares.client,
                ..Self::default()
            },
            Between::Network => {
                let woken = if is_busy {
                    whole.min(shares.queued * WOKEN_PER_QUEUED_MAX)
                } else {
                    0.0
                };
                Self {
                    woken,
                    network: whole - woken,
                    ..Self::default()
                }
            }
            Between::Unknown => Self {
                unknown: whole,
                ..Self::default()
            },
        }
    }
}
