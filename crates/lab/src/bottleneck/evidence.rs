//! What a judgement rests on, and where its borders lie.

use std::time::Duration;

use archive::{BackgroundEvent, Figures};
use engine::Transport;

use crate::session_sampler::Link;
use crate::timed::Event;

/// Busy part of the jobs' time, in percent, below which nothing held them back but their own pauses.
pub const BUSY_PCT_MIN: f64 = 20.0;

/// Part of the jobs' busy time from which a resource is named.
pub const NAMED_PCT_MIN: f64 = 40.0;

/// Part of the jobs' busy time from which a resource is told beside the one that took most.
pub const TOLD_PCT_MIN: f64 = 20.0;

/// Part of the jobs' time that is surely the driver's own, from which the driver is named; from there on
/// the point is invalid as well.
pub const DRIVER_PCT_MIN: f64 = crate::plan::Validity::USUAL.driver_pct_max;

/// Busy processors from which they are called saturated.
pub const CPU_BUSY_PCT_MIN: f64 = 90.0;

/// Busy time of the device from which waits of an embedded engine, which tells none, are its waits for it.
pub const DEVICE_BUSY_PCT_MIN: f64 = 50.0;

/// … and below which they are not.
pub const DEVICE_IDLE_PCT_MAX: f64 = 20.0;

/// Part of the engine's reads that must have reached the device, or they were served by the page cache.
pub const FROM_DEVICE_MIN: f64 = 0.1;

/// So many times the client's own wait for processors is what it took, where they are busy, to wake up
/// the server's sessions; what the way between the two took beyond it was spent on the network.
pub const WOKEN_PER_QUEUED_MAX: f64 = 4.0;

/// Idle round trip from which an address of this machine leads elsewhere, by a tunnel or a proxy: processes of one
/// machine answer each other within tens of microseconds.
pub const FAR_ROUND_TRIP_MIN: Duration = Duration::from_millis(1);

/// A client that used so many times the processor time of the server waited for processors on its own
/// account.
pub const CLIENT_OVER_SERVER_MIN: f64 = 3.0;

/// Swap traffic from which memory is named.
pub const SWAP_MB_PER_S_MIN: f64 = 1.0;

/// Time in which some task waited for memory (PSI) from which memory is named.
pub const MEMORY_PRESSURE_PCT_MIN: f64 = 25.0;

/// What the judgement rests on.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub figures: &'a Figures,
    /// All timed events, not only the top ones.
    pub events: &'a [Event],
    /// What the server did beside.
    pub background: &'a [BackgroundEvent],
    /// Part of the jobs' time that was surely the driver's own, in percent.
    pub driver_pct: Option<f64>,
    /// Name of the device under the data.
    pub device: Option<&'a str>,
    pub jobs: u32,
    /// Whether the jobs are sessions of others, that were only looked at.
    pub is_observed: bool,
    /// Whether a server told what its sessions waited for; an embedded engine tells nothing.
    pub told_by_server: bool,
    /// The way between driver and server; `None` for an embedded engine, and where nobody measured it.
    pub link: Option<Link>,
}

pub(super) fn processors_are_busy(figures: &Figures) -> bool {
    figures
        .cpu_pct_avg
        .is_some_and(|pct| pct >= CPU_BUSY_PCT_MIN)
}

/// What lies between driver and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    /// A network, or a tunnel that takes as long as one.
    Network,
    /// The scheduler of one machine.
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
