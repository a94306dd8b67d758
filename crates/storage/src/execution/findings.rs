//! Findings about a run's figures: late I/Os and their causes, and other activity of the device.

use archive::Remark;
use host::Rates;

use crate::engine::{Operation, Outcome};
use crate::run::{Rate, Run};

/// If the driver stood still for more than this percentage of the run, the figures are invalid.
const STOPPED_PCT_MAX: f64 = 25.0;
/// Percentage of I/Os started late by the driver from which the reader is notified.
const LATE_PCT_NOTED: f64 = 1.0;
/// A rate this far above the requested one, and by this many standard deviations of random arrivals, is not chance.
const ABOVE_RATE: f64 = 1.02;
const CHANCE_DEVIATIONS: f64 = 5.0;
/// Percentage of the device's activity from which others have a large share in it.
const OTHERS_PCT_NOTED: f64 = 20.0;
/// Fewer requests, or bytes, of others disturb nothing.
const OTHERS_REQUESTS_MIN: f64 = 50.0;
const OTHERS_MB_MIN: f64 = 1.0;
/// Larger I/Os are split on their way to the device, so bytes are compared instead of requests.
const UNSPLIT_BYTES_MAX: u64 = 64 * 1024;
/// Fewer I/Os are no evidence of where they went.
const IOS_MIN: u64 = 100;
/// At least this part of a run's bytes comes from the device or goes to it.
const REACHED_SHARE_MIN: f64 = 0.5;

/// Reasons that make a run's figures invalid.
#[must_use]
pub fn reasons(outcome: &Outcome) -> Vec<Remark> {
    stop(outcome)
        .filter(|_| is_stopped_for_long(outcome))
        .into_iter()
        .collect()
}

/// Notes on a run for its reader; `rates` are those of its device and machine in the counted time.
#[must_use]
pub fn notes(run: &Run, outcome: &Outcome, rates: &Rates) -> Vec<Remark> {
    let mut notes: Vec<Remark> = Vec::new();
    if outcome.ends_in_warmup {
        notes.push(Remark::EndedInWarmup {
            elapsed_s: outcome.elapsed.as_secs_f64(),
        });
    }
    if outcome.unserved > 0 {
        notes.push(Remark::IosNotBegun {
            ios: outcome.unserved,
            oldest_s: outcome.unserved_wait_max.as_secs_f64(),
        });
    }
    notes.extend(stop(outcome).filter(|_| !is_stopped_for_long(outcome)));
    notes.extend(late(outcome));
    notes.extend(above_rate(run, outcome));
    notes.extend(others(run, outcome, rates));
    notes.extend(unreached(outcome, rates));
    notes
}

fn stop(outcome: &Outcome) -> Option<Remark> {
    let stopped = outcome.driver.stopped;
    (!stopped.is_zero()).then_some(Remark::DriverStopped {
        stopped_s: stopped.as_secs_f64(),
        elapsed_s: outcome.elapsed.as_secs_f64(),
        at_least: false,
    })
}

fn is_stopped_for_long(outcome: &Outcome) -> bool {
    let elapsed_s = outcome.elapsed.as_secs_f64();
    outcome.driver.stopped.as_secs_f64() * 100.0 > elapsed_s * STOPPED_PCT_MAX
}

fn late(outcome: &Outcome) -> Option<Remark> {
    let late = outcome.driver.late_starts;
    let mut operations = 0;
    (outcome.all_cells.iter()).for_each(|cell| operations += cell.all().operations);
    let late_pct = late as f64 * 100.0 / operations.max(100) as f64;
    (late_pct > LATE_PCT_NOTED).then_some(Remark::LateStarts {
        late,
        operations,
        allowed: false,
    })
}

fn requested_per_s(run: &Run) -> Option<f64> {
    let of_run = match run.rate {
        Rate::Fixed { iops } => Some(iops),
        _ => None,
    };
    let rates = run.streams.iter();
    rates
        .map(|stream| stream.iops.or(Some(of_run? * stream.share)))
        .sum()
}

/// I/Os that became due in the warm-up and were carried out after it raise the rate.
fn above_rate(run: &Run, outcome: &Outcome) -> Option<Remark> {
    let requested_per_s = requested_per_s(run).filter(|_| !outcome.ends_in_warmup)?;
    let due = requested_per_s * outcome.counted.as_secs_f64();
    let done = outcome.total().operations as f64;
    let is_above = done > due * ABOVE_RATE && done > due + CHANCE_DEVIATIONS * due.sqrt();
    is_above.then(|| Remark::AboveRate {
        done_per_s: outcome.rate_iops(),
        requested_per_s,
    })
}

/// Megabytes, or requests, that the device read and wrote in the counted time.
fn of_device(
    read_per_s: Option<f64>,
    written_per_s: Option<f64>,
    outcome: &Outcome,
) -> Option<f64> {
    Some((read_per_s? + written_per_s?) * outcome.counted.as_secs_f64())
}

/// Only I/Os that bypass the page cache count, because the cache reads ahead and writes later.
fn others(run: &Run, outcome: &Outcome, rates: &Rates) -> Option<Remark> {
    let total = outcome.total();
    let is_direct = run.used_storage().all(|sd| sd.open_flags.direct);
    let bytes_mean = total
        .bytes
        .checked_div(total.operations)
        .filter(|_| is_direct)?;
    let (unit, own, all, least) = if bytes_mean <= UNSPLIT_BYTES_MAX {
        let all = of_device(rates.read_iops, rates.write_iops, outcome)?;
        (
            "requests",
            total.operations as f64,
            all,
            OTHERS_REQUESTS_MIN,
        )
    } else {
        let all = of_device(rates.read_mb_per_s, rates.write_mb_per_s, outcome)?;
        ("MB", total.bytes as f64 / 1e6, all, OTHERS_MB_MIN)
    };
    let others = all - own;
    let is_large = others >= least && others * 100.0 >= all * OTHERS_PCT_NOTED;
    is_large.then(|| Remark::DeviceCrowded {
        unit: unit.to_owned(),
        own,
        all,
    })
}

fn unreached(outcome: &Outcome, rates: &Rates) -> Option<Remark> {
    let found = [
        (
            Operation::Read,
            "reads",
            rates.read_mb_per_s,
            rates.read_iops,
        ),
        (
            Operation::Write,
            "writes",
            rates.write_mb_per_s,
            rates.write_iops,
        ),
    ];
    found
        .into_iter()
        .find_map(|(operation, operations, mb_per_s, per_s)| {
            let (mut ios, mut bytes) = (0, 0);
            for cell in &outcome.cells {
                let tally = cell.of(operation);
                (ios, bytes) = (ios + tally.operations, bytes + tally.bytes);
            }
            let seconds = outcome.counted.as_secs_f64();
            let is_known =
                ios >= IOS_MIN && mb_per_s? * seconds * 1e6 < bytes as f64 * REACHED_SHARE_MIN;
            is_known.then_some(Remark::NotAtDevice {
                operations: operations.to_owned(),
                ios,
                requests: per_s? * seconds,
            })
        })
}
