//! What comes of a rule.

use serde::Serialize;

use super::Severity;

/// How a rule came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Ok,
    /// The source advises something else.
    AdvisedOtherwise,
    /// A fact or statement that it needs is missing.
    CannotBeDecided,
}

/// One rule applied to one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub id: String,
    pub severity: Severity,
    pub decision: Decision,
    /// What is looked at, in words.
    pub what: String,
    /// What was found or stated; empty when nothing was.
    pub found: String,
    pub advised: String,
    /// Why it matters or, when it cannot be decided, why not.
    pub why: String,
    pub source: String,
}
