//! Decides a rule by the facts; a missing fact leaves it undecided.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Decision;
use super::path::{FoundFact, Lookup, number, number_at, resolve, texts, texts_at};
use super::rule::{Condition, Need, Over, Rule};
use super::volumes::bottom;

/// Most elements that are named before the rest is only counted.
const NAMED_MAX: usize = 4;

pub(super) struct Outcome {
    pub decision: Decision,
    pub found: String,
    pub reason: Option<String>,
}

impl Outcome {
    fn undecided(found: String, reason: String) -> Self {
        Self {
            decision: Decision::CannotBeDecided,
            found,
            reason: Some(reason),
        }
    }

    fn decided(ok: bool, found: String) -> Self {
        Self {
            decision: if ok {
                Decision::Ok
            } else {
                Decision::AdvisedOtherwise
            },
            found,
            reason: None,
        }
    }
}

pub(super) fn judge(rule: &Rule, facts: &Value) -> Outcome {
    if let Some(need) = rule.needs.iter().find(|need| !is_met(need, facts)) {
        return Outcome::undecided(String::new(), need.otherwise.clone());
    }
    let observed = match resolve(facts, &rule.look, &rule.only) {
        Lookup::Nowhere => return Outcome::undecided(String::new(), rule.missing.clone()),
        Lookup::Facts(observed) => observed,
    };
    if rule.over == Over::Any {
        let holds = |observed: &&FoundFact<'_>| holds_alone(rule, facts, observed) == Some(true);
        let found: Vec<FoundFact<'_>> = observed
            .iter()
            .filter(|observed| observed.value.is_some())
            .copied()
            .collect();
        return Outcome::decided(
            observed.iter().any(|s| holds(&s)),
            or_none(described(&found)),
        );
    }
    if let Condition::CountAtLeast(count) = &rule.holds {
        return count_at_least(rule, &observed, *count);
    }
    if observed.is_empty() {
        return Outcome::undecided(String::new(), rule.missing.clone());
    }
    match &rule.holds {
        Condition::EqualWithin { group } => equal_within(rule, &observed, group),
        _ => all_hold(rule, facts, &observed),
    }
}

fn is_met(need: &Need, facts: &Value) -> bool {
    let Lookup::Facts(observed) = resolve(facts, &need.look, &need.only) else {
        return false;
    };
    observed.iter().any(|observed| {
        let text = observed.text();
        text.is_some_and(|text| need.one_of.is_empty() || need.one_of.contains(&text))
    })
}

fn all_hold(rule: &Rule, facts: &Value, observed: &[FoundFact<'_>]) -> Outcome {
    let verdicts: Vec<Option<bool>> = observed
        .iter()
        .map(|observed| holds_alone(rule, facts, observed))
        .collect();
    let with = |wanted: Option<bool>| -> Vec<FoundFact<'_>> {
        let pairs = observed.iter().zip(&verdicts);
        pairs
            .filter(|(_, verdict)| **verdict == wanted)
            .map(|(observed, _)| *observed)
            .collect()
    };
    let (wrong, unknown) = (with(Some(false)), with(None));
    if !wrong.is_empty() {
        return Outcome::decided(false, described(&wrong));
    }
    if unknown.is_empty() {
        return Outcome::decided(true, described(observed));
    }
    let named: Vec<&str> = unknown
        .iter()
        .filter_map(FoundFact::label)
        .take(NAMED_MAX)
        .collect();
    let reason = if named.is_empty() {
        rule.missing.clone()
    } else {
        format!(
            "The value is unknown or unreadable for {}.",
            named.join(", ")
        )
    };
    Outcome::undecided(described(&with(Some(true))), reason)
}

/// True if one fact holds; `None` if that is unknown.
fn holds_alone(rule: &Rule, facts: &Value, observed: &FoundFact<'_>) -> Option<bool> {
    if let Condition::Known(wanted) = rule.holds {
        return Some(observed.value.is_some() == wanted);
    }
    let value = observed.value?;
    match &rule.holds {
        Condition::OneOf(texts) => Some(texts.contains(&observed.text()?)),
        Condition::AtLeast(least) => Some(number(value)? >= *least),
        Condition::EachAtLeast(least) => {
            let words = numbers(value)?;
            (words.len() == least.len())
                .then(|| words.iter().zip(least).all(|(word, least)| word >= least))
        }
        Condition::RangeWithin([low, high]) => match numbers(value)?[..] {
            [from, to] => Some(from >= *low && to <= *high),
            _ => None,
        },
        Condition::AtLeastFact { look, times } => {
            Some(number(value)? >= number_at(facts, look)? * times)
        }
        Condition::AtMostFact { look, times } => {
            Some(number(value)? <= number_at(facts, look)? * times)
        }
        Condition::AtLeastField(field) => Some(number(value)? >= number(observed.field(field)?)?),
        Condition::ListHolds(wanted) => {
            let items = texts(value)?;
            Some(wanted.iter().all(|word| items.contains(word)))
        }
        Condition::ListLacks(unwanted) => {
            let items = texts(value)?;
            Some(!unwanted.iter().any(|word| items.contains(word)))
        }
        Condition::Mentions(words) => {
            let text = plain(value.as_str()?);
            Some(words.iter().any(|word| text.contains(&plain(word))))
        }
        Condition::ApartFrom(path) => apart(facts, &texts(value)?, &texts_at(facts, path)?),
        Condition::Known(_) | Condition::EqualWithin { .. } | Condition::CountAtLeast(_) => None,
    }
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value
        .as_str()?
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect()
}

/// Lower-case letters and digits only, so that RAID-10, Raid 10 and raid10 are one.
fn plain(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// True if devices share neither a name nor a disk below them; `None` if the machine does not show one of them.
fn apart(facts: &Value, devices: &[String], others: &[String]) -> Option<bool> {
    if devices.is_empty() || others.is_empty() {
        return None;
    }
    if devices.iter().any(|device| others.contains(device)) {
        return Some(false);
    }
    let disks = |names: &[String]| -> Vec<Option<BTreeSet<String>>> {
        names.iter().map(|name| bottom(facts, name)).collect()
    };
    let (mine, theirs) = (disks(devices), disks(others));
    let known: BTreeSet<&String> = theirs.iter().flatten().flatten().collect();
    if mine
        .iter()
        .flatten()
        .flatten()
        .any(|disk| known.contains(disk))
    {
        return Some(false);
    }
    mine.iter()
        .chain(&theirs)
        .all(Option::is_some)
        .then_some(true)
}

fn count_at_least(rule: &Rule, observed: &[FoundFact<'_>], count: usize) -> Outcome {
    if observed.is_empty() {
        return Outcome::undecided(String::new(), rule.missing.clone());
    }
    Outcome::decided(
        observed.len() >= count,
        format!("{} ({})", observed.len(), described(observed)),
    )
}

fn equal_within(rule: &Rule, observed: &[FoundFact<'_>], group: &str) -> Outcome {
    let mut groups: BTreeMap<String, BTreeMap<String, Vec<FoundFact<'_>>>> = BTreeMap::new();
    let mut unknown = false;
    for one in observed {
        match (one.field(group).and_then(Value::as_str), one.text()) {
            (Some(group), Some(value)) => {
                let values = groups.entry(group.to_owned()).or_default();
                values.entry(value).or_default().push(*one);
            }
            _ => unknown = true,
        }
    }
    let shown = |groups: Vec<(&String, &BTreeMap<String, Vec<FoundFact<'_>>>)>| {
        let lines: Vec<String> = groups
            .iter()
            .map(|(name, values)| {
                let values: Vec<String> = values
                    .iter()
                    .map(|(value, members)| format!("{} of {value}", members.len()))
                    .collect();
                format!("{name}: {}", values.join(", "))
            })
            .collect();
        lines.join("; ")
    };
    let uneven: Vec<_> = groups
        .iter()
        .filter(|(_, values)| values.len() > 1)
        .collect();
    if !uneven.is_empty() {
        return Outcome::decided(false, shown(uneven));
    }
    if unknown {
        return Outcome::undecided(shown(groups.iter().collect()), rule.missing.clone());
    }
    Outcome::decided(true, shown(groups.iter().collect()))
}

fn or_none(text: String) -> String {
    if text.is_empty() {
        "none".to_owned()
    } else {
        text
    }
}

/// "deadline (data01, data02 and 6 more); cfq (redo01)".
fn described(observed: &[FoundFact<'_>]) -> String {
    let mut by_value: Vec<(String, Vec<&str>)> = Vec::new();
    for one in observed {
        let value = one.text().unwrap_or_else(|| "–".to_owned());
        let at = by_value.iter().position(|(known, _)| *known == value);
        let at = at.unwrap_or_else(|| {
            by_value.push((value, Vec::new()));
            by_value.len() - 1
        });
        by_value[at].1.extend(one.label());
    }
    let parts: Vec<String> = by_value
        .iter()
        .map(|(value, labels)| match labels.len() {
            0 => value.clone(),
            n if n <= NAMED_MAX => format!("{value} ({})", labels.join(", ")),
            n => {
                let named = labels[..NAMED_MAX - 1].join(", ");
                format!("{value} ({named} and {} more)", n - (NAMED_MAX - 1))
            }
        })
        .collect();
    parts.join("; ")
}
