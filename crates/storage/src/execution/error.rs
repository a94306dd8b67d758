//! Errors that end a list of runs early.

use load::search::SearchError;

use crate::engine::EngineError;
use crate::pages::PagesError;

/// Reason why a list ended early.
#[derive(Debug, thiserror::Error)]
pub enum ExecutionError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Pages(#[from] PagesError),
    #[error("{count} I/Os of the run {run} failed, the first: {first}")]
    Failed {
        run: String,
        count: u64,
        first: String,
    },
    /// Data are not on stable storage.
    #[error("{0}")]
    NotWrittenBack(String),
    /// The deviation from the requested shares exceeds the tolerance.
    #[error(
        "in the run {run}, the share of wd={workload} is off by {off_pct:.2} %, but abort_failed_skew= allows \
         {allowed_pct} %; lower the rate, or change the shares"
    )]
    Skew {
        run: String,
        workload: String,
        off_pct: f64,
        allowed_pct: f64,
    },
    /// The rate of a run cannot be searched.
    #[error("the rate of the run {run} cannot be searched: {what}")]
    Unsearchable { run: String, what: &'static str },
    #[error(transparent)]
    Search(#[from] SearchError),
    /// No rate meets the objective.
    #[error("in the run {run}, {what}; use a longer elapsed=, or start with a lower iorate=")]
    Missed { run: String, what: String },
    #[error("{0}")]
    Audience(String),
}
