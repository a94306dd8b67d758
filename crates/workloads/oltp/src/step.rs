//! Table `[step.oltp]` of a plan.

use std::time::Duration;

use lab::Step;
use lab::plan::{JOBS_MAX as CONNECTIONS_MAX, Keys, TableKind, bounded, is_default};
use load::{Objective, UserSteps, UserStepsError};
use serde::{Deserialize, Serialize};
use workload::numbers::Numbers;

use crate::{JOBS_MAX, WAREHOUSES_MAX, WarehouseRows};

pub const TABLE: TableKind = TableKind {
    name: "oltp",
    keys: KEYS,
    read: lab::plan::read::<OltpStep>,
};
const KEYS: Keys = Keys {
    of_more: &[
        "do",
        "warehouses",
        "warehouse_rows",
        "load_jobs",
        "foreign_keys",
        "check",
    ],
    of_a_run: &[
        "statements",
        "users",
        "connections",
        "pauses",
        "limit",
        "slo",
        "operation_limit_seconds",
        "warm_up_max_seconds",
        "journal",
        "stop",
    ],
    run: "run",
};
/// It takes some intervals to see that throughput is steady.
const WARM_UP_LEAST: Duration = Duration::from_millis(400);
const USERS_MAX: u32 = 1_000_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OltpStep {
    #[serde(rename = "do")]
    pub order: Order,
    /// Size, required for a load; a run refuses a database of another size.
    pub warehouses: Option<u32>,
    /// Share of the specification's rows per warehouse (default of a load: all).
    pub warehouse_rows: Option<WarehouseRows>,
    pub load_jobs: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign_keys: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub statements: Statements,
    pub users: Option<Levels>,
    /// Connections that the users share (default: one per user).
    pub connections: Option<u32>,
    /// True for keying and think times.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pauses: bool,
    /// Response-time limit, such as `p95=50ms`.
    limit: Option<String>,
    /// Response-time limit for a search of the highest arrival rate, such as `p95=50ms`.
    slo: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub check: Check,
    /// Limit after which an operation has failed.
    pub operation_limit_seconds: Option<f64>,
    /// Longest warm-up before the first level, which ends once throughput is steady (default: no warm-up).
    warm_up_max_seconds: Option<f64>,
    /// Logs acknowledged transactions and compares the database with the log afterwards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub journal: bool,
    /// True if the ramp ends by rule; otherwise all levels are measured.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub stop: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Loads the database, or restores its initial rows.
    Load,
    Run,
    Check,
}

/// Location of the transactions' logic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statements {
    #[default]
    Client,
    Procedure,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    #[default]
    Full,
    /// Without the conditions that read every order line.
    Light,
    /// The result mentions it.
    None,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Numbers", into = "String")]
pub struct Levels {
    text: String,
    /// In ascending order; at least one.
    levels: Vec<u32>,
}

impl TryFrom<Numbers> for Levels {
    type Error = String;

    fn try_from(written: Numbers) -> Result<Self, String> {
        String::from(written).parse()
    }
}

impl From<Levels> for String {
    fn from(levels: Levels) -> Self {
        levels.text
    }
}

impl std::str::FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let number = text.trim().parse::<u32>();
            number.map_err(|_| {
                format!(
                    "users = \"{text}\" is not a number, a list such as 1,2,4 or a ramp FROM..TO/STEP"
                )
            })
        };
        let levels = match text.contains("..") {
            true => {
                let steps: UserSteps = text.parse().map_err(|e: UserStepsError| e.to_string())?;
                steps.iter().collect()
            }
            false => text.split(',').map(number).collect::<Result<Vec<_>, _>>()?,
        };
        if let Some(bad) = levels.iter().find(|n| !(1..=USERS_MAX).contains(*n)) {
            return Err(format!("users: {bad} is not between 1 and {USERS_MAX}"));
        }
        if !levels.is_sorted_by(|a, b| a < b) {
            return Err(format!(
                "users = \"{text}\" does not increase; list the numbers of users in increasing order"
            ));
        }
        Ok(Self {
            text: text.to_owned(),
            levels,
        })
    }
}

impl OltpStep {
    pub fn check(&self, step: &Step) -> Result<(), String> {
        let is_run = self.order == Order::Run;
        if is_run && step.seconds.is_none() {
            return Err("do = \"run\" needs seconds, the length of each level".into());
        }
        if self.order == Order::Load && self.warehouses.is_none() {
            return Err("do = \"load\" needs warehouses".into());
        }
        if !is_run {
            KEYS.refuse_of_a_run(&toml::Table::try_from(self).unwrap_or_default())?;
        }
        for objective in [&self.limit, &self.slo].into_iter().flatten() {
            objective.parse::<Objective>().map_err(|e| e.to_string())?;
        }
        if self.slo.is_some() && self.users().len() > 1 {
            return Err("slo searches the rate of a single number of users, not of a ramp".into());
        }
        bounded([
            ("warehouses", self.warehouses, WAREHOUSES_MAX),
            ("load_jobs", self.load_jobs, JOBS_MAX),
            ("connections", self.connections, CONNECTIONS_MAX),
        ])?;
        if (self.operation_limit_seconds).is_some_and(|s| !(0.001..=86_400.0).contains(&s)) {
            return Err("operation_limit_seconds is not between 0.001 and 86400".into());
        }
        if (self.warm_up_max_seconds).is_some_and(|s| !(0.0..=86_400.0).contains(&s)) {
            return Err("warm_up_max_seconds is not between 0 and 86400".into());
        }
        let most = self.users().last().copied().unwrap_or(1);
        if is_run && self.connections.is_none() && most > CONNECTIONS_MAX {
            return Err(format!(
                "{most} users need connections = N: at most {CONNECTIONS_MAX} connections are opened"
            ));
        }
        if self.pauses && step.rate_per_s.is_some() {
            return Err("pauses and rate_per_s exclude each other: arrivals at a fixed rate have no think times".into());
        }
        Ok(())
    }

    pub fn loaded(&self) -> (u32, WarehouseRows) {
        let rows = self.warehouse_rows.unwrap_or_default();
        (self.warehouses.unwrap_or(1), rows)
    }

    /// Number of full-size warehouses with as many rows.
    pub fn whole_warehouses(&self) -> f64 {
        let (warehouses, rows) = self.loaded();
        rows.whole(warehouses)
    }

    /// Levels of the ramp (default: one user).
    pub fn users(&self) -> &[u32] {
        self.users.as_ref().map_or(&[1], |users| &users.levels)
    }

    pub fn limit(&self) -> Option<Objective> {
        self.limit.as_deref()?.parse().ok()
    }

    pub fn slo(&self) -> Option<Objective> {
        self.slo.as_deref()?.parse().ok()
    }

    pub fn warm_up_max(&self) -> Option<Duration> {
        let said = self.warm_up_max_seconds.filter(|s| *s > 0.0)?;
        Some(Duration::from_secs_f64(said).max(WARM_UP_LEAST))
    }

    pub fn connections(&self, users: u32) -> u32 {
        self.connections.unwrap_or(users).min(users)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_numbers_lists_or_ranges() {
        let levels = |text: &str| text.parse::<Levels>().map(|levels| levels.levels);
        assert_eq!(levels("7"), Ok(vec![7]));
        assert_eq!(levels("1, 2,4"), Ok(vec![1, 2, 4]));
        assert_eq!(levels("200..500/100"), Ok(vec![200, 300, 400, 500]));
        assert_eq!(levels("200..450/100"), Ok(vec![200, 300, 400]));
        for wrong in [
            "",
            "0",
            "5..1/1",
            "1..5",
            "1..5/0",
            "4,2",
            "2,2",
            "1..9999999/1",
        ] {
            assert!(levels(wrong).is_err(), "{wrong}");
        }
    }
}
