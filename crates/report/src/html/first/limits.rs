//! What held the tests back, each at its best level, by resource.

use archive::Resource;

use crate::html::{sweep, verdict};
use crate::level::TestGroup;

/// A resource, with the tests whose best level it held back.
pub struct Limit<'a> {
    pub resource: Resource,
    /// Codes of the tests.
    pub tests: Vec<&'a str>,
    /// What was said of the first of them, with its figures.
    pub sentence: &'a str,
    /// Average use of the processors at the best levels, where the host tells.
    pub cpu_pct: Vec<f64>,
    /// Best levels at which the share of other programs is known, and those that these disturbed.
    pub told: usize,
    pub crowded: usize,
}

/// Resources by the number of tests that they hold back; what nothing held back, or nobody knows, comes last.
pub fn limits<'a>(groups: &[TestGroup<'a>]) -> Vec<Limit<'a>> {
    let mut found: Vec<Limit<'a>> = Vec::new();
    for group in groups {
        let rate = sweep::rate_figure(group).name;
        for peak in group.curves.iter().filter_map(|curve| curve.peak(rate)) {
            let Some(bottleneck) = &peak.first().held_back.bottleneck else {
                continue;
            };
            let at = found
                .iter()
                .position(|limit| limit.resource == bottleneck.resource);
            let at = at.unwrap_or_else(|| {
                found.push(Limit {
                    resource: bottleneck.resource,
                    tests: Vec::new(),
                    sentence: &bottleneck.sentence,
                    cpu_pct: Vec::new(),
                    told: 0,
                    crowded: 0,
                });
                found.len() - 1
            });
            let limit = &mut found[at];
            if !limit.tests.contains(&group.test) {
                limit.tests.push(group.test);
            }
            limit.told += usize::from(peak.figure("cpu_by_others_pct").is_some());
            let mut points = peak.points.iter();
            limit.crowded += usize::from(points.any(|point| verdict::is_crowded(&point.figures)));
            limit.cpu_pct.extend(peak.figure("cpu_pct_avg"));
        }
    }
    found.sort_by_key(|limit| {
        (
            !is_known(limit.resource),
            std::cmp::Reverse(limit.tests.len()),
        )
    });
    found
}

/// Whether something was found to be at its end.
pub fn is_known(resource: Resource) -> bool {
    !matches!(resource, Resource::None | Resource::Unknown)
}

/// What a resource is called in a sentence.
pub fn name(resource: Resource) -> &'static str {
    match resource {
        Resource::None => "Nothing saturated",
        Resource::Unknown => "Unknown",
        Resource::Cpu => "Processors",
        Resource::Device => "Storage device",
        Resource::LogSync => "Log syncs",
        Resource::Lock => "Locks",
        Resource::Latch => "Latches of the server",
        Resource::Memory => "Memory",
        Resource::Network => "Network",
        Resource::Scheduling => "Context switches between driver and server",
        Resource::Driver => "The driver",
        Resource::OtherWait => "Another wait",
        Resource::Several => "Several resources",
    }
}
