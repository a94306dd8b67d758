//! Names the bottleneck of a point in one sentence with its numbers.
//!
//! The time of the jobs decides, not the load of the machine: a resource is named only if the jobs spent a large part
//! of their busy time on it. A machine that others keep busy is thus not blamed for other waits, and busy processors
//! are not blamed if all jobs wait for a lock.

mod evidence;
mod finding;
mod shares;
mod words;

use archive::{Bottleneck, Figures, Resource};

pub use evidence::*;
use finding::{Finding, Shortage};
use shares::Shares;

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
    let notable = parts.iter().filter(|(_, pct)| *pct >= FURTHER_PCT_MIN);
    let notable: Vec<_> = notable.copied().collect();
    match notable.as_slice() {
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
        _ if shares.unknown >= NAMED_PCT_MIN => Finding::Unreported {
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
            Self::NothingDone | Self::Unreported { .. } => Resource::Unknown,
            Self::DriverAlone { .. } => Resource::Driver,
            Self::Paused { .. } => Resource::None,
            // Processors limit a job only if it waits for nothing else, and are exhausted only when all are busy.
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

/// A shortage of memory appears as other waits: evicted pages are read again, and a job that needs one in the middle
/// of its work appears to work. So memory is named instead of these waits, and of no others.
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
