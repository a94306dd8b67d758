//! Direct I/O to files or devices, as points of the archive.

pub(crate) mod test;

use archive::{
    ByOperation, CacheState, Component, Figures, Histograms, OperationSample, OperationTimes,
    Point, PointKey, Remark, Sample, Steady, WorkDone,
};
use host::block::{self, DeviceTimes};
use storage::engine::{Ended, Operation, Outcome, Recovery, Tally, Way};
use storage::execution::{self, Done, Lap, Steadiness};
use storage::language::{heading, summary, workloads};
use storage::run::{Rate, Run};

use lab::point::steady;
use lab::requests;

const MB: f64 = 1e6;
const OPERATIONS: [(Operation, &str); 2] = [(Operation::Read, "read"), (Operation::Write, "write")];

#[derive(Debug, Clone, Copy, Default)]
pub struct Devices<'a> {
    /// The only device, whose counters are read; `None` if there are several or none is known.
    pub only: Option<&'a str>,
    /// Reason why requests are not timed.
    pub untimed: Option<&'a str>,
}

/// Converts a finished run to a point, with the latencies of its operations and of the device requests.
pub fn point(done: &Done<'_>, key: PointKey, seed: u64, devices: Devices<'_>) -> Point {
    let (run, outcome) = (done.run, done.outcome);
    let all = outcome.latencies_of(|_, _, _| true);
    let heading = heading(run);
    let counted: Vec<&Lap> = done.laps.iter().filter(|lap| lap.counted).collect();
    let rates: Vec<f64> = counted.iter().map(|lap| iops(lap)).collect();
    Point {
        started_at: done.started_at.to_string(),
        seed,
        configuration: heading.clone(),
        definition: format!("{heading}; {}", workloads(run)),
        work: WorkDone {
            mode: "time".to_owned(),
            size: String::new(),
            operations_per_job: None,
            seconds: run.elapsed_s.map(f64::from),
            schedule: schedule(run),
            state: "as found".to_owned(),
            cache: CacheState::AsFound,
            below_database: true,
            ..WorkDone::default()
        },
        figures: figures(done),
        histograms: Histograms::of(&all.service, &all.response),
        by_operation: by_operation(done, devices),
        steady: done.steadiness.map_or_else(|| steady(&rates), of_rounds),
        samples: counted.iter().map(|lap| sample(lap)).collect(),
        reasons: reasons(done),
        notes: notes(done),
        ..Point::blank(key, summary(run), Component::Storage)
    }
}

fn by_operation(done: &Done<'_>, devices: Devices<'_>) -> ByOperation {
    if done.outcome.ended == Ended::Recovered {
        return ByOperation::default();
    }
    let mut times = driver_times(done.outcome);
    let counted = devices
        .only
        .map(|name| requests::counted(name, &done.rates));
    times.extend(requests::operation_times(
        done.requests,
        counted.as_slice(),
        devices.untimed,
    ));
    let counted = done.laps.iter().filter(|lap| lap.counted);
    let samples = counted.flat_map(|lap| {
        OPERATIONS.map(|(operation, word)| operation_sample(lap, lap.of(operation), word))
    });
    ByOperation {
        times,
        samples: samples.collect(),
        transactions: Vec::new(),
    }
}

fn driver_times(outcome: &Outcome) -> Vec<OperationTimes> {
    let mut all_times = Vec::new();
    for (operation, word) in OPERATIONS {
        let mut all = Tally::default();
        (outcome.cells.iter()).for_each(|cell| all.merge(cell.of(operation)));
        if all.operations == 0 {
            continue;
        }
        let of = outcome.latencies_of(|_, _, other| other == operation);
        for (phase, histogram, sum_ns) in [
            ("service", &of.service, all.service_ns),
            ("response", &of.response, all.response_ns),
        ] {
            // Sums are exact; means of histograms are as exact as their buckets.
            let times = OperationTimes::of("driver", "", word, phase);
            let times = times.counted(all.operations, mean_us(sum_ns, all.operations));
            all_times.push(times.with(histogram));
        }
    }
    all_times
}

fn mean_us(sum_ns: u64, operations: u64) -> Option<f64> {
    (operations > 0).then(|| sum_ns as f64 / operations as f64 / 1e3)
}

fn operation_sample(lap: &Lap, tally: &Tally, operation: &str) -> OperationSample {
    OperationSample {
        at_s: lap.end.as_secs_f64(),
        operation: operation.to_owned(),
        operations: tally.operations,
        service_us_mean: mean_us(tally.service_ns, tally.operations),
        response_us_mean: mean_us(tally.response_ns, tally.operations),
    }
}

fn schedule(run: &Run) -> String {
    match &run.rate {
        Rate::Fixed { iops } => format!("open {:?} {iops}/s", run.arrivals).to_lowercase(),
        Rate::Variable { steps } => {
            format!("open {:?} at {} rates in turn", run.arrivals, steps.len()).to_lowercase()
        }
        _ => "closed".to_owned(),
    }
}

fn figures(done: &Done<'_>) -> Figures {
    let (outcome, rates) = (done.outcome, &done.rates);
    if outcome.ended == Ended::Recovered {
        // Blocks were read only to verify them.
        return Figures {
            errors: Some(outcome.faults_count as f64),
            ..Figures::default()
        };
    }
    let total = outcome.total();
    let seconds = outcome.counted.as_secs_f64();
    let per_second = |amount: f64| (seconds > 0.0).then(|| amount / seconds);
    let in_flight_ns: u64 = outcome.cells.iter().map(|cell| cell.in_flight_ns).sum();
    let elapsed_s = outcome.elapsed.as_secs_f64();
    let mut figures = Figures {
        operations_per_s: per_second(total.operations as f64),
        operations: Some(total.operations as f64),
        payload_mb_per_s: per_second(total.bytes as f64 / MB),
        errors: Some(outcome.faults_count as f64),
        elapsed_s: Some(seconds),
        in_flight_mean: per_second(in_flight_ns as f64 / 1e9),
        unfinished: Some(outcome.unserved as f64),
        late_starts: Some(outcome.driver.late_starts as f64),
        late_start_us_max: Some(outcome.driver.late_max.as_secs_f64() * 1e6),
        driver_cpu_pct: (elapsed_s > 0.0)
            .then(|| outcome.driver.workers_cpu.as_secs_f64() * 100.0 / elapsed_s),
        process_cpu_pct: rates.process_cpu_pct,
        cpu_pct_avg: rates.cpu_pct,
        cpu_user_pct: rates.cpu_user_pct,
        cpu_system_pct: rates.cpu_system_pct,
        cpu_iowait_pct: rates.cpu_iowait_pct,
        cpu_steal_pct: rates.cpu_steal_pct,
        read_iops: rates.read_iops,
        write_iops: rates.write_iops,
        total_iops: rates.total_iops(),
        read_mb_per_s: rates.read_mb_per_s,
        write_mb_per_s: rates.write_mb_per_s,
        total_mb_per_s: rates.total_mb_per_s(),
        read_await_ms: rates.read_await_ms,
        write_await_ms: rates.write_await_ms,
        read_await_ms_p99: await_ms_p99(done, block::Operation::Read),
        write_await_ms_p99: await_ms_p99(done, block::Operation::Write),
        device_busy_pct: rates.device_busy_pct,
        device_queue_mean: rates.device_queue_mean,
        pressure_cpu_pct: rates.pressure_cpu_pct,
        pressure_memory_pct: rates.pressure_memory_pct,
        pressure_io_pct: rates.pressure_io_pct,
        ..Figures::default()
    };
    if let Some(owners) = &done.owners {
        owners.write_into(&mut figures);
        // There is no database.
        figures.cpu_by_database_pct = None;
        figures.forget_short_shares();
    }
    figures
}

/// Only for a single device: of several, some may be stacked and serve the same requests.
fn await_ms_p99(done: &Done<'_>, operation: block::Operation) -> Option<f64> {
    match done.requests {
        [one] => DeviceTimes::p99_ms([one], operation),
        _ => None,
    }
}

fn iops(lap: &Lap) -> f64 {
    lap.total().operations as f64 / lap.length.as_secs_f64().max(f64::MIN_POSITIVE)
}

pub fn sample(lap: &Lap) -> Sample {
    let rates = &lap.rates;
    Sample {
        at_s: lap.end.as_secs_f64(),
        operations_per_s: Some(iops(lap)),
        cpu_pct: rates.cpu_pct,
        cpu_user_pct: rates.cpu_user_pct,
        cpu_system_pct: rates.cpu_system_pct,
        cpu_iowait_pct: rates.cpu_iowait_pct,
        read_iops: rates.read_iops,
        write_iops: rates.write_iops,
        read_mb_per_s: rates.read_mb_per_s,
        write_mb_per_s: rates.write_mb_per_s,
        ..Sample::default()
    }
}

fn of_rounds(steadiness: &Steadiness) -> Option<Steady> {
    let window = steadiness.window?;
    Some(match (window.is_steady(), window.is_trend()) {
        (true, _) => Steady::Yes,
        (_, true) => Steady::Trend,
        _ => Steady::No,
    })
}

fn reasons(done: &Done<'_>) -> Vec<Remark> {
    let outcome = done.outcome;
    let fault = outcome.faults.first().map(|fault| Remark::IoFault {
        fault: fault.to_string(),
    });
    let mut reasons: Vec<Remark> = fault.into_iter().collect();
    let error = outcome.close_errors.first().cloned();
    reasons.extend(error.map(|error| Remark::NotWrittenBack { error }));
    reasons.extend(done.findings.first().filter(|_| done.is_missed).cloned());
    let verified = outcome.ended == Ended::Recovered && outcome.blocks_proven > 0;
    if outcome.total().operations == 0 && !verified {
        reasons.push(Remark::NoIo);
    }
    if outcome.ended == Ended::Stopped {
        reasons.push(Remark::RunStopped);
    }
    reasons.extend(execution::reasons(outcome));
    reasons
}

fn notes(done: &Done<'_>) -> Vec<Remark> {
    let outcome = done.outcome;
    let mut notes = done.findings.to_vec();
    notes.extend(outcome.recovered.iter().map(Recovery::remark));
    if outcome.ended == Ended::Recovered {
        return notes;
    }
    if let Way::Threads { reason } = &outcome.way {
        notes.push(Remark::BlockingThreads {
            why: reason.to_string(),
        });
    }
    notes.extend(execution::notes(done.run, outcome, &done.rates));
    notes
}
