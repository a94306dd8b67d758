//! Errors of the engine, as sentences for the user who started the run.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::run::{Run, StorageDefinition};

/// Reason why a run cannot begin or could not continue.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("SD {sd}: {} {obstacle}", path.display())]
    Sd {
        sd: String,
        path: PathBuf,
        obstacle: Obstacle,
    },
    #[error(
        "the files of this list need {wanted_bytes} bytes in {}, where {free_bytes} are free; use a smaller size=, or \
         free some space",
        folder.display()
    )]
    NoRoom {
        folder: PathBuf,
        wanted_bytes: u64,
        free_bytes: u64,
    },
    /// Addresses or sizes are not aligned to the device.
    #[error("SD {sd}: {what} of {bytes} bytes is not a multiple of {unit_bytes}, which {} requires with these \
             openflags", path.display())]
    Unaligned {
        sd: String,
        path: PathBuf,
        what: &'static str,
        bytes: u64,
        unit_bytes: u64,
    },
    /// The range is narrower than two blocks.
    #[error(
        "WD {workload}: its range on {sds} has {width_bytes} bytes, less than two transfers of {size_bytes}; widen the range, \
         enlarge the SD or make the transfers smaller"
    )]
    Narrow {
        workload: String,
        sds: String,
        width_bytes: u64,
        size_bytes: u64,
    },
    #[error("the run {run} is not possible: {what}")]
    Unusable {
        run: String,
        /// Problem and way out.
        what: String,
    },
    #[error("the run {run} needs {count} {what}, but at most {limit} are supported; use fewer")]
    TooMany {
        run: String,
        count: u64,
        what: &'static str,
        limit: u64,
    },
    #[error(
        "{bytes} bytes of memory for the data in flight cannot be allocated ({reason}); lower threads= or xfersize="
    )]
    Memory { bytes: u64, reason: io::Error },
    /// A file that a list names in addition to its SDs (pattern, journal, monitor file) cannot be used.
    #[error("{} cannot be used as {purpose} ({reason}); check the path, its permissions and the free space \
             there", path.display())]
    SideFile {
        path: PathBuf,
        purpose: &'static str,
        reason: io::Error,
    },
    #[error("the kernel refused to take more I/O ({reason}); the run ended early")]
    Submit { reason: io::Error },
    #[error(
        "a thread of the storage engine ended unexpectedly; report this with the parameter file"
    )]
    WorkerGone,
}

impl EngineError {
    pub(crate) fn of_sd(sd: &StorageDefinition, obstacle: Obstacle) -> Self {
        Self::Sd {
            sd: sd.name.clone(),
            path: sd.path.clone(),
            obstacle,
        }
    }

    /// The run cannot be carried out; `what` is the problem and the way out.
    pub(crate) fn unusable(run: &Run, what: impl Into<String>) -> Self {
        Self::Unusable {
            run: run.name.clone(),
            what: what.into(),
        }
    }

    pub(crate) fn too_many(run: &Run, count: u64, what: &'static str, limit: u64) -> Self {
        Self::TooMany {
            run: run.name.clone(),
            count,
            what,
            limit,
        }
    }
}

/// Reason why a file or device cannot be an SD, after its path.
#[derive(Debug, thiserror::Error)]
pub enum Obstacle {
    #[error("cannot be opened for {access} ({reason}); check the path and its permissions")]
    Open {
        access: &'static str,
        reason: io::Error,
    },
    #[error("does not exist; {0}")]
    Absent(&'static str),
    #[error(
        "is mounted or otherwise in use, and writing to it would destroy its contents; unmount it"
    )]
    InUse,
    #[error(
        "holds {0}, and writing to it would destroy that; name another device, or erase its signature (wipefs)"
    )]
    Bears(String),
    /// One SD would find the blocks of the other changed.
    #[error(
        "is the same file or device as SD {0}, so its blocks cannot be validated; name it once"
    )]
    Twice(String),
    #[error("is {0}; name a file or a block device")]
    Kind(&'static str),
    #[error(
        "is a block device and would be measured through the page cache; add openflags=o_direct"
    )]
    NotDirect,
    #[error("has no size of its own; add size=")]
    NoSize,
    #[error(
        "has {have_bytes} bytes, but size= is {wanted_bytes}; format it first, or use a smaller size="
    )]
    TooSmall { have_bytes: u64, wanted_bytes: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    Read,
    Write,
}

impl Operation {
    /// Position in an array with one entry for each operation.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self == Operation::Write)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Read => "read",
            Operation::Write => "write",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoFault {
    pub sd: String,
    pub path: PathBuf,
    pub workload: String,
    pub operation: Operation,
    pub offset_bytes: u64,
    pub size_bytes: u64,
    pub at: Duration,
    pub what: Fault,
}

/// Kind of failure of an I/O.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    System(i32),
    Short {
        done_bytes: u64,
    },
    Corrupt {
        /// Address of the corrupted sector in the file or device, within the bytes read.
        offset_bytes: u64,
        what: String,
    },
}

impl fmt::Display for IoFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sd,
            operation,
            offset_bytes,
            size_bytes,
            ..
        } = self;
        let path = self.path.display();
        let io = format!("{operation} of {size_bytes} bytes at offset {offset_bytes} of {path}");
        write!(f, "SD {sd}: {io} ")?;
        match &self.what {
            Fault::System(number) => {
                let said = io::Error::from_raw_os_error(*number);
                match *number {
                    libc::ENOSPC => write!(f, "failed: the file system or device is full ({said})"),
                    _ => write!(f, "failed: {said}"),
                }
            }
            // A short write means no space for the rest: Linux reports the reason only at the next write.
            Fault::Short { done_bytes } if *operation == Operation::Write => write!(
                f,
                "was short: {done_bytes} bytes were written; the file system is full, or a quota or file-size limit is reached"
            ),
            Fault::Short { done_bytes } => {
                write!(f, "was short: {done_bytes} bytes were transferred")
            }
            Fault::Corrupt { offset_bytes, what } => write!(
                f,
                "found a corrupted block at offset {offset_bytes}: {what}"
            ),
        }
    }
}
