//! Top timed events of a server: the jobs' time as the driver measured it, divided by the sampled activity of the
//! server's sessions.

use std::time::Duration;

use archive::{BackgroundEvent, EventClass, EventSource, TimedEvent};
use engine::{Counted, WaitClass};
use load::Outcome;

use super::{Class, Event};
use crate::session_sampler::SessionSamples;

/// All events, longest first; they add up to 100 % of the jobs' time.
///
/// The time of driver, client and pauses is exact. The rest, the time of statements, is divided by the samples; time
/// of a statement in which the session was idle was spent between driver and server.
pub fn events(outcome: &Outcome, watched: &SessionSamples) -> Vec<Event> {
    let total = |part: fn(&load::ClientOutcome) -> Duration| -> f64 {
        let sum: Duration = outcome.clients.iter().map(part).sum();
        sum.as_secs_f64()
    };
    let active_s = total(|client| client.active);
    if active_s <= 0.0 {
        return Vec::new();
    }
    let service_s = total(|client| client.service);
    let driver_s = outcome.driver_time().as_secs_f64();
    let event = |name: &str, class, time_s: f64, waits, source| Event {
        name: name.into(),
        class,
        waits,
        time_s,
        share_pct: time_s / active_s * 100.0,
        source,
    };
    let counted =
        |name: &str, class, time_s| event(name, class, time_s, None, EventSource::Counted);
    let idle_s = total(|client| client.idle);
    let mut events = vec![
        counted("driver", Class::Driver, driver_s),
        counted("think time or waiting for a tick", Class::Idle, idle_s),
    ];
    if watched.samples == 0 {
        events.push(counted("in the server", Class::Unknown, service_s));
        return sorted(events);
    }
    let inside = inside(watched);
    let seen_s: f64 = inside.iter().map(|(_, _, time_s, ..)| time_s).sum();
    // Samples may exceed the actual time a little.
    let scale = if seen_s > service_s {
        service_s / seen_s
    } else {
        1.0
    };
    for (class, name, time_s, waits, source) in &inside {
        let class = Class::Session(*class);
        events.push(event(name, class, time_s * scale, *waits, *source));
    }
    // The threads only drive, so their processor time during statements is the client's.
    let between_s = (service_s - seen_s * scale).max(0.0);
    let client_s = (outcome.threads_cpu().as_secs_f64() - driver_s).clamp(0.0, between_s);
    let queued = outcome.threads_run_queue().unwrap_or_default();
    let queued_s = queued.as_secs_f64().min(between_s - client_s);
    let left_s = between_s - client_s - queued_s;
    // While the server did not answer the sampler, the waits of the jobs are unknown.
    let unseen_s = left_s.min(watched.unseen.as_secs_f64() * outcome.clients.len() as f64);
    let way_s = left_s - unseen_s;
    events.extend([
        counted("while the server did not answer", Class::Unknown, unseen_s),
        counted("client", Class::Client, client_s),
        counted("client waiting for a processor", Class::Queued, queued_s),
        event(
            "between driver and server",
            Class::RoundTrip,
            way_s,
            None,
            EventSource::Sampled,
        ),
    ]);
    sorted(events)
}

/// Sampled activity of other users' sessions, longest first; the parts add up to 100 % of their time in statements.
pub fn seen(watched: &SessionSamples) -> Vec<Event> {
    let inside = inside(watched);
    let seen_s: f64 = inside.iter().map(|(_, _, time_s, ..)| time_s).sum();
    let event = |(class, name, time_s, waits, source): Inside| Event {
        name,
        class: Class::Session(class),
        waits,
        time_s,
        share_pct: time_s / seen_s * 100.0,
        source,
    };
    if seen_s > 0.0 {
        sorted(inside.into_iter().map(event).collect())
    } else {
        Vec::new()
    }
}

type Inside = (WaitClass, String, f64, Option<u64>, EventSource);

/// The server's share by event. Classes that the server counts itself replace the samples, which are reduced by them.
fn inside(watched: &SessionSamples) -> Vec<Inside> {
    let counted = watched
        .counts
        .waits
        .iter()
        .filter_map(|(class, name, counted)| {
            let time_s = counted.time_ns? as f64 / 1e9;
            Some((
                *class,
                name.clone(),
                time_s,
                counted.count,
                EventSource::Counted,
            ))
        });
    let counted: Vec<Inside> = counted.collect();
    let seen = watched.seconds.sessions.iter();
    let mut seen: Vec<Inside> = seen
        .map(|((class, name), time_s)| (*class, name.clone(), *time_s, None, EventSource::Sampled))
        .collect();
    let counted_s: f64 = counted.iter().map(|(_, _, time_s, ..)| time_s).sum();
    match seen.iter().any(|(class, ..)| *class == WaitClass::Blocked) {
        // Sessions with counted waits are sampled in a statement, which counts as working.
        false => take(&mut seen, WaitClass::Cpu, counted_s),
        true => {
            let left_s = take(&mut seen, WaitClass::Blocked, counted_s);
            // A session that sends rows or writes the log also works before it waits for client or device.
            let left_s = take(&mut seen, WaitClass::Client, left_s);
            take(&mut seen, WaitClass::LogSync, left_s)
        }
    };
    seen.extend(counted);
    seen
}

/// Takes time from the samples of a class, down to 0, and returns the rest.
fn take(seen: &mut [Inside], from: WaitClass, mut time_s: f64) -> f64 {
    for (class, _, seen_s, ..) in seen {
        if *class == from {
            let left_s = *seen_s - time_s;
            *seen_s = left_s.max(0.0);
            time_s = (-left_s).max(0.0);
        }
    }
    time_s
}

fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    events.retain(|e| e.share_pct >= 0.05);
    events.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    events
}

pub fn top(events: &[Event], most: usize) -> Vec<TimedEvent> {
    let mut top: Vec<TimedEvent> = events.iter().take(most).map(Event::record).collect();
    let rest = events.get(most..).unwrap_or_default();
    match rest {
        [] => {}
        [one] => top.push(one.record()),
        many => top.push(TimedEvent {
            event: format!("{} other events", many.len()),
            class: EventClass::Other,
            waits: None,
            time_s: many.iter().map(|e| e.time_s).sum(),
            share_pct: many.iter().map(|e| e.share_pct).sum(),
            source: EventSource::Sampled,
        }),
    }
    top
}

/// Background activity of the server: its counters first, then the samples of its processes.
pub fn background(watched: &SessionSamples) -> Vec<BackgroundEvent> {
    let is_news = |counted: &Counted| {
        [counted.count, counted.time_ns, counted.bytes]
            .into_iter()
            .flatten()
            .any(|n| n > 0)
    };
    let counted = watched
        .counts
        .background
        .iter()
        .filter(|(_, _, c)| is_news(c));
    let mut events: Vec<BackgroundEvent> = counted
        .map(|(process, event, counted)| BackgroundEvent {
            process: (*process).into(),
            event: (*event).into(),
            count: counted.count,
            time_s: counted.time_ns.map(|ns| ns as f64 / 1e9),
            mb: counted.bytes.map(|bytes| bytes as f64 / 1e6),
            source: EventSource::Counted,
        })
        .collect();
    let mut seen: Vec<BackgroundEvent> = watched
        .seconds
        .background
        .iter()
        .map(|((process, event), time_s)| BackgroundEvent {
            process: process.clone(),
            event: event.clone(),
            time_s: Some(*time_s),
            source: EventSource::Sampled,
            ..BackgroundEvent::default()
        })
        .collect();
    seen.sort_by(|a, b| {
        let time_s = |e: &BackgroundEvent| e.time_s.unwrap_or(0.0);
        time_s(b)
            .total_cmp(&time_s(a))
            .then_with(|| a.event.cmp(&b.event))
    });
    events.extend(seen);
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{ServerCounts, Tally};
    use load::ClientOutcome;

    fn outcome() -> Outcome {
        let ms = Duration::from_millis;
        Outcome {
            clients: vec![ClientOutcome {
                active: ms(1000),
                service: ms(700),
                idle: ms(250),
                ..ClientOutcome::default()
            }],
            ..Outcome::default()
        }
    }

    fn watched(seen: &[(WaitClass, &str, f64)]) -> SessionSamples {
        let mut seconds = Tally::default();
        for (class, event, time_s) in seen {
            seconds.session(*class, event, *time_s);
        }
        SessionSamples {
            seconds,
            samples: 70,
            ..SessionSamples::default()
        }
    }

    fn share(events: &[Event], class: &str) -> f64 {
        events
            .iter()
            .filter(|e| EventClass::from(e.class).name() == class)
            .map(|e| e.share_pct)
            .sum()
    }

    #[test]
    fn the_parts_add_up_to_the_jobs_time() {
        let seen = watched(&[
            (WaitClass::Cpu, "DB CPU", 0.2),
            (WaitClass::Lock, "row", 0.3),
        ]);
        let events = events(&outcome(), &seen);
        assert!((events.iter().map(|e| e.share_pct).sum::<f64>() - 100.0).abs() < 1e-9);
        for (class, pct) in [
            ("CPU", 20.0),
            ("lock", 30.0),
            ("round trip", 20.0),
            ("driver", 5.0),
        ] {
            assert!((share(&events, class) - pct).abs() < 1e-9, "{class}");
        }
        assert_eq!(events[0].class, Class::Session(WaitClass::Lock));
    }

    #[test]
    fn the_clients_own_work_is_the_drivers() {
        let mut busy = outcome();
        busy.clients[0].thread = Some(load::clock::Usage {
            cpu: Duration::from_millis(400),
            run_queue: Some(Duration::from_millis(50)),
        });
        let events = events(&busy, &watched(&[(WaitClass::Cpu, "DB CPU", 0.2)]));
        assert!((events.iter().map(|e| e.share_pct).sum::<f64>() - 100.0).abs() < 1e-9);
        // The loop took 50 ms and the calls 350 ms.
        assert!((share(&events, "driver") - 40.0).abs() < 1e-9);
        assert!((share(&events, "scheduler") - 5.0).abs() < 1e-9);
        assert!((share(&events, "round trip") - 10.0).abs() < 1e-9);
    }

    #[test]
    fn looks_that_saw_more_than_there_was_are_scaled() {
        let events = events(&outcome(), &watched(&[(WaitClass::Cpu, "DB CPU", 7.0)]));
        assert!((share(&events, "CPU") - 70.0).abs() < 1e-9);
        assert_eq!(share(&events, "round trip"), 0.0);
    }

    #[test]
    fn waits_that_the_server_counts_are_taken_from_what_was_seen_at_work() {
        let mut seen = watched(&[(WaitClass::Cpu, "DB CPU", 0.5)]);
        seen.counts = ServerCounts {
            waits: vec![(
                WaitClass::Lock,
                "row locks".into(),
                Counted {
                    count: Some(3),
                    time_ns: Some(400_000_000),
                    bytes: None,
                },
            )],
            ..ServerCounts::default()
        };
        let events = events(&outcome(), &seen);
        assert!((share(&events, "lock") - 40.0).abs() < 1e-9);
        assert!((share(&events, "CPU") - 10.0).abs() < 1e-9);
        assert_eq!(events[0].waits, Some(3));
    }

    #[test]
    fn what_a_server_does_not_tell_is_what_its_counters_leave() {
        let seen = |blocked_s: f64| {
            let mut seen = watched(&[
                (WaitClass::Cpu, "DB CPU", 0.2),
                (WaitClass::Blocked, "blocked", blocked_s),
                (WaitClass::Client, "sending", 0.1),
            ]);
            let reads = Counted {
                time_ns: Some(150_000_000),
                ..Counted::count(Some(9))
            };
            seen.counts.waits = vec![(WaitClass::DataRead, "data files".into(), reads)];
            events(&outcome(), &seen)
        };
        for (blocked_s, wait_pct, client_pct) in
            [(0.35, 20.0, 10.0), (0.1, 0.0, 5.0), (-0.1, 0.0, 0.0)]
        {
            let events = seen(blocked_s);
            assert!(
                (share(&events, "wait") - wait_pct).abs() < 1e-9,
                "{events:?}"
            );
            assert!(
                (share(&events, "client") - client_pct).abs() < 1e-9,
                "{events:?}"
            );
            assert!((share(&events, "CPU") - 20.0).abs() < 1e-9);
            assert!((share(&events, "data read") - 15.0).abs() < 1e-9);
            assert!((events.iter().map(|e| e.share_pct).sum::<f64>() - 100.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_server_that_could_not_be_watched_leaves_one_unknown() {
        let events = events(&outcome(), &SessionSamples::default());
        assert!((share(&events, "unknown") - 70.0).abs() < 1e-9);
    }

    #[test]
    fn the_rest_is_one_line() {
        let seen = watched(&[
            (WaitClass::Cpu, "a", 0.2),
            (WaitClass::Lock, "b", 0.15),
            (WaitClass::Latch, "c", 0.1),
        ]);
        let all = events(&outcome(), &seen);
        let top = top(&all, 3);
        assert_eq!(top.len(), 4);
        assert!((top.iter().map(|e| e.share_pct).sum::<f64>() - 100.0).abs() < 1e-9);
        assert!(top[3].event.contains("other events"));
    }
}
