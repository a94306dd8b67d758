//! The lists and series of a point, which no query needs as columns: one JSON document.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{ArchiveError, Result};
use crate::{
    BackgroundEvent, DeviceUse, EngineIo, Execution, InterfaceUse, Observed, OperationSample,
    OperationTimes, Point, Remark, Sample, Section, TimedEvent, TransactionKind, WaitHistogram,
};

/// A longer document is neither written nor read: in memory it may take thirty times as much.
const DOCUMENT_BYTES_MAX: usize = 32 << 20;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct PointDocument<'a> {
    timed_events: Cow<'a, [TimedEvent]>,
    background_events: Cow<'a, [BackgroundEvent]>,
    wait_histograms: Cow<'a, [WaitHistogram]>,
    samples: Cow<'a, [Sample]>,
    operation_times: Cow<'a, [OperationTimes]>,
    operation_samples: Cow<'a, [OperationSample]>,
    transactions: Cow<'a, [TransactionKind]>,
    devices: Cow<'a, [DeviceUse]>,
    engine_io: Cow<'a, [EngineIo]>,
    interfaces: Cow<'a, [InterfaceUse]>,
    executions: Cow<'a, [Execution]>,
    observed: Cow<'a, [Observed]>,
    sections: Cow<'a, [Section]>,
}

impl<'a> PointDocument<'a> {
    fn of(point: &'a Point) -> Self {
        let (by, held) = (&point.by_operation, &point.held_back);
        Self {
            timed_events: (&point.timed_events).into(),
            background_events: (&held.background_events).into(),
            wait_histograms: (&held.wait_histograms).into(),
            samples: (&point.samples).into(),
            operation_times: (&by.times).into(),
            operation_samples: (&by.samples).into(),
            transactions: (&by.transactions).into(),
            devices: (&point.devices).into(),
            engine_io: (&point.engine_io).into(),
            interfaces: (&point.interfaces).into(),
            executions: (&point.executions).into(),
            observed: (&point.observed).into(),
            sections: (&point.sections).into(),
        }
    }

    fn fill(self, point: &mut Point) {
        let (by, held) = (&mut point.by_operation, &mut point.held_back);
        point.timed_events = self.timed_events.into_owned();
        held.background_events = self.background_events.into_owned();
        held.wait_histograms = self.wait_histograms.into_owned();
        point.samples = self.samples.into_owned();
        by.times = self.operation_times.into_owned();
        by.samples = self.operation_samples.into_owned();
        by.transactions = self.transactions.into_owned();
        point.devices = self.devices.into_owned();
        point.engine_io = self.engine_io.into_owned();
        point.interfaces = self.interfaces.into_owned();
        point.executions = self.executions.into_owned();
        point.observed = self.observed.into_owned();
        point.sections = self.sections.into_owned();
    }
}

/// The document of a point. Series that are too long for one lose every second sample, as often as necessary, and a
/// note says so: hours of measurement must not be lost because of them. A point whose other lists are too long is refused,
/// because reading it would refuse it too.
pub(super) fn write(point: &mut Point) -> Result<String> {
    let mut one_of = 1;
    let mut text = json(&PointDocument::of(point));
    while text.len() > DOCUMENT_BYTES_MAX {
        if !halve(point) {
            return Err(ArchiveError::PointTooLarge {
                key: Box::new(point.key.clone()),
                bytes: text.len(),
                bytes_max: DOCUMENT_BYTES_MAX,
            });
        }
        one_of *= 2;
        text = json(&PointDocument::of(point));
    }
    if one_of > 1 {
        point.notes.push(Remark::SeriesThinned { one_of });
    }
    Ok(text)
}

/// False when there is nothing to leave out.
fn halve(point: &mut Point) -> bool {
    fn every_second<T>(series: &mut Vec<T>, in_step: usize) -> bool {
        let before = series.len();
        let mut number = 0..;
        series.retain(|_| (number.next().unwrap_or(0) / in_step) % 2 == 1);
        series.len() < before
    }
    let mut is_shorter = every_second(&mut point.samples, 1);
    is_shorter |= every_second(&mut point.by_operation.samples, 2);
    for device in &mut point.devices {
        is_shorter |= every_second(&mut device.samples, 3);
    }
    is_shorter
}

pub(super) fn read(text: &str, point: &mut Point, problems: &mut Vec<Remark>) {
    let unreadable = |error: String| Remark::ColumnUnreadable {
        column: "document".to_owned(),
        error,
    };
    if text.len() > DOCUMENT_BYTES_MAX {
        problems.push(unreadable(format!("it has {} bytes", text.len())));
        return;
    }
    match serde_json::from_str::<PointDocument>(text) {
        Ok(document) => document.fill(point),
        Err(error) => problems.push(unreadable(error.to_string())),
    }
    for times in &mut point.by_operation.times {
        if let Err(error) = times.check() {
            problems.push(Remark::OperationTimesUnreadable {
                observer: times.observer.clone(),
                operation: times.operation.clone(),
                phase: times.phase.clone(),
                error: error.to_string(),
            });
        }
    }
}

pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value)
        .expect("the model's structs have string keys and cannot fail to become JSON")
}
