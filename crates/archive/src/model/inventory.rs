//! What was known of the machine beyond its basic facts: the inventory as rows, and what was advised.

use serde::{Deserialize, Serialize};

/// The machine's inventory as it is kept with a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inventory {
    /// Every known fact, in the order of the inventory; what the machine does not tell is no row.
    pub facts: Vec<Fact>,
    /// Every rule of the configuration lint with its outcome.
    pub advice: Vec<Advice>,
}

/// One fact of the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    /// Part of the inventory, e.g. "processor".
    pub section: String,
    /// Name within the section, e.g. "governor" or "sda scheduler".
    pub name: String,
    /// Value as people write it.
    pub value: String,
    /// True when the machine did not tell it but its user did (`--platform`).
    pub stated: bool,
}

/// One rule of the lint, applied to this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Advice {
    /// Name of the rule.
    pub rule: String,
    /// "important", "advice" or "note".
    pub severity: String,
    /// "ok", "advised_otherwise" or "cannot_be_decided".
    pub decision: String,
    /// What is looked at, in words.
    pub what: String,
    /// What was found or stated; empty when nothing was.
    pub found: String,
    /// What the source advises.
    pub advised: String,
    /// Why it matters or, when it cannot be decided, why not.
    pub why: String,
    /// Document and place.
    pub source: String,
}
