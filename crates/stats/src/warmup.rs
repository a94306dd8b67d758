//! Steady-state classes of a finished series: flat, warm-up, slow-down, no steady state.

use crate::changepoint::{Segment, segments, usual_penalty};
use crate::compare::Direction;
use crate::summary::quantile;
use crate::warning::{Warning, finite};

/// Fewest values that are classified.
pub const VALUES_MIN: usize = 20;
/// Values in the window against which an outlier is judged.
const WINDOW: usize = 200;

/// How a series behaved over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The same from the start.
    Flat,
    /// Worse at first, then steady.
    Warmup,
    /// Better at first, then steady.
    Slowdown,
    /// Still changing near the end.
    NoSteadyState,
}

/// The class of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Classified {
    pub class: Class,
    /// First index of the steady part, counted among the finite values; `None` without a steady state.
    pub steady_from: Option<usize>,
    /// Mean of the steady part, outliers taken out.
    pub steady_mean: Option<f64>,
    /// Isolated values that were left out of the segmentation.
    pub outliers: usize,
    /// What was odd about the series.
    pub warnings: Vec<Warning>,
}

/// What runs of the same thing have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Across {
    /// All runs are of this class.
    All(Class),
    /// Classes differ. `steady` says whether each run at least ended steady and none slowed down.
    Inconsistent {
        /// All are flat or warm up.
        steady: bool,
    },
}

/// Classifies a series of equally spaced figures, rates or times.
///
/// Method: values further than 3·(P90 − P10) from the median of the 200 around them are outliers and left out;
/// PELT with the penalty 15·ln n finds segments. The last is the reference; another is like it when the
/// means differ by at most `tolerance` of the reference or two standard errors. Walking from the end:
/// all alike is *flat*; when one that differs ends within the last quarter of the series (at most
/// 500 values), *no steady state*; else the last that differs makes it *warm-up* if it was worse than
/// the reference, *slow-down* if better. Source: Barrett et al., OOPSLA 2017; they compare means ± variance
/// with a fixed 1 ms, which has no meaning for rates, hence the tolerance (0.02 is usual).
/// Limits: [`VALUES_MIN`] finite values. A slow drift is cut into steps and shows as no steady state.
/// Golden: twenty values at 50 then a hundred at 100 are a warm-up of a rate, a slow-down of a time.
pub fn classify(
    series: &[f64],
    tolerance: f64,
    direction: Direction,
) -> Result<Classified, Warning> {
    if !(0.0..1.0).contains(&tolerance) {
        return Err(Warning::NotAShare { name: "tolerance" });
    }
    let (values, dropped) = finite(series);
    if values.len() < VALUES_MIN {
        return Err(Warning::TooFew {
            have: values.len(),
            need: VALUES_MIN,
        });
    }
    let kept = without_outliers(&values);
    let outliers = values.len() - kept.len();
    let plain: Vec<f64> = kept.iter().map(|(_, v)| *v).collect();
    let mut warnings: Vec<Warning> = dropped.into_iter().collect();
    if crate::warning::single_valued(&plain) {
        warnings.push(Warning::SingleValued);
    }
    let found = segments(&plain, usual_penalty(plain.len()))?;
    let Some((reference, earlier)) = found.split_last() else {
        return Err(Warning::TooFew {
            have: plain.len(),
            need: VALUES_MIN,
        });
    };
    let differing = earlier
        .iter()
        .rev()
        .find(|s| !alike(s, reference, tolerance));
    let tail = (plain.len() / 4).min(500);
    let class = match differing {
        None => Class::Flat,
        Some(segment) if segment.end + tail > plain.len() => Class::NoSteadyState,
        Some(segment) if is_worse(segment.mean, reference.mean, direction) => Class::Warmup,
        Some(_) => Class::Slowdown,
    };
    let first = differing.map_or(0, |segment| segment.end);
    let steady = &plain[first..];
    let is_steady = class != Class::NoSteadyState;
    Ok(Classified {
        class,
        // Back to the index among all finite values, where the outliers still are.
        steady_from: is_steady.then(|| if first == 0 { 0 } else { kept[first].0 }),
        steady_mean: is_steady.then(|| steady.iter().sum::<f64>() / steady.len() as f64),
        outliers,
        warnings,
    })
}

/// What the classes of several runs say together; `None` for no run.
///
/// Source: Barrett et al. 2017, "good" and "bad" inconsistent. Limits: two runs that agree say little.
/// Golden: flat and warm-up are inconsistent but steady; flat and slow-down are not steady.
pub fn across(classes: &[Class]) -> Option<Across> {
    let first = *classes.first()?;
    if classes.iter().all(|class| *class == first) {
        return Some(Across::All(first));
    }
    let steady = classes
        .iter()
        .all(|class| matches!(class, Class::Flat | Class::Warmup));
    Some(Across::Inconsistent { steady })
}

/// Values with their index, without those far off their surroundings.
fn without_outliers(values: &[f64]) -> Vec<(usize, f64)> {
    let is_usual = |i: usize| {
        let start = i
            .saturating_sub(WINDOW / 2)
            .min(values.len().saturating_sub(WINDOW));
        let window = &values[start..(start + WINDOW).min(values.len())];
        let at = |q| quantile(window, q).unwrap_or(values[i]);
        (values[i] - at(0.5)).abs() <= 3.0 * (at(0.9) - at(0.1))
    };
    values
        .iter()
        .copied()
        .enumerate()
        .filter(|(i, _)| is_usual(*i))
        .collect()
}

fn alike(segment: &Segment, reference: &Segment, tolerance: f64) -> bool {
    let error = |s: &Segment| s.variance / (s.end - s.start) as f64;
    let noise = 2.0 * (error(segment) + error(reference)).sqrt();
    let allowed = (tolerance * reference.mean.abs()).max(noise);
    (segment.mean - reference.mean).abs() <= allowed
}

fn is_worse(mean: f64, reference: f64, direction: Direction) -> bool {
    match direction {
        Direction::HigherIsBetter => mean < reference,
        Direction::LowerIsBetter => mean > reference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn noisy(levels: &[(usize, f64)], seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut series = Vec::new();
        for (n, mean) in levels {
            series.extend((0..*n).map(|_| mean * (1.0 + 0.03 * random.normal())));
        }
        series
    }

    fn class_of(levels: &[(usize, f64)], direction: Direction) -> Class {
        classify(&noisy(levels, 1), 0.02, direction).unwrap().class
    }

    #[test]
    fn golden_classes() {
        use Direction::{HigherIsBetter, LowerIsBetter};
        let rising = [(20, 50.0), (100, 100.0)];
        assert_eq!(class_of(&rising, HigherIsBetter), Class::Warmup);
        assert_eq!(class_of(&rising, LowerIsBetter), Class::Slowdown);
        assert_eq!(class_of(&[(120, 100.0)], HigherIsBetter), Class::Flat);
        assert_eq!(
            class_of(&[(30, 100.0), (90, 70.0)], HigherIsBetter),
            Class::Slowdown
        );
        assert_eq!(
            class_of(&[(100, 100.0), (20, 60.0)], HigherIsBetter),
            Class::NoSteadyState
        );
        // A difference within the tolerance is flat, however sure it is.
        let near = noisy(&[(400, 100.0), (400, 101.0)], 3);
        assert_eq!(
            classify(&near, 0.02, HigherIsBetter).unwrap().class,
            Class::Flat
        );
    }

    #[test]
    fn the_steady_part_is_found_in_spite_of_outliers() {
        let mut series = noisy(&[(20, 50.0), (100, 100.0)], 4);
        series[60] = 2_000.0;
        series[5] = f64::NAN;
        let found = classify(&series, 0.02, Direction::HigherIsBetter).unwrap();
        assert_eq!((found.class, found.outliers), (Class::Warmup, 1));
        assert_eq!(found.steady_from, Some(19));
        assert!((found.steady_mean.unwrap() - 100.0).abs() < 1.0);
        assert_eq!(found.warnings, [Warning::NotFinite { dropped: 1 }]);
    }

    #[test]
    fn runs_agree_or_not() {
        assert_eq!(across(&[]), None);
        assert_eq!(across(&[Class::Flat; 3]), Some(Across::All(Class::Flat)));
        let mixed = across(&[Class::Flat, Class::Warmup]);
        assert_eq!(mixed, Some(Across::Inconsistent { steady: true }));
        let slowing = across(&[Class::Flat, Class::Slowdown]);
        assert_eq!(slowing, Some(Across::Inconsistent { steady: false }));
    }

    #[test]
    fn odd_series() {
        let direction = Direction::HigherIsBetter;
        assert!(classify(&[1.0; 19], 0.02, direction).is_err());
        assert!(classify(&[f64::NAN; 50], 0.02, direction).is_err());
        assert!(classify(&[1.0; 50], f64::NAN, direction).is_err());
        let alike = classify(&[0.0; 50], 0.02, direction).unwrap();
        assert_eq!(
            (alike.class, alike.warnings.as_slice()),
            (Class::Flat, &[Warning::SingleValued][..])
        );
    }
}
