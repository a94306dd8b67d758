//! Facts by their path.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::inventory::shown;

#[derive(Debug, Clone, Copy)]
pub(super) struct FoundFact<'a> {
    /// The element of the list, or `None` if the path has no list.
    pub element: Option<&'a Value>,
    /// The value; `None` if it is null or absent.
    pub value: Option<&'a Value>,
}

impl FoundFact<'_> {
    pub fn text(&self) -> Option<String> {
        self.value.map(shown)
    }

    /// Name of the element: for a volume its own name rather than the kernel's.
    pub fn label(&self) -> Option<&str> {
        let element = self.element?;
        ["mapped_name", "name", "alias", "vendor", "wwid"]
            .iter()
            .find_map(|field| element.get(field)?.as_str())
    }

    pub fn field(&self, name: &str) -> Option<&Value> {
        self.element?.get(name).filter(|value| !value.is_null())
    }
}

pub(super) enum Lookup<'a> {
    /// The list or object on the path is absent.
    Nowhere,
    /// The facts; a list may exist and be empty.
    Facts(Vec<FoundFact<'a>>),
}

/// Follows `path` from `facts`; elements of the list count only if they pass `only`.
pub(super) fn resolve<'a>(
    facts: &'a Value,
    path: &str,
    only: &BTreeMap<String, Vec<String>>,
) -> Lookup<'a> {
    let known = |value: &'a Value| Some(value).filter(|value| !value.is_null());
    let Some((before, after)) = path.split_once("/*") else {
        return match follow(facts, path).and_then(known) {
            Some(value) => Lookup::Facts(vec![FoundFact {
                element: None,
                value: Some(value),
            }]),
            None => Lookup::Nowhere,
        };
    };
    let Some(list) = follow(facts, before).and_then(Value::as_array) else {
        return Lookup::Nowhere;
    };
    let passes = |element: &&Value| {
        only.iter().all(|(field, values)| {
            let value = element
                .get(field)
                .filter(|value| !value.is_null())
                .map(shown);
            value.is_some_and(|value| values.contains(&value))
        })
    };
    let found = list.iter().filter(passes).map(|element| FoundFact {
        element: Some(element),
        value: follow(element, after.trim_start_matches('/')).and_then(known),
    });
    Lookup::Facts(found.collect())
}

fn follow<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/')
        .filter(|segment| !segment.is_empty())
        .try_fold(value, |value, segment| value.get(segment))
}

/// A number, also one within a text.
pub(super) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite())
}

pub(super) fn number_at(facts: &Value, path: &str) -> Option<f64> {
    number(follow(facts, path)?)
}

pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    Some(value.as_array()?.iter().map(shown).collect())
}

pub(super) fn texts_at(facts: &Value, path: &str) -> Option<Vec<String>> {
    texts(follow(facts, path)?)
}
