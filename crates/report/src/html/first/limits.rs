//! Limits of the tests at their best levels, by resource.

use archive::{Point, Purpose, Resource};

use crate::html::{sweep, verdict};
use crate::level::TestGroup;

/// A resource, with the tests whose best level it limits.
pub struct Limit<'a> {
    pub resource: Resource,
    /// Code and title of each.
    pub tests: Vec<(&'a str, &'a str)>,
    /// The remark of the first test, with its figures.
    pub sentence: &'a str,
    /// Mean CPU use at the best levels, as far as the host reports it.
    pub cpu_pct: Vec<f64>,
    /// Best levels with a known share of other programs, and those that other programs disturbed.
    pub known: usize,
    pub crowded: usize,
    /// Device that holds log and data, if syncing the log is the limit.
    pub log_shares: Option<&'a str>,
}

/// Resources by the number of tests that they limit; an unknown limit, or none, comes last.
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
                    known: 0,
                    crowded: 0,
                    log_shares: None,
                });
                found.len() - 1
            });
            let limit = &mut found[at];
            if !limit.tests.contains(&(group.test, group.title)) {
                limit.tests.push((group.test, group.title));
            }
            limit.known += usize::from(peak.figure("cpu_by_others_pct").is_some());
            let mut points = peak.points.iter();
            limit.crowded += usize::from(points.any(|point| verdict::is_crowded(&point.figures)));
            limit.cpu_pct.extend(peak.figure("cpu_pct_avg"));
            if limit.resource == Resource::LogSync && limit.log_shares.is_none() {
                limit.log_shares = log_shares(peak.first());
            }
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

/// The device that holds both log and data.
fn log_shares(point: &Point) -> Option<&str> {
    let both = [Purpose::Data, Purpose::Log];
    let mut devices = point.devices.iter();
    let shared = devices.find(|it| both.iter().all(|purpose| it.holds.contains(purpose)))?;
    Some(&shared.name)
}

/// Unequally loaded devices of the data: the busiest one (percent of the time), the mean of the others, and the test whose best level shows
/// it.
pub struct HotDevice<'a> {
    pub name: &'a str,
    pub busy_pct: f64,
    pub others_pct: f64,
    pub test: &'a str,
}

/// A hot device was busy for most of the time and for this many times as long as the others.
const HOT_BUSY_PCT: f64 = 60.0;
const HOT_TIMES: f64 = 2.0;

/// The hottest device of the data at the best level of any test; `None` with an even load or a single device.
pub fn hot_device<'a>(groups: &[TestGroup<'a>]) -> Option<HotDevice<'a>> {
    let hot = |group: &TestGroup<'a>| {
        let rate = sweep::rate_figure(group).name;
        let peaks = group.curves.iter().filter_map(|curve| curve.peak(rate));
        let hot = peaks.filter_map(|peak| hot_of(peak.first(), group.test));
        hot.max_by(|a, b| a.busy_pct.total_cmp(&b.busy_pct))
    };
    let all = groups.iter().filter_map(hot);
    all.max_by(|a, b| a.busy_pct.total_cmp(&b.busy_pct))
}

fn hot_of<'a>(point: &'a Point, test: &'a str) -> Option<HotDevice<'a>> {
    let of_data = point.devices.iter();
    let of_data = of_data.filter(|device| device.holds.contains(&Purpose::Data));
    let known = of_data.filter_map(|device| Some((device.name.as_str(), device.busy_pct?)));
    let mut known: Vec<(&str, f64)> = known.collect();
    known.sort_by(|(_, x), (_, y)| y.total_cmp(x));
    let (&(name, busy_pct), others) = known.split_first()?;
    let others: Vec<f64> = others.iter().map(|(_, pct)| *pct).collect();
    let others_pct = stats::summary::mean(&others)?;
    let is_hot = busy_pct >= HOT_BUSY_PCT && busy_pct >= HOT_TIMES * others_pct;
    is_hot.then_some(HotDevice {
        name,
        busy_pct,
        others_pct,
        test,
    })
}

pub fn is_known(resource: Resource) -> bool {
    !matches!(resource, Resource::None | Resource::Unknown)
}

pub fn name(resource: Resource) -> &'static str {
    match resource {
        Resource::None => "Nothing saturated",
        Resource::Unknown => "Unknown",
        Resource::Cpu => "CPU",
        Resource::Device => "Storage device",
        Resource::LogSync => "WAL syncs",
        Resource::Lock => "Locks",
        Resource::Latch => "Locks inside the server",
        Resource::Memory => "Memory",
        Resource::Network => "Network",
        Resource::Scheduling => "Context switches between driver and server",
        Resource::Driver => "The driver",
        Resource::OtherWait => "Another wait",
        Resource::Several => "Several resources",
    }
}
