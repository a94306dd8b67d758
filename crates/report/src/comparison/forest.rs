//! The forest in text: ratio and interval of each row on one logarithmic scale around 1.

use stats::Interval;
use stats::compare::Band;

/// Narrowest half range of the scale, so that tiny effects look tiny.
const HALF_MIN: f64 = 0.05;
/// Widest half range; an arrow marks values beyond it.
const HALF_MAX: f64 = 1.0;

/// A logarithmic scale that is symmetric around the ratio 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// Largest |ln ratio| on it.
    pub half: f64,
    width: usize,
}

impl Scale {
    pub fn of(ratios: impl Iterator<Item = Interval>, width: usize) -> Self {
        let ends = ratios
            .flat_map(|r| [r.low, r.high])
            .filter(|v| v.is_finite() && *v > 0.0)
            .map(|v| v.ln().abs());
        Self {
            half: ends.fold(HALF_MIN, f64::max).min(HALF_MAX) * 1.02,
            width,
        }
    }

    /// `┊` the edges of the band, `│` the ratio 1, `├─●─┤` interval and estimate.
    pub fn draw(&self, ratio: Option<Interval>, band: Band) -> String {
        let mut line: Vec<char> = vec![' '; self.width];
        let edge = band.equivalence.ln_1p();
        for (at, mark) in [(-edge, '┊'), (edge, '┊'), (0.0, '│')] {
            if let Some(column) = self.column(at) {
                line[column] = mark;
            }
        }
        let Some(ratio) = ratio.filter(|r| r.low > 0.0 && r.high.is_finite()) else {
            return line.into_iter().collect();
        };
        let (low, high) = (ratio.low.ln(), ratio.high.ln());
        let from = self
            .column(low)
            .unwrap_or(if low < 0.0 { 0 } else { self.width - 1 });
        let to = self
            .column(high)
            .unwrap_or(if high < 0.0 { 0 } else { self.width - 1 });
        for column in &mut line[from..=to] {
            *column = '─';
        }
        line[from] = if self.column(low).is_some() {
            '├'
        } else {
            '◄'
        };
        line[to] = if self.column(high).is_some() {
            '┤'
        } else {
            '►'
        };
        if let Some(column) = self.column(ratio.estimate.ln()) {
            line[column] = '●';
        }
        line.into_iter().collect()
    }

    pub fn legend(&self, sure: &str) -> String {
        format!(
            "  scale {:.2} … {:.2} · │ no difference · ├●┤ ratio with its {sure} · ┊ practical band",
            (-self.half).exp(),
            self.half.exp()
        )
    }

    fn column(&self, log: f64) -> Option<usize> {
        let share = (log + self.half) / (2.0 * self.half);
        (0.0..=1.0)
            .contains(&share)
            .then(|| (share * (self.width - 1) as f64).round() as usize)
    }
}
