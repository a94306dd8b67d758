//! How long the requests of the device took, as the kernel counted them while a point was measured.

use archive::{OperationTimes, WaitHistogram};
use host::block::{DeviceTimes, Operation, Phase, Times};
use host::{HostUse, Rates};

/// Operations with their word, and the class of waits that they are.
const OPERATIONS: [(Operation, &str, &str); 3] = [
    (Operation::Read, "read", "device read"),
    (Operation::Write, "write", "device write"),
    (Operation::Flush, "flush", "device flush"),
];
/// Parts of a request's time with their word.
const PHASES: [(Phase, &str); 3] = [
    (Phase::Whole, "whole"),
    (Phase::Queue, "queue"),
    (Phase::Device, "device"),
];

/// A line for each operation that there was; one with the reason where nobody counts.
pub(crate) fn histograms(used: &HostUse) -> Vec<WaitHistogram> {
    let Some(requests) = &used.requests else {
        let reason = used
            .requests_reason
            .as_deref()
            .unwrap_or("nobody counts them here");
        return vec![WaitHistogram::unknown("device", reason)];
    };
    let seen = OPERATIONS.iter().filter_map(|(operation, _, class)| {
        let whole = requests.of(*operation, Phase::Whole);
        (whole.count() > 0).then(|| WaitHistogram {
            class: (*class).to_owned(),
            counts: Some(by_milliseconds(&whole)),
            remark: remark(requests, *operation, &whole),
        })
    });
    seen.collect()
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

/// Times of the requests of the device below a database; nothing where no device is known, which a note of the point says.
pub(crate) fn below_database(used: &HostUse, device: Option<&str>) -> Vec<OperationTimes> {
    device.map_or_else(Vec::new, |device| {
        operation_times(
            used.requests.as_slice(),
            Some((device, &used.rates)),
            used.requests_reason.as_deref(),
        )
    })
}

/// Times of the requests by operation and part. Of the device whose counters are known each is held against
/// them; they alone are told where nobody times requests, with the reason `untimed`.
pub fn operation_times(
    timed: &[DeviceTimes],
    counted: Option<(&str, &Rates)>,
    untimed: Option<&str>,
) -> Vec<OperationTimes> {
    let mut told: Vec<OperationTimes> = timed
        .iter()
        .flat_map(|device| parts(device, counted))
        .collect();
    let Some((device, rates)) = counted else {
        let unknown = |reason: &str| {
            OperationTimes::of("device", "", "read", "whole").remarked(reason.to_owned())
        };
        told.extend(untimed.map(unknown));
        return told;
    };
    let none_seen = "it is composed of other devices, and its own requests are invisible";
    for (operation, word, _) in OPERATIONS {
        let Some((count, mean_us)) = by_counters(operation, rates).filter(|(count, _)| *count > 0)
        else {
            continue;
        };
        if !told.iter().any(|times| times.is("device", word, "whole")) {
            let reason = untimed.unwrap_or(none_seen);
            told.push(
                OperationTimes::of("device", device, word, "whole")
                    .counted(count, mean_us)
                    .remarked(format!("mean of /proc/diskstats alone: {reason}")),
            );
        }
    }
    told
}

/// All parts of the requests of one device that were seen.
fn parts(device: &DeviceTimes, counted: Option<(&str, &Rates)>) -> Vec<OperationTimes> {
    let mut parts = Vec::new();
    for (operation, word, _) in OPERATIONS {
        for (phase, name) in PHASES {
            let times = device.of(operation, phase);
            if times.count() == 0 {
                continue;
            }
            let rates = counted.filter(|(name, _)| *name == device.device);
            let held = rates.and_then(|(_, rates)| by_counters(operation, rates));
            let remark = match held.filter(|_| phase == Phase::Whole) {
                Some((count, mean_us)) => format!(
                    "counted in the kernel; /proc/diskstats has {count} with a mean of {:.3} ms",
                    mean_us.unwrap_or_default() / 1e3
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

/// What the kernel's counters say of an operation: how many, and their mean time in µs. Its writes hold the flushes.
fn by_counters(operation: Operation, rates: &Rates) -> Option<(u64, Option<f64>)> {
    let (iops, await_ms) = match operation {
        Operation::Read => (rates.read_iops, rates.read_await_ms),
        Operation::Write => (rates.write_iops, rates.write_await_ms),
        Operation::Flush | Operation::Discard => (None, None),
    };
    let count = (iops? * rates.elapsed_s).round() as u64;
    Some((count, await_ms.map(|ms| ms * 1e3)))
}
