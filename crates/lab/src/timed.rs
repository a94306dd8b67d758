//! Top timed events of an embedded engine: where its jobs' time went, as the kernel's scheduler counted it.

mod server;

use std::time::Duration;

use archive::TimedEvent;
use load::Outcome;

pub use server::{ROUND_TRIP, background, events as server_events, top};

/// The event of the driver's loop, outside of its calls of the target.
pub const DRIVER: &str = "driver";

/// Splits the time in which the jobs were at work. The parts add up to 100 %.
///
/// An embedded engine runs in the jobs' own threads, so the processor time of a job is the
/// database's, less what the driver kept for itself; what is neither processor, run queue nor pause
/// was spent blocked: in I/O, in a lock, or waiting for the engine's own threads.
pub fn events(outcome: &Outcome) -> Vec<TimedEvent> {
    let total = |part: fn(&load::JobOutcome) -> Duration| -> Duration {
        outcome.jobs.iter().map(part).sum()
    };
    let active = total(|job| job.active);
    if active.is_zero() {
        return Vec::new();
    }
    let driver = outcome.driver_time();
    let waited = total(|job| job.waited);
    // The kernel's counters begin a moment before the common start and move in steps, so each part
    // gets at most what the others leave.
    let left = active.saturating_sub(driver).saturating_sub(waited);
    // The threads of an event loop do nothing but drive.
    let in_jobs = match outcome.driver_threads {
        Some(_) => driver,
        None => total(|job| job.cpu),
    };
    let cpu = in_jobs.saturating_sub(driver).min(left);
    let queued: Option<Duration> = outcome.jobs.iter().map(|job| job.run_queue).sum();
    let run_queue = queued.map(|queued| queued.min(left.saturating_sub(cpu)));
    let known = driver + cpu + waited + run_queue.unwrap_or_default();
    let mut events = vec![
        event("DB CPU", "CPU", cpu, active),
        event(DRIVER, "driver", driver, active),
        event(
            match outcome.driver_threads {
                Some(_) => "in the server and on the way to it",
                None => "blocked (I/O, locks, engine threads)",
            },
            "wait",
            active.saturating_sub(known),
            active,
        ),
    ];
    if let Some(run_queue) = run_queue {
        events.push(event(
            "waiting for a processor",
            "scheduler",
            run_queue,
            active,
        ));
    }
    if !waited.is_zero() {
        events.push(event(
            "think time or waiting for a tick",
            "idle",
            waited,
            active,
        ));
    }
    events.retain(|e| e.share_pct >= 0.05);
    events.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    events
}

fn event(name: &str, class: &str, time: Duration, of: Duration) -> TimedEvent {
    TimedEvent {
        event: name.into(),
        class: class.into(),
        waits: None,
        time_s: time.as_secs_f64(),
        share_pct: time.as_secs_f64() / of.as_secs_f64() * 100.0,
        source: "counted".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::JobOutcome;

    #[test]
    fn the_parts_add_up() {
        let ms = Duration::from_millis;
        let outcome = Outcome {
            jobs: vec![JobOutcome {
                active: ms(100),
                service: ms(95),
                cpu: ms(45),
                run_queue: Some(ms(10)),
                ..JobOutcome::default()
            }],
            ..Outcome::default()
        };
        let events = events(&outcome);
        assert_eq!(events[0].event, "blocked (I/O, locks, engine threads)");
        let share: f64 = events.iter().map(|e| e.share_pct).sum();
        assert!((share - 100.0).abs() < 0.1, "{events:?}");
        assert!((events[1].share_pct - 40.0).abs() < 0.1);
    }

    /// On a busy machine a thread waits for a processor before the common start already.
    #[test]
    fn the_parts_never_exceed_the_whole() {
        let ms = Duration::from_millis;
        let outcome = Outcome {
            jobs: vec![JobOutcome {
                active: ms(100),
                service: ms(99),
                cpu: ms(80),
                run_queue: Some(ms(35)),
                ..JobOutcome::default()
            }],
            ..Outcome::default()
        };
        let share: f64 = events(&outcome).iter().map(|e| e.share_pct).sum();
        assert!((share - 100.0).abs() < 0.1, "{share}");
    }

    #[test]
    fn nothing_done_has_no_events() {
        assert!(events(&Outcome::default()).is_empty());
    }
}
