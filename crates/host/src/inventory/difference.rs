//! Differences between two machines, or one machine at two times.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Fields that name the elements of a list, in order of preference.
const NAMES: &[&str] = &["name", "wwid", "alias", "vendor"];

/// One fact that differs; `None` on a side that lacks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// Path of the fact, e.g. `found.block_devices[sda].scheduler`.
    pub fact: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The rows that differ between two values of one form: the inventories, or the basic facts of runs.
pub fn difference(before: &impl Serialize, after: &impl Serialize) -> Vec<Changed> {
    let (before, after) = (flat(before), flat(after));
    let mut facts: Vec<&String> = before.keys().chain(after.keys()).collect();
    facts.sort_unstable();
    facts.dedup();
    facts
        .into_iter()
        .filter(|&fact| before.get(fact) != after.get(fact))
        .map(|fact| Changed {
            fact: fact.clone(),
            before: before.get(fact).cloned(),
            after: after.get(fact).cloned(),
        })
        .collect()
}

/// Every known fact under its path; `null` is the same as absent.
pub(super) fn flat(value: &impl Serialize) -> BTreeMap<String, String> {
    let mut rows = BTreeMap::new();
    // Inventories and facts contain only values that JSON can express.
    descend(
        String::new(),
        &serde_json::to_value(value).unwrap_or_default(),
        &mut rows,
    );
    rows
}

fn descend(path: String, value: &Value, rows: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                descend(format!("{path}{dot}{name}"), value, rows);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (number, item) in items.iter().enumerate() {
                let named = NAMES.iter().find_map(|name| item.get(name)?.as_str());
                let label = named.map_or_else(|| number.to_string(), str::to_owned);
                let mut element = format!("{path}[{label}]");
                // Two elements of one name (a mount point mounted twice) stay two.
                if rows
                    .keys()
                    .any(|row| row.starts_with(&format!("{element}.")))
                {
                    element = format!("{path}[{label} #{number}]");
                }
                descend(element, item, rows);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        other => {
            rows.insert(path, shown(other));
        }
    }
}

pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_a_row() {
        let before =
            json!({"a": 1, "list": [{"name": "x", "v": 1}, {"name": "y", "v": 2}], "n": null});
        let after = json!({"a": 1, "list": [{"name": "y", "v": 3}], "n": null, "tags": ["p", "q"]});
        let rows = difference(&before, &after);
        let facts: Vec<&str> = rows.iter().map(|row| row.fact.as_str()).collect();
        assert_eq!(facts, ["list[x].name", "list[x].v", "list[y].v", "tags"]);
        assert_eq!(rows[2].before.as_deref(), Some("2"));
        assert_eq!(rows[2].after.as_deref(), Some("3"));
        assert_eq!(rows[3].after.as_deref(), Some("p, q"));
        assert!(difference(&before, &before).is_empty());
    }

    #[test]
    fn two_of_one_name_stay_two() {
        let one = json!({"l": [{"name": "x", "v": 1}]});
        let two = json!({"l": [{"name": "x", "v": 1}, {"name": "x", "v": 2}]});
        let rows = difference(&one, &two);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].fact, "l[x #1].v");
    }
}
