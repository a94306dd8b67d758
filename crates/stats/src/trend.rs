//! A straight line that is robust against outliers.

use crate::summary::median;

/// Most points of a line: its slopes are as many as the pairs.
pub const POINTS_MAX: usize = 2_000;

/// y = intercept + slope·x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    pub intercept: f64,
    pub slope: f64,
}

impl Line {
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// The line of Theil and Sen; up to 29 % of the points may lie anywhere without moving it far.
///
/// Formula: the slope is the median of (yⱼ − yᵢ)/(xⱼ − xᵢ) over all pairs with different x, the intercept the median of
/// yᵢ − slope·xᵢ. Source: Theil 1950; Sen 1968. Limits: of more than [`POINTS_MAX`] points every k-th is taken, so that at most
/// so many remain; `None` for points that are no finite numbers, or with fewer than two different x.
/// Golden: 0, 1, 2, 3, 100 over 0, 1, 2, 3, 4 has the slope 1 and the intercept 0.
pub fn theil_sen(points: &[(f64, f64)]) -> Option<Line> {
    if points
        .iter()
        .any(|(x, y)| !(x.is_finite() && y.is_finite()))
    {
        return None;
    }
    let every = points.len().div_ceil(POINTS_MAX).max(1);
    let taken: Vec<(f64, f64)> = points.iter().step_by(every).copied().collect();
    let mut slopes = Vec::with_capacity(taken.len() * taken.len() / 2);
    for (i, (x, y)) in taken.iter().enumerate() {
        let others = taken[i + 1..].iter().filter(|(other, _)| other != x);
        slopes.extend(others.map(|(x_other, y_other)| (y_other - y) / (x_other - x)));
    }
    let slope = median_of(&mut slopes)?;
    let rests: Vec<f64> = taken.iter().map(|(x, y)| y - slope * x).collect();
    let intercept = median(&rests)?;
    Some(Line { intercept, slope })
}

/// Median of many values, which are not sorted for it: two million take 20 ms instead of 200.
fn median_of(values: &mut [f64]) -> Option<f64> {
    let middle = values.len().checked_sub(1)? / 2;
    let is_even = values.len().is_multiple_of(2);
    let (_, low, above) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let low = *low;
    let next = above.iter().copied().reduce(f64::min).filter(|_| is_even);
    Some(f64::midpoint(low, next.unwrap_or(low)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_line() {
        let counting = |last: f64| [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, last)];
        let line = theil_sen(&counting(100.0)).unwrap();
        assert_eq!((line.slope, line.intercept), (1.0, 0.0));
        assert_eq!(line.at(7.0), 7.0);
        assert_eq!(theil_sen(&counting(4.0)), Some(line));
        assert_eq!(median_of(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median_of(&mut []), None);
    }

    #[test]
    fn many_points_are_thinned_and_no_line_is_none() {
        let many: Vec<(f64, f64)> = (0..9_001).map(|x| (f64::from(x), 3.0)).collect();
        let line = theil_sen(&many).unwrap();
        assert_eq!((line.slope, line.intercept), (0.0, 3.0));
        assert_eq!(theil_sen(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(theil_sen(&[(1.0, f64::NAN), (2.0, 3.0)]), None);
        assert_eq!(theil_sen(&[]), None);
    }
}
