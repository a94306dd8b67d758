//! Checks the configuration by rules that are data: published good practice, with its source.
//!
//! A rule uses facts of the inventory or statements of the platform file, and its decision is *ok*, *advised
//! otherwise*, or *cannot be decided*, with the reason.

mod finding;
mod judge;
mod path;
mod rule;
mod settings;
mod show;
mod volumes;

use archive::Advice;
use serde_json::json;

use crate::inventory::{Inventory, Stated};

pub use finding::{Decision, Finding};
pub use rule::Severity;
pub use settings::{RulesError, ServerFacts, lint_server};
pub use show::findings;

/// Applies all rules to the found and stated facts, in the order of the rules.
pub fn lint(found: &Inventory, stated: &Stated) -> Vec<Finding> {
    lint_for(found, stated, None)
}

/// As [`lint`](fn@lint), for the makes of database that are going to be measured: rules of other makes are not
/// decided. `None` if the makes are unknown.
pub fn lint_for(found: &Inventory, stated: &Stated, makes: Option<&[&str]>) -> Vec<Finding> {
    let facts = json!({ "found": found, "stated": stated });
    let is_other = |rule: &rule::Rule| {
        let is_meant = |make: &&str| rule.of.iter().any(|of| of == make);
        !rule.of.is_empty() && makes.is_some_and(|makes| !makes.iter().any(is_meant))
    };
    let rules = rule::all().into_iter();
    rules
        .map(|rule| {
            if is_other(&rule) {
                of_another(rule)
            } else {
                finding(rule, &facts)
            }
        })
        .collect()
}

fn of_another(rule: rule::Rule) -> Finding {
    Finding {
        decision: Decision::CannotBeDecided,
        found: String::new(),
        why: format!(
            "The rule applies only to {}, which is not measured here.",
            rule.of.join(" and ")
        ),
        id: rule.id,
        severity: rule.severity,
        what: rule.what,
        advised: rule.advised,
        source: rule.source,
    }
}

pub fn advice(findings: &[Finding]) -> Vec<Advice> {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    findings
        .iter()
        .map(|finding| Advice {
            rule: finding.id.clone(),
            severity: word(json!(finding.severity)),
            decision: word(json!(finding.decision)),
            what: finding.what.clone(),
            found: finding.found.clone(),
            advised: finding.advised.clone(),
            why: finding.why.clone(),
            source: finding.source.clone(),
        })
        .collect()
}

fn finding(rule: rule::Rule, facts: &serde_json::Value) -> Finding {
    let outcome = judge::judge(&rule, facts);
    Finding {
        decision: outcome.decision,
        found: outcome.found,
        why: outcome.reason.unwrap_or(rule.why),
        id: rule.id,
        severity: rule.severity,
        what: rule.what,
        advised: rule.advised,
        source: rule.source,
    }
}
