//! Facts by their path.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::inventory::shown;

/// One fact with the element of a list that it belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundFact<'a> {
    /// The element of the list, or `None` when the path has no list.
    pub element: Option<&'a Value>,
    /// The value; `None` when it is null or absent.
    pub value: Option<&'a Value>,
}

impl FoundFact<'_> {
    pub fn text(&self) -> Option<String> {
        self.value.map(shown)
    }

    /// What the element is called: a volume by its own name rather than the kernel's.
    pub fn label(&self) -> Option<&str> {
        let element = self.element?;
        ["mapped_name", "name", "alias", "vendor", "wwid"]
            .iter()
            .find_map(|field| element.get(field)?.as_str())
    }

    /// Another field of the same element.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.element?.get(name).filter(|value| !value.is_null())
    }
}

/// What a path leads to.
pub(super) enum Lookup<'a> {
    /// The list or object on the way is not there.
    Nowhere,
    /// The facts; a list may be there and be empty.
    Facts(Vec<FoundFact<'a>>),
}

/// Follows `path` from `facts`; elements of the list count only when they pass `only`.
pub(super) fn look<'a>(
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
    let seen = list.iter().filter(passes).map(|element| FoundFact {
        element: Some(element),
        value: follow(element, after.trim_start_matches('/')).and_then(known),
    });
    Lookup::Facts(seen.collect())
}

fn follow<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/')
        .filter(|segment| !segment.is_empty())
        .try_fold(value, |value, segment| value.get(segment))
}

/// A number, also one that stands in a text.
pub(super) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite())
}

/// The single number at a path.
pub(super) fn number_at(facts: &Value, path: &str) -> Option<f64> {
    number(follow(facts, path)?)
}

/// The texts of a list.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    Some(value.as_array()?.iter().map(shown).collect())
}

/// The list of texts at a path.
pub(super) fn texts_at(facts: &Value, path: &str) -> Option<Vec<String>> {
    texts(follow(facts, path)?)
}
