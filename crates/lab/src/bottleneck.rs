//! Names what held a point back, in one sentence with the numbers it rests on.
//!
//! The jobs' time decides, not the load of the machine: a resource is named only when the jobs spent a
//! large part of their busy time on it, so that a machine that others keep busy is not blamed for what
//! happened elsewhere, and busy processors are not blamed where all jobs stand in a queue for a lock.

mod shares;
mod words;

use std::time::Duration;

use archive::{BackgroundEvent, Bottleneck, Figures, Resource};
use target::Transport;

use crate::session_sampler::Link;
use crate::timed::Event;
use shares::Shares;

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
    /// Figures of the point.
    pub figures: &'a Figures,
    /// All timed events, not only the top ones.
    pub events: &'a [Event],
    /// What the server did beside.
    pub background: &'a [BackgroundEvent],
    /// Part of the jobs' time that was surely the driver's own, in percent.
    pub driver_pct: Option<f64>,
    /// Name of the device under the data.
    pub device: Option<&'a str>,
    /// Jobs at work.
    pub jobs: u32,
    /// Whether a server told what its sessions waited for; an embedded engine tells nothing.
    pub told_by_server: bool,
    /// The way between driver and server; `None` for an embedded engine, and where nobody measured it.
    pub link: Option<Link>,
}

/// What was found, before it is put into words.
#[derive(Debug, Clone, PartialEq)]
enum Finding {
    /// No job did anything.
    NothingDone,
    /// Part of the jobs' time that was the driver's own.
    DriverAlone { pct: f64 },
    /// The jobs paused for most of their time.
    Paused { busy_pct: f64 },
    /// One resource took most of the busy time; others took a good part of it as well.
    Most {
        resource: Resource,
        pct: f64,
        others: Vec<(Resource, f64)>,
    },
    /// As much of the busy time went to what follows from too little memory.
    Memory { pct: f64, shortage: Shortage },
    /// The server does not tell.
    Untold { pct: f64 },
    /// No resource took most; the largest parts.
    Several { parts: Vec<(Resource, f64)> },
}

/// How short of memory the machine was.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shortage {
    swap_mb_per_s: Option<f64>,
    pressure_pct: Option<f64>,
}

/// Names what held the point back.
pub fn judge(evidence: &Evidence<'_>) -> Bottleneck {
    let finding = find(evidence);
    Bottleneck {
        resource: finding.resource(evidence.figures),
        sentence: words::sentence(&finding, evidence),
    }
}

fn find(evidence: &Evidence<'_>) -> Finding {
    let Some((shares, busy_pct)) = Shares::of(evidence.events, evidence.driver_pct) else {
        return Finding::NothingDone;
    };
    if let Some(pct) = evidence.driver_pct.filter(|pct| *pct > DRIVER_PCT_MIN) {
        return Finding::DriverAlone { pct };
    }
    if busy_pct < BUSY_PCT_MIN {
        return Finding::Paused { busy_pct };
    }
    let mut parts = shares.by_resource(evidence);
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let told = parts.iter().filter(|(_, pct)| *pct >= TOLD_PCT_MIN);
    let told: Vec<_> = told.copied().collect();
    match told.as_slice() {
        [(resource, pct), others @ ..] if *pct >= NAMED_PCT_MIN => {
            match shortage(*resource, evidence.figures) {
                Some(shortage) => Finding::Memory {
                    pct: *pct,
                    shortage,
                },
                None => Finding::Most {
                    resource: *resource,
                    pct: *pct,
                    others: others.to_vec(),
                },
            }
        }
        _ if shares.unknown >= NAMED_PCT_MIN => Finding::Untold {
            pct: shares.unknown,
        },
        _ => {
            parts.retain(|(_, pct)| *pct >= 1.0);
            Finding::Several { parts }
        }
    }
}

impl Finding {
    fn resource(&self, figures: &Figures) -> Resource {
        match self {
            Self::NothingDone | Self::Untold { .. } => Resource::Unknown,
            Self::DriverAlone { .. } => Resource::Driver,
            Self::Paused { .. } => Resource::None,
            // Processors take the time of who waits for nothing else, and are at their end only when all are busy.
            Self::Most {
                resource: Resource::Cpu,
                ..
            } if !processors_are_busy(figures) => Resource::None,
            Self::Most { resource, .. } => *resource,
            Self::Memory { .. } => Resource::Memory,
            Self::Several { .. } => Resource::Several,
        }
    }
}

fn processors_are_busy(figures: &Figures) -> bool {
    figures
        .cpu_pct_avg
        .is_some_and(|pct| pct >= CPU_BUSY_PCT_MIN)
}

/// What lies between driver and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    /// A network, or a tunnel that takes as long as one.
    Network,
    /// The scheduler of one machine.
    Scheduler,
    /// Nobody knows.
    Unknown,
}

impl Between {
    fn of(link: Option<Link>) -> Self {
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

/// Memory that is too small shows as something else: pages are read that have been there before, and who needs one in
/// the middle of its work is seen at work. So it is named in place of these, and of nothing else that the jobs waited for.
fn shortage(resource: Resource, figures: &Figures) -> Option<Shortage> {
    let may_be = match resource {
        Resource::Device | Resource::OtherWait => true,
        Resource::Cpu => !processors_are_busy(figures),
        _ => false,
    };
    let elapsed_s = figures.elapsed_s.filter(|s| *s > 0.0);
    let swapped_mb = figures.swap_in_mb.zip(figures.swap_out_mb);
    let swap_mb_per_s = swapped_mb
        .zip(elapsed_s)
        .map(|((into, out), s)| (into + out) / s);
    let pressure_pct = figures.pressure_memory_pct;
    let is_short = swap_mb_per_s.is_some_and(|rate| rate >= SWAP_MB_PER_S_MIN)
        || pressure_pct.is_some_and(|pct| pct >= MEMORY_PRESSURE_PCT_MIN);
    (may_be && is_short).then_some(Shortage {
        swap_mb_per_s,
        pressure_pct,
    })
}

#[cfg(test)]
mod tests;
