//! Exit statuses; their numbers are a contract (docs/USAGE.md).

use std::process::ExitCode;

use archive::ArchiveError;
use archive::reference::ReferenceError;
use lab::LabError;
use workload::columnar::ColumnarError;
use workload::olap::OlapError;
use workload::oltp::OltpError;

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Measured and valid, or done what was asked.
    Fine = 0,
    /// The environment failed: unreachable, full, damaged.
    Environment = 1,
    /// Wrong in itself, knowable without touching a target.
    Wrong = 2,
    /// Measured, but a check failed. In `judge`: the run as a whole is incomplete or was changed, which wins
    /// over any limit.
    CheckFailed = 3,
    /// Measured, but judged below what was asked for: a limit missed or without a valid figure under it, a
    /// verdict of --fail-on.
    Missed = 4,
    /// `vdbench` ended in any other way than fine: the one status of the original, -99, as a shell sees it.
    VdbenchFailed = 157,
    /// Interrupted by its user.
    Interrupted = 130,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status as u8)
    }
}

/// Something that is wrong in itself and has no error type of its own.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(pub String);

/// The status that an error deserves.
pub fn status_of(error: &anyhow::Error) -> Status {
    if let Some(lab) = error.downcast_ref::<LabError>() {
        return match lab {
            LabError::Interrupted { .. } => Status::Interrupted,
            lab if lab.is_environment() => Status::Environment,
            _ => Status::Wrong,
        };
    }
    if let Some(archive) = error.downcast_ref::<ArchiveError>() {
        return if archive.is_environment() {
            Status::Environment
        } else {
            Status::Wrong
        };
    }
    if matches!(error.downcast_ref(), Some(OlapError::Interrupted))
        || matches!(error.downcast_ref(), Some(OltpError::Interrupted))
        || matches!(error.downcast_ref(), Some(ColumnarError::Interrupted))
    {
        return Status::Interrupted;
    }
    if error.is::<ReferenceError>() || error.is::<Wrong>() {
        return Status::Wrong;
    }
    Status::Environment
}
