//! The decision on a rule for one machine.

use serde::Serialize;

use super::Severity;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Ok,
    AdvisedOtherwise,
    CannotBeDecided,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub id: String,
    pub severity: Severity,
    pub decision: Decision,
    /// Subject of the rule, in words.
    pub what: String,
    /// The found or stated value; empty if there is none.
    pub found: String,
    pub advised: String,
    /// Why it matters or, if it cannot be decided, why not.
    pub why: String,
    pub source: String,
}
