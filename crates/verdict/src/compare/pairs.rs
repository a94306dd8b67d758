//! Pairs of a study in the archive: start times, order, and slices.

use std::collections::BTreeMap;

use archive::{Point, Run};
use stats::summary::mean;

use crate::metric::Metric;

/// Shortest series from which the order of slices is judged.
const SLICES_MIN: usize = 8;

/// Factor of a late sample's interval.
const LATE: f64 = 1.02;

#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub number: u32,
    /// A's block was measured first; in slices, A was opened first.
    pub is_a_first: bool,
    /// Start of the points of A and of B, RFC 3339 in UTC.
    pub started_at: [String; 2],
    pub figures: [f64; 2],
    /// Effect of the order of slices; `None` in blocks, and if slices are not recorded individually.
    pub by_order: Option<ByOrder>,
    /// Rate of each interval of A's point and of B's: in slices, neighbours have the same index.
    pub series: [Vec<f64>; 2],
}

/// Slices of a pair by the side that was first of two neighbours: A, or B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByOrder {
    pub ratio: [f64; 2],
    /// Rate of both sides, divided by that of all slices.
    pub level: [f64; 2],
}

impl Pair {
    pub fn ratio(&self) -> f64 {
        self.figures[1] / self.figures[0]
    }
}

/// Complete pairs of a metric. `others` is the metric with its name in run B.
pub(super) fn pairs(a: &Run, b: &Run, metric: &Metric, others: &Metric) -> Vec<Pair> {
    let (Some(study), Some(other)) = (&a.study, &b.study) else {
        return Vec::new();
    };
    let order = (1..=study.rounds()).map(|round| study.round(round));
    let is_a_first = |round: &str| round.find(&study.side) < round.find(&other.side);
    let halves = metric.points(a).into_iter().zip(others.points(b));
    let pairs = (1..)
        .zip(order.zip(halves))
        .filter_map(|(number, (order, halves))| {
            let (a, b) = (halves.0?, halves.1?);
            let is_usable = |(_, figure): (&Point, f64)| figure > 0.0;
            (is_usable(a) && is_usable(b)).then(|| {
                let slices = (study.slice_ms).map(|slice_ms| Slices::of(a.0, b.0, slice_ms));
                Pair {
                    number,
                    is_a_first: is_a_first(order),
                    started_at: [a.0.started_at.clone(), b.0.started_at.clone()],
                    figures: [a.1, b.1],
                    by_order: slices.as_ref().and_then(Slices::by_order),
                    series: match slices {
                        Some(slices) => slices.series(),
                        None => [a.0, b.0].map(rates),
                    },
                }
            })
        });
    pairs.collect()
}

/// Rates within the declared time: after it, jobs only finish.
fn rates(point: &Point) -> Vec<f64> {
    let until_s = point.work.seconds.map_or(f64::INFINITY, |s| s * LATE);
    let samples = point.samples.iter().filter(|s| s.at_s <= until_s);
    samples.filter_map(|s| s.operations_per_s).collect()
}

/// Neighbouring slices by their number.
struct Slices(BTreeMap<u64, Both>);

struct Both {
    is_a_first: bool,
    rates: [f64; 2],
}

impl Slices {
    fn of(a: &Point, b: &Point, slice_ms: u32) -> Self {
        let others = slots(b, slice_ms);
        let both = slots(a, slice_ms).into_iter().filter_map(|(number, a)| {
            let b = others.get(&number)?;
            let is_a_first = a.is_first;
            (is_a_first != b.is_first).then_some((
                number,
                Both {
                    is_a_first,
                    rates: [a.rate, b.rate],
                },
            ))
        });
        Self(both.collect())
    }

    fn series(&self) -> [Vec<f64>; 2] {
        [0, 1].map(|side| self.0.values().map(|both| both.rates[side]).collect())
    }

    fn by_order(&self) -> Option<ByOrder> {
        let count = self.0.len();
        let (first, last) = (self.0.keys().next()?, self.0.keys().last()?);
        // A very long point has several slices per interval.
        let is_one_by_one = last - first + 1 == count as u64;
        if !is_one_by_one || count < SLICES_MIN {
            return None;
        }
        let of = |is_a_first: bool, side: usize| -> Option<f64> {
            let own = self.0.values().filter(|both| both.is_a_first == is_a_first);
            mean(&own.map(|both| both.rates[side]).collect::<Vec<_>>())
        };
        let all = self.series();
        let of_all = [mean(&all[0])?, mean(&all[1])?];
        let [a_first, b_first] = [true, false].map(|is_a_first| {
            let (a, b) = (of(is_a_first, 0)?, of(is_a_first, 1)?);
            let level = f64::midpoint(a / of_all[0], b / of_all[1]);
            (a > 0.0 && b > 0.0).then_some((b / a, level))
        });
        let (a_first, b_first) = (a_first?, b_first?);
        Some(ByOrder {
            ratio: [a_first.0, b_first.0],
            level: [a_first.1, b_first.1],
        })
    }
}

struct Slot {
    is_first: bool,
    rate: f64,
}

/// Whole slices of a point by the number of their pair: one ends at a multiple of their length, odd for the first of
/// a pair. After the declared time, jobs only finish.
fn slots(point: &Point, slice_ms: u32) -> BTreeMap<u64, Slot> {
    let in_time = point.work.seconds.map_or(usize::MAX, |seconds| {
        (seconds * 1e3 / f64::from(slice_ms) + 1e-9) as usize
    });
    let slots = point.samples.iter().take(in_time).filter_map(|sample| {
        let slot = sample.at_s * 1e3 / f64::from(slice_ms);
        let whole = slot.round();
        let rate = sample.operations_per_s?;
        ((slot - whole).abs() < 1e-6 * slot && whole >= 1.0).then(|| {
            let slot = whole as u64;
            let is_first = slot % 2 == 1;
            ((slot - 1) / 2, Slot { is_first, rate })
        })
    });
    slots.collect()
}

#[cfg(test)]
mod tests {
    use archive::{Component, PointKey, Sample};

    use super::*;

    fn point(slots: &[(u64, f64)]) -> Point {
        let key = PointKey::of("T611", 1);
        let mut point = Point::blank(key, String::new(), Component::Cpu);
        let sample = |(slot, rate): &(u64, f64)| Sample {
            at_s: *slot as f64 * 0.1,
            operations_per_s: Some(*rate),
            ..Sample::default()
        };
        point.samples = slots.iter().map(sample).collect();
        point
    }

    /// In eight pairs of slices the second one does a tenth more, and B half of A.
    #[test]
    fn slices_are_divided_by_the_first_side() {
        let of = |is_b: bool| -> Vec<(u64, f64)> {
            let slot = |pair: u64| {
                let is_second = pair.is_multiple_of(3) != is_b;
                let rate = if is_b { 50.0 } else { 100.0 };
                (
                    2 * pair + 1 + u64::from(is_second),
                    rate * if is_second { 1.1 } else { 1.0 },
                )
            };
            (3..11).map(slot).collect()
        };
        let (a, mut b) = (of(false), of(true));
        let slices = Slices::of(&point(&a), &point(&b), 100);
        assert_eq!(slices.series().map(|side| side.len()), [8, 8]);
        let ratio = slices.by_order().unwrap().ratio;
        assert!((ratio[0] - 0.55).abs() < 1e-9 && (ratio[1] - 0.5 / 1.1).abs() < 1e-9);
        // A slice that is cut off has no partner, and a gap leaves the order unknown.
        b[3].0 = 1000;
        let torn = Slices::of(&point(&a), &point(&b), 100);
        assert_eq!((torn.0.len(), torn.by_order()), (7, None));
        let mut cut = point(&a);
        cut.samples[7].at_s -= 0.04;
        assert_eq!(slots(&cut, 100).len(), 7);
        // In 0.75 s seven slices of 100 ms are complete.
        let mut drained = point(&a);
        drained.work.seconds = Some(0.75);
        assert_eq!(slots(&drained, 100).len(), 7);
        assert_eq!(rates(&drained).len(), 0, "they begin after the ramp-up");
    }
}
