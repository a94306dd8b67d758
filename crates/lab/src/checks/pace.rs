//! Checks for stalls, and for the requested rate.

use std::time::Duration;

use archive::{Point, Remark};
use host::HostUse;
use load::Outcome;

use crate::plan::Validity;

/// Shortest time without a completed operation that is a stall …
const STALL_MIN: Duration = Duration::from_secs(1);
/// … if the rate of the rest of the point predicts this many operations in it …
const STALL_OPERATIONS_MIN: f64 = 20.0;
/// … and if it is this many times as long as a typical operation, because operations that began together end
/// together.
const STALL_SERVICES_MIN: f64 = 3.0;
/// Tolerance of a rate above the maximum of its sessions: the histogram of service times is exact to a tenth of it.
const RATE_EXCESS_MAX: f64 = 0.01;
/// Share of the requested operations waiting at the end, in percent, that is noted.
const WAITING_PCT_NOTED: f64 = 1.0;

/// Longest time without a completed operation, if it was a stall by the point's own rate.
pub fn stall(outcome: &Outcome) -> Option<Duration> {
    let idle = outcome.idle_longest();
    let (idle_s, elapsed_s) = (idle.as_secs_f64(), outcome.elapsed.as_secs_f64());
    let per_s = outcome.operations() as f64 / (elapsed_s - idle_s).max(f64::MIN_POSITIVE);
    if idle < STALL_MIN || per_s * idle_s < STALL_OPERATIONS_MIN {
        return None;
    }
    let service = outcome.total().service;
    let usual_s = if service.is_empty() {
        0.0
    } else {
        service.percentile_us(50.0) / 1e6
    };
    (idle_s >= STALL_SERVICES_MIN * usual_s).then_some(idle)
}

/// Reason for a rate that the sessions could not reach even if each operation were as short as the shortest.
pub fn impossible_rate(outcome: &Outcome) -> Option<Remark> {
    let service = outcome.total().service;
    let done_per_s = outcome.operations_per_s()?;
    if service.is_empty() || outcome.clients.is_empty() {
        return None;
    }
    let (sessions, shortest_s) = (outcome.clients.len() as u64, service.min_us() / 1e6);
    let is_impossible = done_per_s * shortest_s > sessions as f64 * (1.0 + RATE_EXCESS_MAX);
    is_impossible.then_some(Remark::RateImpossible {
        done_per_s,
        sessions,
        shortest_ms: shortest_s * 1e3,
    })
}

fn is_above(outcome: &Outcome, stall: Duration, limit_pct: f64) -> bool {
    limit_pct < 100.0 && stall.as_secs_f64() * 100.0 > outcome.elapsed.as_secs_f64() * limit_pct
}

fn remark(outcome: &Outcome, stall: Duration) -> Remark {
    Remark::Stalled {
        still_s: stall.as_secs_f64(),
        elapsed_s: outcome.elapsed.as_secs_f64(),
    }
}

pub fn stall_reason(outcome: &Outcome, limits: &Validity) -> Option<Remark> {
    let stall = stall(outcome).filter(|stall| is_above(outcome, *stall, limits.stall_pct_max))?;
    Some(remark(outcome, stall))
}

pub fn stall_note(outcome: &Outcome, limits: &Validity) -> Option<Remark> {
    let stall = stall(outcome).filter(|stall| !is_above(outcome, *stall, limits.stall_pct_max))?;
    Some(remark(outcome, stall))
}

/// Time in which the driver itself did not run: the delay of a tick of its sampler, which samples the machine once
/// per `interval`.
fn stop(used: &HostUse, interval: Duration) -> Option<Duration> {
    let ends = used.samples.iter().map(|sample| sample.at_s);
    let begins = std::iter::once(0.0).chain(ends.clone());
    let longest_s = ends
        .zip(begins)
        .map(|(end, begin)| end - begin)
        .fold(0.0, f64::max);
    let stop = Duration::from_secs_f64(longest_s).saturating_sub(interval);
    (stop >= STALL_MIN).then_some(stop)
}

/// A stall that was a stop of the driver says nothing about the target, so the driver is named instead.
pub fn blame_driver(
    point: &mut Point,
    outcome: &Outcome,
    used: &HostUse,
    interval: Duration,
    limits: &Validity,
) {
    let Some(stop) = stop(used, interval) else {
        return;
    };
    // A stall is known to whole intervals, and the stop may have begun in two of them.
    let most_s = (stop + 3 * interval.max(STALL_MIN)).as_secs_f64();
    let is_other =
        |what: &Remark| !matches!(what, Remark::Stalled { still_s, .. } if *still_s <= most_s);
    point.reasons.retain(is_other);
    point.notes.retain(is_other);
    let remarks = if is_above(outcome, stop, limits.stall_pct_max) {
        &mut point.reasons
    } else {
        &mut point.notes
    };
    remarks.push(Remark::DriverStopped {
        stopped_s: stop.as_secs_f64(),
        elapsed_s: outcome.elapsed.as_secs_f64(),
        at_least: true,
    });
}

/// A stall, whatever a plan permits, during which the bottleneck of the rest of the point says nothing.
pub fn stalled(outcome: &Outcome) -> Option<Remark> {
    stall_reason(outcome, &Validity::USUAL)
}

#[derive(Debug, Clone, Copy)]
pub struct Offered {
    pub per_s: f64,
    pub requested: u64,
    pub waiting: u64,
    pub done_per_s: f64,
}

impl Offered {
    /// Rates of an open drive, in which each client may have one operation in progress when the window ends.
    pub fn of(outcome: &Outcome, per_s: f64) -> Option<Self> {
        Some(Self {
            per_s,
            requested: outcome.due,
            waiting: outcome
                .unfinished
                .saturating_sub(outcome.clients.len() as u64),
            done_per_s: outcome.operations_per_s()?,
        })
    }

    /// Reason for a point whose target did not reach the rate.
    pub fn reason(&self, limits: &Validity) -> Option<Remark> {
        self.is_above(limits).then(|| self.remark())
    }

    pub fn note(&self, limits: &Validity) -> Option<Remark> {
        let is_noted = self.waiting_pct() > WAITING_PCT_NOTED && !self.is_above(limits);
        is_noted.then(|| self.remark())
    }

    fn is_above(&self, limits: &Validity) -> bool {
        let limit = limits.waiting_pct_max;
        limit < 100.0 && self.waiting_pct() > limit
    }

    fn waiting_pct(&self) -> f64 {
        100.0 * self.waiting as f64 / self.requested.max(1) as f64
    }

    fn remark(&self) -> Remark {
        Remark::RateNotReached {
            offered_per_s: self.per_s,
            done_per_s: self.done_per_s,
            waiting: self.waiting,
            requested: self.requested,
        }
    }
}

#[cfg(test)]
mod tests {
    use load::{Interval, KindInterval, KindOutcome};

    use super::*;

    const USUAL: &Validity = &Validity::USUAL;

    /// A point in intervals of 1 s, with these numbers of operations of some milliseconds.
    fn outcome(operations: &[u64], service_ms: u64) -> Outcome {
        let second = Duration::from_secs(1);
        let mut done = KindOutcome {
            completed: operations.iter().sum(),
            ..KindOutcome::default()
        };
        let mut outcome = Outcome {
            elapsed: second * operations.len() as u32,
            ..Outcome::default()
        };
        for (at, operations) in (0..).zip(operations) {
            let mut ended = KindInterval::default();
            for _ in 0..*operations {
                done.service.record_ns(service_ms * 1_000_000);
                ended.response.record_ns(service_ms * 1_000_000);
            }
            outcome.intervals.push(Interval {
                at: second * at,
                length: second,
                kinds: vec![ended],
            });
        }
        outcome.kinds = vec![done];
        outcome
    }

    #[test]
    fn a_stall_is_judged_by_the_rate_of_the_rest() {
        let stopped = outcome(&[300, 300, 300, 0, 0, 0, 0, 0], 2);
        assert_eq!(stall(&stopped), Some(Duration::from_secs(5)));
        assert_eq!(
            stall_reason(&stopped, USUAL).unwrap().to_string(),
            "no operation was completed for at least 5.0 s of 8.0 s: the database, or something it waited for, stalled"
        );
        assert_eq!(stall_note(&stopped, USUAL), None);

        let paused = outcome(&[300, 300, 0, 300, 300, 300, 300, 300], 2);
        assert_eq!(stall_reason(&paused, USUAL), None);
        assert_eq!(
            stall_note(&paused, USUAL).unwrap().to_string(),
            "no operation was completed for at least 1.0 s of 8.0 s: the database, or something it waited for, stalled"
        );

        // One query of seconds is no stall, nor are a hundred of three seconds each.
        assert_eq!(stall(&outcome(&[1, 0, 0, 1, 0, 0, 1, 2], 2500)), None);
        assert_eq!(stall(&outcome(&[100, 0, 0, 100, 0, 0, 100, 0], 3000)), None);
        // By chance none of nineteen predicted operations may complete.
        assert_eq!(stall(&outcome(&[9, 10, 0, 0, 9, 10], 2)), None);
        assert_eq!(
            stall(&outcome(&[0, 0, 0], 2)),
            None,
            "nothing at all is a reason of its own"
        );
    }

    /// The sampler of a process that was stopped for 3 s ticks each second, so it is late by more than 2 s.
    #[test]
    fn a_stop_of_the_driver_is_no_stall_of_the_database() {
        let paused = outcome(
            &[300, 300, 300, 300, 0, 0, 0, 300, 300, 300, 300, 300, 300],
            2,
        );
        let judged = |ticks: &[f64], limits: &Validity| {
            let samples = ticks.iter().map(|at_s| archive::Sample {
                at_s: *at_s,
                ..archive::Sample::default()
            });
            let used = HostUse {
                samples: samples.collect(),
                ..HostUse::default()
            };
            let key = archive::PointKey::of("T611", 1);
            let mut point = Point::blank(key, String::new(), archive::Component::Database);
            point.reasons.extend(stall_reason(&paused, limits));
            point.notes.extend(stall_note(&paused, limits));
            blame_driver(&mut point, &paused, &used, Duration::from_secs(1), limits);
            (point.reasons, point.notes)
        };
        let stopped = [1.0, 2.0, 3.0, 4.0, 7.3, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0];
        let (reasons, notes) = judged(&stopped, USUAL);
        assert!(reasons.is_empty());
        let [
            Remark::DriverStopped {
                stopped_s,
                elapsed_s,
                at_least: true,
            },
        ] = notes[..]
        else {
            panic!("{notes:?}");
        };
        assert!((stopped_s - 2.3).abs() < 0.05, "{stopped_s}");
        assert!((elapsed_s - 13.0).abs() < 0.05, "{elapsed_s}");
        let strict = Validity {
            stall_pct_max: 10.0,
            ..Validity::USUAL
        };
        let (reasons, notes) = judged(&stopped, &strict);
        assert!(matches!(reasons[..], [Remark::DriverStopped { .. }]) && notes.is_empty());
        let ticking: Vec<f64> = (1..=13).map(f64::from).collect();
        let (_, notes) = judged(&ticking, USUAL);
        assert!(matches!(notes[..], [Remark::Stalled { .. }]), "{notes:?}");
    }

    /// Four sessions with statements of at least 10 ms reach 400/s but not 402/s.
    #[test]
    fn a_rate_that_the_sessions_cannot_make_makes_a_point_invalid() {
        let of = |per_s: u64| Outcome {
            clients: vec![load::ClientOutcome::default(); 4],
            ..outcome(&[per_s], 10)
        };
        let found = crate::checks::reasons(&of(410), USUAL);
        assert_eq!(
            found[0].to_string(),
            "410.0 operations/s are more than 4 sessions can complete when the shortest takes 9.994 ms: the rate is wrong, \
             which is a bug in dbdyno"
        );
        assert_eq!(crate::checks::reasons(&of(400), USUAL), []);
        // Drives stay below it, except one that contains only the ends of earlier operations.
        assert_eq!(impossible_rate(&Outcome::default()), None);
    }

    /// At 200/s for two seconds a target of 100/s is two seconds late: 200 of 400 waited, one of them in progress.
    #[test]
    fn jobs_that_are_behind_when_the_window_ends_did_not_reach_the_rate() {
        let mut late = Outcome {
            due: 400,
            unfinished: 200,
            ..outcome(&[100, 100, 100, 100], 10)
        };
        late.clients.push(load::ClientOutcome::default());
        let offered = Offered::of(&late, 200.0).unwrap();
        assert_eq!((offered.requested, offered.waiting), (400, 199));
        assert!(
            offered
                .reason(USUAL)
                .unwrap()
                .to_string()
                .contains("200.0 operations/s were offered and 100.0/s completed")
        );
        let in_time = Outcome {
            due: 400,
            ..outcome(&[200, 200], 10)
        };
        let offered = Offered::of(&in_time, 200.0).unwrap();
        assert_eq!((offered.waiting, offered.reason(USUAL)), (0, None));
    }

    #[test]
    fn a_rate_that_is_not_reached_makes_a_point_invalid() {
        let offered = |waiting| Offered {
            per_s: 100_000.0,
            requested: 200_000,
            waiting,
            done_per_s: 2560.25,
        };
        let all = offered(190_000);
        let reason = all.reason(USUAL).unwrap().to_string();
        assert!(
            reason.contains("100000.0 operations/s were offered and 2560.2/s completed"),
            "{reason}"
        );
        assert!(offered(10_001).reason(USUAL).is_some() && offered(10_001).note(USUAL).is_none());
        assert!(offered(10_000).reason(USUAL).is_none() && offered(10_000).note(USUAL).is_some());
        let off = Validity {
            stall_pct_max: 100.0,
            waiting_pct_max: 100.0,
            ..Validity::USUAL
        };
        assert!(offered(190_000).reason(&off).is_none() && offered(190_000).note(&off).is_some());
        assert!(offered(2_000).reason(USUAL).is_none() && offered(2_000).note(USUAL).is_none());
    }
}
