//! Evidence of a judgement, and its limits.

use std::time::Duration;

use archive::{BackgroundEvent, Figures};
use engine::Transport;

use crate::session_sampler::Link;
use crate::timed::Event;

/// Busy part of the jobs' time, in percent, below which only their own pauses limited them.
pub const BUSY_PCT_MIN: f64 = 20.0;

/// Part of the jobs' busy time from which a resource is named.
pub const NAMED_PCT_MIN: f64 = 40.0;

/// Part of the jobs' busy time from which a further resource is named.
pub const FURTHER_PCT_MIN: f64 = 20.0;

/// Part of the jobs' time that is certainly the driver's, from which the driver is named; the point is then invalid
/// as well.
pub const DRIVER_PCT_MIN: f64 = crate::plan::Validity::USUAL.driver_pct_max;

/// Busy processors from which they are called saturated.
pub const CPU_BUSY_PCT_MIN: f64 = 90.0;

/// Busy time of the device from which unspecified waits of an embedded engine are waits for it.
pub const DEVICE_BUSY_PCT_MIN: f64 = 50.0;

/// … and below which they are not.
pub const DEVICE_IDLE_PCT_MAX: f64 = 20.0;

/// Part of the engine's reads that must have reached the device; otherwise the page cache served them.
pub const FROM_DEVICE_MIN: f64 = 0.1;

/// On busy processors, waking the server's sessions took this many times the client's own wait for processors; the
/// rest of the way between the two was spent on the network.
pub const WOKEN_PER_QUEUED_MAX: f64 = 4.0;

/// Idle round trip from which an address of this machine is a tunnel or proxy: local processes answer within tens of
/// microseconds.
pub const FAR_ROUND_TRIP_MIN: Duration = Duration::from_millis(1);

/// A client that used this many times the processor time of the server caused its own waits for processors.
pub const CLIENT_OVER_SERVER_MIN: f64 = 3.0;

pub const SWAP_MB_PER_S_MIN: f64 = 1.0;

/// Time in which some task waited for memory (PSI) from which memory is named.
pub const MEMORY_PRESSURE_PCT_MIN: f64 = 25.0;

#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub figures: &'a Figures,
    pub events: &'a [Event],
    pub background: &'a [BackgroundEvent],
    pub driver_pct: Option<f64>,
    pub device: Option<&'a str>,
    pub jobs: u32,
    pub is_observed: bool,
    /// A server reported the waits of its sessions; an embedded engine does not.
    pub reported_by_server: bool,
    /// Connection between driver and server; `None` for an embedded engine, and if it was not measured.
    pub link: Option<Link>,
}

pub(super) fn processors_are_busy(figures: &Figures) -> bool {
    figures
        .cpu_pct_avg
        .is_some_and(|pct| pct >= CPU_BUSY_PCT_MIN)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    /// A network, or a tunnel that takes as long as one.
    Network,
    Scheduler,
    Unknown,
}

impl Between {
    pub(super) fn of(link: Option<Link>) -> Self {
        match link {
            None => Self::Unknown,
            Some(Link {
                transport: Transport::Network,
                ..
            }) => Self::Network,
            Some(link) if link.round_trip >= FAR_ROUND_TRIP_MIN => Self::Network,
            Some(_) => Self::Scheduler,
        }
    }
}
