//! The suite that every engine has to pass, in a schema or file of its own: what the workloads rely on, tried once
//! against the traits. Who has a server that was never tried here learns what works on it.

mod bench;
mod concurrent;
mod place;
mod single;
mod types;
mod whole;

use std::time::{Duration, Instant};

use crate::{Engines, Feature, Result, TargetUrl};
use bench::{Bench, Checked, Miss};
pub use place::CheckPlace;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed {
        expected: String,
        seen: String,
    },
    /// The engine does not do this, with its own reason.
    NotOffered(String),
}

/// A check of the suite that was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    pub group: &'static str,
    pub name: &'static str,
    pub outcome: Outcome,
    pub time: Duration,
}

/// The suite, with the place where it works.
pub struct Suite {
    place: CheckPlace,
}

struct Check {
    group: &'static str,
    name: &'static str,
    needs: &'static [Feature],
    run: fn(&Bench<'_>) -> Checked,
}

const fn check(group: &'static str, name: &'static str, run: fn(&Bench<'_>) -> Checked) -> Check {
    Check {
        group,
        name,
        needs: &[Feature::Tables],
        run,
    }
}

impl Check {
    const fn with(mut self, needs: &'static [Feature]) -> Self {
        self.needs = needs;
        self
    }
}

/// In this order: what is simple comes first, what restarts a server last.
const CHECKS: &[Check] = &[
    check("tables", "create, enter, drop", single::tables),
    check("types", "integers", types::integers),
    check("types", "decimals", types::decimals),
    check("types", "texts", types::strings),
    check("types", "timestamps", types::moments),
    check("types", "dates", types::dates),
    check("types", "binary data", types::bytes),
    check("types", "nulls", types::nulls),
    check("statements", "parameters", single::parameters),
    check("statements", "rows changed", single::rows_changed),
    check("statements", "first row", single::first_row),
    check("statements", "indexes and statistics", single::indexes),
    check("statements", "unique violation", single::unique_violation),
    check("statements", "time limit", single::time_limit),
    check("statements", "plan", single::plans),
    check("statements", "parallel", single::parallel_statements)
        .with(&[Feature::Tables, Feature::ParallelStatement]),
    check(
        "transactions",
        "commit and rollback",
        single::commit_and_rollback,
    ),
    check("transactions", "bulk load", single::load_in_transaction),
    check("transactions", "error", single::error_in_transaction),
    check("transactions", "isolation", concurrent::isolation),
    check("transactions", "no lost update", concurrent::no_lost_update),
    check("transactions", "deadlock", concurrent::deadlock)
        .with(&[Feature::Tables, Feature::ConcurrentWriters]),
    check(
        "transactions",
        "concurrent writers",
        concurrent::many_writers,
    )
    .with(&[Feature::Tables, Feature::ConcurrentWriters]),
    check("sessions", "event loop", concurrent::event_loop),
    check(
        "observation",
        "catalogue and whole tables",
        single::whole_tables,
    ),
    check("observation", "counters", single::counters),
    check("observation", "waits", concurrent::waits),
    check("database", "checkpoint", single::checkpoint),
    check("database", "secondary schema", whole::secondary_schema),
    check("database", "snapshot", whole::snapshot),
    check("database", "nothing is left behind", whole::nothing_left),
];

impl Suite {
    /// The suite for the engine of a URL; nothing is changed yet.
    ///
    /// # Errors
    /// When the server cannot be reached, or the suite could not work there.
    pub fn beside(engines: Engines, url: &TargetUrl) -> Result<Self> {
        let place = CheckPlace::beside(engines, url)?;
        Ok(Self { place })
    }

    /// Where it works, in words.
    pub fn place(&self) -> String {
        self.place.words()
    }

    /// Carries out every check and removes what was made for them; `each` is called when a check begins.
    ///
    /// # Errors
    /// When the database cannot be opened, or what was made cannot be removed.
    pub fn run(&self, mut each: impl FnMut(&'static str)) -> Result<Vec<CheckResult>> {
        let target = self.place.open()?;
        // A check that was killed leaves tables.
        place::remove_tables(target.open_session()?.as_mut())?;
        let bench = Bench {
            target: target.as_ref(),
            names: self.place.type_names(),
            is_server: self.place.is_server(),
        };
        let mut results = Vec::with_capacity(CHECKS.len());
        for check in CHECKS {
            each(check.name);
            let begin = Instant::now();
            let outcome = carry_out(check, &bench);
            results.push(CheckResult {
                group: check.group,
                name: check.name,
                outcome,
                time: begin.elapsed(),
            });
        }
        self.place.remove(target)?;
        Ok(results)
    }
}

fn carry_out(check: &Check, bench: &Bench<'_>) -> Outcome {
    let mut lacking = check
        .needs
        .iter()
        .filter_map(|need| bench.target.lacks(*need));
    if let Some(why) = lacking.next() {
        return Outcome::NotOffered(why);
    }
    match (check.run)(bench) {
        Ok(()) => Outcome::Passed,
        Err(Miss::Failed { expected, seen }) => Outcome::Failed { expected, seen },
        Err(Miss::NotOffered(why)) => Outcome::NotOffered(why),
    }
}
