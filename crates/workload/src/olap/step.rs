//! What a step asks of the analytical workload.

use std::time::Duration;

use crate::olap::order::STREAMS_MAX;
use crate::olap::work::Cache;
use crate::olap::{JOBS_MAX, QUERIES, Scale, Source, query};
use serde::{Deserialize, Serialize};

use lab::plan::{Keys, TableKind, bounded, is_default};

/// `[step.olap]`.
pub(crate) const TABLE: TableKind = TableKind {
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
/// Most executions of a query in a point.
const ITERATIONS_MAX: u32 = 100_000;
/// Most rounds over all queries: each execution is kept.
const ROUNDS_MAX: u32 = 100;
/// Highest degree of parallelism that can be asked for.
pub(crate) const DOP_MAX: u32 = 1024;
/// A query that takes longer is ended, when nothing is said.
const QUERY_LIMIT_S: f64 = 3600.0;
/// A copy of the order-entry tables follows so often, when nothing is said.
const FOLLOW_S: f64 = 1.0;
const FOLLOW_S_MAX: f64 = 3600.0;

/// What a step does with the analytical database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OlapStep {
    #[serde(rename = "do")]
    pub order: OlapOrder,
    /// Scale: needed to load; a run refuses a database of another one when it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_jobs: Option<u32>,
    /// Queries that are asked; all when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<Queries>,
    /// How often each is asked; once when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iterations: Option<u32>,
    /// Rounds over all queries, as a point of its own that keeps each execution; each query is a point when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rounds: Option<u32>,
    /// Users of the throughput run behind the queries; no such run when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    streams: Option<u32>,
    /// Degrees of parallelism inside one session, each with all points of the run; as the target is opened when
    /// nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dop: Vec<u32>,
    /// Whether orders come and go: before and behind the queries of one user, and beside those of several.
    #[serde(default, skip_serializing_if = "is_default")]
    pub refresh: bool,
    /// Where parameters come from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parameters: Source,
    /// State of the caches before each query, or before the first round.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache: Cache,
    /// A query that takes longer is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    query_limit_seconds: Option<f64>,
    /// The tables that are asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tables: QueryTables,
    /// A copy of the order-entry tables follows the users so often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    follow_seconds: Option<f64>,
}

/// The tables that queries are asked of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryTables {
    /// Those of the analytical workload.
    #[default]
    Analytical,
    /// Those on which the users of order entry work, beside whom they are asked.
    OrderEntry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OlapOrder {
    /// Loads the tables, where they are not there as asked for.
    Load,
    Run,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "QueriesAsWritten", into = "Vec<u32>")]
pub struct Queries(Vec<u32>);

/// `"14,6,1"` or `[14, 6, 1]`.
#[derive(Deserialize)]
#[serde(untagged)]
enum QueriesAsWritten {
    One(u32),
    List(Vec<u32>),
    Text(String),
}

impl TryFrom<QueriesAsWritten> for Queries {
    type Error = String;

    fn try_from(written: QueriesAsWritten) -> Result<Self, String> {
        let text = match written {
            QueriesAsWritten::One(number) => number.to_string(),
            QueriesAsWritten::Text(text) => text,
            QueriesAsWritten::List(list) => {
                let list: Vec<String> = list.iter().map(u32::to_string).collect();
                list.join(",")
            }
        };
        query::numbers(&text).map(Self)
    }
}

impl From<Queries> for Vec<u32> {
    fn from(queries: Queries) -> Self {
        queries.0
    }
}

impl OlapStep {
    pub(crate) fn check(&self) -> Result<(), String> {
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

    /// The scale; `None` where a run takes any.
    pub fn scale(&self) -> Option<Scale> {
        self.scale.and_then(|scale| Scale::new(scale).ok())
    }

    pub fn queries(&self) -> Vec<u32> {
        let asked = self.queries.as_ref().map(|queries| queries.0.clone());
        asked.unwrap_or_else(|| (1..=QUERIES).collect())
    }

    /// Queries that are named; none where all are meant.
    pub fn asked(&self) -> &[u32] {
        self.queries.as_ref().map_or(&[], |queries| &queries.0)
    }

    /// How often each is asked.
    pub fn iterations(&self) -> u32 {
        self.iterations.unwrap_or(1)
    }

    pub fn rounds(&self) -> Option<u32> {
        self.rounds
    }

    /// Users of the throughput run.
    pub fn streams(&self) -> u32 {
        self.streams.unwrap_or(0)
    }

    /// From the begin of a cycle in which a copy follows order entry to that of the next.
    pub fn follow_every(&self) -> Duration {
        Duration::from_secs_f64(self.follow_seconds.unwrap_or(FOLLOW_S))
    }

    /// A query that takes longer is ended.
    pub fn query_limit(&self) -> Duration {
        Duration::from_secs_f64(self.query_limit_seconds.unwrap_or(QUERY_LIMIT_S))
    }
}

/// Refuses a degree of parallelism that is none.
pub(crate) fn check_dop(dop: &[u32]) -> Result<(), String> {
    match dop.iter().find(|n| !(1..=DOP_MAX).contains(*n)) {
        Some(wrong) => Err(format!(
            "dop contains {wrong}, which is not between 1 and {DOP_MAX}"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use lab::Plan;

    use super::*;

    fn plan(olap: &str) -> Result<Plan, String> {
        let text = format!("name = 'p'\n[[step]]\nuse = 'olap'\n[step.olap]\n{olap}");
        crate::tests::plan(&text, &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn what_contradicts_itself_is_told() {
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
        assert_eq!(
            crate::tests::plan(&written.to_toml(), &[]).unwrap(),
            written
        );
    }
}
