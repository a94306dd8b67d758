//! Names what held a point back, in one sentence with the numbers it rests on.
//!
//! The jobs' time decides, not the load of the machine: a resource is named only when the jobs spent a
//! large part of their busy time on it, so that a machine that others keep busy is not blamed for what
//! happened elsewhere, and busy processors are not blamed where all jobs stand in a queue for a lock.

mod words;

use archive::{BackgroundEvent, Bottleneck, Figures, TimedEvent};

use crate::timed::{DRIVER, ROUND_TRIP};

/// Busy part of the jobs' time, in percent, below which nothing held them back but their own pauses.
pub const BUSY_PCT_MIN: f64 = 20.0;
/// Part of the jobs' busy time from which a resource is named.
pub const NAMED_PCT_MIN: f64 = 40.0;
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
/// the server's sessions; what the way between the two took beyond it was spent elsewhere.
pub const WOKEN_PER_QUEUED_MAX: f64 = 4.0;
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
    pub events: &'a [TimedEvent],
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
}

/// Percent of the jobs' busy time, by what it went to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Shares {
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
    unknown: f64,
    other: f64,
    driver: f64,
}

impl Shares {
    /// What of the driver's own time may have been a wait for a processor is counted as such.
    fn of(events: &[TimedEvent], driver_pct: Option<f64>) -> Option<(Self, f64)> {
        let (mut shares, mut idle) = (Self::default(), 0.0);
        for event in events {
            if event.event == DRIVER {
                let own_pct = driver_pct.map_or(event.share_pct, |pct| pct.min(event.share_pct));
                shares.driver += own_pct;
                shares.queued += event.share_pct - own_pct;
                continue;
            }
            let place = match event.class.as_str() {
                "idle" => &mut idle,
                "CPU" => &mut shares.cpu,
                "scheduler" => &mut shares.queued,
                ROUND_TRIP => &mut shares.round_trip,
                "data read" => &mut shares.read,
                "data write" => &mut shares.write,
                "log sync" => &mut shares.log,
                "lock" => &mut shares.lock,
                "latch" => &mut shares.latch,
                "client" => &mut shares.client,
                "wait" => &mut shares.blocked,
                "unknown" => &mut shares.unknown,
                "driver" => &mut shares.driver,
                _ => &mut shares.other,
            };
            *place += event.share_pct;
        }
        let busy_pct = 100.0 - idle;
        (!events.is_empty()).then(|| (shares.times(100.0 / busy_pct.max(0.1)), busy_pct))
    }

    fn times(mut self, factor: f64) -> Self {
        for share in self.all_mut() {
            *share *= factor;
        }
        self
    }

    fn all_mut(&mut self) -> [&mut f64; 13] {
        [
            &mut self.cpu,
            &mut self.queued,
            &mut self.round_trip,
            &mut self.read,
            &mut self.write,
            &mut self.log,
            &mut self.lock,
            &mut self.latch,
            &mut self.client,
            &mut self.blocked,
            &mut self.unknown,
            &mut self.other,
            &mut self.driver,
        ]
    }
}

/// Names what held the point back.
pub fn judge(evidence: &Evidence<'_>) -> Bottleneck {
    let Some((shares, busy_pct)) = Shares::of(evidence.events, evidence.driver_pct) else {
        return named("unknown", "Not known: no job did anything.".into());
    };
    if let Some(pct) = evidence.driver_pct.filter(|pct| *pct > DRIVER_PCT_MIN) {
        return named("driver", words::driver(pct));
    }
    if busy_pct < BUSY_PCT_MIN {
        return named("none", words::idle(busy_pct, evidence.figures));
    }
    let shares = served_by_page_cache(shares, evidence.figures);
    let shares = known_by_the_device(shares, evidence);
    let candidates = candidates(&shares, evidence.figures);
    let largest = candidates.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    match largest {
        Some((resource, pct)) if *pct >= NAMED_PCT_MIN => {
            if let Some(sentence) = memory(resource, *pct, evidence) {
                return named("memory", sentence);
            }
            let sentence = words::resource(resource, *pct, evidence);
            // Not every resource that takes the time is at its end.
            named(
                if is_at_its_end(resource, evidence) {
                    resource
                } else {
                    "none"
                },
                sentence,
            )
        }
        _ if shares.unknown >= NAMED_PCT_MIN => named("unknown", words::untold(shares.unknown)),
        _ => named("none", words::spread(evidence)),
    }
}

fn named(resource: &str, sentence: String) -> Bottleneck {
    Bottleneck {
        resource: resource.into(),
        sentence,
    }
}

/// Processors take the time of who waits for nothing else, and are at their end only when all are busy.
fn is_at_its_end(resource: &str, evidence: &Evidence<'_>) -> bool {
    resource != "cpu" || processors_are_busy(evidence.figures)
}

fn processors_are_busy(figures: &Figures) -> bool {
    figures
        .cpu_pct_avg
        .is_some_and(|pct| pct >= CPU_BUSY_PCT_MIN)
}

/// Where processors are all busy, being woken up takes its time from them; else it is the way between
/// driver and server, and who takes the rows at its end.
fn candidates(shares: &Shares, figures: &Figures) -> [(&'static str, f64); 8] {
    let is_client = shares.driver > 0.0 && shares.driver >= shares.cpu * CLIENT_OVER_SERVER_MIN;
    let (queued, driver) = match is_client {
        true => (0.0, shares.driver + shares.queued),
        false => (shares.queued, shares.driver),
    };
    let between = shares.round_trip + shares.client;
    let woken = match processors_are_busy(figures) {
        true => between.min(shares.queued * WOKEN_PER_QUEUED_MAX),
        false => 0.0,
    };
    let (cpu, network) = (shares.cpu + queued + woken, between - woken);
    [
        ("cpu", cpu),
        ("device", shares.read + shares.write),
        ("log sync", shares.log),
        ("lock", shares.lock),
        ("latch", shares.latch),
        ("network", network),
        ("driver", driver),
        ("other wait", shares.other + shares.blocked),
    ]
}

/// Reads that the page cache served are the kernel's copying, which is work of the processors.
fn served_by_page_cache(mut shares: Shares, figures: &Figures) -> Shares {
    let rates = figures.read_mb_per_s.zip(figures.engine_read_mb_per_s);
    if rates.is_some_and(|(device, engine)| device < engine * FROM_DEVICE_MIN) {
        shares.cpu += shares.read;
        shares.read = 0.0;
    }
    shares
}

/// An embedded engine tells of no waits; its blocked time is the device's when that was busy, and a
/// lock's when it was not and there are several jobs that could have been in each other's way. A server tells of
/// its locks, so that what is merely blocked there is something else.
fn known_by_the_device(mut shares: Shares, evidence: &Evidence<'_>) -> Shares {
    let Some(busy_pct) = evidence.figures.device_busy_pct else {
        return shares;
    };
    if busy_pct >= DEVICE_BUSY_PCT_MIN {
        shares.write += shares.blocked;
        shares.blocked = 0.0;
    } else if busy_pct < DEVICE_IDLE_PCT_MAX && evidence.jobs > 1 && !evidence.told_by_server {
        shares.lock += shares.blocked;
        shares.blocked = 0.0;
    }
    shares
}

/// Memory that is too small shows as something else: pages are read that have been there before, and who needs one in
/// the middle of its work is seen at work. So it is named in place of these, and of nothing else that the jobs waited for.
fn memory(resource: &str, pct: f64, evidence: &Evidence<'_>) -> Option<String> {
    let figures = evidence.figures;
    let may_be = match resource {
        "device" | "other wait" => true,
        "cpu" => !processors_are_busy(figures),
        _ => false,
    };
    let elapsed_s = figures.elapsed_s.filter(|s| *s > 0.0);
    let swapped_mb = figures.swap_in_mb.zip(figures.swap_out_mb);
    let swap = swapped_mb
        .zip(elapsed_s)
        .map(|((into, out), s)| (into + out) / s);
    let pressure = figures.pressure_memory_pct;
    let is_short = swap.is_some_and(|rate| rate >= SWAP_MB_PER_S_MIN)
        || pressure.is_some_and(|pct| pct >= MEMORY_PRESSURE_PCT_MIN);
    (may_be && is_short).then(|| words::memory(pct, swap, pressure, figures))
}

#[cfg(test)]
mod tests;
