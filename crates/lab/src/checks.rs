//! What makes a point invalid (a reason), and what a reader should know about it (a note).

mod pace;

use std::time::Duration;

use archive::Figures;
use host::{HostUse, Stopwatch};
use load::Outcome;

use crate::plan::Validity;
pub use pace::{Offered, stood_still};

/// Share of the jobs' time in the driver from which a reader should know.
const DRIVER_PCT_NOTED: f64 = 5.0;
/// Less of the driver's own time may be one moment in which the machine halted, in a point of some milliseconds.
const OWN_MIN: Duration = Duration::from_millis(10);
/// Shortest point whose figure is not dominated by how it began and ended.
const ELAPSED_S_MIN: f64 = 0.1;
/// Stolen processor time from which a reader should know.
const STEAL_PCT_NOTED: f64 = 5.0;
/// Part of the expected bytes that a cold read has to bring from the device.
const COLD_SHARE_MIN: f64 = 0.5;
/// Device reads that a point in memory may see from other programs, MB.
const WARM_MB_MAX: f64 = 4.0;
/// Device writes from which the reader of a test that only reads should know, MB; the device counts everybody's.
const WRITTEN_MB_NOTED: f64 = 16.0;

/// Why a point's figures must not be used.
pub fn reasons(outcome: &Outcome, limits: &Validity) -> Vec<String> {
    let mut reasons = Vec::new();
    if outcome.errors() > 0 {
        let first = outcome
            .error_messages
            .first()
            .map_or("no message", String::as_str);
        reasons.push(format!("{} operations failed: {first}", outcome.errors()));
    }
    if outcome.operations() == 0 {
        reasons.push("not one operation was completed".into());
    }
    reasons.extend(pace::stall_reason(outcome, limits));
    reasons.extend(driver_above(outcome, limits));
    reasons
}

/// What the driver did beyond the limits.
fn driver_above(outcome: &Outcome, limits: &Validity) -> Vec<String> {
    let mut found = Vec::new();
    let is_above = |pct: f64, limit: f64| limit < 100.0 && pct > limit;
    let own = own_pct(outcome).filter(|_| own_time(outcome) >= OWN_MIN);
    if let Some(pct) = own.filter(|pct| is_above(*pct, limits.driver_pct_max)) {
        found.push(format!(
            "the driver was the bottleneck: {pct:.0} % of the jobs' time was its own"
        ));
    }
    if let Some((threads, pct)) =
        busiest(outcome).filter(|(_, pct)| is_above(*pct, limits.driver_thread_pct_max))
    {
        found.push(format!(
            "the driver was the bottleneck: the busiest of its {threads} threads was on a processor {pct:.0} % of the time; set driver_threads to more, or take the clients to another machine"
        ));
    }
    // Of few operations one may be late.
    let late_pct = outcome.late_starts as f64 * 100.0 / outcome.operations().max(100) as f64;
    if is_above(late_pct, limits.late_starts_pct_max) {
        found.push(format!(
            "the driver began {} of {} operations more than 1 ms late",
            outcome.late_starts,
            outcome.operations()
        ));
    }
    found
}

/// What only the limits of the plan let pass.
fn allowed(outcome: &Outcome, limits: &Validity) -> Vec<String> {
    let invalid = driver_above(outcome, limits);
    let above = driver_above(outcome, &Validity::USUAL);
    let above = above.into_iter().filter(|what| !invalid.contains(what));
    let allowed = above.map(|what| format!("{what}; the plan allows it"));
    limits.note().into_iter().chain(allowed).collect()
}

/// Threads of an event loop, and how busy the busiest of them was, in percent.
fn busiest(outcome: &Outcome) -> Option<(usize, f64)> {
    let used = outcome.driver_threads?;
    let elapsed_s = outcome.elapsed.as_secs_f64();
    let pct = used.cpu_busiest.as_secs_f64() / elapsed_s * 100.0;
    (elapsed_s > 0.0).then_some((used.threads, pct))
}

/// Share of the jobs' time, in percent, that was surely the driver's own: without all time in which a job waited
/// for a processor, because on a busy machine it may have been in the driver when it was put aside.
pub fn own_pct(outcome: &Outcome) -> Option<f64> {
    let active: Duration = outcome.clients.iter().map(|client| client.active).sum();
    let own = own_time(outcome);
    (!active.is_zero()).then(|| own.as_secs_f64() / active.as_secs_f64() * 100.0)
}

fn own_time(outcome: &Outcome) -> Duration {
    let queued = outcome.threads_run_queue().unwrap_or_default();
    outcome.driver_time().saturating_sub(queued)
}

/// What a reader should know, though it does not make the point invalid.
pub fn notes(outcome: &Outcome, figures: &Figures, limits: &Validity) -> Vec<String> {
    let mut notes = allowed(outcome, limits);
    notes.extend(pace::stall_note(outcome, limits));
    // A driver that was the bottleneck is told already, and need not be noted as well.
    let limit = Validity::USUAL.driver_pct_max;
    let was_bottleneck = own_pct(outcome).is_some_and(|pct| pct > limit);
    if let Some(pct) = figures
        .little_error_pct
        .filter(|pct| *pct > DRIVER_PCT_NOTED && !was_bottleneck)
    {
        notes.push(format!(
            "{pct:.0} % of the jobs' time was the driver's own or a wait for a processor"
        ));
    }
    if let Some(elapsed_s) = figures.elapsed_s.filter(|s| *s < ELAPSED_S_MIN) {
        notes.push(format!(
            "short: {:.0} ms; take a larger size for a figure that lasts",
            elapsed_s * 1e3
        ));
    }
    if let Some(pct) = figures.cpu_steal_pct.filter(|pct| *pct > STEAL_PCT_NOTED) {
        notes.push(format!("the hypervisor took {pct:.0} % of the processors"));
    }
    notes.extend(crowded_note(figures));
    notes.extend(shared_device_note(figures));
    if outcome.retries() > 0 {
        notes.push(format!(
            "{} transactions were tried again after a conflict",
            outcome.retries()
        ));
    }
    notes
}

/// What other programs took away from the database.
fn crowded_note(figures: &Figures) -> Option<String> {
    let pct = figures.cpu_by_others_pct?;
    figures.are_processors_crowded()?.then(|| {
        format!(
            "other programs than the database and the driver took {pct:.0} % of the processors: as much may be missing \
             from the figures; measure again when they rest"
        )
    })
}

/// What other programs took of the device.
fn shared_device_note(figures: &Figures) -> Option<String> {
    let pct = figures.io_by_others_pct()?;
    let read = figures.read_by_others_mb_per_s?;
    let written = figures.write_by_others_mb_per_s?;
    figures.is_device_crowded().then(|| {
        format!(
            "other programs than the database and the driver read {read:.1} MB/s from the device and wrote {written:.1} MB/s to \
             it, {pct:.0} % of all that it did: the database waited behind them; measure again when they rest"
        )
    })
}

/// What the sampler could not see, and why.
pub fn host_notes(used: &HostUse) -> Vec<String> {
    let about_host = [&used.unknown, &used.io_reason, &used.remark];
    let about_owners = used.owners_reason.as_ref();
    let about_owners =
        about_owners.map(|why| format!("whose the processor time was is not known: {why}"));
    let about_io = used.io_by_others_reason.as_ref();
    let about_io =
        about_io.map(|why| format!("what others read and wrote on the device is not known: {why}"));
    let about_host = about_host.into_iter().flatten().cloned();
    about_host.chain(about_owners).chain(about_io).collect()
}

/// Whether the wall clock was set meanwhile.
pub fn clock_note(stopwatch: &Stopwatch) -> Option<String> {
    let step_s = stopwatch.clock_step_s()?;
    Some(format!(
        "the wall clock stepped by {step_s:+.1} s; figures come from the monotonic clock and are not affected"
    ))
}

/// Where the data came from, as the device's counters saw it, when that is not where they were meant
/// to come from.
///
/// `cache` is the state before the point, `expected_bytes` what a cold read must bring from the device.
pub fn cache_note(cache: &str, expected_bytes: Option<u64>, figures: &Figures) -> Option<String> {
    let expected_mb = expected_bytes? as f64 / 1e6;
    let read_mb = figures
        .read_mb_per_s
        .zip(figures.elapsed_s)
        .map(|(rate, s)| rate * s);
    let from_device = !matches!(cache, "warm" | "as it comes");
    match (from_device, read_mb) {
        (true, None) => Some(
            "whether the reads reached the device cannot be told: its counters are not known"
                .into(),
        ),
        (true, Some(mb)) if mb < expected_mb * COLD_SHARE_MIN => Some(format!(
            "served from cache: meant to reach the device, which read {mb:.1} MB of at least {expected_mb:.1} MB"
        )),
        (false, Some(mb)) if cache == "warm" && mb > WARM_MB_MAX && mb > expected_mb * 0.05 => {
            Some(format!(
                "not from memory: meant to stay in the cache, but the device read {mb:.1} MB"
            ))
        }
        _ => None,
    }
}

/// What was written to the device while a test only read.
pub fn write_note(writes: bool, figures: &Figures) -> Option<String> {
    let written_mb = figures.write_mb_per_s? * figures.elapsed_s?;
    (!writes && written_mb > WRITTEN_MB_NOTED).then(|| {
        format!(
            "the device wrote {written_mb:.0} MB though the test only reads: marks that the engine leaves on rows it \
             reads, what did not fit into its memory, a checkpoint of what was loaded before, or other programs"
        )
    })
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
            error_messages: vec!["wrong answer".into()],
            ..done(10, 2)
        };
        let found = reasons(&outcome, &STRICT);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("2 operations failed: wrong answer"));
        assert_eq!(reasons(&Outcome::default(), &STRICT).len(), 1);
    }

    #[test]
    fn a_driver_that_was_the_bottleneck_makes_a_point_invalid_a_busy_machine_does_not() {
        assert!(
            reasons(&of_one_job(100, 60, 0), &STRICT)[0].contains("the driver was the bottleneck")
        );
        assert!(reasons(&of_one_job(100, 80, 0), &STRICT).is_empty());
        // A moment of a query that takes two.
        assert!(reasons(&of_one_job(3, 2, 0), &STRICT).is_empty());
        // Put aside for 30 ms by the scheduler: perhaps in the driver, perhaps not; surely not its work.
        assert!(reasons(&of_one_job(100, 60, 30), &STRICT).is_empty());
        let figures = Figures {
            little_error_pct: Some(40.0),
            ..Figures::default()
        };
        let noted = notes(&of_one_job(100, 60, 30), &figures, &STRICT);
        assert!(noted[0].contains("40 %"), "{noted:?}");
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
        assert!(strict[1].contains("3 of 200 operations"), "{strict:?}");
        // One of few, and one in a hundred, may be late.
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
        assert!(strict_of_late[0].contains("more than 1 ms late"));
        let off = Validity {
            late_starts_pct_max: 100.0,
            ..off
        };
        assert_eq!(reasons(&late(200, 200), &off), [""; 0]);
        let noted = notes(&late(200, 200), &Figures::default(), &off);
        assert!(
            noted[0].ends_with(
                "validity: driver_pct_max is 100 instead of 25, late_starts_pct_max is 100 instead of 1"
            ),
            "{noted:?}"
        );
        assert!(noted[1].contains("40 % of the jobs' time was its own; the plan allows it"));
        assert!(noted[2].contains("200 of 200 operations"));
        // Errors are no matter of limits.
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
        assert!(noted(Some(33.4))[0].contains("took 33 % of the processors"));
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
        let noted = write_note(false, &written(Some(10.0))).unwrap();
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
            found[0].contains("2 threads was on a processor 99 %"),
            "{found:?}"
        );
        assert!(reasons(&busy(900), &STRICT).is_empty());
    }

    #[test]
    fn the_device_counters_decide_where_data_came_from() {
        let mb100 = Some(100_000_000);
        assert!(
            cache_note("cold", mb100, &read(Some(10.0)))
                .unwrap()
                .contains("served from cache")
        );
        assert_eq!(cache_note("cold", mb100, &read(Some(48.0))), None);
        assert!(
            cache_note("cold", mb100, &read(None))
                .unwrap()
                .contains("cannot be told")
        );
        assert!(
            cache_note("warm", mb100, &read(Some(10.0)))
                .unwrap()
                .contains("not from memory")
        );
        assert_eq!(cache_note("warm", mb100, &read(Some(0.5))), None);
        assert_eq!(cache_note("as it comes", mb100, &read(Some(50.0))), None);
        assert_eq!(cache_note("cold", None, &read(Some(0.0))), None);
    }
}
