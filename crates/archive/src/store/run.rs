//! A run as it is begun, and as it is listed.

use crate::{Inventory, Missing, Platform, PointKey, RunState, StudyPart, TargetRecord};

#[derive(Debug, Clone, Default)]
pub struct NewRun {
    /// Unique name; `None` becomes `run-ID`.
    pub label: Option<String>,
    pub plan_name: String,
    /// The plan as it will be carried out, as TOML.
    pub plan_toml: String,
    pub seed: u64,
    pub repetitions: u32,
    pub targets: Vec<TargetRecord>,
    pub platform: Platform,
    pub inventory: Inventory,
    pub study: Option<StudyPart>,
    pub missing: Vec<Missing>,
    pub tool_version: String,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started_at: String,
    /// Every point of the complete run, in order; a resumed run knows from it what is left.
    pub planned: Vec<PointKey>,
}

/// One line of `runs list`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    pub id: i64,
    pub label: String,
    pub plan_name: String,
    pub state: RunState,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started_at: String,
    /// The label that it was measured under, if it was renamed.
    pub renamed_from: Option<String>,
    pub note: Option<String>,
    pub targets: Vec<TargetRecord>,
    pub points_finished: usize,
    pub points_planned: usize,
    pub valid: bool,
}
