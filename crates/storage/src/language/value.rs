//! Values: numbers with units, ranges and lists of them, abbreviated words.

use super::error::{LanguageError, Result};
use super::lexer::{Parameter, VALUES_MAX};

/// Meaning of `m` after a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// `k`, `m`, `g` and `t` are powers of 1024 for all quantities.
    Amount,
    Time,
}

/// Suffixes of numbers and their factors, largest first.
const SIZES: [(&str, f64); 4] = [
    ("t", 1_099_511_627_776.0),
    ("g", 1_073_741_824.0),
    ("m", 1_048_576.0),
    ("k", 1024.0),
];

/// Factor of a percentage, which the language represents as a negative number.
pub(super) const PERCENT: f64 = -1.0;

pub(super) fn number(text: &str, unit: Unit) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
    let plain = digits.strip_prefix('-').unwrap_or(digits);
    if plain.is_empty() || !plain.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let value: f64 = digits.parse().ok()?;
    let factor = match (&lower[digits.len()..], unit) {
        ("", _) | ("s", Unit::Time) => 1.0,
        ("m", Unit::Time) => 60.0,
        ("h", _) => 3600.0,
        ("%", _) => PERCENT,
        (suffix, _) => {
            let letter = suffix.strip_suffix('b').unwrap_or(suffix);
            SIZES.iter().find(|(name, _)| *name == letter)?.1
        }
    };
    let number = value * factor;
    number.is_finite().then_some(number)
}

/// A number as labels show it; `sized` abbreviates whole multiples with `k`, `m`, `g`.
pub(super) fn number_text(value: f64, sized: bool) -> String {
    let sizes = SIZES.iter().filter(|_| sized && value > 0.0);
    for (name, factor) in sizes {
        let many = value / factor;
        if many.fract() == 0.0 {
            return format!("{many}{name}");
        }
    }
    format!("{value}")
}

pub(super) fn begins(full: &str, given: &str) -> bool {
    !given.is_empty() && full.starts_with(&given.to_ascii_lowercase())
}

impl Parameter {
    pub fn wrong(&self, what: impl AsRef<str>) -> LanguageError {
        const SHOWN_MAX: usize = 60;
        let list = self.values.join(",");
        let mut shown: String = list.chars().take(SHOWN_MAX).collect();
        if shown.len() < list.len() {
            shown.push('…');
        }
        let shown = if self.values.len() > 1 {
            format!("({shown})")
        } else {
            shown
        };
        self.place
            .wrong(format!("{}={shown}: {}", self.key, what.as_ref()))
    }

    pub fn word(&self) -> Result<&str> {
        match self.values.as_slice() {
            [word] => Ok(word),
            _ => Err(self.wrong("must be one value, not a list")),
        }
    }

    pub fn yes(&self) -> Result<bool> {
        let word = self.word()?;
        match (begins("yes", word), begins("no", word)) {
            (true, _) => Ok(true),
            (_, true) => Ok(false),
            _ => Err(self.wrong("give yes or no")),
        }
    }

    pub fn numbers(&self, unit: Unit) -> Result<Vec<f64>> {
        self.numbers_or(&|text| number(text, unit), unit)
    }

    /// Like [`Self::numbers`], with words that `parse` converts to numbers.
    pub fn numbers_or(&self, parse: &dyn Fn(&str) -> Option<f64>, unit: Unit) -> Result<Vec<f64>> {
        if let [high, low, step] = self.values.as_slice()
            && step.eq_ignore_ascii_case("d")
            && let (Some(high), Some(low)) = (number(high, unit), number(low, unit))
        {
            return self.doubled(high, low);
        }
        let mut found = Vec::new();
        let mut values = self.values.iter();
        while let Some(text) = values.next() {
            if let Some(value) = parse(text) {
                found.push(value);
            } else if let Some((from, to)) = range(text, unit) {
                let step = values.next().ok_or_else(|| {
                    self.wrong(format!(
                        "the range {text} has no step; write ({text},STEP), or ({text},d) to double"
                    ))
                })?;
                found.extend(self.range(from, to, step, unit)?);
            } else {
                return Err(self.wrong(format!("{text} is not a number")));
            }
            if found.len() > VALUES_MAX {
                return Err(self.too_many());
            }
        }
        Ok(found)
    }

    fn range(&self, from: f64, to: f64, step: &str, unit: Unit) -> Result<Vec<f64>> {
        if step.eq_ignore_ascii_case("d") {
            return self.doubled(from, to);
        }
        let step = number(step, unit).filter(|step| *step > 0.0);
        let step = step.ok_or_else(|| {
            self.wrong("the step of a range must be a number above 0, or d to double")
        })?;
        if to < from {
            return Err(self.wrong("a range with a step must rise; only d may fall, by halving"));
        }
        let count = ((to - from) / step).floor();
        if count >= VALUES_MAX as f64 {
            return Err(self.too_many());
        }
        Ok((0..=count as u32)
            .map(|n| from + f64::from(n) * step)
            .collect())
    }

    fn doubled(&self, from: f64, to: f64) -> Result<Vec<f64>> {
        if from <= 0.0 || to <= 0.0 {
            return Err(self.wrong("a range that doubles must have both ends above 0"));
        }
        let mut found = Vec::new();
        let mut value = from;
        while if from <= to { value <= to } else { value >= to } {
            found.push(value);
            value = if from <= to { value * 2.0 } else { value / 2.0 };
        }
        Ok(found)
    }

    fn too_many(&self) -> LanguageError {
        self.wrong(format!(
            "this makes more than {VALUES_MAX} values; use a larger step"
        ))
    }

    pub fn number(&self, unit: Unit) -> Result<f64> {
        let word = self.word()?;
        number(word, unit).ok_or_else(|| self.wrong(format!("{word} is not a number")))
    }

    pub fn amount(&self, unit: Unit) -> Result<f64> {
        let value = self.number(unit)?;
        if value < 0.0 {
            return Err(self.wrong("must be a number of at least 0, without a percent sign"));
        }
        Ok(value)
    }

    pub fn whole(&self, low: u64, high: u64, unit: Unit) -> Result<u64> {
        self.whole_of(self.number(unit)?, low, high)
    }

    pub fn whole_of(&self, value: f64, low: u64, high: u64) -> Result<u64> {
        if value.fract() != 0.0 || value < low as f64 || value > high as f64 {
            return Err(self.wrong(format!(
                "must be a whole number from {low} to {high}, not {value}"
            )));
        }
        Ok(value as u64)
    }

    pub fn percent(&self) -> Result<f64> {
        let value = self.number(Unit::Amount)?;
        // `50%` means 50 where a percentage is expected.
        let value = if self.values[0].ends_with('%') {
            -value
        } else {
            value
        };
        if !(0.0..=100.0).contains(&value) {
            return Err(self.wrong("must be a percentage from 0 to 100"));
        }
        Ok(value)
    }
}

fn range(text: &str, unit: Unit) -> Option<(f64, f64)> {
    let (from, to) = text.split_once('-')?;
    Some((number(from, unit)?, number(to, unit)?))
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;

    use super::super::error::Position;
    use super::*;

    fn list(values: &str) -> Parameter {
        Parameter {
            key: "io".to_owned(),
            values: values.split(',').map(str::to_owned).collect(),
            place: Position::new("p", 3),
        }
    }

    #[test]
    fn numbers_have_units_of_1024_and_percentages_are_negative() {
        for (text, value) in [
            ("1k", 1024.0),
            ("4K", 4096.0),
            ("1.5m", 1_572_864.0),
            ("2gb", 2_147_483_648.0),
            ("1t", 1_099_511_627_776.0),
            ("50%", -50.0),
            ("-1", -1.0),
            ("2h", 7200.0),
        ] {
            assert_eq!(number(text, Unit::Amount), Some(value), "{text}");
        }
        assert_eq!(number("5m", Unit::Time), Some(300.0));
        assert_eq!(number("30s", Unit::Time), Some(30.0));
        for text in [
            "", "k", "-", "1x", "1-2", "1 k", "nan", "inf", "1e5", "4kk", "1.2.3", "٤",
        ] {
            assert_eq!(number(text, Unit::Amount), None, "{text}");
        }
    }

    #[test]
    fn ranges_add_double_and_halve() {
        for (written, meant) in [
            ("1-10,3", vec![1.0, 4.0, 7.0, 10.0]),
            ("100-1000,d", vec![100.0, 200.0, 400.0, 800.0]),
            ("64-8,d", vec![64.0, 32.0, 16.0, 8.0]),
            ("64,8,d", vec![64.0, 32.0, 16.0, 8.0]),
            ("1k-4k,1k", vec![1024.0, 2048.0, 3072.0, 4096.0]),
            ("1,5-7,2,9", vec![1.0, 5.0, 7.0, 9.0]),
        ] {
            assert_eq!(
                list(written).numbers(Unit::Amount).unwrap(),
                meant,
                "{written}"
            );
        }
    }

    #[test]
    fn ranges_that_do_not_end_are_refused() {
        for (written, said) in [
            ("1-10", "has no step"),
            ("1-10,0", "above 0"),
            ("10-1,2", "must rise"),
            ("0-8,d", "above 0"),
            ("0-1t,1", "more than 10000"),
            ("sd1", "not a number"),
            ("1,d", "not a number"),
        ] {
            let error = list(written).numbers(Unit::Amount).unwrap_err().to_string();
            assert!(
                error.starts_with("p:3: io=") && error.contains(said),
                "{error}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_number_that_is_shown_is_read_as_itself(value in 0_u64..1 << 50, shift in 0_u32..40) {
            let value = (value >> shift << shift) as f64;
            for sized in [false, true] {
                prop_assert_eq!(number(&number_text(value, sized), Unit::Amount), Some(value));
            }
        }

        #[test]
        fn any_list_is_read_or_refused(values in proptest::collection::vec("[0-9a-z.%-]{1,8}", 1..5)) {
            if let Ok(numbers) = list(&values.join(",")).numbers(Unit::Amount) {
                prop_assert!(!numbers.is_empty() && numbers.len() <= VALUES_MAX);
                prop_assert!(numbers.iter().all(|number| number.is_finite()));
            }
        }
    }
}
