//! What a script is, once it was read.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::draw::Draw;

/// Most parameters of a statement.
pub const PARAMETERS_MAX: usize = 32;

/// A script, checked as far as that is possible without a database.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Its name; the test is called `S-NAME`.
    pub name: String,
    /// What it does, in a sentence.
    pub about: String,
    /// Transactions of a job where a fixed amount of work is done.
    pub operations: u64,
    /// How often a transaction is begun anew after a conflict before it counts as failed.
    pub retries: u32,
    /// Mean think time, unless the plan says another one.
    pub think_ms: Option<f64>,
    pub pipeline: Pipeline,
    /// How often the data are set up.
    pub when: When,
    /// What sets the data up.
    pub set_up: PerEngine,
    pub teardown: PerEngine,
    /// The transactions, one at least.
    pub transactions: Vec<Transaction>,
    /// The text of the file and of those it names: what the fingerprint covers.
    pub text: String,
}

/// What of a transaction travels together, where the engine can be asked without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipeline {
    /// Nothing: a round trip for every statement, BEGIN and COMMIT among them.
    Off,
    /// BEGIN with the first statement, COMMIT with the last.
    Ends,
    /// Everything that needs no earlier result.
    All,
}

/// How often data are set up.
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
    /// How often it is chosen, in proportion to the others.
    pub weight: u64,
    pub read_only: bool,
    /// Whether every statement is a transaction of its own.
    pub autocommit: bool,
    /// Values drawn before it begins, by name.
    pub draws: Vec<(String, Draw)>,
    /// Its statements, one at least.
    pub statements: Vec<Statement>,
}

/// One statement of a transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Its SQL, one text for each engine.
    pub sql: PerEngine,
    /// Rows that it has to return or change.
    pub rows: RangeInclusive<u64>,
    /// Values of its first row for later statements: name and column, from 0.
    pub keep: Vec<(String, usize)>,
}

impl PerEngine {
    /// The statements for an engine, none when there are none for it.
    pub fn of(&self, engine: &str) -> &[String] {
        self.own.get(engine).unwrap_or(&self.common)
    }

    pub fn texts(&self) -> impl Iterator<Item = &String> {
        self.common.iter().chain(self.own.values().flatten())
    }
}
