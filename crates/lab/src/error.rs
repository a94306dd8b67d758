//! What can go wrong with a run.

use archive::ArchiveError;
use engine::{TargetError, UrlError};

/// Result of everything in the laboratory.
pub type Result<T> = std::result::Result<T, LabError>;

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The plan is wrong in itself.
    #[error("{0}")]
    Plan(String),
    /// A target URL is wrong in itself.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// Something that a plan asks for cannot be read.
    #[error("{0}")]
    Unreadable(String),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("{0}")]
    Host(String),
    /// The target does not hold what a step measures.
    #[error("{what}")]
    NotLoaded {
        /// What is missing, as the workload's own error.
        what: Box<dyn std::error::Error + Send + Sync>,
        /// Label of the run, or name of the study.
        label: String,
        verb: &'static str,
    },
    #[error("interrupted; {finished} of {planned} points are kept in the archive")]
    Interrupted {
        finished: usize,
        /// Points of the complete run.
        planned: usize,
        /// Label of the run, or name of the study.
        label: String,
        verb: &'static str,
    },
    /// The target or its device gave out in the middle of the run.
    #[error("{message} ({finished} of {planned} points are kept in the archive); fix the cause")]
    Broken {
        message: String,
        finished: usize,
        /// Points of the complete run.
        planned: usize,
        /// Label of the run, or name of the study.
        label: String,
        verb: &'static str,
    },
}

impl LabError {
    /// The same, where this verb and name resume it and not those of the run.
    #[must_use]
    pub fn resumed_by(mut self, by: &'static str, name: &str) -> Self {
        if let Self::Interrupted { verb, label, .. }
        | Self::Broken { verb, label, .. }
        | Self::NotLoaded { verb, label, .. } = &mut self
        {
            *verb = by;
            name.clone_into(label);
        }
        self
    }
}
