//! Table `[step.observe]` of a plan.

use engine::Wanted;
use lab::Step;
use lab::plan::{Keys, TableKind};
use serde::{Deserialize, Serialize};

pub(super) const TABLE: TableKind = TableKind {
    name: "observe",
    keys: Keys {
        of_more: &["sql", "lines"],
        of_a_run: &[],
        run: "run",
    },
    read: lab::plan::read::<ObserveStep>,
};

/// Counters of servers are up to a second late, and a day fits on a page.
pub const SECONDS_MIN: f64 = 1.0;
pub const SECONDS_MAX: f64 = 86_400.0;
const LINES_DEFAULT: u32 = 10;
const LINES_MAX: u32 = 200;

/// Detail of the stored tables; `seconds` of the step is the duration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObserveStep {
    /// True if statement texts are stored, without their values.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub sql: bool,
    /// Rows stored per table.
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
