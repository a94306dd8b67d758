//! How long the requests of the device took, as the kernel counted them while a point was measured.

use archive::WaitHistogram;
use host::HostUse;
use host::block::{DeviceTimes, Operation, Phase, Times};

/// A line for each operation that there was; one with the reason where nobody counts.
pub(crate) fn histograms(used: &HostUse) -> Vec<WaitHistogram> {
    let Some(requests) = &used.requests else {
        let reason = used
            .requests_reason
            .as_deref()
            .unwrap_or("nobody counts them here");
        return vec![WaitHistogram::unknown("device", reason)];
    };
    let operations = [
        ("device read", Operation::Read),
        ("device write", Operation::Write),
        ("device flush", Operation::Flush),
    ];
    let seen = operations.iter().filter_map(|(class, operation)| {
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
        "requests of {}, counted in the kernel: mean {:.3} ms, p50 {:.3}, p99 {:.3}, p99.9 {:.3}",
        requests.device,
        whole.mean_us().unwrap_or_default() / 1e3,
        of(50.0),
        of(99.0),
        of(99.9)
    );
    let queue = requests.of(operation, Phase::Queue);
    if let Some(mean_us) = queue.mean_us().filter(|_| queue.count() == whole.count()) {
        remark.push_str(&format!(
            "; of the mean {:.3} ms in the queue",
            mean_us / 1e3
        ));
    }
    remark
}
