//! Checks that make a point invalid (a reason) or add information for its reader (a note).

mod pace;
mod slices;

use std::time::Duration;

use archive::{CacheState, Figures, Remark};
use host::{HostUse, Stopwatch};
use load::Outcome;

use crate::plan::Validity;
pub use pace::{Offered, blame_driver, stalled};
pub use slices::{SLICE_MAX, SLICE_MIN, slices_of};
pub(crate) use slices::{in_slices, slices_too_short};

/// Share of the sessions' time in the driver that is noted.
const DRIVER_PCT_NOTED: f64 = 5.0;
/// Less driver time may be a single halt of the machine in a point of some milliseconds.
const OWN_MIN: Duration = Duration::from_millis(10);
/// Shortest point whose figure is not dominated by its beginning and end.
const ELAPSED_S_MIN: f64 = 0.1;
const STEAL_PCT_NOTED: f64 = 5.0;
/// Part of the expected bytes that a cold read has to bring from the device.
const COLD_SHARE_MIN: f64 = 0.5;
/// Device reads by other programs that a point in memory tolerates, MB.
const WARM_MB_MAX: f64 = 4.0;
/// Device writes that are noted for a read-only test, MB; the device counts all programs.
const WRITTEN_MB_NOTED: f64 = 16.0;

pub fn reasons(outcome: &Outcome, limits: &Validity) -> Vec<Remark> {
    let mut reasons = Vec::new();
    if outcome.errors() > 0 {
        reasons.push(Remark::OperationsFailed {
            errors: outcome.errors(),
            messages: outcome.error_messages.iter().cloned().collect(),
        });
    }
    if outcome.operations() == 0 {
        reasons.push(Remark::NothingCompleted);
    }
    reasons.extend(pace::impossible_rate(outcome));
    reasons.extend(pace::stall_reason(outcome, limits));
    reasons.extend(driver_above(outcome, limits, false));
    reasons
}

/// Limits that the driver exceeded, if `allowed` by the plan or not.
fn driver_above(outcome: &Outcome, limits: &Validity, allowed: bool) -> Vec<Remark> {
    let mut found = Vec::new();
    let is_above = |pct: f64, limit: f64| limit < 100.0 && pct > limit;
    let own = own_pct(outcome).filter(|_| own_time(outcome) >= OWN_MIN);
    if let Some(own_pct) = own.filter(|pct| is_above(*pct, limits.driver_pct_max)) {
        found.push(Remark::DriverTooSlow { own_pct, allowed });
    }
    if let Some((threads, busiest_pct)) =
        busiest(outcome).filter(|(_, pct)| is_above(*pct, limits.driver_thread_pct_max))
    {
        found.push(Remark::DriverThreadBusy {
            threads: threads as u64,
            busiest_pct,
            allowed,
        });
    }
    // Among few operations one may be late.
    let late_pct = outcome.late_starts as f64 * 100.0 / outcome.operations().max(100) as f64;
    if is_above(late_pct, limits.late_starts_pct_max) {
        found.push(Remark::LateStarts {
            late: outcome.late_starts,
            operations: outcome.operations(),
            allowed,
        });
    }
    found
}

/// Excesses that only the limits of the plan permit.
fn allowed(outcome: &Outcome, limits: &Validity) -> Vec<Remark> {
    let invalid = driver_above(outcome, limits, true);
    let above = driver_above(outcome, &Validity::USUAL, true);
    let allowed = above.into_iter().filter(|what| !invalid.contains(what));
    limits.note().into_iter().chain(allowed).collect()
}

/// Threads of an event loop, and the load of the busiest of them, in percent.
fn busiest(outcome: &Outcome) -> Option<(usize, f64)> {
    let used = outcome.driver_threads?;
    let elapsed_s = outcome.elapsed.as_secs_f64();
    let pct = used.cpu_busiest.as_secs_f64() / elapsed_s * 100.0;
    (elapsed_s > 0.0).then_some((used.threads, pct))
}

/// Share of the sessions' time, in percent, that was certainly the driver's: without all waits for a processor, because a
/// preempted job may have been in the driver.
pub fn own_pct(outcome: &Outcome) -> Option<f64> {
    let active: Duration = outcome.clients.iter().map(|client| client.active).sum();
    let own = own_time(outcome);
    (!active.is_zero()).then(|| own.as_secs_f64() / active.as_secs_f64() * 100.0)
}

fn own_time(outcome: &Outcome) -> Duration {
    let queued = outcome.threads_run_queue().unwrap_or_default();
    outcome.driver_time().saturating_sub(queued)
}

/// Statements so short that the driver's time per statement matters for the rate.
const SHORT_US_MAX: f64 = 1_000.0;

/// Note that one thread per job sent short statements to a server: an event loop takes another time for each.
pub fn drive_note(outcome: &Outcome) -> Option<Remark> {
    let service = outcome.total().service;
    let is_short = service.count() > 0 && service.mean_us() < SHORT_US_MAX;
    (outcome.driver_threads.is_none() && is_short).then_some(Remark::ThreadPerJob)
}

pub fn notes(outcome: &Outcome, figures: &Figures, limits: &Validity) -> Vec<Remark> {
    let mut notes = allowed(outcome, limits);
    notes.extend(pace::stall_note(outcome, limits));
    // A driver that was the bottleneck is already named.
    let limit = Validity::USUAL.driver_pct_max;
    let was_bottleneck = own_pct(outcome).is_some_and(|pct| pct > limit);
    if let Some(driver_pct) = figures
        .little_error_pct
        .filter(|pct| *pct > DRIVER_PCT_NOTED && !was_bottleneck)
    {
        notes.push(Remark::DriverTime { driver_pct });
    }
    if let Some(elapsed_s) = figures.elapsed_s.filter(|s| *s < ELAPSED_S_MIN) {
        notes.push(Remark::Short { elapsed_s });
    }
    if let Some(stolen_pct) = figures.cpu_steal_pct.filter(|pct| *pct > STEAL_PCT_NOTED) {
        notes.push(Remark::TimeStolen { stolen_pct });
    }
    notes.extend(notes_on_others(figures));
    if outcome.retries() > 0 {
        notes.push(Remark::TriedAgain {
            retries: outcome.retries(),
        });
    }
    notes
}

/// Notes on processors and device time that other programs took from the database.
pub fn notes_on_others(figures: &Figures) -> impl Iterator<Item = Remark> {
    [crowded_note(figures), shared_device_note(figures)]
        .into_iter()
        .flatten()
}

fn crowded_note(figures: &Figures) -> Option<Remark> {
    let others_pct = figures.cpu_by_others_pct?;
    (figures.are_processors_crowded()?).then_some(Remark::Crowded { others_pct })
}

fn shared_device_note(figures: &Figures) -> Option<Remark> {
    let shared = Remark::DeviceShared {
        read_mb_per_s: figures.read_by_others_mb_per_s?,
        written_mb_per_s: figures.write_by_others_mb_per_s?,
        others_pct: figures.io_by_others_pct()?,
    };
    figures.is_device_crowded().then_some(shared)
}

pub fn host_notes(used: &HostUse) -> Vec<Remark> {
    let about_host = [&used.unknown, &used.io_reason, &used.remark];
    let about_owners = used.owners_reason.clone();
    let about_owners = about_owners.map(|why| Remark::OwnersUnknown { why });
    let about_io = used.io_by_others_reason.clone();
    let about_io = about_io.map(|why| Remark::OthersIoUnknown { why });
    let about_host = about_host.into_iter().flatten().cloned();
    let about_speed = used.speed.iter().cloned().chain(host::slow_clock());
    about_host
        .chain(about_owners)
        .chain(about_io)
        .chain(about_speed)
        .collect()
}

pub fn clock_note(stopwatch: &Stopwatch) -> Option<Remark> {
    let step_s = stopwatch.clock_step_s()?;
    Some(Remark::ClockStepped { step_s })
}

/// Note that the data, by the device's counters, came from another place than intended.
///
/// `cache` is the state before the point, `expected_bytes` the bytes that a cold read must bring from the device.
pub fn cache_note(
    cache: &CacheState,
    expected_bytes: Option<u64>,
    figures: &Figures,
) -> Option<Remark> {
    let expected_mb = expected_bytes? as f64 / 1e6;
    let read_mb = figures
        .read_mb_per_s
        .zip(figures.elapsed_s)
        .map(|(rate, s)| rate * s);
    let from_device = !matches!(cache, CacheState::Warm | CacheState::Uncontrolled);
    match (from_device, read_mb) {
        (true, None) => Some(Remark::ReadsUncounted),
        (true, Some(read_mb)) if read_mb < expected_mb * COLD_SHARE_MIN => {
            Some(Remark::ServedFromCache {
                read_mb,
                expected_mb,
            })
        }
        (false, Some(read_mb))
            if *cache == CacheState::Warm
                && read_mb > WARM_MB_MAX
                && read_mb > expected_mb * 0.05 =>
        {
            Some(Remark::NotFromMemory { read_mb })
        }
        _ => None,
    }
}

pub fn write_note(writes: bool, figures: &Figures) -> Option<Remark> {
    let written_mb = figures.write_mb_per_s? * figures.elapsed_s?;
    let is_noted = !writes && written_mb > WRITTEN_MB_NOTED;
    is_noted.then_some(Remark::WrittenDuringReads { written_mb })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: Validity = Validity::USUAL;

    fn read(mb_per_s: Option<f64>) -> Figures {
        Figures {
            read_mb_per_s: mb_per_s,
            elapsed_s: Some(2.0),
            ..Figures::default()
        }
    }

    fn done(completed: u64, errors: u64) -> Outcome {
        Outcome {
            kinds: vec![load::KindOutcome {
                completed,
                errors,
                ..load::KindOutcome::default()
            }],
            ..Outcome::default()
        }
    }

    fn of_one_job(active_ms: u64, service_ms: u64, queued_ms: u64) -> Outcome {
        let ms = Duration::from_millis;
        Outcome {
            clients: vec![load::ClientOutcome {
                active: ms(active_ms),
                service: ms(service_ms),
                thread: Some(load::clock::Usage {
                    cpu: Duration::ZERO,
                    run_queue: Some(ms(queued_ms)),
                }),
                ..load::ClientOutcome::default()
            }],
            ..done(10, 0)
        }
    }

    #[test]
    fn failures_make_a_point_invalid() {
        let outcome = Outcome {
            error_messages: vec![("wrong answer".into(), 2)],
            ..done(10, 2)
        };
        let found = reasons(&outcome, &STRICT);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "2 operations failed: wrong answer");
        let outcome = Outcome {
            error_messages: vec![
                ("deadlock (40P01)".into(), 1),
                ("duplicate (23505)".into(), 4),
            ],
            ..done(10, 5)
        };
        assert_eq!(
            reasons(&outcome, &STRICT)[0].to_string(),
            "5 operations failed: 4 × duplicate (23505); 1 × deadlock (40P01)"
        );
        assert_eq!(reasons(&Outcome::default(), &STRICT).len(), 1);
    }

    #[test]
    fn a_driver_that_was_the_bottleneck_makes_a_point_invalid_a_busy_machine_does_not() {
        assert!(matches!(
            reasons(&of_one_job(100, 60, 0), &STRICT)[0],
            Remark::DriverTooSlow { allowed: false, .. }
        ));
        assert!(reasons(&of_one_job(100, 80, 0), &STRICT).is_empty());
        // One pause, of a query that takes twice as long, is valid.
        assert!(reasons(&of_one_job(3, 2, 0), &STRICT).is_empty());
        // Preempted for 30 ms, perhaps in the driver and perhaps not, so the time is not certainly its work.
        assert!(reasons(&of_one_job(100, 60, 30), &STRICT).is_empty());
        let figures = Figures {
            little_error_pct: Some(40.0),
            ..Figures::default()
        };
        let noted = notes(&of_one_job(100, 60, 30), &figures, &STRICT);
        assert!(noted[0].to_string().contains("40 %"), "{noted:?}");
        assert!(notes(&of_one_job(100, 60, 0), &figures, &STRICT).is_empty());
    }

    #[test]
    fn what_only_the_plan_allows_is_noted() {
        let late = |late_starts, operations| Outcome {
            late_starts,
            kinds: done(operations, 0).kinds,
            ..of_one_job(100, 60, 0)
        };
        let strict = reasons(&late(3, 200), &STRICT);
        assert!(
            strict[1].to_string().contains("3 of 200 operations"),
            "{strict:?}"
        );
        // One of few, or one in a hundred, may be late.
        for (late_starts, operations) in [(1, 10), (2, 200)] {
            assert_eq!(reasons(&late(late_starts, operations), &STRICT).len(), 1);
        }
        let off = Validity {
            driver_pct_max: 100.0,
            late_starts_pct_max: 1.4,
            ..STRICT
        };
        let strict_of_late = reasons(&late(3, 200), &off);
        assert_eq!(strict_of_late.len(), 1, "{strict_of_late:?}");
        assert!(matches!(strict_of_late[0], Remark::LateStarts { .. }));
        let off = Validity {
            late_starts_pct_max: 100.0,
            ..off
        };
        assert_eq!(reasons(&late(200, 200), &off), []);
        let noted = notes(&late(200, 200), &Figures::default(), &off);
        assert!(
            noted[0].to_string().ends_with(
                "limits: driver_pct_max is 100 instead of 25, late_starts_pct_max is 100 instead of 1"
            ),
            "{noted:?}"
        );
        let texts: Vec<String> = noted.iter().map(Remark::to_string).collect();
        assert!(texts[1].contains(
            "40 % of the sessions' time was spent in the driver itself; run it on another or faster machine; allowed by the plan"
        ));
        assert!(texts[2].contains("200 of 200 operations"));
        // No limit permits errors.
        let failed = Outcome {
            kinds: done(10, 1).kinds,
            ..late(0, 10)
        };
        assert_eq!(reasons(&failed, &off).len(), 1);
    }

    #[test]
    fn a_point_beside_other_programs_is_marked() {
        let noted = |others| {
            let figures = Figures {
                cpu_by_others_pct: others,
                ..Figures::default()
            };
            notes(&of_one_job(100, 100, 0), &figures, &STRICT)
        };
        assert!((noted(Some(33.4))[0].to_string()).contains("used 33 % of the CPUs"));
        assert!(noted(Some(archive::OTHERS_PCT_MAX)).is_empty());
        assert!(noted(None).is_empty());
    }

    #[test]
    fn writes_of_a_test_that_only_reads_are_named() {
        let written = |mb_per_s| Figures {
            write_mb_per_s: mb_per_s,
            elapsed_s: Some(2.0),
            ..Figures::default()
        };
        let noted = write_note(false, &written(Some(10.0))).unwrap().to_string();
        assert!(noted.contains("20 MB") && noted.contains("only reads"));
        assert_eq!(write_note(true, &written(Some(10.0))), None);
        assert_eq!(write_note(false, &written(Some(1.0))), None);
        assert_eq!(write_note(false, &written(None)), None);
    }

    #[test]
    fn an_event_loop_that_was_always_busy_makes_a_point_invalid() {
        let busy = |cpu_ms| Outcome {
            elapsed: Duration::from_millis(1000),
            driver_threads: Some(load::DriverThreads {
                threads: 2,
                cpu: Duration::from_millis(2 * cpu_ms),
                cpu_busiest: Duration::from_millis(cpu_ms),
                run_queue: None,
            }),
            ..done(10, 0)
        };
        let found = reasons(&busy(990), &STRICT);
        assert!(
            found[0].to_string().contains("2 threads was on a CPU 99 %"),
            "{found:?}"
        );
        assert!(reasons(&busy(900), &STRICT).is_empty());
    }

    #[test]
    fn the_device_counters_decide_where_data_came_from() {
        let mb100 = Some(100_000_000);
        assert!(matches!(
            cache_note(&CacheState::Cold, mb100, &read(Some(10.0))),
            Some(Remark::ServedFromCache { .. })
        ));
        assert_eq!(
            cache_note(&CacheState::Cold, mb100, &read(Some(48.0))),
            None
        );
        let uncounted = cache_note(&CacheState::Cold, mb100, &read(None));
        assert_eq!(uncounted, Some(Remark::ReadsUncounted));
        let found = cache_note(&CacheState::Warm, mb100, &read(Some(10.0)));
        assert_eq!(found, Some(Remark::NotFromMemory { read_mb: 20.0 }));
        assert_eq!(cache_note(&CacheState::Warm, mb100, &read(Some(0.5))), None);
        assert_eq!(
            cache_note(&CacheState::Uncontrolled, mb100, &read(Some(50.0))),
            None
        );
        assert_eq!(cache_note(&CacheState::Cold, None, &read(Some(0.0))), None);
    }
}
