//! Errors of the engine, as sentences for the user who started the run.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Reason why a run cannot begin or could not continue.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("SD {sd}: {} cannot be opened for {access} ({reason}); check the path and its permissions", path.display())]
    Open {
        sd: String,
        path: PathBuf,
        access: &'static str,
        reason: io::Error,
    },
    #[error("SD {sd}: {} does not exist; check the path, or give size= to create the file", path.display())]
    Absent { sd: String, path: PathBuf },
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
    #[error(
        "SD {sd}: {} is mounted or otherwise in use, and writing to it would destroy its contents; unmount it",
        path.display()
    )]
    InUse { sd: String, path: PathBuf },
    #[error(
        "SD {sd}: {} holds {what}, and writing to it would destroy that; name another device, or erase its signature \
         (wipefs)",
        path.display()
    )]
    Bears {
        sd: String,
        path: PathBuf,
        what: String,
    },
    /// Two SDs are the same file or device, so that one would find the other's blocks changed.
    #[error("SD {sd}: {} is the same file or device as SD {other}, so its blocks cannot be validated; name it \
             once", path.display())]
    Twice {
        sd: String,
        other: String,
        path: PathBuf,
    },
    #[error("SD {sd}: {} is {what}; name a file or a block device", path.display())]
    Kind {
        sd: String,
        path: PathBuf,
        what: &'static str,
    },
    /// A block device through the page cache would measure memory.
    #[error("SD {sd}: {} is a block device and would be measured through the page cache; add \
             openflags=o_direct", path.display())]
    NotDirect { sd: String, path: PathBuf },
    #[error("SD {sd}: {} has no size of its own; add size=", path.display())]
    NoSize { sd: String, path: PathBuf },
    #[error("SD {sd}: {} has {have_bytes} bytes, but size= is {wanted_bytes}; format it first, or use a smaller \
             size=", path.display())]
    TooSmall {
        sd: String,
        path: PathBuf,
        have_bytes: u64,
        wanted_bytes: u64,
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
        write!(
            f,
            "SD {sd}: {operation} of {size_bytes} bytes at offset {offset_bytes} of {path} "
        )?;
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
            Fault::Corrupt { offset_bytes, what } => {
                write!(
                    f,
                    "found a corrupted block at offset {offset_bytes}: {what}"
                )
            }
        }
    }
}
