//! Scale factor of the database: 1 is about a gigabyte of text.

use std::fmt;
use std::str::FromStr;

/// Smallest scale: a hundred suppliers.
const LEAST: f64 = 0.01;
const MOST: f64 = 100_000.0;

#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Scale(f64);

impl Scale {
    /// # Errors
    /// When the generator does not support the factor.
    pub fn new(factor: f64) -> Result<Self, String> {
        if !(LEAST..=MOST).contains(&factor) {
            return Err(format!(
                "the scale {factor} is not between {LEAST} and {MOST}; 1 is about 1 GB of text"
            ));
        }
        let scale = Self(factor);
        if scale.repeats_a_supplier() {
            Err(format!(
                "scale {factor} has too few suppliers: a part would have the same supplier twice; choose \
                 0.01, 0.02, or at least 0.025"
            ))
        } else {
            Ok(scale)
        }
    }

    /// True if the rule that chooses the four suppliers of a part (clause 4.2.3) repeats one.
    fn repeats_a_supplier(self) -> bool {
        let (suppliers, parts) = (self.of(10_000), self.of(200_000));
        let steps = (0..=(parts - 1) / suppliers).map(|round| suppliers / 4 + round);
        let meets = |step: u64| (1..4).any(|further| (further * step).is_multiple_of(suppliers));
        steps.into_iter().any(meets)
    }

    pub fn factor(self) -> f64 {
        self.0
    }

    /// Rows of a table that has so many at scale 1.
    pub fn of(self, rows_at_one: u32) -> u64 {
        (f64::from(rows_at_one) * self.0) as u64
    }

    /// Rows of a table; `None` for line items, whose number follows from the orders.
    pub fn rows(self, table: &str) -> Option<u64> {
        match table {
            "region" => Some(5),
            "nation" => Some(25),
            "supplier" => Some(self.of(10_000)),
            "part" => Some(self.of(200_000)),
            // Each part has four suppliers.
            "partsupp" => Some(self.of(200_000) * 4),
            "customer" => Some(self.of(150_000)),
            "orders" => Some(self.of(1_500_000)),
            _ => None,
        }
    }

    /// Number of line items, if the specification or a count of its data gives it.
    pub fn known_line_items(self) -> Option<u64> {
        let known = [
            (0.01, 60_175),
            (0.1, 600_572),
            (1.0, 6_001_215),
            (10.0, 59_986_052),
            (100.0, 600_037_902),
        ];
        let found = known.into_iter().find(|(scale, _)| *scale == self.0);
        found.map(|(_, rows)| rows)
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let factor = text.trim().parse::<f64>();
        let factor = factor
            .map_err(|_| format!("the scale \"{text}\" is not a number such as 0.1 or 10"))?;
        Self::new(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_numbers_within_bounds() {
        let scale: Scale = "0.01".parse().unwrap();
        assert_eq!(scale.to_string(), "0.01");
        assert_eq!(scale.rows("supplier"), Some(100));
        assert_eq!(scale.rows("lineitem"), None);
        assert_eq!(scale.known_line_items(), Some(60_175));
        for right in ["0.02", "0.025", "1"] {
            assert_eq!(right.parse::<Scale>().unwrap().to_string(), right);
        }
        for wrong in [
            "0", "0.001", "0.012", "0.015", "-1", "NaN", "inf", "1e9", "one", "",
        ] {
            assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
        }
        let all_can_be_made = (25..5000).all(|n| Scale::new(f64::from(n) / 1000.0).is_ok());
        assert!(all_can_be_made);
    }
}
