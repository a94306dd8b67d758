//! Durations of the device's requests, as the kernel counted them during a point.

use archive::{DeviceUse, OperationTimes, Requests, WaitHistogram};
use host::block::{DeviceTimes, Operation, Phase, Times};
use host::{HostUse, Rates};

const OPERATIONS: [(Operation, &str); 3] = [
    (Operation::Read, "device read"),
    (Operation::Write, "device write"),
    (Operation::Flush, "device flush"),
];
const PHASES: [(Phase, &str); 3] = [
    (Phase::Whole, "whole"),
    (Phase::Queue, "queue"),
    (Phase::Device, "device"),
];

/// A histogram per operation, or one with the reason why there is none.
pub(crate) fn histograms(used: &HostUse) -> Vec<WaitHistogram> {
    let Some(requests) = together(used) else {
        let reason = used
            .requests_reason
            .as_deref()
            .unwrap_or("nobody counts them here");
        return vec![WaitHistogram::unknown("device", reason)];
    };
    let seen = OPERATIONS.iter().filter_map(|(operation, class)| {
        let whole = requests.of(*operation, Phase::Whole);
        (whole.count() > 0).then(|| WaitHistogram {
            class: (*class).to_owned(),
            counts: Some(by_milliseconds(&whole)),
            remark: remark(&requests, *operation, &whole),
        })
    });
    seen.collect()
}

/// All requests, each once, under the names of all their devices.
fn together(used: &HostUse) -> Option<DeviceTimes> {
    let mut of_figures = (used.requests.iter()).filter(|t| used.requests_of.contains(&t.device));
    let mut all = of_figures.next()?.clone();
    for other in of_figures {
        all.add(other);
        all.device = format!("{}, {}", all.device, other.device);
    }
    Some(all)
}

fn by_milliseconds(times: &Times) -> Vec<u64> {
    let mut counts = vec![0; WaitHistogram::BUCKETS];
    for (ns, count) in times.buckets() {
        counts[WaitHistogram::bucket(ns)] += count;
    }
    counts
}

fn remark(requests: &DeviceTimes, operation: Operation, whole: &Times) -> String {
    let histogram = whole.histogram();
    let of = |percentile| histogram.percentile_us(percentile) / 1e3;
    let mut remark = format!(
        "requests of {}, measured in the kernel: mean {:.3} ms, p50 {:.3}, p99 {:.3}, p99.9 {:.3}",
        requests.device,
        whole.mean_us().unwrap_or_default() / 1e3,
        of(50.0),
        of(99.0),
        of(99.9)
    );
    let queue = requests.of(operation, Phase::Queue);
    if let Some(mean_us) = queue.mean_us().filter(|_| queue.count() == whole.count()) {
        remark.push_str(&format!(
            "; {:.3} ms of the mean in the queue",
            mean_us / 1e3
        ));
    }
    remark
}

/// Durations of the requests of the devices below a database; empty if unknown, which a note of the point says.
pub(crate) fn below_database(used: &HostUse) -> Vec<OperationTimes> {
    if used.devices.is_empty() {
        Vec::new()
    } else {
        operation_times(
            &used.requests,
            &used.devices,
            used.requests_reason.as_deref(),
        )
    }
}

/// A device with only the rates of a window.
pub fn counted(device: &str, rates: &Rates) -> DeviceUse {
    let requests = |iops: Option<f64>, mb_per_s: Option<f64>, await_ms| {
        Some(Requests {
            count: (iops? * rates.elapsed_s).round() as u64,
            mb: mb_per_s? * rates.elapsed_s,
            await_ms,
        })
    };
    DeviceUse {
        name: device.to_owned(),
        elapsed_s: Some(rates.elapsed_s),
        reads: requests(rates.read_iops, rates.read_mb_per_s, rates.read_await_ms),
        writes: requests(rates.write_iops, rates.write_mb_per_s, rates.write_await_ms),
        busy_pct: rates.device_busy_pct,
        queue_mean: rates.device_queue_mean,
        ..DeviceUse::default()
    }
}

/// Durations of the requests by device, operation and part, checked against the counters of a device if these are
/// known. Without timed requests only the counters are reported, with the reason `untimed`.
pub fn operation_times(
    timed: &[DeviceTimes],
    counted: &[DeviceUse],
    untimed: Option<&str>,
) -> Vec<OperationTimes> {
    let mut reported: Vec<OperationTimes> = timed
        .iter()
        .flat_map(|times| parts(times, counted.iter().find(|c| c.name == times.device)))
        .collect();
    if counted.is_empty() {
        let unknown = |reason: &str| {
            OperationTimes::of("device", "", "read", "whole").remarked(reason.to_owned())
        };
        reported.extend(untimed.map(unknown));
    }
    let none_seen = "it is composed of other devices, and its own requests are invisible";
    for device in counted {
        for (operation, _) in OPERATIONS {
            let word = operation.word();
            let Some(requests) = by_counters(operation, device).filter(|r| r.count > 0) else {
                continue;
            };
            let is_reported = |times: &OperationTimes| {
                times.subject == device.name && times.is("device", word, "whole")
            };
            if !reported.iter().any(is_reported) {
                let reason = untimed.unwrap_or(none_seen);
                reported.push(
                    OperationTimes::of("device", &device.name, word, "whole")
                        .counted(requests.count, mean_us(&requests))
                        .remarked(format!("mean of /proc/diskstats alone: {reason}")),
                );
            }
        }
    }
    reported
}

fn parts(device: &DeviceTimes, counted: Option<&DeviceUse>) -> Vec<OperationTimes> {
    let mut parts = Vec::new();
    for (operation, _) in OPERATIONS {
        let word = operation.word();
        for (phase, name) in PHASES {
            let times = device.of(operation, phase);
            if times.count() == 0 {
                continue;
            }
            let held = counted.and_then(|counted| by_counters(operation, counted));
            let remark = match held.filter(|_| phase == Phase::Whole) {
                Some(requests) => format!(
                    "counted in the kernel; /proc/diskstats has {} with a mean of {:.3} ms",
                    requests.count,
                    requests.await_ms.unwrap_or_default()
                ),
                None => "counted in the kernel".to_owned(),
            };
            parts.push(
                OperationTimes::of("device", &device.device, word, name)
                    .counted(times.count(), times.mean_us())
                    .with(&times.histogram())
                    .remarked(remark),
            );
        }
    }
    parts
}

/// Requests of an operation by the kernel's counters. Writes include flushes.
fn by_counters(operation: Operation, device: &DeviceUse) -> Option<Requests> {
    match operation {
        Operation::Read => device.reads,
        Operation::Write => device.writes,
        Operation::Flush | Operation::Discard => None,
    }
}

fn mean_us(requests: &Requests) -> Option<f64> {
    requests.await_ms.map(|ms| ms * 1e3)
}
