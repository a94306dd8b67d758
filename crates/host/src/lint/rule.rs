//! The rules as they stand in their files.

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

/// How much a rule matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Was seen to cost performance or availability.
    Important,
    Advice,
    Note,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub id: String,
    pub severity: Severity,
    /// What is looked at, in words.
    pub what: String,
    /// Path of the facts, segments divided by "/"; "*" is every element of a list.
    pub look: String,
    /// Only elements of the list whose fields have one of these values.
    #[serde(default)]
    pub only: BTreeMap<String, Vec<String>>,
    /// Makes of database whose practice it is; every one where none is named.
    #[serde(default)]
    pub of: Vec<String>,
    /// Must be so, or the rule cannot be decided.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Which of the facts must hold.
    #[serde(default)]
    pub over: Over,
    pub holds: Condition,
    pub advised: String,
    pub why: String,
    /// What is said when there is nothing to look at.
    pub missing: String,
    pub source: String,
}

/// What must be so before a rule is asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Need {
    pub look: String,
    #[serde(default)]
    pub only: BTreeMap<String, Vec<String>>,
    /// One of these; without it, anything that is known.
    #[serde(default)]
    pub one_of: Vec<String>,
    /// The sentence when it is not.
    pub otherwise: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Over {
    #[default]
    All,
    /// One that holds is enough; none at all is a fault.
    Any,
}

/// What must hold of the facts that are looked at.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Condition {
    /// Is one of these texts.
    OneOf(Vec<String>),
    Known(bool),
    /// A number from here on.
    AtLeast(f64),
    /// Numbers divided by blanks, each from its own limit on.
    EachAtLeast(Vec<f64>),
    /// Two numbers that lie within these.
    RangeWithin([f64; 2]),
    /// At least another fact, multiplied.
    AtLeastFact {
        look: String,
        times: f64,
    },
    /// At most another fact, multiplied.
    AtMostFact {
        look: String,
        times: f64,
    },
    /// At least another field of the same element.
    AtLeastField(String),
    /// The same within each group of elements.
    EqualWithin {
        group: String,
    },
    /// A list that holds all of these.
    ListHolds(Vec<String>),
    /// A list that holds none of these.
    ListLacks(Vec<String>),
    /// A text with one of these in it, capitals, blanks and hyphens apart.
    Mentions(Vec<String>),
    CountAtLeast(usize),
    /// Devices of which none lies below those of another list.
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

/// All rules in the order of their files.
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
            let known = ["000, ", "001, ", "002, ", "004, ", "Linux "];
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
