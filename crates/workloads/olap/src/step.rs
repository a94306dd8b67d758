//! Table `[step.olap]` of a plan.

use std::time::Duration;

use lab::plan::{Keys, TableKind, bounded, is_default};
use serde::{Deserialize, Serialize};
use workload::numbers::Numbers;

use crate::order::STREAMS_MAX;
use crate::work::Cache;
use crate::{JOBS_MAX, QUERIES, Scale, Source, query};

pub const TABLE: TableKind = TableKind {
    name: "olap",
    keys: KEYS,
    read: lab::plan::read::<OlapStep>,
};
const KEYS: Keys = Keys {
    of_more: &["do", "scale", "load_jobs"],
    of_a_run: &[
        "queries",
        "iterations",
        "rounds",
        "streams",
        "dop",
        "refresh",
        "parameters",
        "cache",
        "query_limit_seconds",
        "tables",
        "follow_seconds",
    ],
    run: "run",
};
const ITERATIONS_MAX: u32 = 100_000;
/// Each execution of a round is stored.
const ROUNDS_MAX: u32 = 100;
pub(crate) const DOP_MAX: u32 = 1024;
const QUERY_LIMIT_S: f64 = 3600.0;
const FOLLOW_S: f64 = 1.0;
const FOLLOW_S_MAX: f64 = 3600.0;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OlapStep {
    #[serde(rename = "do")]
    pub order: OlapOrder,
    /// Scale, required for a load; a run refuses a database of another one.
    pub scale: Option<f64>,
    pub load_jobs: Option<u32>,
    pub queries: Option<Queries>,
    iterations: Option<u32>,
    /// Rounds over all queries, measured as one point that stores each execution (default: each query is a point).
    rounds: Option<u32>,
    /// Users of the throughput run after the queries (default: no such run).
    streams: Option<u32>,
    /// Degrees of parallelism inside one session, each with all points of the run (default: that of the target).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dop: Vec<u32>,
    /// True for refreshes around the queries of one user and during those of several.
    #[serde(default, skip_serializing_if = "is_default")]
    pub refresh: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub parameters: Source,
    /// State of the caches before each query, or before the first round.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache: Cache,
    /// Limit after which a query is cancelled.
    query_limit_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub tables: QueryTables,
    /// Interval at which a copy of the order-entry tables is refreshed.
    follow_seconds: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryTables {
    #[default]
    Analytical,
    /// Tables on which the users of order entry work at the same time.
    OrderEntry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OlapOrder {
    /// Loads the database unless it is already there.
    Load,
    Run,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Numbers", into = "Vec<u32>")]
pub struct Queries(Vec<u32>);

impl TryFrom<Numbers> for Queries {
    type Error = String;

    fn try_from(written: Numbers) -> Result<Self, String> {
        query::numbers(&String::from(written)).map(Self)
    }
}

impl From<Queries> for Vec<u32> {
    fn from(queries: Queries) -> Self {
        queries.0
    }
}

impl OlapStep {
    pub fn check(&self) -> Result<(), String> {
        let is_run = self.order == OlapOrder::Run;
        if !is_run && self.scale.is_none() {
            return Err("do = \"load\" needs scale".into());
        }
        if let Some(scale) = self.scale {
            Scale::new(scale)?;
        }
        if !is_run {
            KEYS.refuse_of_a_run(&toml::Table::try_from(self).unwrap_or_default())?;
        }
        bounded([
            ("load_jobs", self.load_jobs, JOBS_MAX),
            ("iterations", self.iterations, ITERATIONS_MAX),
            ("rounds", self.rounds, ROUNDS_MAX),
            ("streams", self.streams, STREAMS_MAX),
        ])?;
        check_dop(&self.dop)?;
        if self.cache == Cache::Cold && self.iterations() > 1 {
            return Err(
                "cache = \"cold\" runs each query once: the second run would be warm".into(),
            );
        }
        let with_rounds = [
            ("iterations", self.iterations.is_some()),
            ("streams", self.streams.is_some()),
            ("refresh", self.refresh),
        ];
        if let (Some(_), Some((key, _))) = (self.rounds, with_rounds.iter().find(|(_, is)| *is)) {
            return Err(format!(
                "rounds and {key} contradict each other: a round runs each query once, by one user"
            ));
        }
        match self.follow_seconds {
            Some(_) if self.tables != QueryTables::OrderEntry => {
                return Err("follow_seconds needs tables = \"order-entry\"".into());
            }
            Some(s) if !(0.0..=FOLLOW_S_MAX).contains(&s) => {
                return Err("follow_seconds is not between 0 and 3600".into());
            }
            _ => {}
        }
        match self.query_limit_seconds {
            Some(s) if !(0.001..=1e6).contains(&s) => {
                Err("query_limit_seconds is not between 0.001 and 1000000".into())
            }
            _ => Ok(()),
        }
    }

    /// `None` if a run takes any scale.
    pub fn scale(&self) -> Option<Scale> {
        self.scale.and_then(|scale| Scale::new(scale).ok())
    }

    pub fn queries(&self) -> Vec<u32> {
        let named = self.queries.as_ref().map(|queries| queries.0.clone());
        named.unwrap_or_else(|| (1..=QUERIES).collect())
    }

    /// Named queries; empty means all.
    pub fn named_queries(&self) -> &[u32] {
        self.queries.as_ref().map_or(&[], |queries| &queries.0)
    }

    pub fn iterations(&self) -> u32 {
        self.iterations.unwrap_or(1)
    }

    pub fn rounds(&self) -> Option<u32> {
        self.rounds
    }

    pub fn streams(&self) -> u32 {
        self.streams.unwrap_or(0)
    }

    /// Time between the starts of two refresh cycles of a copy.
    pub fn follow_every(&self) -> Duration {
        Duration::from_secs_f64(self.follow_seconds.unwrap_or(FOLLOW_S))
    }

    pub fn query_limit(&self) -> Duration {
        Duration::from_secs_f64(self.query_limit_seconds.unwrap_or(QUERY_LIMIT_S))
    }
}

pub fn check_dop(dop: &[u32]) -> Result<(), String> {
    match dop.iter().find(|n| !(1..=DOP_MAX).contains(*n)) {
        Some(wrong) => Err(format!(
            "dop contains {wrong}, which is not between 1 and {DOP_MAX}"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use lab::{Plan, Registry};

    use super::*;

    fn read(text: &str) -> Result<Plan, String> {
        let alone = Registry::new(vec![Box::new(crate::measure::Analytical)]);
        Plan::parse(&alone, text, &[]).map_err(|error| error.to_string())
    }

    fn plan(olap: &str) -> Result<Plan, String> {
        let text = format!("name = 'p'\n[[step]]\nuse = 'olap'\n[step.olap]\n{olap}");
        read(&text)
    }

    #[test]
    fn contradictions_are_refused() {
        let step = |olap: &str| plan(olap).unwrap().step[0].table::<OlapStep>().clone();
        assert_eq!(step("do = 'run'").queries().len(), 22);
        assert_eq!(step("do = 'run'\nqueries = '14,6'").queries(), [14, 6]);
        assert_eq!(step("do = 'run'\nqueries = [14, 6]").queries(), [14, 6]);
        assert_eq!(step("do = 'run'\nqueries = 1").queries(), [1]);
        for (wrong, says) in [
            ("do = 'load'", "needs scale"),
            ("do = 'load'\nscale = 0", "not between"),
            ("do = 'load'\nscale = 0.012", "same supplier twice"),
            ("do = 'load'\nscale = 1\nstreams = 2", "streams needs do"),
            ("do = 'run'\nqueries = '23'", "is not a query"),
            ("do = 'run'\niterations = 0", "iterations is not"),
            ("do = 'run'\nstreams = 12", "streams is not"),
            ("do = 'run'\ndop = [2, 0]", "dop contains 0"),
            ("do = 'load'\nscale = 1\ndop = [2]", "dop needs do"),
            ("do = 'load'\nscale = 1\nrefresh = true", "refresh needs do"),
            (
                "do = 'run'\ncache = 'cold'\niterations = 2",
                "runs each query once",
            ),
            ("do = 'run'\nrounds = 0", "rounds is not"),
            ("do = 'run'\nrounds = 101", "rounds is not"),
            ("do = 'load'\nscale = 1\nrounds = 2", "rounds needs do"),
            (
                "do = 'run'\nrounds = 2\nstreams = 2",
                "rounds and streams contradict each other",
            ),
            (
                "do = 'run'\nrounds = 2\niterations = 2",
                "rounds and iterations contradict each other",
            ),
            ("do = 'run'\nquery_limit_seconds = 0", "query_limit_seconds"),
            ("do = 'run'\nfollow_seconds = 1", "needs tables"),
            ("do = 'run'\ntables = 'order-entry'", "requires use"),
            ("do = 'run'\nstrems = 1", "did you mean \"streams\""),
        ] {
            let error = plan(wrong).unwrap_err();
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let written = plan(
            "do = 'run'\nscale = 0.01\nqueries = '14,6'\nstreams = 2\ndop = [2, 32]\nrefresh = true\ncache = 'warm'",
        );
        let written = written.unwrap();
        assert_eq!(read(&written.to_toml()).unwrap(), written);
    }
}
