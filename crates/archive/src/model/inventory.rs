//! The machine beyond its basic facts: the inventory as rows, and the advice for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Inventory {
    /// Known facts, in the order of the inventory.
    pub facts: Vec<Fact>,
    /// Rules of the configuration check with their outcomes.
    pub advice: Vec<Advice>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Fact {
    /// Part of the inventory, e.g. "processor".
    pub section: String,
    /// Name of the fact within its section.
    pub name: String,
    /// Formatted value.
    pub value: String,
    /// Stated by the user (`--platform`) rather than found on the machine.
    pub stated: bool,
}

/// One rule of the lint, applied to this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Advice {
    /// Name of the rule.
    pub rule: String,
    /// How much it matters.
    #[schemars(extend("enum" = ["important", "advice", "note"]))]
    pub severity: String,
    /// Outcome of the rule.
    #[schemars(extend("enum" = ["ok", "advised_otherwise", "cannot_be_decided"]))]
    pub decision: String,
    /// The setting or fact that the rule checks.
    pub what: String,
    /// The value that was found or stated; empty if there is none.
    pub found: String,
    /// The advice of the source.
    pub advised: String,
    /// Why it matters, or why it cannot be decided.
    pub why: String,
    /// Document and place.
    pub source: String,
}
