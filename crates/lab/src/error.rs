//! Errors of a run.

use archive::ArchiveError;
use engine::{TargetError, UrlError};

pub type Result<T> = std::result::Result<T, LabError>;

#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error("{0}")]
    Plan(String),
    #[error(transparent)]
    Url(#[from] UrlError),
    #[error("{0}")]
    Unreadable(String),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("{0}")]
    Host(String),
    /// The target does not hold the data of a step.
    #[error("{what}")]
    NotLoaded {
        /// Missing data, as the workload's error.
        what: Box<dyn std::error::Error + Send + Sync>,
        label: String,
        verb: &'static str,
    },
    #[error("interrupted; {finished} of {planned} points are kept in the archive")]
    Interrupted {
        finished: usize,
        planned: usize,
        label: String,
        verb: &'static str,
    },
    /// The target or its device failed during the run.
    #[error("{message} ({finished} of {planned} points are kept in the archive); fix the cause")]
    Broken {
        message: String,
        finished: usize,
        planned: usize,
        label: String,
        verb: &'static str,
    },
}

impl LabError {
    /// The same error with the verb and name of the study that resumes it.
    #[must_use]
    pub(crate) fn resumed_by(mut self, by: &'static str, name: &str) -> Self {
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
