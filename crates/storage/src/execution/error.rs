//! Why a list of runs came to an end before it was done.

use load::search::SearchError;

use crate::engine::EngineError;
use crate::pages::PagesError;

/// Why the list came to an end before it was done.
#[derive(Debug, thiserror::Error)]
pub enum ExecutionError {
    /// A run cannot be carried out.
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Pages(#[from] PagesError),
    #[error("{count} I/Os of the run {run} failed, the first: {first}")]
    Failed {
        run: String,
        count: u64,
        /// What happened to the first.
        first: String,
    },
    /// Data is not on stable storage.
    #[error("{0}")]
    NotWrittenBack(String),
    /// Shares were missed by more than is allowed.
    #[error(
        "in the run {run}, the share of wd={workload} is off by {off_pct:.2} %, but abort_failed_skew= allows \
         {allowed_pct} %; lower the rate, or change the shares"
    )]
    Skew {
        run: String,
        workload: String,
        off_pct: f64,
        /// How far it may be.
        allowed_pct: f64,
    },
    /// A run whose rate cannot be searched.
    #[error("the rate of the run {run} cannot be searched: {what}")]
    Unsearchable {
        run: String,
        /// Why, and what to do.
        what: &'static str,
    },
    /// A search that cannot be made.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// No rate holds what was asked for.
    #[error("in the run {run}, {what}; use a longer elapsed=, or start with a lower iorate=")]
    Missed { run: String, what: String },
    /// What follows a run could not be done.
    #[error("{0}")]
    Audience(String),
}
