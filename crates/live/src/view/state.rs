//! What is known of a run: a fold over its events.

use std::collections::{BTreeMap, VecDeque};

use archive::EventClass;
use archive::stream::{DeviceRates, PointHead, PointResult, Snapshot, StreamEvent};

/// Intervals, finished points and remarks that are kept: the newest.
const KEPT_MAX: usize = 1000;

/// A run, as far as it was told.
#[derive(Debug, Default)]
pub struct State {
    pub run: Option<String>,
    pub todo: usize,
    /// Points measured of them.
    pub done: usize,
    /// When the run began, and when its last point ended.
    pub begun_s: f64,
    pub done_at_s: f64,
    /// The point at work.
    pub head: Option<PointHead>,
    /// Its intervals, the newest last.
    pub intervals: VecDeque<Interval>,
    /// Points measured, the newest last, with the names of their targets.
    pub points: VecDeque<(PointResult, String)>,
    pub verdicts: Vec<String>,
    /// The newest last.
    pub remarks: VecDeque<Told>,
    /// How the run ended.
    pub over: Option<String>,
    targets: BTreeMap<u32, String>,
}

/// A sentence.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    pub text: String,
    /// Whether something is invalid.
    pub is_bad: bool,
}

/// One interval of the point at work; times in µs. What is not known is absent, never 0.
#[derive(Debug, Default)]
pub struct Interval {
    pub at_s: f64,
    pub operations_per_s: Option<f64>,
    pub errors: Option<u64>,
    pub users: u32,
    pub cores: Option<u32>,
    pub p50_us: Option<f64>,
    pub p95_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub mean_us: Option<f64>,
    /// Part of the operations by response time, in half octaves of nanoseconds.
    pub heat: BTreeMap<i32, f64>,
    pub cpu_pct: Option<f64>,
    /// User, system, I/O wait.
    pub cpu_parts_pct: [Option<f64>; 3],
    pub devices: Vec<DeviceRates>,
    pub waits: Vec<(EventClass, f64)>,
}

impl State {
    /// Whether a database at work is observed.
    pub fn observes(&self) -> bool {
        self.head
            .as_ref()
            .is_some_and(|head| head.key.is_observation())
    }

    /// What a throughput counts.
    pub fn work(&self) -> &'static str {
        match self.observes() {
            true => "transactions/s",
            false => "operations/s",
        }
    }

    /// Takes an event that came so many seconds after watching began.
    pub fn take(&mut self, event: &StreamEvent, at_s: f64) {
        match event {
            StreamEvent::RunBegins { run, todo, .. } => {
                self.run = Some(run.clone());
                (self.todo, self.done) = (*todo, 0);
                (self.begun_s, self.done_at_s) = (at_s, at_s);
                self.over = None;
            }
            StreamEvent::PointBegins(head) => {
                let name = head.target_name.clone();
                self.targets.insert(head.key.target, name);
                self.head = Some(head.clone());
                self.intervals.clear();
            }
            StreamEvent::Snapshot(snapshot) => self.snapshot(snapshot),
            StreamEvent::PointEnds(result) => {
                self.done += 1;
                self.done_at_s = at_s;
                let of = |text: &String| format!("{}: {text}", result.key.test);
                result.reasons.iter().for_each(|r| self.remark(of(r), true));
                result.notes.iter().for_each(|n| self.remark(of(n), false));
                let target = self.targets.get(&result.key.target).cloned();
                let point = ((**result).clone(), target.unwrap_or_default());
                keep(&mut self.points, point);
            }
            StreamEvent::Remark { text } => self.remark(text.clone(), false),
            StreamEvent::Verdict { text } => self.verdicts.push(text.clone()),
            StreamEvent::RunEnds {
                complete, problem, ..
            } => {
                let problem = problem.as_deref().unwrap_or("not complete");
                self.over = Some(match complete {
                    true => "complete".to_owned(),
                    false => format!("ended: {problem}"),
                });
            }
        }
    }

    /// Seconds that the rest takes at the pace so far; before the first point is measured, nobody knows.
    pub fn left_s(&self) -> Option<f64> {
        let left = self.todo.checked_sub(self.done)? as f64;
        let is_known = self.done > 0 && self.over.is_none();
        is_known.then(|| (self.done_at_s - self.begun_s) / self.done as f64 * left)
    }

    fn remark(&mut self, text: String, is_bad: bool) {
        let told = Told { text, is_bad };
        if !self.remarks.contains(&told) {
            keep(&mut self.remarks, told);
        }
    }

    fn snapshot(&mut self, snapshot: &Snapshot) {
        // Stragglers belong to the interval before.
        if snapshot.operations.is_some() && snapshot.length_s == 0.0 {
            return;
        }
        keep(&mut self.intervals, Interval::of(snapshot));
    }
}

impl Interval {
    /// Sessions in a statement, of all classes of waits; `None` where nobody looked.
    pub fn active_sessions(&self) -> Option<f64> {
        let of_classes = self.waits.iter().map(|(_, sessions)| sessions);
        (!self.waits.is_empty()).then(|| of_classes.sum())
    }

    fn of(snapshot: &Snapshot) -> Self {
        let per_s = |count: u64| count as f64 / snapshot.length_s;
        let of_part = |part| quantile_us(&snapshot.response_ns, part);
        let host = snapshot.host.as_ref();
        Self {
            at_s: snapshot.at_s,
            operations_per_s: (snapshot.operations.map(per_s)).filter(|rate| rate.is_finite()),
            errors: snapshot.errors,
            users: snapshot.users,
            cores: snapshot.cores,
            p50_us: of_part(0.5),
            p95_us: of_part(0.95),
            p99_us: of_part(0.99).or(snapshot.response_us_p99),
            mean_us: snapshot.response_us_mean,
            heat: heat(&snapshot.response_ns),
            cpu_pct: host.and_then(|sample| sample.cpu_pct),
            cpu_parts_pct: host.map_or([None; 3], |sample| {
                let wait = sample.cpu_iowait_pct;
                [sample.cpu_user_pct, sample.cpu_system_pct, wait]
            }),
            devices: snapshot.devices.clone(),
            waits: snapshot.waits.clone(),
        }
    }
}

fn keep<T>(all: &mut VecDeque<T>, one: T) {
    if all.len() == KEPT_MAX {
        all.pop_front();
    }
    all.push_back(one);
}

/// Upper end of the bucket in which so large a part of the operations has ended.
fn quantile_us(buckets: &[(u64, u64)], part: f64) -> Option<f64> {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let rank = ((part * all as f64).ceil() as u64).max(1);
    let mut seen = 0;
    let bucket = buckets.iter().find(|(_, count)| {
        seen += count;
        seen >= rank
    });
    bucket.map(|(end_ns, _)| *end_ns as f64 / 1e3)
}

fn heat(buckets: &[(u64, u64)]) -> BTreeMap<i32, f64> {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let mut parts = BTreeMap::new();
    for (end_ns, count) in buckets {
        let half_octave = ((*end_ns as f64 + 1.0).log2() * 2.0).floor() as i32;
        *parts.entry(half_octave).or_default() += *count as f64 / all as f64;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_buckets() {
        let buckets = [(1_000, 90), (2_000, 8), (8_000, 2)];
        let of_part = |part| quantile_us(&buckets, part);
        assert_eq!(of_part(0.5), Some(1.0));
        assert_eq!(of_part(0.95), Some(2.0));
        assert_eq!(of_part(0.99), Some(8.0));
        assert_eq!(quantile_us(&[], 0.5), None);
    }

    #[test]
    fn what_is_left_is_known_from_the_first_point_on() {
        let mut state = State::default();
        state.take(
            &StreamEvent::RunBegins {
                run: "a".into(),
                at: String::new(),
                planned: 4,
                todo: 4,
            },
            10.0,
        );
        assert_eq!(state.left_s(), None);
        (state.done, state.done_at_s) = (1, 70.0);
        assert_eq!(state.left_s(), Some(180.0));
        state.over = Some("complete".into());
        assert_eq!(state.left_s(), None);
    }

    #[test]
    fn stragglers_are_no_interval_and_repeated_remarks_are_told_once() {
        let mut state = State::default();
        let snapshot = |operations, length_s| {
            let snapshot = Snapshot {
                operations,
                length_s,
                ..Snapshot::default()
            };
            StreamEvent::Snapshot(Box::new(snapshot))
        };
        state.take(&snapshot(Some(3), 0.0), 0.0);
        state.take(&snapshot(None, 0.0), 0.0);
        state.take(&snapshot(Some(3), 0.5), 0.0);
        let rates: Vec<_> = state.intervals.iter().map(|i| i.operations_per_s).collect();
        assert_eq!(rates, [None, Some(6.0)]);
        for _ in 0..2 {
            state.take(&StreamEvent::Remark { text: "x".into() }, 0.0);
        }
        assert_eq!(state.remarks.len(), 1);
    }
}
