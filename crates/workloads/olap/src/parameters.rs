//! Parameters of the queries: those of the qualification, or drawn by the rules of clause 2.4.
//!
//! Ends of periods are computed here, not in SQL: dialects differ in date arithmetic, and a floating-point sum such as
//! 0.06 + 0.01 is less than 0.07.

use serde::{Deserialize, Serialize};
use stats::random::Random;
use tpchgen::distribution::Distributions;

use super::Scale;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Parameters whose answers are known.
    #[default]
    Qualification,
    Seeded,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters(Vec<(&'static str, String)>);

impl Parameters {
    pub fn qualification(query: u32, scale: Scale) -> Self {
        let text = |s: &str| s.to_owned();
        Self(match query {
            1 => vec![("last_day", days_before_december(90))],
            2 => vec![
                ("size", text("15")),
                ("type", text("BRASS")),
                ("region", text("EUROPE")),
            ],
            3 => vec![("segment", text("BUILDING")), ("day", text("1995-03-15"))],
            4 => period(1993, 7, 3),
            5 => with(period(1994, 1, 12), [("region", text("ASIA"))]),
            6 => with(period(1994, 1, 12), discount(6, 24)),
            7 => vec![("nation_1", text("FRANCE")), ("nation_2", text("GERMANY"))],
            8 => vec![
                ("nation", text("BRAZIL")),
                ("region", text("AMERICA")),
                ("type", text("ECONOMY ANODIZED STEEL")),
            ],
            9 => vec![("color", text("green"))],
            10 => period(1993, 10, 3),
            11 => vec![("nation", text("GERMANY")), ("fraction", fraction(scale))],
            12 => with(
                period(1994, 1, 12),
                [("mode_1", text("MAIL")), ("mode_2", text("SHIP"))],
            ),
            13 => vec![("word_1", text("special")), ("word_2", text("requests"))],
            14 => period(1995, 9, 1),
            15 => period(1996, 1, 3),
            16 => with(
                vec![
                    ("brand", text("Brand#45")),
                    ("type", text("MEDIUM POLISHED")),
                ],
                sizes(&[49, 14, 23, 45, 19, 3, 36, 9]),
            ),
            17 => vec![("brand", text("Brand#23")), ("container", text("MED BOX"))],
            18 => vec![("quantity", text("300"))],
            19 => branches([1, 10, 20], ["Brand#12", "Brand#23", "Brand#34"].map(text)),
            20 => with(
                period(1994, 1, 12),
                [("color", text("forest")), ("nation", text("CANADA"))],
            ),
            21 => vec![("nation", text("SAUDI ARABIA"))],
            _ => vec![("codes", codes(&[13, 31, 23, 29, 30, 18, 17]))],
        })
    }

    /// Draws parameters for a query of a stream; equal seeds draw equal ones.
    pub fn seeded(query: u32, scale: Scale, seed: u64, stream: u32) -> Self {
        let index = u64::from(stream) << 32 | u64::from(query);
        Drawn(Random::stream(seed, index)).parameters(query, scale)
    }

    pub fn of(source: Source, query: u32, scale: Scale, seed: u64, stream: u32) -> Self {
        match source {
            Source::Qualification => Self::qualification(query, scale),
            Source::Seeded => Self::seeded(query, scale, seed, stream),
        }
    }

    /// Replaces `{name}` in a text.
    pub(super) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = text.to_owned();
        for (name, value) in &self.0 {
            filled = filled.replace(&format!("{{{name}}}"), value);
        }
        match filled.split_once('{') {
            None => Ok(filled),
            Some((_, rest)) => {
                let name = rest.split('}').next().unwrap_or_default();
                Err(format!("there is no parameter {{{name}}}"))
            }
        }
    }

    pub fn words(&self) -> String {
        let words = self.0.iter().map(|(name, value)| format!("{name} {value}"));
        words.collect::<Vec<_>>().join(", ")
    }
}

type Named = Vec<(&'static str, String)>;

fn with(mut named: Named, more: impl IntoIterator<Item = (&'static str, String)>) -> Named {
    named.extend(more);
    named
}

/// So many months from the first day of one; the end is exclusive.
fn period(year: u64, month: u64, months: u64) -> Named {
    let first = |month: u64| {
        format!(
            "{:04}-{:02}-01",
            year + (month - 1) / 12,
            (month - 1) % 12 + 1
        )
    };
    vec![
        ("first_day", first(month)),
        ("end_day", first(month + months)),
    ]
}

/// Date so many days before 1998-12-01.
fn days_before_december(days: u64) -> String {
    let (mut month, mut day) = (12, 1 - days as i64);
    for days_of_month in [30, 31, 30, 31, 31, 30] {
        if day > 0 {
            break;
        }
        month -= 1;
        day += days_of_month;
    }
    format!("1998-{month:02}-{day:02}")
}

/// Range of one hundredth around a discount in hundredths.
fn discount(hundredths: u64, quantity: u64) -> [(&'static str, String); 3] {
    let share = |n: u64| format!("0.{n:02}");
    [
        ("discount_from", share(hundredths - 1)),
        ("discount_to", share(hundredths + 1)),
        ("quantity", quantity.to_string()),
    ]
}

/// Share of a nation's stock value, which is smaller in a larger database.
fn fraction(scale: Scale) -> String {
    format!("{:.10}", 0.0001 / scale.factor())
}

fn sizes(sizes: &[u64]) -> Named {
    let names = [
        "size_1", "size_2", "size_3", "size_4", "size_5", "size_6", "size_7", "size_8",
    ];
    let sizes = sizes.iter().map(u64::to_string);
    names.into_iter().zip(sizes).collect()
}

fn branches(quantities: [u64; 3], brands: [String; 3]) -> Named {
    let quantities = quantities.map(|quantity| quantity.to_string());
    let quantities = ["quantity_1", "quantity_2", "quantity_3"]
        .into_iter()
        .zip(quantities);
    let brands = ["brand_1", "brand_2", "brand_3"].into_iter().zip(brands);
    quantities.chain(brands).collect()
}

fn codes(codes: &[u64]) -> String {
    let codes: Vec<String> = codes.iter().map(|code| format!("'{code}'")).collect();
    codes.join(", ")
}

struct Drawn(Random);

impl Drawn {
    fn parameters(mut self, query: u32, scale: Scale) -> Parameters {
        let from_lists = Distributions::static_default();
        let from = |drawn: &mut Self, values: &[&str]| drawn.of(values);
        Parameters(match query {
            1 => vec![("last_day", days_before_december(self.0.range(60, 120)))],
            2 => vec![
                ("size", self.0.range(1, 50).to_string()),
                ("type", self.syllable(2)),
                ("region", from(&mut self, from_lists.regions().get_values())),
            ],
            3 => vec![
                (
                    "segment",
                    from(&mut self, from_lists.market_segments().get_values()),
                ),
                ("day", format!("1995-03-{:02}", self.0.range(1, 31))),
            ],
            4 => self.quarter(58, 1),
            5 => with(
                self.year(),
                [("region", self.of(from_lists.regions().get_values()))],
            ),
            6 => with(
                self.year(),
                discount(self.0.range(2, 9), self.0.range(24, 25)),
            ),
            7 => {
                let two = self.some(from_lists.nations().get_values(), 2);
                vec![
                    ("nation_1", two[0].to_string()),
                    ("nation_2", two[1].to_string()),
                ]
            }
            8 => self.nation_with_region(),
            9 => vec![("color", self.color())],
            10 => self.quarter(24, 2),
            11 => vec![("nation", self.nation()), ("fraction", fraction(scale))],
            12 => {
                let two = self.some(from_lists.ship_modes().get_values(), 2);
                let modes = [
                    ("mode_1", two[0].to_string()),
                    ("mode_2", two[1].to_string()),
                ];
                with(self.year(), modes)
            }
            13 => vec![
                (
                    "word_1",
                    self.of(&["special", "pending", "unusual", "express"]),
                ),
                (
                    "word_2",
                    self.of(&["packages", "requests", "accounts", "deposits"]),
                ),
            ],
            14 => {
                let month = self.0.below(60);
                period(1993 + month / 12, month % 12 + 1, 1)
            }
            15 => self.quarter(58, 1),
            16 => {
                let (brand, kind) = (
                    self.brand(),
                    format!("{} {}", self.syllable(0), self.syllable(1)),
                );
                let all: Vec<u64> = (1..=50).collect();
                with(
                    vec![("brand", brand), ("type", kind)],
                    sizes(&self.some(&all, 8)),
                )
            }
            17 => vec![
                ("brand", self.brand()),
                (
                    "container",
                    self.of(from_lists.part_containers().get_values()),
                ),
            ],
            18 => vec![("quantity", self.0.range(312, 315).to_string())],
            19 => {
                let quantities = [
                    self.0.range(1, 10),
                    self.0.range(10, 20),
                    self.0.range(20, 30),
                ];
                branches(quantities, [self.brand(), self.brand(), self.brand()])
            }
            20 => {
                let color = self.color();
                with(self.year(), [("color", color), ("nation", self.nation())])
            }
            21 => vec![("nation", self.nation())],
            _ => {
                let all: Vec<u64> = (10..=34).collect();
                vec![("codes", codes(&self.some(&all, 7)))]
            }
        })
    }

    fn of(&mut self, values: &[&str]) -> String {
        let index = self.0.below(values.len() as u64) as usize;
        values
            .get(index)
            .map_or_else(String::new, |v| (*v).to_owned())
    }

    fn some<T: Clone>(&mut self, all: &[T], count: usize) -> Vec<T> {
        let mut left = all.to_vec();
        let mut drawn = Vec::with_capacity(count);
        while drawn.len() < count && !left.is_empty() {
            let index = self.0.below(left.len() as u64) as usize;
            drawn.push(left.swap_remove(index));
        }
        drawn
    }

    fn year(&mut self) -> Named {
        period(self.0.range(1993, 1997), 1, 12)
    }

    /// Three months that begin in one of so many, of which `first` is that month of 1993.
    fn quarter(&mut self, months: u64, first: u64) -> Named {
        let month = first - 1 + self.0.below(months);
        period(1993 + month / 12, month % 12 + 1, 3)
    }

    fn nation(&mut self) -> String {
        self.of(Distributions::static_default().nations().get_values())
    }

    fn color(&mut self) -> String {
        self.of(Distributions::static_default().part_colors().get_values())
    }

    fn brand(&mut self) -> String {
        format!("Brand#{}{}", self.0.range(1, 5), self.0.range(1, 5))
    }

    /// Syllable of a part type; "ECONOMY ANODIZED STEEL" has three.
    fn syllable(&mut self, index: usize) -> String {
        let kind = self.kind();
        kind.split(' ').nth(index).unwrap_or_default().to_owned()
    }

    fn kind(&mut self) -> String {
        self.of(Distributions::static_default().part_types().get_values())
    }

    fn nation_with_region(&mut self) -> Named {
        let lists = Distributions::static_default();
        let nations = lists.nations();
        let index = self.0.below(nations.size() as u64) as usize;
        // The generator stores a nation's region number as its weight.
        let region = usize::try_from(nations.get_weight(index)).unwrap_or_default();
        vec![
            ("nation", nations.get_value(index).to_owned()),
            ("region", lists.regions().get_value(region).to_owned()),
            ("type", self.kind()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QUERIES;

    fn one() -> Scale {
        Scale::new(1.0).unwrap()
    }

    #[test]
    fn days_and_months_are_counted() {
        assert_eq!(days_before_december(90), "1998-09-02");
        assert_eq!(days_before_december(60), "1998-10-02");
        assert_eq!(days_before_december(120), "1998-08-03");
        let text = |named: Named| named.into_iter().map(|(_, v)| v).collect::<Vec<_>>();
        assert_eq!(text(period(1993, 10, 3)), ["1993-10-01", "1994-01-01"]);
        assert_eq!(text(period(1994, 1, 12)), ["1994-01-01", "1995-01-01"]);
        assert_eq!(fraction(Scale::new(0.01).unwrap()), "0.0100000000");
    }

    #[test]
    fn what_is_drawn_has_the_names_of_the_qualification() {
        let names = |p: &Parameters| {
            let mut names: Vec<_> = p.0.iter().map(|(name, _)| *name).collect();
            names.sort_unstable();
            names
        };
        for query in 1..=QUERIES {
            let right = names(&Parameters::qualification(query, one()));
            for seed in 0..50 {
                let drawn = Parameters::seeded(query, one(), seed, 1);
                assert_eq!(names(&drawn), right, "{query}");
                assert!(
                    drawn.0.iter().all(|(_, value)| !value.is_empty()),
                    "{drawn:?}"
                );
                assert_eq!(drawn, Parameters::seeded(query, one(), seed, 1));
            }
        }
    }

    #[test]
    fn what_is_drawn_stays_within_the_bounds() {
        let value = |query, name, seed| {
            let drawn = Parameters::seeded(query, one(), seed, 0);
            let found = drawn.0.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| value.clone()).unwrap()
        };
        let all = |query, name| -> Vec<String> {
            let mut values: Vec<String> = (0..2000).map(|seed| value(query, name, seed)).collect();
            values.sort();
            values.dedup();
            values
        };
        let ends = |query, name| {
            let values = all(query, name);
            (
                values[0].clone(),
                values[values.len() - 1].clone(),
                values.len(),
            )
        };
        let text = |a: &str, b: &str, n| (a.to_owned(), b.to_owned(), n);
        assert_eq!(ends(1, "last_day"), text("1998-08-03", "1998-10-02", 61));
        assert_eq!(ends(4, "first_day"), text("1993-01-01", "1997-10-01", 58));
        assert_eq!(ends(10, "first_day"), text("1993-02-01", "1995-01-01", 24));
        assert_eq!(ends(14, "first_day"), text("1993-01-01", "1997-12-01", 60));
        assert_eq!(ends(6, "discount_from"), text("0.01", "0.08", 8));
        assert_eq!(
            all(2, "type"),
            ["BRASS", "COPPER", "NICKEL", "STEEL", "TIN"]
        );
        assert_eq!(ends(18, "quantity"), text("312", "315", 4));
        assert_eq!(all(16, "type").len(), 30);
        assert_eq!(all(7, "nation_1").len(), 25);
        for seed in 0..200 {
            assert_ne!(value(7, "nation_1", seed), value(7, "nation_2", seed));
        }
    }
}
