//! Comparison of two runs by their I/O times: the shift of each kind of operation, by each observer. Below a database
//! the driver is one; below the work of a database, the kernel at the device.

mod json;
mod place;

use archive::{Latency, OperationTimes, Point, Run};
use stats::compare::{Comparison, Direction, Question, compare};
use stats::ratio::{Mean, Ratio, fewest_a_side, fewest_pairs, of_means, quotient};
use stats::summary::quantile;
use stats::{Histogram, HistogramSnapshot, Interval, Warning};

pub use json::json;
pub use place::place as place_of;

use crate::analyses::{confidence, seen};
use crate::outcome::Terms;

/// Times above this are the tail, µs.
pub const TAIL_US: f64 = 1_000.0;
const PER_OCTAVE: f64 = 4.0;
/// Largest number of shifts of one comparison; lists with more runs are compared in their first ones.
const SHIFTS_MAX: usize = 2_000;
/// A mean of fewer operations on a side is not compared.
const COUNT_MIN: u64 = 50;
/// A mean below this counts as 0, so that nothing can be a multiple of it.
const MEAN_US_MIN: f64 = 0.1;
/// With fewer requests on a side, a database's point says nothing of its device: its reads are in memory.
const REQUESTS_MIN: u64 = 100;

/// One kind of operation of one run of the list, before and after.
#[derive(Debug, Clone)]
pub struct Shift {
    /// Name of the run of the list, with the values of its loops, or code of the test.
    pub test: String,
    /// The I/Os are those of a database and not the driver's own.
    pub is_of_database: bool,
    pub target: u32,
    pub threads: u32,
    /// I/Os in flight, or jobs, before.
    pub jobs: u32,
    /// … and after, which may be the intended difference.
    pub jobs_after: u32,
    /// Observer: `driver`, `device` or `array`.
    pub observer: String,
    /// Name, such as "read" or "write".
    pub operation: String,
    pub phase: String,
    /// Contents of the device with the timed requests: "data", "log", "below data" …; empty for other observers and
    /// if unknown.
    pub place: String,
    /// The work below a database issues such operations; others are of file systems or other programs. All operations
    /// of a database are its own.
    pub is_issued: bool,
    pub repetitions: Repetitions,
    pub before: Side,
    pub after: Side,
    /// Ratio of the mean after to the mean before, with its certainty.
    pub certainty: Certainty,
    /// Both distributions in buckets of a quarter octave; empty if a side has none.
    pub buckets: Vec<Bucket>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repetitions {
    /// Number on the side with fewer; pairs of a study.
    pub made: usize,
    /// Those in which the operation was frequent enough on both sides.
    pub usable: usize,
    /// Smallest number for a verdict.
    pub needed: usize,
    pub is_paired: bool,
}

#[derive(Debug, Clone)]
pub struct Side {
    /// Mean time, µs. If repetitions are compared, it is the mean of a typical one, so that the sides have the
    /// compared ratio; otherwise the mean of all operations.
    pub mean_us: f64,
    pub count: u64,
    pub latency: Option<Latency>,
    pub shares: Option<Shares>,
    /// Means over the time of the first repetition: seconds, µs. They come from the driver, and from the device for
    /// whole requests.
    pub over_time: Vec<(f64, Option<f64>)>,
    /// Mean of each repetition; NaN without a valid point, so that pairs stay pairs.
    means_us: Vec<f64>,
}

/// Shares of all operations, in percent: within the time in which a cache answers, and beyond times that a user of
/// solid-state storage expects. The limits are those of the published study of a storage update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    pub within_62_us_pct: f64,
    pub within_120_us_pct: f64,
    pub above_1_ms_pct: f64,
    pub above_2_ms_pct: f64,
    pub above_4_ms_pct: f64,
}

impl Shares {
    pub fn of(histogram: &Histogram) -> Option<Self> {
        let above_pct = |limit_us: f64| {
            histogram.count_above_us(limit_us) as f64 * 100.0 / histogram.count() as f64
        };
        (!histogram.is_empty()).then(|| Self {
            within_62_us_pct: 100.0 - above_pct(62.0),
            within_120_us_pct: 100.0 - above_pct(120.0),
            above_1_ms_pct: above_pct(TAIL_US),
            above_2_ms_pct: above_pct(2.0 * TAIL_US),
            above_4_ms_pct: above_pct(4.0 * TAIL_US),
        })
    }
}

#[derive(Debug, Clone)]
pub enum Certainty {
    Repetitions(Comparison),
    /// Too few repetitions. The interval combines the intervals within the runs: the uncertainty of each mean,
    /// without the variation between runs.
    Within {
        ratio: Interval,
        warnings: Vec<Warning>,
    },
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    pub low_us: f64,
    pub high_us: f64,
    pub before_pct: f64,
    pub after_pct: f64,
}

/// All shifts between two runs with times by kind of operation.
pub fn shifts(before: &Run, after: &Run, terms: Terms) -> Vec<Shift> {
    let question = Question {
        design: terms.design(before, after),
        direction: Direction::LowerIsBetter,
        band: terms.band,
        confidence: confidence(before, after, 1),
    };
    let [before, after] = &seen(before, after);
    let mut found: Vec<Shift> = Vec::new();
    for point in &before.points {
        for times in point
            .by_operation
            .times
            .iter()
            .filter(|t| is_informative(point, t))
        {
            let kind = Kind {
                point,
                times,
                place: place::place(point, times),
            };
            if found.iter().any(|shift| kind.is_of(shift)) || found.len() == SHIFTS_MAX {
                continue;
            }
            let Some(jobs_after) = kind.jobs_in(after) else {
                continue;
            };
            let sides = kind.side(before, point.key.jobs);
            if let Some((a, b)) = sides.zip(kind.side(after, jobs_after)) {
                found.push(Shift {
                    jobs_after,
                    ..kind.shift(a, b, &question)
                });
            }
        }
    }
    side_by_side(found)
}

/// Groups the results of one test at one level, in the order of the first of each: a kind of operation that only a
/// later repetition had often enough is found last.
fn side_by_side(mut found: Vec<Shift>) -> Vec<Shift> {
    let places: Vec<usize> = (found.iter())
        .map(|shift| (found.iter().position(|first| first.is_of_level(shift))).unwrap_or_default())
        .collect();
    let mut placed: Vec<_> = places.into_iter().zip(found.drain(..)).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, shift)| shift).collect()
}

/// True if a point's times describe the device: a database in memory has some requests as well.
fn is_informative(point: &Point, times: &OperationTimes) -> bool {
    point.work.below_database || times.count.is_some_and(|count| count >= REQUESTS_MIN)
}

struct Kind<'a> {
    point: &'a Point,
    times: &'a OperationTimes,
    place: String,
}

impl Kind<'_> {
    fn is_of(&self, shift: &Shift) -> bool {
        let key = &self.point.key;
        (&key.test, key.jobs, key.threads, key.target)
            == (&shift.test, shift.jobs, shift.threads, shift.target)
            && self
                .times
                .is(&shift.observer, &shift.operation, &shift.phase)
            && self.place == shift.place
    }

    fn is_issued(&self) -> bool {
        let point = self.point;
        if !point.work.below_database || self.times.observer == "driver" {
            return true;
        }
        let all = &point.by_operation.times;
        let of_driver = |t: &OperationTimes| t.observer == "driver" && t.count != Some(0);
        let mut issued = all
            .iter()
            .filter(|t| of_driver(t))
            .map(|t| t.operation.as_str());
        // Writes lead to flushes.
        let own = match self.times.operation.as_str() {
            "flush" => "write",
            own => own,
        };
        issued.any(|operation| operation == own)
    }

    /// True for a point of the same test on the same target, at any number of jobs.
    fn is_same(&self, other: &Point) -> bool {
        let of = |point: &Point| {
            let key = &point.key;
            (point.work.below_database, key.threads, key.target)
        };
        of(self.point) == of(other) && self.point.key.test == other.key.test
    }

    /// Number in flight of the same run of the list in another run: the same one, or the only one.
    fn jobs_in(&self, run: &Run) -> Option<u32> {
        let same = run.points.iter().filter(|p| self.is_same(p));
        let mut jobs: Vec<u32> = same.map(|p| p.key.jobs).collect();
        jobs.sort_unstable();
        jobs.dedup();
        match jobs[..] {
            [one] => Some(one),
            _ => jobs
                .contains(&self.point.key.jobs)
                .then_some(self.point.key.jobs),
        }
    }

    /// Side of a run, with its distribution; `None` without a valid point with a mean.
    fn side(&self, run: &Run, jobs: u32) -> Option<(Side, Histogram)> {
        let (mut sum_us, mut count) = (0.0, 0.0);
        let mut means_us = vec![f64::NAN; run.repetitions as usize];
        let mut histogram = Histogram::new();
        let mut over_time = Vec::new();
        let is_of = |p: &Point| self.is_same(p) && p.key.jobs == jobs;
        // Several steps may have the same test; each is a separate series of repetitions.
        let step = self.point.key.step;
        let has_step = run.points.iter().any(|p| is_of(p) && p.key.step == step);
        let same = |p: &&Point| p.valid() && is_of(p) && (p.key.step == step || !has_step);
        for point in run.points.iter().filter(same) {
            let (mut own_us, mut own_count) = (0.0, 0.0);
            let all = point.by_operation.times.iter();
            let times = &self.times;
            let of_kind = |t: &&OperationTimes| {
                t.is(&times.observer, &times.operation, &times.phase)
                    && is_informative(point, t)
                    && place::place(point, t) == self.place
            };
            for part in all.filter(of_kind) {
                let (Some(n), Some(mean_us)) = (part.count, part.mean_us) else {
                    continue;
                };
                own_us += mean_us * n as f64;
                own_count += n as f64;
                if let Some(more) = part.histogram() {
                    histogram.merge_snapshot(&more);
                }
            }
            if own_count > 0.0 {
                let repetition = (point.key.repetition as usize).checked_sub(1);
                let place = repetition.filter(|_| own_count >= COUNT_MIN as f64);
                if let Some(mean_us) = place.and_then(|place| means_us.get_mut(place)) {
                    *mean_us = own_us / own_count;
                }
                sum_us += own_us;
                count += own_count;
                if over_time.is_empty() {
                    over_time = self.over_time(point);
                }
            }
        }
        (count > 0.0).then(|| {
            let side = Side {
                mean_us: sum_us / count,
                count: count as u64,
                latency: Latency::of(&HistogramSnapshot::from(&histogram)),
                shares: Shares::of(&histogram),
                over_time,
                means_us,
            };
            (side, histogram)
        })
    }

    fn over_time(&self, point: &Point) -> Vec<(f64, Option<f64>)> {
        match self.times.observer.as_str() {
            "driver" => self.over_time_of_driver(point),
            "device" if self.times.phase == "whole" => self.over_time_of_device(point),
            _ => Vec::new(),
        }
    }

    fn over_time_of_device(&self, point: &Point) -> Vec<(f64, Option<f64>)> {
        let mut all = point.by_operation.times.iter();
        let of_kind = |t: &&OperationTimes| {
            t.is("device", &self.times.operation, "whole") && place::place(point, t) == self.place
        };
        let device = all
            .find(of_kind)
            .and_then(|t| point.devices.iter().find(|d| d.name == t.subject));
        let samples = device.map_or(&[][..], |device| &device.samples).iter();
        let own = samples.filter(|s| s.operation == self.times.operation);
        own.map(|s| (s.at_s, s.service_us_mean)).collect()
    }

    fn over_time_of_driver(&self, point: &Point) -> Vec<(f64, Option<f64>)> {
        let samples = point.by_operation.samples.iter();
        let own = samples.filter(|s| s.operation == self.times.operation);
        own.map(|s| {
            let mean_us = match self.times.phase.as_str() {
                "service" => s.service_us_mean,
                _ => s.response_us_mean,
            };
            (s.at_s, mean_us)
        })
        .collect()
    }

    fn shift(
        &self,
        before: (Side, Histogram),
        after: (Side, Histogram),
        question: &Question,
    ) -> Shift {
        let (mut before, times_before) = before;
        let (mut after, times_after) = after;
        let certainty = certainty(&before, &after, question);
        if let Certainty::Repetitions(compared) = &certainty {
            typical_means(&mut before, &mut after, compared);
        }
        Shift {
            is_issued: self.is_issued(),
            repetitions: repetitions(&before, &after, question),
            test: self.point.key.test.clone(),
            is_of_database: !self.point.work.below_database,
            target: self.point.key.target,
            threads: self.point.key.threads,
            jobs: self.point.key.jobs,
            jobs_after: self.point.key.jobs,
            observer: self.times.observer.clone(),
            operation: self.times.operation.clone(),
            phase: self.times.phase.clone(),
            place: self.place.clone(),
            certainty,
            buckets: if times_before.is_empty() || times_after.is_empty() {
                Vec::new()
            } else {
                buckets(&times_before, &times_after)
            },
            before,
            after,
        }
    }
}

fn repetitions(before: &Side, after: &Side, question: &Question) -> Repetitions {
    let (a, b) = (&before.means_us, &after.means_us);
    let is_paired = question.design.is_paired();
    let known = |side: &[f64]| side.iter().filter(|mean| mean.is_finite()).count();
    let in_pairs = a
        .iter()
        .zip(b)
        .filter(|(a, b)| a.is_finite() && b.is_finite());
    let (usable, needed) = if is_paired {
        (in_pairs.count(), fewest_pairs(question.confidence))
    } else {
        (known(a).min(known(b)), fewest_a_side(question.confidence))
    };
    Repetitions {
        made: a.len().min(b.len()),
        usable,
        needed,
        is_paired,
    }
}

/// Sets both means around their common middle, with the ratio of the repetitions.
fn typical_means(before: &mut Side, after: &mut Side, compared: &Comparison) {
    let median_log = |side: &Side| {
        let logs = side.means_us.iter().filter(|mean| mean.is_finite());
        let logs: Vec<f64> = logs.map(|mean| mean.ln()).collect();
        quantile(&logs, 0.5)
    };
    let middle = median_log(before).zip(median_log(after));
    if let Some((ratio, (a, b))) = compared.ratio.as_ref().zip(middle) {
        let (middle, half) = (f64::midpoint(a, b).exp(), ratio.estimate.sqrt());
        (before.mean_us, after.mean_us) = (middle / half, middle * half);
    }
}

fn is_comparable(before: &Side, after: &Side) -> bool {
    before.count.min(after.count) >= COUNT_MIN && before.mean_us >= MEAN_US_MIN
}

fn certainty(before: &Side, after: &Side, question: &Question) -> Certainty {
    if !is_comparable(before, after) {
        return Certainty::Nothing;
    }
    let compared = compare(&before.means_us, &after.means_us, question);
    if compared.ratio.is_some() {
        return Certainty::Repetitions(compared);
    }
    let [a, b] = [before, after].map(|side| {
        side.over_time
            .iter()
            .filter_map(|s| s.1)
            .collect::<Vec<f64>>()
    });
    let [a, b] = [(before, &a), (after, &b)].map(|(side, values)| Mean {
        of_all: side.mean_us,
        values,
    });
    match of_means(a, b, question.confidence) {
        Ok(Ratio {
            interval, warnings, ..
        }) => Certainty::Within {
            ratio: interval,
            warnings,
        },
        Err(_) => Certainty::Nothing,
    }
}

impl Side {
    /// Percentile with a `beyond`-th of the operations above it, if that is at least one.
    pub fn percentile_us(&self, of: fn(&Latency) -> f64, beyond: u64) -> Option<f64> {
        let latency = self.latency.as_ref();
        latency
            .filter(|_| self.count >= beyond.max(COUNT_MIN))
            .map(of)
    }

    /// The shares, if there are enough operations for them.
    pub fn known_shares(&self) -> Option<&Shares> {
        self.shares.as_ref().filter(|_| self.count >= COUNT_MIN)
    }
}

impl Shift {
    /// True for the same test on the same target at the same level.
    pub fn is_of_level(&self, other: &Self) -> bool {
        (&self.test, self.jobs, self.threads, self.target)
            == (&other.test, other.jobs, other.threads, other.target)
    }

    /// Mean after divided by the mean before; `None` if a side has too few operations, or the mean before is 0.
    pub fn ratio(&self) -> Option<f64> {
        let means = [&self.before, &self.after];
        let [before, after] = means.map(|side| side.mean_us);
        quotient(before, after).filter(|_| is_comparable(&self.before, &self.after))
    }

    pub fn ratio_interval(&self) -> Option<&Interval> {
        match &self.certainty {
            Certainty::Repetitions(compared) => compared.ratio.as_ref(),
            Certainty::Within { ratio, .. } => Some(ratio),
            Certainty::Nothing => None,
        }
    }

    pub fn has_too_few(&self) -> bool {
        self.before.count.min(self.after.count) < COUNT_MIN
    }

    /// Reduction of the mean time in percent; negative for an increase.
    pub fn improvement_pct(&self) -> Option<f64> {
        self.ratio().map(improved)
    }

    /// Interval of the improvement, in percent, lower end first.
    pub fn improvement_interval_pct(&self) -> Option<(f64, f64)> {
        let ratio = self.ratio_interval()?;
        Some((improved(ratio.high), improved(ratio.low)))
    }

    /// Buckets joined to octaves, like the scales of storage arrays: one of their ends is 1 ms.
    pub fn octaves(&self) -> Vec<Bucket> {
        let mut octaves: Vec<Bucket> = Vec::new();
        for fine in &self.buckets {
            match octaves.last_mut() {
                // Ends are powers of two times 1 ms, separated well within a quarter octave.
                Some(octave) if fine.low_us < octave.high_us * 0.99 => {
                    octave.before_pct += fine.before_pct;
                    octave.after_pct += fine.after_pct;
                }
                _ => {
                    let place = (fine.high_us / TAIL_US).log2() - 0.01;
                    let high_us = TAIL_US * place.ceil().exp2();
                    octaves.push(Bucket {
                        low_us: high_us / 2.0,
                        high_us,
                        ..*fine
                    });
                }
            }
        }
        octaves
    }
}

/// Shares of both in buckets of [`PER_OCTAVE`] per octave, one of whose ends is 1 ms, from the first non-empty one to
/// the last.
fn buckets(before: &Histogram, after: &Histogram) -> Vec<Bucket> {
    let place = |us: f64| (PER_OCTAVE * (us.max(1e-3) / TAIL_US).log2()).ceil() as i32;
    let edge = |place: i32| TAIL_US * (f64::from(place) / PER_OCTAVE).exp2();
    let places = [before, after].map(|h| (place(h.min_us()), place(h.max_us())));
    let first = places[0].0.min(places[1].0);
    let last = places[0].1.max(places[1].1);
    let shares = [before, after].map(|h| {
        let mut shares = vec![0.0; (last - first + 1) as usize];
        for (us, count) in h.buckets_us() {
            let at = (place(us) - first).clamp(0, last - first) as usize;
            shares[at] += count as f64 * 100.0 / h.count() as f64;
        }
        shares
    });
    (first..=last)
        .zip(shares[0].iter().zip(&shares[1]))
        .map(|(at, (before_pct, after_pct))| Bucket {
            low_us: edge(at - 1),
            high_us: edge(at),
            before_pct: *before_pct,
            after_pct: *after_pct,
        })
        .collect()
}

fn improved(ratio: f64) -> f64 {
    (1.0 - ratio) * 100.0
}
