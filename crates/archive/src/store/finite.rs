//! A value that is not a finite number is no figure: it becomes unknown, and a note says so.

use crate::{Block, DeviceUse, FIGURES, OperationSample, Point, Remark, Requests, Sample};

/// The point with finite numbers alone, and a note for each loss.
///
/// A rate over no time is the usual cause. The rest of the point is worth storing, so it is not
/// refused; neither JSON nor SQLite could represent the value.
pub(crate) fn finite(point: &Point) -> Point {
    let mut point = point.clone();
    let mut notes = Vec::new();
    for name in FIGURES.iter().map(|figure| figure.name) {
        let mut value = point.figures.get(name);
        if clean([&mut value]) {
            point.figures.set(name, value);
            notes.push(Remark::FigureNotANumber {
                figure: name.to_owned(),
            });
        }
    }
    if clean([&mut point.work.seconds]) {
        notes.push(Remark::SecondsNotANumber);
    }
    let mut note = |count: u64, of: fn(u64) -> Remark| {
        if count > 0 {
            notes.push(of(count));
        }
    };
    let samples = count(&mut point.samples, |s| {
        clean(values(s)) | !s.at_s.is_finite()
    });
    point.samples.retain(|sample| sample.at_s.is_finite());
    note(samples, |samples| Remark::SamplesNotANumber { samples });
    let events = point.timed_events.len();
    (point.timed_events).retain(|e| e.time_s.is_finite() && e.share_pct.is_finite());
    let lost = events - point.timed_events.len();
    note(lost as u64, |events| Remark::TimedEventsNotANumber {
        events,
    });
    let background = &mut point.held_back.background_events;
    let odd = count(background, |e| clean([&mut e.time_s, &mut e.mb]));
    note(odd, |_| Remark::BackgroundNotANumber);
    let by = &mut point.by_operation;
    let of_sample = |s: &mut OperationSample| {
        clean([&mut s.service_us_mean, &mut s.response_us_mean]) | !s.at_s.is_finite()
    };
    let means = count(&mut by.times, |times| clean([&mut times.mean_us]));
    let odd = means + count(&mut by.samples, of_sample);
    note(odd, |_| Remark::MeanNotANumber);
    by.samples.retain(|sample| sample.at_s.is_finite());
    let odd = count(&mut point.devices, clean_device);
    note(odd, |devices| Remark::DevicesNotANumber { devices });
    let odd = count(&mut point.engine_io, |io| {
        clean([&mut io.mb, &mut io.time_s])
    });
    note(odd, |_| Remark::EngineIoNotANumber);
    let blocks = (point.sections.iter_mut()).flat_map(|section| &mut section.blocks);
    for block in blocks {
        if let Block::Chart(chart) = block {
            let series = chart.series.iter_mut();
            series.for_each(|series| series.points.retain(|(x, _)| x.is_finite()));
        }
    }
    let odd = count(&mut point.interfaces, |i| clean([&mut i.elapsed_s]));
    note(odd, |interfaces| Remark::InterfacesNotANumber {
        interfaces,
    });
    // The histogram counts a latency beyond its end in its last bucket.
    let latencies = point.histograms.service.clipped() + point.histograms.response.clipped();
    note(latencies, |latencies| Remark::LatenciesClipped {
        latencies,
    });
    point.notes.append(&mut notes);
    point
}

/// Forgets the values that are not finite; true if there are any.
fn clean<const N: usize>(values: [&mut Option<f64>; N]) -> bool {
    let mut is_odd = false;
    for value in values {
        if value.is_some_and(|number| !number.is_finite()) {
            *value = None;
            is_odd = true;
        }
    }
    is_odd
}

/// Cleans all of a list; gives how many had odd values.
fn count<T>(list: &mut [T], clean: impl FnMut(&mut T) -> bool) -> u64 {
    list.iter_mut().map(clean).filter(|is_odd| *is_odd).count() as u64
}

fn clean_device(device: &mut DeviceUse) -> bool {
    let mut is_odd = clean([
        &mut device.elapsed_s,
        &mut device.busy_pct,
        &mut device.queue_mean,
    ]);
    for of_kind in [&mut device.reads, &mut device.writes] {
        if let Some(requests) = of_kind {
            is_odd |= clean([&mut requests.await_ms]) | !requests.mb.is_finite();
        }
        *of_kind = of_kind.filter(|requests: &Requests| requests.mb.is_finite());
    }
    let samples = count(&mut device.samples, |s| {
        let times = [
            &mut s.service_us_mean,
            &mut s.service_us_p99,
            &mut s.service_us_max,
        ];
        clean(times) | !s.at_s.is_finite()
    });
    device.samples.retain(|sample| sample.at_s.is_finite());
    is_odd || samples > 0
}

fn values(sample: &mut Sample) -> [&mut Option<f64>; 20] {
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
