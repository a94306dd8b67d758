//! The grade of a run.

use schemars::JsonSchema;
use serde::Serialize;

words! {
    /// How far the figures of a run may be used.
    pub enum Grade {
        /// Repeated, steady, on a quiet machine, and every check passed.
        GoodToUse = "good to use",
        /// An order of magnitude: something that makes figures certain is missing.
        Indicative = "indicative",
        /// The figures are wrong or belong to something else.
        DoNotUse = "do not use",
    }
}

/// The grade of a run with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Graded {
    /// How far the figures may be used (docs/METHODOLOGY.md, Grade).
    pub value: Grade,
    /// The grade with its most important reasons.
    pub sentence: String,
    /// Why the grade is no better; empty if they are good to use.
    pub reasons: Vec<String>,
}
