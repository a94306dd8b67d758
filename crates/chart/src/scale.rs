//! Scales and their ticks.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios; zero and below have no position.
    Log,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub at: f64,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub title: String,
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<Tick>,
}

/// Approximate number of labels on a linear axis.
const TICKS_WANTED: f64 = 4.0;
/// A log axis of at most this many decades has ticks at 2 and 5 too.
const DECADES_FINE: i32 = 2;
/// A log axis of more decades labels only some of them.
const DECADES_LABELLED: i32 = 7;

impl Axis {
    /// From zero to a round number at or above `high`.
    pub fn linear(title: &str, high: f64, label: impl Fn(f64) -> String) -> Self {
        let high = if high.is_finite() && high > 0.0 {
            high
        } else {
            1.0
        };
        let step = nice_step(high / TICKS_WANTED);
        let steps = (high / step - 1e-9).ceil().max(1.0);
        let ticks = (0..=steps as u32)
            .map(|i| f64::from(i) * step)
            .map(|at| Tick {
                at,
                label: label(at),
            })
            .collect();
        Self {
            title: title.to_owned(),
            scale: Scale::Linear,
            low: 0.0,
            high: steps * step,
            ticks,
        }
    }

    /// From zero to exactly `high`, with round ticks inside: for time.
    pub fn span(title: &str, high: f64, label: impl Fn(f64) -> String) -> Self {
        let mut axis = Self::linear(title, high, label);
        if high > 0.0 && high.is_finite() {
            axis.high = high;
            axis.ticks.retain(|t| t.at <= high * (1.0 + 1e-9));
        }
        axis
    }

    /// From a round number at or below `low` to one at or above `high`, with zero among them: for changes.
    pub fn around_zero(title: &str, low: f64, high: f64, label: impl Fn(f64) -> String) -> Self {
        let sound = |end: f64| if end.is_finite() { end } else { 0.0 };
        let (low, high) = (sound(low).min(0.0), sound(high).max(0.0));
        let range = if high > low { high - low } else { 1.0 };
        let step = nice_step(range / TICKS_WANTED);
        let first = (low / step + 1e-9).floor() as i32;
        let last = ((high / step - 1e-9).ceil() as i32).max(first + 1);
        let at = |tick: i32| f64::from(tick) * step;
        let ticks = (first..=last).map(|tick| Tick {
            at: at(tick),
            label: label(at(tick)),
        });
        Self {
            title: title.to_owned(),
            scale: Scale::Linear,
            low: at(first),
            high: at(last),
            ticks: ticks.collect(),
        }
    }

    /// Numbers from 1 to `last`, each centred in its cell, labelled as far as there is room.
    pub fn numbered(title: &str, last: u32) -> Self {
        let every = nice_step(f64::from(last.max(1)) / 10.0).ceil().max(1.0) as u32;
        let is_labelled = |number: &u32| *number == 1 || number.is_multiple_of(every);
        let ticks = (1..=last).filter(is_labelled).map(|number| Tick {
            at: f64::from(number),
            label: number.to_string(),
        });
        Self {
            title: title.to_owned(),
            scale: Scale::Linear,
            low: 0.5,
            high: f64::from(last) + 0.5,
            ticks: ticks.collect(),
        }
    }

    /// Decades around `low` … `high`; both must be positive, else the axis is 1 … 10.
    pub fn log(title: &str, low: f64, high: f64, label: impl Fn(f64) -> String) -> Self {
        let sound = low > 0.0 && high.is_finite() && low <= high;
        let (low, high) = if sound { (low, high) } else { (1.0, 10.0) };
        let first = (low.log10() + 1e-9).floor() as i32;
        let last = ((high.log10() - 1e-9).ceil() as i32).max(first + 1);
        let mut values = Vec::new();
        let every = (last - first - 1) / DECADES_LABELLED + 1;
        for decade in (first..=last).filter(|d| (d - first) % every == 0) {
            values.push(10f64.powi(decade));
            if last - first <= DECADES_FINE {
                values.extend([2.0, 5.0].map(|m| m * 10f64.powi(decade)));
            }
        }
        values.retain(|v| *v <= 10f64.powi(last) * (1.0 + 1e-9));
        let (bottom, top) = trim(&values, low, high, 10f64.powi(first), 10f64.powi(last));
        values.retain(|v| (bottom..=top * (1.0 + 1e-9)).contains(v));
        Self {
            title: title.to_owned(),
            scale: Scale::Log,
            low: bottom,
            high: top,
            ticks: values
                .into_iter()
                .map(|at| Tick {
                    at,
                    label: label(at),
                })
                .collect(),
        }
    }

    /// Degrees of parallelism: doubling is one step; exactly the measured ones are labelled.
    pub fn dops(title: &str, dops: &[u32]) -> Self {
        let mut values: Vec<u32> = dops.iter().copied().filter(|d| *d > 0).collect();
        values.sort_unstable();
        values.dedup();
        let low = f64::from(values.first().copied().unwrap_or(1));
        let high = f64::from(values.last().copied().unwrap_or(1));
        let room = (high / low).log2().max(1.0) / 10.0;
        let mut last_label: Option<f64> = None;
        let mut ticks = Vec::new();
        for value in values.into_iter().map(f64::from) {
            let free = last_label.is_none_or(|l| (value / l).log2() >= room.min(0.99));
            if free {
                last_label = Some(value);
            }
            ticks.push(Tick {
                at: value,
                label: if free {
                    format!("{value:.0}")
                } else {
                    String::new()
                },
            });
        }
        Self {
            title: title.to_owned(),
            scale: Scale::Log,
            low: if high > low { low } else { low / 2.0 },
            high: if high > low { high } else { low * 2.0 },
            ticks,
        }
    }

    /// From no user to `high`, in whole users.
    pub fn users(title: &str, high: u32) -> Self {
        let high = f64::from(high.max(1));
        let mut axis = Self::span(title, high, |users| format!("{users:.0}"));
        axis.ticks.retain(|tick| tick.at.fract() == 0.0);
        axis
    }

    /// Percentiles in the manner of HdrHistogram: each nine takes the same room.
    /// Values on this axis are `1 / (1 − percentile/100)`; see [`Axis::of_percentile`].
    pub fn percentiles(title: &str, highest: f64) -> Self {
        let high = Self::of_percentile(highest).max(10.0);
        let all = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999];
        Self {
            title: title.to_owned(),
            scale: Scale::Log,
            low: 1.0,
            high,
            ticks: all
                .into_iter()
                .map(|p| Tick {
                    at: Self::of_percentile(p),
                    label: format!("{p}"),
                })
                .filter(|t| t.at <= high * (1.0 + 1e-9))
                .collect(),
        }
    }

    /// Position of a percentile (0–100) on a [`Axis::percentiles`].
    pub fn of_percentile(percentile: f64) -> f64 {
        1.0 / (1.0 - percentile.clamp(0.0, 99.999_99) / 100.0)
    }

    /// Position between 0 (low) and 1 (high); `None` for values outside the axis.
    pub fn position(&self, value: f64) -> Option<f64> {
        let (value, low, high) = match self.scale {
            Scale::Linear => (value, self.low, self.high),
            Scale::Log if value > 0.0 => (value.log2(), self.low.log2(), self.high.log2()),
            Scale::Log => return None,
        };
        let position = (value - low) / (high - low);
        (-1e-6..=1.0 + 1e-6)
            .contains(&position)
            .then(|| position.clamp(0.0, 1.0))
    }
}

/// The tightest ticks around the data if there are fine ticks; else whole decades.
fn trim(values: &[f64], low: f64, high: f64, first: f64, last: f64) -> (f64, f64) {
    let below = values.iter().copied().filter(|v| *v <= low * (1.0 + 1e-9));
    let above = values.iter().copied().filter(|v| *v >= high * (1.0 - 1e-9));
    let bottom = below.reduce(f64::max).unwrap_or(first);
    let top = above.reduce(f64::min).unwrap_or(last);
    if bottom < top {
        (bottom, top)
    } else {
        (first, last)
    }
}

/// The smallest of 1, 2, 2.5, 5 × 10^k that is not below `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tick;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_cover_the_data() {
        let axis = Axis::linear("x", 26_768.0, tick);
        assert_eq!(labels(&axis), ["0", "10k", "20k", "30k"]);
        assert_eq!(axis.position(15_000.0), Some(0.5));
        assert_eq!(axis.position(30_001.0), None);
        assert_eq!(
            labels(&Axis::linear("x", 1.0, tick)),
            ["0", "0.25", "0.5", "0.75", "1"]
        );
        for odd in [0.0, -3.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Axis::linear("x", odd, tick).high, 1.0);
        }
    }

    #[test]
    fn changes_lie_around_zero_and_numbers_in_their_places() {
        let label = |v: f64| format!("{v}");
        let axis = Axis::around_zero("x", -1.3, 4.2, label);
        assert_eq!(labels(&axis), ["-2", "0", "2", "4", "6"]);
        assert_eq!((axis.low, axis.high), (-2.0, 6.0));
        assert_eq!(
            labels(&Axis::around_zero("x", 3.0, 7.0, label)),
            ["0", "2", "4", "6", "8"]
        );
        for odd in [0.0, f64::NAN] {
            assert!(Axis::around_zero("x", odd, odd, label).high > 0.0);
        }
        let axis = Axis::numbered("x", 10);
        assert_eq!(labels(&axis).len(), 10);
        assert_eq!(axis.position(5.5), Some(0.5));
        assert_eq!(labels(&Axis::numbered("x", 40))[..3], ["1", "5", "10"]);
        assert!(labels(&Axis::numbered("x", 0)).is_empty());
    }

    #[test]
    fn log_ticks_are_decades() {
        let axis = Axis::log("x", 3.0, 45_000.0, tick);
        assert_eq!(labels(&axis), ["1", "10", "100", "1k", "10k", "100k"]);
        assert_eq!(axis.position(0.0), None);
        assert!((axis.position(316.227_766).unwrap_or(0.0) - 0.5).abs() < 1e-6);
        let fine = Axis::log("x", 12.0, 80.0, tick);
        assert_eq!(labels(&fine), ["10", "20", "50", "100"]);
        let one = Axis::log("x", 15.0, 15.0, tick);
        assert_eq!(labels(&one), ["10", "20"]);
        assert_eq!(Axis::log("x", 0.0, 5.0, tick).high, 10.0);
        assert!(Axis::log("x", 1e-9, 1e12, tick).ticks.len() <= 8);
    }

    #[test]
    fn parallelism_doubles_in_equal_steps() {
        let axis = Axis::dops("x", &[4, 1, 2, 8, 2]);
        assert_eq!(labels(&axis), ["1", "2", "4", "8"]);
        let two = axis.position(2.0).unwrap_or(0.0);
        assert!((two - 1.0 / 3.0).abs() < 1e-9);
        let single = Axis::dops("x", &[4]);
        assert!((single.position(4.0).unwrap_or(0.0) - 0.5).abs() < 1e-9);
        assert!(Axis::dops("x", &[]).low > 0.0);
        assert!(labels(&Axis::dops("x", &[511, 512, 1])).contains(&""));
    }

    #[test]
    fn users_lie_at_equal_distances_and_are_whole() {
        let axis = Axis::users("users", 46);
        assert_eq!(labels(&axis), ["0", "20", "40"]);
        assert_eq!(axis.position(23.0), Some(0.5));
        assert_eq!(labels(&Axis::users("users", 2)), ["0", "1", "2"]);
        assert_eq!(labels(&Axis::users("users", 0)), ["0", "1"]);
    }

    #[test]
    fn each_nine_takes_the_same_room() {
        let axis = Axis::percentiles("x", 99.9);
        assert_eq!(labels(&axis), ["0", "50", "90", "99", "99.9"]);
        let position = |p| axis.position(Axis::of_percentile(p)).unwrap_or(-1.0);
        assert!((position(90.0) - 1.0 / 3.0).abs() < 1e-9);
        assert!((position(99.0) - 2.0 / 3.0).abs() < 1e-9);
    }
}
