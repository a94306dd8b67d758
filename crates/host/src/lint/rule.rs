//! The rules in the form of their files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

const FILES: &[&str] = &[
    include_str!("../../rules/processor.toml"),
    include_str!("../../rules/memory.toml"),
    include_str!("../../rules/storage.toml"),
    include_str!("../../rules/layout.toml"),
    include_str!("../../rules/multipath.toml"),
    include_str!("../../rules/udev.toml"),
    include_str!("../../rules/kernel.toml"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It is known to cost performance or availability.
    Important,
    Advice,
    Note,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub id: String,
    pub severity: Severity,
    /// Subject of the rule, in words.
    pub what: String,
    /// Path of the facts, segments divided by "/"; "*" is every element of a list.
    pub look: String,
    /// Restricts the list to elements whose fields have one of these values.
    #[serde(default)]
    pub only: BTreeMap<String, Vec<String>>,
    /// Makes of database that the rule applies to; empty for all.
    #[serde(default)]
    pub of: Vec<String>,
    /// Preconditions, without which the rule cannot be decided.
    #[serde(default)]
    pub needs: Vec<Need>,
    #[serde(default)]
    pub over: Over,
    pub holds: Condition,
    pub advised: String,
    pub why: String,
    pub missing: String,
    pub source: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Need {
    pub look: String,
    #[serde(default)]
    pub only: BTreeMap<String, Vec<String>>,
    /// Accepted values; without them, any known value.
    #[serde(default)]
    pub one_of: Vec<String>,
    pub otherwise: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Over {
    #[default]
    All,
    /// One fact that holds is enough; without facts the rule fails.
    Any,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Condition {
    OneOf(Vec<String>),
    Known(bool),
    AtLeast(f64),
    /// Numbers divided by blanks, each with its own lower limit.
    EachAtLeast(Vec<f64>),
    RangeWithin([f64; 2]),
    AtLeastFact {
        look: String,
        times: f64,
    },
    AtMostFact {
        look: String,
        times: f64,
    },
    AtLeastField(String),
    EqualWithin {
        group: String,
    },
    ListHolds(Vec<String>),
    ListLacks(Vec<String>),
    /// A text that contains one of these, without regard to capitals, blanks and hyphens.
    Mentions(Vec<String>),
    CountAtLeast(usize),
    /// Devices that share no disk with those of another list.
    ApartFrom(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Rule>,
}

pub(super) fn parse(text: &str) -> Result<Vec<Rule>, toml::de::Error> {
    toml::from_str(text).map(|file: File| file.rule)
}

pub(super) fn all() -> Vec<Rule> {
    let embedded = |text: &&str| parse(text).expect("the tests parse the embedded rules");
    FILES.iter().flat_map(embedded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_name_of_its_own_and_says_its_source() {
        let rules = all();
        let mut ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), rules.len());
        for rule in &rules {
            assert!(rule.why.ends_with('.'), "{}", rule.id);
            assert!(rule.missing.ends_with('.'), "{}", rule.id);
            let known = [
                "HPE 3PAR 8400 with Oracle 12c, ",
                "Benchware 2012, ",
                "Demartek 2015, ",
                "HP/Oracle CTC 2004, ",
                "Linux ",
            ];
            assert!(
                known.iter().any(|start| rule.source.starts_with(start)),
                "{}",
                rule.id
            );
            let root = ["found/", "stated/"];
            assert!(
                root.iter().any(|start| rule.look.starts_with(start)),
                "{}",
                rule.id
            );
        }
    }
}
