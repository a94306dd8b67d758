//! What is to be said beside results, said once: remarks that hold for a whole curve leave its rows, and
//! remarks that differ in one number alone become one.

use archive::{Point, Steady};

use crate::level::{Curve, Level};

/// One remark about a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The sentence.
    pub text: String,
    /// True when it makes a point invalid.
    pub invalid: bool,
}

/// Notes that every point of a curve bears.
pub fn standing(curve: &Curve<'_>) -> Vec<String> {
    let mut points = curve.levels.iter().flat_map(|l| &l.points);
    let Some(first) = points.next() else {
        return Vec::new();
    };
    let mut common = first.notes.clone();
    common.dedup();
    for point in points {
        common.retain(|note| point.notes.contains(note));
    }
    common
}

/// What is to be said of one level besides what is `standing` for its curve.
pub fn of_level(level: &Level<'_>, standing: &[String]) -> Vec<Remark> {
    let mut all: Vec<Remark> = Vec::new();
    let own = level.points.iter().flat_map(|p| of_point(p));
    for remark in own.filter(|r| r.invalid || !standing.contains(&r.text)) {
        if !all.contains(&remark) {
            all.push(remark);
        }
    }
    all
}

fn of_point(point: &Point) -> impl Iterator<Item = Remark> + '_ {
    let steady = match point.steady {
        Some(Steady::No) => Some("not steady: the throughput scattered"),
        Some(Steady::Trend) => Some("not steady: the throughput rose or fell"),
        _ => None,
    };
    let remark = |text: &str, invalid| Remark {
        text: text.to_owned(),
        invalid,
    };
    let reasons = point.reasons.iter().map(move |r| remark(r, true));
    let notes = steady
        .into_iter()
        .chain(point.notes.iter().map(String::as_str));
    reasons.chain(notes.map(move |n| remark(n, false)))
}

/// Numbered remarks. The same remark keeps its number; so do remarks that differ in their first number.
#[derive(Debug, Default)]
pub struct Numbered {
    families: Vec<Family>,
}

#[derive(Debug)]
struct Family {
    before: String,
    numbers: Vec<String>,
    after: String,
    invalid: bool,
}

impl Numbered {
    /// Number of a remark, from 1.
    pub fn number(&mut self, remark: &Remark) -> usize {
        let (before, number, after) = match remark.invalid {
            // Why something is invalid is never summed up.
            true => (remark.text.as_str(), "", ""),
            false => around_number(&remark.text),
        };
        let same =
            |f: &Family| f.before == before && f.after == after && f.invalid == remark.invalid;
        let at = self.families.iter().position(same).unwrap_or_else(|| {
            self.families.push(Family {
                before: before.to_owned(),
                numbers: Vec::new(),
                after: after.to_owned(),
                invalid: remark.invalid,
            });
            self.families.len() - 1
        });
        let numbers = &mut self.families[at].numbers;
        if !numbers.iter().any(|n| n == number) {
            numbers.push(number.to_owned());
        }
        at + 1
    }

    /// All remarks in the order of their numbers.
    pub fn texts(&self) -> Vec<Remark> {
        self.families.iter().map(Family::remark).collect()
    }
}

impl Family {
    /// "short: 38–73 ms; …"
    fn remark(&self) -> Remark {
        let value = |n: &&String| n.replace(',', "").parse().unwrap_or(0.0);
        let by_value = |a: &&String, b: &&String| f64::total_cmp(&value(a), &value(b));
        let low = self.numbers.iter().min_by(by_value);
        let high = self.numbers.iter().max_by(by_value);
        let number = match (low, high) {
            (Some(low), Some(high)) if low != high => format!("{low}–{high}"),
            (Some(low), _) => low.clone(),
            _ => String::new(),
        };
        Remark {
            text: format!("{}{number}{}", self.before, self.after),
            invalid: self.invalid,
        }
    }
}

/// Takes a text apart around its first number that stands alone: not the one of "T611".
fn around_number(text: &str) -> (&str, &str, &str) {
    let mut before = ' ';
    for (start, c) in text.char_indices() {
        if c.is_ascii_digit() && before == ' ' {
            let rest = &text[start..];
            let inner = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
            let length = rest.find(|c| !inner(c)).unwrap_or(rest.len());
            let number = rest[..length].trim_end_matches([',', '.']);
            return (&text[..start], number, &rest[number.len()..]);
        }
        before = c;
    }
    (text, "", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Remark {
        Remark {
            text: text.to_owned(),
            invalid: false,
        }
    }

    #[test]
    fn remarks_that_differ_in_one_number_become_one() {
        let mut numbered = Numbered::default();
        assert_eq!(numbered.number(&note("short: 46 ms; take more")), 1);
        assert_eq!(numbered.number(&note("5 % was the driver's")), 2);
        assert_eq!(numbered.number(&note("short: 107 ms; take more")), 1);
        assert_eq!(numbered.number(&note("short: 46 ms; take more")), 1);
        assert_eq!(numbered.number(&note("T611 has no number")), 3);
        assert_eq!(numbered.number(&note("T621 has no number")), 4);
        assert_eq!(numbered.number(&note("read 5, wrote 7")), 5);
        assert_eq!(numbered.number(&note("read 5, wrote 8")), 6);
        let texts: Vec<String> = numbered.texts().into_iter().map(|r| r.text).collect();
        assert_eq!(
            texts,
            [
                "short: 46–107 ms; take more",
                "5 % was the driver's",
                "T611 has no number",
                "T621 has no number",
                "read 5, wrote 7",
                "read 5, wrote 8"
            ]
        );
    }

    #[test]
    fn reasons_are_never_summed_up() {
        let mut numbered = Numbered::default();
        let invalid = |text: &str| Remark {
            invalid: true,
            ..note(text)
        };
        assert_eq!(numbered.number(&invalid("lost 5 rows")), 1);
        assert_eq!(numbered.number(&invalid("lost 6 rows")), 2);
        assert_eq!(numbered.number(&note("lost 5 rows")), 3);
    }

    #[test]
    fn numbers_end_before_their_punctuation() {
        assert_eq!(around_number("at 1,024.5."), ("at ", "1,024.5", "."));
        assert_eq!(around_number("7"), ("", "7", ""));
        assert_eq!(around_number("é 8ms"), ("é ", "8", "ms"));
        assert_eq!(around_number(""), ("", "", ""));
    }
}
