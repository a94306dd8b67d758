//! Data model of a script.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::draw::Draw;

pub const PARAMETERS_MAX: usize = 32;

/// A script, checked as far as that is possible without a database.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// The test is called `S-NAME`.
    pub name: String,
    pub about: String,
    /// Transactions of a job in a point of fixed work.
    pub operations: u64,
    /// Retries after conflicts before a transaction counts as failed.
    pub retries: u32,
    /// Mean think time, unless the plan sets another one.
    pub think_ms: Option<f64>,
    pub pipeline: Pipeline,
    pub when: When,
    pub set_up: PerEngine,
    pub teardown: PerEngine,
    pub transactions: Vec<Transaction>,
    /// Text of the file and of those it names, for the fingerprint.
    pub text: String,
}

/// Grouping of a transaction's statements into round trips, in an event loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipeline {
    /// A round trip for every statement, BEGIN and COMMIT included.
    Off,
    /// BEGIN with the first statement, COMMIT with the last.
    Ends,
    /// All statements that need no earlier result.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before every point, so that all begin with the same data.
    Point,
    /// Before the first point of a run on a target.
    Run,
}

/// SQL for all engines and for single ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PerEngine {
    pub(super) common: Vec<String>,
    pub(super) own: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Transaction {
    pub name: String,
    pub weight: u64,
    pub read_only: bool,
    /// True if every statement is a transaction of its own.
    pub autocommit: bool,
    /// Values drawn before it begins, by name.
    pub draws: Vec<(String, Draw)>,
    pub statements: Vec<Statement>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub sql: PerEngine,
    /// Allowed number of rows that it returns or changes.
    pub rows: RangeInclusive<u64>,
    /// Values of its first row for later statements: name and column, from 0.
    pub keep: Vec<(String, usize)>,
}

impl PerEngine {
    pub fn of(&self, engine: &str) -> &[String] {
        self.own.get(engine).unwrap_or(&self.common)
    }

    pub fn texts(&self) -> impl Iterator<Item = &String> {
        self.common.iter().chain(self.own.values().flatten())
    }
}
