//! Timed events: the jobs' time by cause. For an embedded engine they come from the kernel's scheduler.

mod server;

use std::time::Duration;

use archive::{EventClass, EventSource, TimedEvent};
use engine::WaitClass;
use load::Outcome;

pub use server::{background, events as server_events, seen, top};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Activity or wait of a session of the target.
    Session(WaitClass),
    Idle,
    /// The driver's loop, outside of its calls of the target.
    Driver,
    /// The client's work in those calls.
    Client,
    /// The driver's wait for a processor.
    Queued,
    /// Time of a statement in which neither its session nor its client works: the connection and wake-ups.
    RoundTrip,
    /// Activity of the server that it does not report.
    Unknown,
}

impl From<Class> for EventClass {
    fn from(class: Class) -> Self {
        match class {
            Class::Session(class) => class.into(),
            Class::Idle => Self::Idle,
            Class::Driver | Class::Client => Self::Driver,
            Class::Queued => Self::Scheduler,
            Class::RoundTrip => Self::RoundTrip,
            Class::Unknown => Self::Unknown,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub name: String,
    pub class: Class,
    pub waits: Option<u64>,
    pub time_s: f64,
    pub share_pct: f64,
    pub source: EventSource,
}

impl Event {
    fn record(&self) -> TimedEvent {
        TimedEvent {
            event: self.name.clone(),
            class: self.class.into(),
            waits: self.waits,
            time_s: self.time_s,
            share_pct: self.share_pct,
            source: self.source,
        }
    }
}

/// Divides the busy time of the jobs. The parts add up to 100 %.
///
/// An embedded engine runs in the jobs' threads, so a job's processor time is the database's, minus the driver's own;
/// time that is neither processor, run queue nor pause was blocked: in I/O, in a lock, or waiting for the engine's
/// threads.
pub fn events(outcome: &Outcome) -> Vec<Event> {
    let total = |part: fn(&load::ClientOutcome) -> Duration| -> Duration {
        outcome.clients.iter().map(part).sum()
    };
    let active = total(|client| client.active);
    if active.is_zero() {
        return Vec::new();
    }
    let driver = outcome.driver_time();
    let idle = total(|client| client.idle);
    // The kernel's counters begin shortly before the common start and move in steps, so each part gets at most the
    // remainder of the others.
    let left = active.saturating_sub(driver).saturating_sub(idle);
    // The threads of an event loop only drive.
    let cpu = match outcome.driver_threads {
        Some(_) => Duration::ZERO,
        None => outcome.threads_cpu().saturating_sub(driver).min(left),
    };
    let run_queue = outcome
        .threads_run_queue()
        .map(|queued| queued.min(left.saturating_sub(cpu)));
    let known = driver + cpu + idle + run_queue.unwrap_or_default();
    let mut events = vec![
        event("DB CPU", Class::Session(WaitClass::Cpu), cpu, active),
        event("driver", Class::Driver, driver, active),
        event(
            match outcome.driver_threads {
                Some(_) => "in the server and on the way to it",
                None => "blocked (I/O, locks, engine threads)",
            },
            Class::Session(WaitClass::Blocked),
            active.saturating_sub(known),
            active,
        ),
    ];
    if let Some(run_queue) = run_queue {
        events.push(event(
            "waiting for a processor",
            Class::Queued,
            run_queue,
            active,
        ));
    }
    if !idle.is_zero() {
        events.push(event(
            "think time or waiting for a tick",
            Class::Idle,
            idle,
            active,
        ));
    }
    events.retain(|e| e.share_pct >= 0.05);
    events.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    events
}

fn event(name: &str, class: Class, time: Duration, of: Duration) -> Event {
    Event {
        name: name.into(),
        class,
        waits: None,
        time_s: time.as_secs_f64(),
        share_pct: time.as_secs_f64() / of.as_secs_f64() * 100.0,
        source: EventSource::Counted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::ClientOutcome;
    use load::clock::Usage;

    #[test]
    fn the_parts_add_up() {
        let ms = Duration::from_millis;
        let outcome = Outcome {
            clients: vec![ClientOutcome {
                active: ms(100),
                service: ms(95),
                thread: Some(Usage {
                    cpu: ms(45),
                    run_queue: Some(ms(10)),
                }),
                ..ClientOutcome::default()
            }],
            ..Outcome::default()
        };
        let events = events(&outcome);
        assert_eq!(events[0].name, "blocked (I/O, locks, engine threads)");
        let share: f64 = events.iter().map(|e| e.share_pct).sum();
        assert!((share - 100.0).abs() < 0.1, "{events:?}");
        assert!((events[1].share_pct - 40.0).abs() < 0.1);
    }

    /// On a busy machine a thread waits for a processor even before the common start.
    #[test]
    fn the_parts_never_exceed_the_whole() {
        let ms = Duration::from_millis;
        let outcome = Outcome {
            clients: vec![ClientOutcome {
                active: ms(100),
                service: ms(99),
                thread: Some(Usage {
                    cpu: ms(80),
                    run_queue: Some(ms(35)),
                }),
                ..ClientOutcome::default()
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
