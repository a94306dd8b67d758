//! A run as it is begun, and as it is listed.

use crate::{Inventory, Missing, Platform, PointKey, RunState, StudyPart, TargetRecord};

/// A run about to begin.
#[derive(Debug, Clone, Default)]
pub struct NewRun {
    /// Unique name; `None` becomes `run-ID`.
    pub label: Option<String>,
    pub plan_name: String,
    /// The plan as it will be carried out, as TOML.
    pub plan_toml: String,
    /// Seed from which every point's seed is derived.
    pub seed: u64,
    pub repetitions: u32,
    /// Targets, as they were found.
    pub targets: Vec<TargetRecord>,
    pub platform: Platform,
    /// The machine in full, and what is advised for it.
    pub inventory: Inventory,
    /// The run's part in a study.
    pub study: Option<StudyPart>,
    /// What the targets cannot do.
    pub missing: Vec<Missing>,
    /// Version of dbdyno that measures.
    pub tool_version: String,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started_at: String,
    /// Every point of the complete run, in order; a resumed run knows from it what is left.
    pub planned: Vec<PointKey>,
}

/// One line of `list runs`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    pub id: i64,
    pub label: String,
    pub plan_name: String,
    pub state: RunState,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started_at: String,
    /// The label that it was measured under, when its user has called it by another name since.
    pub renamed_from: Option<String>,
    /// What its user noted of it.
    pub note: Option<String>,
    pub targets: Vec<TargetRecord>,
    pub points_finished: usize,
    /// Points of the complete run.
    pub points_planned: usize,
    /// Complete, unchanged and every point valid.
    pub valid: bool,
}
