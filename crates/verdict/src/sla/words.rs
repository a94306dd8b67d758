//! Values, levels and doubts in words, the same in every form of output.

use stats::words::grouped;

use super::hold::{Bound, Finding, Outcome, Row, Surety};
use super::levels::levels;
use crate::metric::unit;

/// Significant digits of a value, unless more are needed to separate it from its limit.
const DIGITS: usize = 4;
const DIGITS_MAX: usize = 17;

pub fn sentence(row: &Row) -> String {
    let text = match &row.outcome {
        Outcome::Unjudged { why } => format!("cannot be judged: {why}"),
        Outcome::Met(finding) => format!(
            "{}, {}: met{}, at {}",
            measured(row, finding),
            limits(row),
            doubt(finding),
            levels(&finding.levels)
        ),
        Outcome::Missed {
            finding,
            bound,
            limit,
        } => format!(
            "{}, {}: {}{}, at {}",
            measured(row, finding),
            limits(row),
            distance(row, *bound, *limit),
            doubt(finding),
            levels(&finding.levels)
        ),
    };
    let steps = row.outcome.finding().map_or(String::new(), steps);
    let reason = match &row.limit.reason {
        Some(reason) => format!(" ({reason})"),
        None => String::new(),
    };
    plain(&format!("{text}{steps}{reason}"))
}

/// Bounds, such as "at least 1,000 ops/s".
pub fn limits(row: &Row) -> String {
    let bound = |words: &str, value: f64| format!("{words} {}", with_unit(row, &exact(value)));
    let low = row.limit.at_least.map(|v| bound("at least", v));
    let high = row.limit.at_most.map(|v| bound("at most", v));
    let both: Vec<String> = low.into_iter().chain(high).collect();
    both.join(" and ")
}

/// One line without control characters, because an archive may come from anywhere.
pub fn plain(text: &str) -> String {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(printable).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn measured(row: &Row, finding: &Finding) -> String {
    let bounds = [row.limit.at_least, row.limit.at_most];
    let written = |value| with_digits_against(value, &bounds);
    match finding.interval {
        Some(interval) => format!(
            "{} (95 % interval {} to {})",
            with_unit(row, &written(finding.value)),
            written(interval.low),
            written(interval.high)
        ),
        None => with_unit(row, &written(finding.value)),
    }
}

fn distance(row: &Row, bound: Bound, limit: f64) -> String {
    let side = match bound {
        Bound::AtLeast => "below",
        Bound::AtMost => "above",
    };
    match row.outcome.missed_by_pct() {
        Some(pct) => format!("{} % {side}", digits(pct, 2)),
        None => format!("{side} {}", exact(limit)),
    }
}

fn doubt(finding: &Finding) -> String {
    let known = finding.values.iter().flatten().count();
    let mut doubt = match finding.surety {
        Surety::Clear => String::new(),
        Surety::WithinNoise => ", but within the noise".to_owned(),
        Surety::OneRepetition => ", from one repetition".to_owned(),
        Surety::FewRepetitions => format!(", from {known} repetitions (an interval needs six)"),
    };
    if known < finding.values.len() {
        doubt.push_str(&format!(
            ", {} of {} repetitions without a value",
            finding.values.len() - known,
            finding.values.len()
        ));
    }
    doubt
}

fn steps(finding: &Finding) -> String {
    if finding.steps.len() < 2 {
        return String::new();
    }
    let steps: Vec<String> = finding.steps.iter().map(u32::to_string).collect();
    format!(", the best of the plan's steps {}", steps.join(", "))
}

fn with_unit(row: &Row, number: &str) -> String {
    match unit(&row.metric.figure) {
        Some("count") | None => number.to_owned(),
        Some(unit) => format!("{number} {unit}"),
    }
}

/// The value with enough digits that it never looks like a bound that it is not.
fn with_digits_against(value: f64, bounds: &[Option<f64>; 2]) -> String {
    let looks_like = |text: &str| {
        let mut others = bounds.iter().flatten().filter(|bound| **bound != value);
        others.any(|bound| exact(*bound) == text)
    };
    (DIGITS..DIGITS_MAX)
        .map(|count| digits(value, count))
        .find(|text| !looks_like(text))
        .unwrap_or_else(|| exact(value))
}

fn exact(value: f64) -> String {
    grouped(&value.to_string())
}

/// At least `count` significant digits: all of the integer part, no zeros at the end of the fraction.
fn digits(value: f64, count: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return exact(value);
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (count as i32 - 1 - magnitude).clamp(0, 30) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    grouped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits_and_differ_from_their_limit() {
        assert_eq!(digits(1234.567, 4), "1,235");
        assert_eq!(digits(0.012345, 4), "0.01235");
        assert_eq!(digits(12.0, 4), "12");
        assert_eq!(digits(1.5e9, 4), "1,500,000,000");
        assert_eq!(exact(0.0), "0");
        assert_eq!(exact(1_500.5), "1,500.5");
        let bound = [Some(120_000.0), None];
        assert_eq!(with_digits_against(119_999.6, &bound), "119,999.6");
        assert_eq!(with_digits_against(120_000.0, &bound), "120,000");
        assert_eq!(
            with_digits_against(0.1 + 0.2, &[Some(0.3), None]),
            exact(0.1 + 0.2)
        );
    }

    #[test]
    fn levels_name_threads_where_they_have_a_part() {
        let words = |list: &[(u32, u32)]| levels(&list.iter().copied().collect());
        assert_eq!(words(&[(4, 1)]), "DOP 4");
        assert_eq!(words(&[(1, 1), (2, 1), (1, 8)]), "DOP 1, 2 and 8 (1 x 8)");
        assert_eq!(words(&[(u32::MAX, 2)]), "DOP 8589934590 (4294967295 x 2)");
    }

    #[test]
    fn nothing_of_an_archive_steers_a_terminal() {
        assert_eq!(plain("a\u{1b}[31m\nb  c"), "a [31m b c");
    }
}
