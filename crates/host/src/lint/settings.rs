//! Checks of a database server's settings, by rules of the same form.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Finding, finding, rule};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerFacts<'a> {
    /// Settings as the server reports them; `setting/NAME` in the rules, and `bytes/NAME` for a size as a number of
    /// bytes.
    pub settings: Option<&'a BTreeMap<String, String>>,
    /// Memory available to the server; `server/memory_bytes`.
    pub memory_bytes: Option<u64>,
    /// True if its data is on a spinning device; `server/rotational`.
    pub rotational: Option<bool>,
}

#[derive(Debug, thiserror::Error)]
#[error("the rules for this server's settings cannot be read: {0}")]
pub struct RulesError(toml::de::Error);

/// Applies rules, given as TOML, to a server. Fails if the text contains no rules.
pub fn lint_server(rules: &str, facts: &ServerFacts<'_>) -> Result<Vec<Finding>, RulesError> {
    let facts = as_json(facts);
    let rules = rule::parse(rules).map_err(RulesError)?;
    Ok(rules
        .into_iter()
        .map(|rule| finding(rule, &facts))
        .collect())
}

fn as_json(facts: &ServerFacts<'_>) -> Value {
    let (mut texts, mut bytes) = (Map::new(), Map::new());
    for (name, value) in facts.settings.into_iter().flatten() {
        texts.insert(name.clone(), value.clone().into());
        if let Some(number) = in_bytes(value) {
            bytes.insert(name.clone(), number.into());
        }
    }
    json!({
        "setting": texts,
        "bytes": bytes,
        "server": {
            "memory_bytes": facts.memory_bytes,
            "rotational": facts.rotational.map(|yes| if yes { "yes" } else { "no" }),
        },
    })
}

/// A size as servers write it, such as "256MB": units are powers of two, no unit means bytes.
fn in_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.trim().parse().ok()?;
    let power = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "KB" | "K" => 10,
        "MB" | "M" => 20,
        "GB" | "G" => 30,
        "TB" | "T" => 40,
        _ => return None,
    };
    number.checked_mul(1 << power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::Decision;

    const RULES: &str = r#"
        [[rule]]
        id = "pool"
        severity = "advice"
        what = "Pool"
        look = "bytes/pool"
        needs = [{ look = "server/memory_bytes", otherwise = "The memory is not known." }]
        holds = { at_most_fact = { look = "server/memory_bytes", times = 0.5 } }
        advised = "at most half of the memory"
        why = "It must fit."
        missing = "The server does not report it."
        source = "a document"
    "#;

    fn decided(pool: Option<&str>, memory_bytes: Option<u64>) -> Decision {
        let settings = pool.map(|pool| BTreeMap::from([("pool".to_owned(), pool.to_owned())]));
        let facts = ServerFacts {
            settings: settings.as_ref(),
            memory_bytes,
            rotational: None,
        };
        lint_server(RULES, &facts).unwrap()[0].decision
    }

    #[test]
    fn sizes_are_compared_and_what_is_unknown_is_not_decided() {
        assert_eq!(decided(Some("512MB"), Some(1 << 30)), Decision::Ok);
        assert_eq!(decided(Some("536870912"), Some(1 << 30)), Decision::Ok);
        assert_eq!(
            decided(Some("513MB"), Some(1 << 30)),
            Decision::AdvisedOtherwise
        );
        assert_eq!(decided(Some("512MB"), None), Decision::CannotBeDecided);
        assert_eq!(
            decided(Some("much"), Some(1 << 30)),
            Decision::CannotBeDecided
        );
        assert_eq!(decided(None, Some(1 << 30)), Decision::CannotBeDecided);
    }

    #[test]
    fn sizes_are_read_as_servers_write_them() {
        assert_eq!(in_bytes("8kB"), Some(8192));
        assert_eq!(in_bytes("1GB"), Some(1 << 30));
        assert_eq!(in_bytes("1073741824"), Some(1 << 30));
        assert_eq!(in_bytes("5min"), None);
        assert_eq!(in_bytes(""), None);
        assert_eq!(in_bytes("18446744073709551615TB"), None);
    }

    #[test]
    fn what_holds_no_rules_is_refused() {
        let error = lint_server("[[rule]]\nid = 1", &ServerFacts::default());
        assert!(error.unwrap_err().to_string().contains("rules"));
    }
}
