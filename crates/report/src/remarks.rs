//! Remarks on results without repetition: remarks on a whole curve leave its rows, and remarks that differ in one number become one.
//! Remarks with the same text count as the same.

use archive::{Point, Remark, Steady};

use crate::level::{Curve, Level};

#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub remark: Remark,
    /// True if it makes a point invalid.
    pub invalid: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub invalid: bool,
}

/// Remarks shared by all points of a curve.
pub fn standing(curve: &Curve<'_>) -> Vec<Remark> {
    let mut points = curve.levels.iter().flat_map(|l| &l.points);
    let Some(first) = points.next() else {
        return Vec::new();
    };
    let notes = first.notes.iter().map(|note| (note.to_string(), note));
    let mut common: Vec<(String, &Remark)> = notes.collect();
    common.dedup_by(|one, other| one.0 == other.0);
    for point in points {
        let texts: Vec<String> = point.notes.iter().map(Remark::to_string).collect();
        common.retain(|(text, _)| texts.contains(text));
    }
    common.into_iter().map(|(_, note)| note.clone()).collect()
}

/// True if the driver started operations late: the times since their intended start are not those of the platform alone.
pub fn is_late(level: &Level<'_>) -> bool {
    let mut notes = level.points.iter().flat_map(|point| &point.notes);
    notes.any(|note| matches!(note, Remark::LateStarts { .. }))
}

/// Remarks of a level besides the `standing` ones of its curve.
pub fn of_level(level: &Level<'_>, standing: &[Remark]) -> Vec<Said> {
    let standing: Vec<String> = standing.iter().map(Remark::to_string).collect();
    let mut lines: Vec<Line> = Vec::new();
    let own = level.points.iter().flat_map(|point| of_point(point));
    let new = own.filter(|said| {
        let line = said.line();
        let is_new = (said.invalid || !standing.contains(&line.text)) && !lines.contains(&line);
        if is_new {
            lines.push(line);
        }
        is_new
    });
    new.collect()
}

fn of_point(point: &Point) -> impl Iterator<Item = Said> + '_ {
    let steady = match point.steady {
        Some(Steady::No) => Some(Remark::Scattered),
        Some(Steady::Trend) => Some(Remark::RoseOrFell),
        _ => None,
    };
    let said = |remark, invalid| Said { remark, invalid };
    let reasons = point.reasons.iter().cloned();
    let notes = steady.into_iter().chain(point.notes.iter().cloned());
    let reasons = reasons.map(move |reason| said(reason, true));
    reasons.chain(notes.map(move |note| said(note, false)))
}

impl Said {
    fn line(&self) -> Line {
        Line {
            text: self.remark.to_string(),
            invalid: self.invalid,
        }
    }
}

/// Numbered remarks. The same remark keeps its number; so do remarks that differ in their first number.
#[derive(Debug, Default)]
pub struct Numbered {
    families: Vec<Family>,
}

/// Remarks that differ in their first number, represented by the lowest and the highest.
#[derive(Debug)]
struct Family {
    lowest: Said,
    highest: Said,
}

impl Numbered {
    pub fn number(&mut self, said: &Said) -> usize {
        let found = self.families.iter().position(|family| family.takes(said));
        match found {
            Some(at) => {
                self.families[at].take(said);
                at + 1
            }
            None => {
                self.families.push(Family {
                    lowest: said.clone(),
                    highest: said.clone(),
                });
                self.families.len()
            }
        }
    }

    /// All remarks in the order of their numbers.
    pub fn lines(&self) -> Vec<Line> {
        self.families.iter().map(Family::line).collect()
    }
}

impl Family {
    fn takes(&self, said: &Said) -> bool {
        let own = &self.lowest;
        // Reasons for invalidity are never merged.
        let is_near = || !said.invalid && own.remark.between(&said.remark).is_some();
        own.line() == said.line() || (own.invalid == said.invalid && is_near())
    }

    fn take(&mut self, said: &Said) {
        let number = |said: &Said| said.remark.first_number();
        if number(said) < number(&self.lowest) {
            self.lowest = said.clone();
        }
        if number(said) > number(&self.highest) {
            self.highest = said.clone();
        }
    }

    fn line(&self) -> Line {
        let span = self.lowest.remark.between(&self.highest.remark);
        let own = self.lowest.line();
        Line {
            text: span.unwrap_or(own.text),
            invalid: own.invalid,
        }
    }
}

pub(crate) fn sentence(text: &str) -> String {
    capitalised(text) + "."
}

pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(remark: Remark) -> Said {
        Said {
            remark,
            invalid: false,
        }
    }

    fn short(elapsed_s: f64) -> Said {
        note(Remark::Short { elapsed_s })
    }

    fn updates(found: u64, committed: u64) -> Said {
        note(Remark::UpdatesWrong {
            found,
            committed,
            measured: 9,
        })
    }

    #[test]
    fn remarks_that_differ_in_one_number_become_one() {
        let remark = |text: &str| {
            note(Remark::Text {
                text: text.to_owned(),
            })
        };
        let mut numbered = Numbered::default();
        assert_eq!(numbered.number(&short(0.046)), 1);
        assert_eq!(
            numbered.number(&note(Remark::DriverTime { driver_pct: 5.0 })),
            2
        );
        assert_eq!(numbered.number(&short(0.1072)), 1);
        assert_eq!(numbered.number(&short(0.046)), 1);
        assert_eq!(numbered.number(&short(0.07)), 1);
        assert_eq!(numbered.number(&remark("T611 has 5 rows")), 3);
        assert_eq!(numbered.number(&remark("T611 has 6 rows")), 4);
        assert_eq!(numbered.number(&updates(5, 7)), 5);
        assert_eq!(numbered.number(&updates(5, 8)), 6);
        assert_eq!(numbered.number(&updates(4, 7)), 5);
        let texts: Vec<String> = numbered.lines().into_iter().map(|line| line.text).collect();
        assert_eq!(
            texts,
            [
                "short: 46–107 ms; use a larger size for a reliable figure",
                "5 % of the sessions' time was spent in the driver or waiting for a CPU",
                "T611 has 5 rows",
                "T611 has 6 rows",
                "the table holds 4–5 updates, but 7 were committed and 9 measured",
                "the table holds 5 updates, but 8 were committed and 9 measured"
            ]
        );
    }

    #[test]
    fn numbers_that_read_the_same_are_one() {
        let mut numbered = Numbered::default();
        assert_eq!(numbered.number(&short(0.0461)), 1);
        assert_eq!(numbered.number(&short(0.0464)), 1);
        assert_eq!(
            numbered.lines()[0].text,
            "short: 46 ms; use a larger size for a reliable figure"
        );
    }

    #[test]
    fn reasons_are_never_summed_up() {
        let mut numbered = Numbered::default();
        let invalid = |found| Said {
            invalid: true,
            ..updates(found, 7)
        };
        assert_eq!(numbered.number(&invalid(5)), 1);
        assert_eq!(numbered.number(&invalid(6)), 2);
        assert_eq!(numbered.number(&updates(5, 7)), 3);
    }
}
