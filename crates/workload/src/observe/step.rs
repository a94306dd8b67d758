//! What a step asks of an observation.

use lab::Step;
use lab::plan::{Keys, TableKind};
use serde::{Deserialize, Serialize};
use target::Wanted;

/// `[step.observe]`.
pub(super) const TABLE: TableKind = TableKind {
    name: "observe",
    keys: Keys {
        of_more: &["sql", "lines"],
        of_a_run: &[],
        run: "run",
    },
    read: lab::plan::read::<ObserveStep>,
};

/// Shortest and longest observation: counters of servers are up to a second behind, and a day is a page.
pub const SECONDS_MIN: f64 = 1.0;
pub const SECONDS_MAX: f64 = 86_400.0;
/// Statements, tables and the like of each kind, where nothing is said.
pub const LINES_DEFAULT: u32 = 10;
const LINES_MAX: u32 = 200;

/// What is kept of a database at work; how long it is looked at stands in `seconds` of the step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObserveStep {
    /// Whether texts of statements are kept, without their values.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub sql: bool,
    /// Statements, tables and the like that are kept of each kind.
    #[serde(default = "lines")]
    pub lines: u32,
}

impl ObserveStep {
    pub fn check(&self, step: &Step) -> Result<(), String> {
        let Some(seconds) = step.seconds else {
            return Err("observing needs seconds".into());
        };
        if !(SECONDS_MIN..=SECONDS_MAX).contains(&seconds) {
            return Err(format!(
                "an observation of {seconds} s is not between {SECONDS_MIN} s and {} h; observe again for longer times, and compare the runs",
                SECONDS_MAX / 3600.0
            ));
        }
        if step.ramp_up_seconds.is_some() || step.rate_per_s.is_some() {
            return Err("observing makes no load; remove ramp_up_seconds and rate_per_s".into());
        }
        lab::plan::bounded([("lines", Some(self.lines), LINES_MAX)])
    }

    pub fn wanted(&self) -> Wanted {
        Wanted {
            texts: self.sql,
            lines: self.lines as usize,
        }
    }
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands out references.
fn is_yes(sql: &bool) -> bool {
    *sql
}

fn lines() -> u32 {
    LINES_DEFAULT
}
