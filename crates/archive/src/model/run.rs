//! A run: the repetitions of one plan over one or more targets; what `RUN` names on the command line.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Inventory, Platform, Point, RightsMissing, StudyPart};
use crate::remark::Remark;

words! {
    #[derive(Default)]
    pub enum RunState {
        /// Begun; also what a killed run looks like until it is resumed.
        #[default]
        Running = "running",
        /// Stopped by its user or by an error; can be resumed.
        Interrupted = "interrupted",
        /// Every planned point is there.
        Complete = "complete",
    }
}

/// A database under test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TargetRecord {
    /// Short name, as in the points.
    pub name: String,
    /// URL without secrets.
    pub url: String,
    /// Kind of database.
    pub engine: String,
    /// Version as the engine reports it.
    pub engine_version: String,
    /// Nodes of the cluster.
    pub nodes: u32,
    /// Block device under its files; null for databases in memory or on another host.
    pub device: Option<String>,
    /// Settings read back from the engine.
    pub settings: BTreeMap<String, String>,
    /// Rights that the target's user lacks; null if none is known to be missing.
    pub rights_missing: Option<RightsMissing>,
}

/// A test (or part of a sweep) that a target cannot do.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// Target, as an index into the run's targets.
    pub target: u32,
    pub test: String,
    pub title: String,
    pub reason: Remark,
}

/// Name of plan, target and engine of a run in which `dbdyno vdbench` carried out a parameter file.
pub const OF_PARAMETER_FILES: &str = "vdbench";

impl Run {
    /// True for a run of a parameter file: it has no steps that could be resumed.
    pub fn is_of_parameter_file(&self) -> bool {
        let mut targets = self.targets.iter();
        self.plan_name == OF_PARAMETER_FILES && targets.all(|t| t.engine == OF_PARAMETER_FILES)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    pub id: i64,
    /// Unique name; `run-ID` when none was given.
    pub label: String,
    /// The label that it was measured under, if it was renamed.
    pub renamed_from: Option<String>,
    pub note: Option<String>,
    pub state: RunState,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started_at: String,
    pub finished_at: Option<String>,
    pub tool_version: String,
    pub plan_name: String,
    /// The plan as it was carried out, with every `--set` applied, as TOML.
    pub plan_toml: String,
    /// Seed from which every point's seed is derived.
    pub seed: u64,
    pub repetitions: u32,
    pub points_planned: u32,
    pub targets: Vec<TargetRecord>,
    pub platform: Platform,
    pub inventory: Inventory,
    pub study: Option<StudyPart>,
    pub missing: Vec<Missing>,
    /// Finished points in the order they were measured.
    pub points: Vec<Point>,
    /// Why the run as a whole is invalid, besides its points: its record was changed, points are gone.
    pub reasons: Vec<Remark>,
}

impl Run {
    pub fn planned(plan_name: &str) -> Self {
        Self {
            plan_name: plan_name.to_owned(),
            ..Self::default()
        }
    }

    /// Faults of the published protocol that its plan repeats, as the plan states them.
    pub fn unsound(&self) -> Vec<Remark> {
        #[derive(Default, Deserialize)]
        struct Said {
            #[serde(default)]
            unsound: Vec<Remark>,
        }
        toml::from_str::<Said>(&self.plan_toml)
            .unwrap_or_default()
            .unsound
    }

    /// Time from the start of the first of `runs` to the end of the last one.
    pub fn elapsed(runs: &[&Self]) -> Option<Duration> {
        let time = |text: &str| text.parse::<Timestamp>().ok();
        let starts = runs.iter().filter_map(|run| time(&run.started_at));
        let ends = runs
            .iter()
            .filter_map(|run| time(run.finished_at.as_deref()?));
        let (start, end) = (starts.min()?, ends.max()?);
        end.duration_since(start).try_into().ok()
    }

    /// True when the run is complete, its record unchanged and every point valid.
    pub fn valid(&self) -> bool {
        self.state == RunState::Complete
            && self.reasons.is_empty()
            && self.points.iter().all(Point::valid)
    }
}
