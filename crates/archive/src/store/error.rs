//! Everything that can go wrong with an archive, each as one sentence for the user.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE};

use crate::PointKey;
use crate::lock_file::LockError;

pub type Result<T> = std::result::Result<T, ArchiveError>;

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file or its directory cannot be opened, created or written.
    #[error("the archive {path} cannot be opened: {reason}; check the path and its permissions")]
    Unreachable { path: PathBuf, reason: String },
    /// There is no archive at the path to read.
    #[error("there is no archive at {path}; measure something first")]
    Absent { path: PathBuf },
    /// The disk, the quota or the limit on file sizes is used up.
    #[error(
        "the archive {path} cannot grow because the disk is full or a quota is used up (every finished point is saved); free \
         some space"
    )]
    Full { path: PathBuf },
    /// The file was an archive once and cannot be trusted any more.
    #[error("the archive {path} is damaged ({detail}) and was not changed; restore it from a copy")]
    Damaged { path: PathBuf, detail: String },
    /// Another version of dbdyno wrote the file.
    #[error(
        "the archive {path} has schema version {found} and was not changed: this dbdyno reads version {known}; use the dbdyno \
         that wrote it"
    )]
    OtherVersion {
        path: PathBuf,
        found: i64,
        /// Version that is read here.
        known: i64,
    },
    #[error("{path} is not a dbdyno archive ({detail}); it was not changed")]
    NotAnArchive { path: PathBuf, detail: String },
    /// Another process has held the archive's lock for too long.
    #[error("the archive {path} is locked by another process; wait until that process has ended")]
    Busy { path: PathBuf },
    #[error("the archive {path} has no run called {name:?}{}", of_study(.alike))]
    UnknownRun {
        path: PathBuf,
        name: String,
        /// Labels of the runs of a study of this name; not all where there are many.
        alike: Vec<String>,
    },
    /// The label stands for an older run.
    #[error("the label {label:?} is taken by another run of this archive; choose another one")]
    LabelTaken { label: String },
    /// The label could not be used to find the run again.
    #[error("{label:?} cannot be the label of a run: {reason}; choose another one")]
    LabelUnusable { label: String, reason: &'static str },
    #[error("the note cannot be saved: {reason}")]
    NoteUnusable { reason: &'static str },
    #[error("run {label:?} is in use by another dbdyno process; wait until that process has ended")]
    RunInUse { label: String },
    /// The place of a run's lock is taken.
    #[error(transparent)]
    LockUnusable(LockError),
    #[error("run {label:?} cannot be deleted: {reason}; nothing was deleted")]
    NotDeleted { label: String, reason: String },
    /// The plan of a new run contradicts itself.
    #[error("the run cannot be planned: {0}")]
    BadPlan(String),
    #[error(
        "run {run_id} already has the point {}; a finished point is never replaced",
        describe(key)
    )]
    PointTwice { run_id: i64, key: Box<PointKey> },
    /// The point is none of those the run was planned with.
    #[error("the point {} is not in the plan of run {run_id}", describe(key))]
    NotPlanned { run_id: i64, key: Box<PointKey> },
    #[error(
        "the lists of the point {} take {bytes} bytes, and the archive stores at most {bytes_max} of a point; split its step",
        describe(key)
    )]
    PointTooLarge {
        key: Box<PointKey>,
        bytes: usize,
        bytes_max: usize,
    },
    #[error("run {run_id} has no point {}", describe(key))]
    NotThere { run_id: i64, key: Box<PointKey> },
    /// A run cannot be complete while planned points are missing.
    #[error(
        "run {run_id} cannot be marked complete: {missing} of its planned points are not finished; resume it"
    )]
    NotComplete { run_id: i64, missing: usize },
    #[error("the archive cannot be used: {0}")]
    Sqlite(rusqlite::Error),
}

/// A point key as a person would say it.
fn describe(key: &PointKey) -> String {
    format!(
        "{} with {} nodes, {} jobs and {} threads (repetition {}, step {}, target {})",
        key.test, key.nodes, key.jobs, key.threads, key.repetition, key.step, key.target
    )
}

impl From<rusqlite::Error> for ArchiveError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl ArchiveError {
    /// True when the environment failed (unreachable, full, damaged …); false when the request
    /// was wrong in itself (a name that does not exist, a label used twice …).
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Absent { .. }
            | Self::Full { .. }
            | Self::Damaged { .. }
            | Self::OtherVersion { .. }
            | Self::NotAnArchive { .. }
            | Self::Busy { .. }
            | Self::LockUnusable(_)
            | Self::Sqlite(_) => true,
            Self::UnknownRun { .. }
            | Self::LabelTaken { .. }
            | Self::LabelUnusable { .. }
            | Self::NoteUnusable { .. }
            | Self::RunInUse { .. }
            | Self::NotDeleted { .. }
            | Self::BadPlan(_)
            | Self::PointTwice { .. }
            | Self::NotPlanned { .. }
            | Self::PointTooLarge { .. }
            | Self::NotThere { .. }
            | Self::NotComplete { .. } => false,
        }
    }

    /// Gives a bare SQLite error its meaning and the archive's path.
    pub(super) fn at(self, path: &Path) -> Self {
        let Self::Sqlite(error) = self else {
            return self;
        };
        let path = path.to_path_buf();
        let detail = error.to_string();
        let Some(failure) = error.sqlite_error() else {
            // Not SQLite but the conversion of a value that the schema's own checks exclude.
            return Self::Damaged { path, detail };
        };
        match failure.code {
            ErrorCode::DiskFull => Self::Full { path },
            // A quota and a file-size limit answer a write with EDQUOT and EFBIG, a full tmpfs the
            // growing of the shared memory with ENOSPC: SQLite reports all three as plain I/O errors.
            ErrorCode::SystemIoFailure
                if [SQLITE_IOERR_WRITE, SQLITE_IOERR_SHMSIZE].contains(&failure.extended_code) =>
            {
                Self::Full { path }
            }
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Damaged { path, detail },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy { path },
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::SystemIoFailure => Self::Unreachable {
                path,
                reason: detail,
            },
            _ => Self::Sqlite(error),
        }
    }
}

/// That a name is the one of a study, where runs are called by it.
fn of_study(alike: &[String]) -> String {
    match alike {
        [] => String::new(),
        runs => format!("; name a run of that study: {}", runs.join(", ")),
    }
}
