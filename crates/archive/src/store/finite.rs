//! What is not a number is not a figure: it becomes unknown, and a note says so.

use std::borrow::Cow;

use crate::{
    BackgroundEvent, DeviceSample, DeviceUse, EngineIo, FIGURES, OperationSample, Point, Remark,
    Requests, Sample,
};

/// The point without what is not a finite number, and with a note for each loss.
///
/// A rate over no time is the usual cause. The rest of the point is worth keeping, so it is not
/// refused; neither JSON nor SQLite could carry the value.
pub(crate) fn finite(point: &Point) -> Cow<'_, Point> {
    let mut notes: Vec<Remark> = FIGURES
        .iter()
        .filter(|figure| is_odd(point.figures.get(figure.name)))
        .map(|figure| Remark::FigureNotANumber {
            figure: figure.name.to_owned(),
        })
        .collect();
    if is_odd(point.work.seconds) {
        notes.push(Remark::SecondsNotANumber);
    }
    let odd_samples = point.samples.iter().filter(|s| !is_finite(s)).count() as u64;
    if odd_samples > 0 {
        notes.push(Remark::SamplesNotANumber {
            samples: odd_samples,
        });
    }
    let odd_events = point.timed_events.len() - finite_events(point).count();
    if odd_events > 0 {
        notes.push(Remark::TimedEventsNotANumber {
            events: odd_events as u64,
        });
    }
    let odd_background = point.held_back.background_events.iter().any(is_odd_event);
    if odd_background {
        notes.push(Remark::BackgroundNotANumber);
    }
    let by = &point.by_operation;
    if by.times.iter().any(|times| is_odd(times.mean_us)) || by.samples.iter().any(is_odd_mean) {
        notes.push(Remark::MeanNotANumber);
    }
    let odd_devices = point.devices.iter().filter(|d| is_odd_device(d)).count() as u64;
    if odd_devices > 0 {
        notes.push(Remark::DevicesNotANumber {
            devices: odd_devices,
        });
    }
    if point.engine_io.iter().any(is_odd_io) {
        notes.push(Remark::EngineIoNotANumber);
    }
    let odd_interfaces = point
        .interfaces
        .iter()
        .filter(|i| is_odd(i.elapsed_s))
        .count() as u64;
    if odd_interfaces > 0 {
        notes.push(Remark::InterfacesNotANumber {
            interfaces: odd_interfaces,
        });
    }
    // The histogram keeps a latency beyond its end in its last bucket, but not how many there were.
    let clipped = point.histograms.service.clipped() + point.histograms.response.clipped();
    if clipped > 0 {
        notes.push(Remark::LatenciesClipped { latencies: clipped });
    }
    if notes.is_empty() {
        return Cow::Borrowed(point);
    }
    let mut point = without_odd(point);
    point.notes.append(&mut notes);
    Cow::Owned(point)
}

fn without_odd(point: &Point) -> Point {
    let mut clean = point.clone();
    for figure in FIGURES {
        let value = point.figures.get(figure.name).filter(|v| v.is_finite());
        clean.figures.set(figure.name, value);
    }
    clean.work.seconds = point.work.seconds.filter(|v| v.is_finite());
    clean.timed_events = finite_events(point).cloned().collect();
    for event in &mut clean.held_back.background_events {
        event.time_s = event.time_s.filter(|v| v.is_finite());
        event.mb = event.mb.filter(|v| v.is_finite());
    }
    for times in &mut clean.by_operation.times {
        times.mean_us = times.mean_us.filter(|v| v.is_finite());
    }
    let samples = &mut clean.by_operation.samples;
    samples.retain(|sample| sample.at_s.is_finite());
    for sample in samples {
        sample.service_us_mean = sample.service_us_mean.filter(|v| v.is_finite());
        sample.response_us_mean = sample.response_us_mean.filter(|v| v.is_finite());
    }
    clean.samples.retain(|sample| sample.at_s.is_finite());
    for value in clean.samples.iter_mut().flat_map(sample_values_mut) {
        *value = value.filter(|v| v.is_finite());
    }
    clean.devices.iter_mut().for_each(clean_device);
    for io in &mut clean.engine_io {
        io.mb = io.mb.filter(|v| v.is_finite());
        io.time_s = io.time_s.filter(|v| v.is_finite());
    }
    for interface in &mut clean.interfaces {
        interface.elapsed_s = interface.elapsed_s.filter(|v| v.is_finite());
    }
    clean
}

fn clean_device(device: &mut DeviceUse) {
    for value in [
        &mut device.elapsed_s,
        &mut device.busy_pct,
        &mut device.queue_mean,
    ] {
        *value = value.filter(|v| v.is_finite());
    }
    for requests in [&mut device.reads, &mut device.writes] {
        *requests = requests.filter(|r| r.mb.is_finite()).map(|r| Requests {
            await_ms: r.await_ms.filter(|v| v.is_finite()),
            ..r
        });
    }
    device.samples.retain(|sample| sample.at_s.is_finite());
    for value in device.samples.iter_mut().flat_map(|sample| {
        [
            &mut sample.service_us_mean,
            &mut sample.service_us_p99,
            &mut sample.service_us_max,
        ]
    }) {
        *value = value.filter(|v| v.is_finite());
    }
}

fn is_odd(value: Option<f64>) -> bool {
    value.is_some_and(|v| !v.is_finite())
}

fn is_odd_event(event: &BackgroundEvent) -> bool {
    is_odd(event.time_s) || is_odd(event.mb)
}

fn is_odd_io(io: &EngineIo) -> bool {
    is_odd(io.mb) || is_odd(io.time_s)
}

fn is_odd_mean(sample: &OperationSample) -> bool {
    !sample.at_s.is_finite() || is_odd(sample.service_us_mean) || is_odd(sample.response_us_mean)
}

fn is_odd_device(device: &DeviceUse) -> bool {
    let of_requests = |requests: Option<Requests>| {
        requests.is_some_and(|r| !r.mb.is_finite() || is_odd(r.await_ms))
    };
    let of_sample = |sample: &DeviceSample| {
        let times = [
            sample.service_us_mean,
            sample.service_us_p99,
            sample.service_us_max,
        ];
        !sample.at_s.is_finite() || times.into_iter().any(is_odd)
    };
    let values = [device.elapsed_s, device.busy_pct, device.queue_mean];
    values.into_iter().any(is_odd)
        || of_requests(device.reads)
        || of_requests(device.writes)
        || device.samples.iter().any(of_sample)
}

fn is_finite(sample: &Sample) -> bool {
    sample.at_s.is_finite() && !sample_values(sample).into_iter().any(is_odd)
}

fn finite_events(point: &Point) -> impl Iterator<Item = &crate::TimedEvent> {
    let finite = |e: &&crate::TimedEvent| e.time_s.is_finite() && e.share_pct.is_finite();
    point.timed_events.iter().filter(finite)
}

/// The values of a sample in the order of its columns, without `at_s`.
pub(crate) fn sample_values(sample: &Sample) -> [Option<f64>; 20] {
    let mut copy = sample.clone();
    sample_values_mut(&mut copy).map(|value| *value)
}

fn sample_values_mut(sample: &mut Sample) -> [&mut Option<f64>; 20] {
    [
        &mut sample.operations_per_s,
        &mut sample.response_us_p99,
        &mut sample.cpu_pct,
        &mut sample.cpu_iowait_pct,
        &mut sample.read_iops,
        &mut sample.write_iops,
        &mut sample.read_mb_per_s,
        &mut sample.write_mb_per_s,
        &mut sample.memory_used_mb,
        &mut sample.cpu_user_pct,
        &mut sample.cpu_system_pct,
        &mut sample.network_mb_per_s,
        &mut sample.tcp_retransmits,
        &mut sample.tcp_sockets,
        &mut sample.page_cache_mb,
        &mut sample.major_faults,
        &mut sample.swap_mb,
        &mut sample.pressure_cpu_pct,
        &mut sample.pressure_memory_pct,
        &mut sample.pressure_io_pct,
    ]
}
