//! The events of a run that is in the archive, each with the second at which it happened.

use archive::stream::{DeviceRates, PointHead, PointResult, Snapshot, StreamEvent};
use archive::{Point, Run, RunState, Sample};

/// The events of a run, in their order, each with its time in seconds since the start of its run, without pauses
/// between points. The archive has no distribution of a single interval, so snapshots have only the 99th percentile.
pub fn events(run: &Run) -> Vec<(f64, StreamEvent)> {
    let mut events = vec![(
        0.0,
        StreamEvent::RunBegins {
            run: run.label.clone(),
            at: run.started_at.clone(),
            planned: run.points_planned as usize,
            todo: run.points_planned as usize,
        },
    )];
    let mut begins_s = 0.0;
    for point in &run.points {
        let target = run.targets.get(point.key.target as usize);
        let head = PointHead {
            key: point.key.clone(),
            title: point.title.clone(),
            target_name: target.map(|t| t.name.clone()).unwrap_or_default(),
        };
        events.push((begins_s, StreamEvent::PointBegins(head)));
        let mut before_s = 0.0;
        for sample in &point.samples {
            let snapshot = Snapshot {
                cores: run.platform.threads,
                ..snapshot(point, sample, before_s)
            };
            before_s = sample.at_s;
            let event = StreamEvent::Snapshot(Box::new(snapshot));
            events.push((begins_s + sample.at_s, event));
        }
        begins_s += before_s.max(point.figures.elapsed_s.unwrap_or_default());
        let result = StreamEvent::PointEnds(Box::new(PointResult::of(point)));
        events.push((begins_s, result));
    }
    let is_complete = run.state == RunState::Complete;
    let ends = StreamEvent::RunEnds {
        run: Some(run.label.clone()),
        complete: is_complete,
        problem: (!is_complete).then(|| "not all of its points were measured".to_owned()),
    };
    events.push((begins_s, ends));
    events
}

fn snapshot(point: &Point, sample: &Sample, before_s: f64) -> Snapshot {
    let length_s = (sample.at_s - before_s).max(0.0);
    let operations = sample.operations_per_s;
    Snapshot {
        at_s: sample.at_s,
        length_s,
        operations: operations.map(|per_s| (per_s * length_s).round() as u64),
        response_us_p99: sample.response_us_p99,
        users: point.key.jobs,
        host: Some(sample.clone()),
        devices: devices(point, sample.at_s, length_s),
        ..Snapshot::default()
    }
}

fn devices(point: &Point, at_s: f64, length_s: f64) -> Vec<DeviceRates> {
    let of_device = |device: &archive::DeviceUse| {
        let mut at_that_time = device
            .samples
            .iter()
            .filter(|s| (s.at_s - at_s).abs() < length_s / 2.0)
            .peekable();
        at_that_time.peek()?;
        let (mut reads, mut writes) = (0, 0);
        for sample in at_that_time {
            match sample.operation.as_str() {
                "read" => reads += sample.requests,
                "write" => writes += sample.requests,
                _ => {}
            }
        }
        Some(DeviceRates {
            name: device.name.clone(),
            read_iops: Some(reads as f64 / length_s),
            write_iops: Some(writes as f64 / length_s),
            busy_pct: None,
        })
    };
    point.devices.iter().filter_map(of_device).collect()
}
