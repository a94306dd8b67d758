//! What can go wrong, in sentences for whoever started the run.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a run cannot begin, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file or device cannot be opened.
    #[error("SD {sd}: {} cannot be opened for {access} ({reason}); check the path and its permissions", path.display())]
    Open {
        sd: String,
        path: PathBuf,
        /// "reading" or "reading and writing".
        access: &'static str,
        reason: io::Error,
    },
    /// There is no such file.
    #[error("SD {sd}: {} does not exist; check the path, or give size= to create the file", path.display())]
    Absent { sd: String, path: PathBuf },
    /// More is to be made than there is room for.
    #[error(
        "the files of this list need {wanted_bytes} bytes in {}, where {free_bytes} are free; use a smaller size=, or \
         free some space",
        folder.display()
    )]
    NoRoom {
        folder: PathBuf,
        /// Bytes that are missing of the files.
        wanted_bytes: u64,
        /// Bytes that are free.
        free_bytes: u64,
    },
    /// Somebody else has the device.
    #[error(
        "SD {sd}: {} is mounted or otherwise in use, and writing to it would destroy its contents; unmount it",
        path.display()
    )]
    InUse { sd: String, path: PathBuf },
    /// The device says that it holds something.
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
    /// Two SDs are the same thing, and blocks of one would be found changed by the other.
    #[error("SD {sd}: {} is the same file or device as SD {other}, so its blocks cannot be validated; name it \
             once", path.display())]
    Twice {
        sd: String,
        /// Name of the SD that has it already.
        other: String,
        path: PathBuf,
    },
    /// Neither a file nor a device.
    #[error("SD {sd}: {} is {what}; name a file or a block device", path.display())]
    Kind {
        sd: String,
        path: PathBuf,
        what: &'static str,
    },
    /// A block device through the page cache measures memory.
    #[error("SD {sd}: {} is a block device and would be measured through the page cache; add \
             openflags=o_direct", path.display())]
    NotDirect { sd: String, path: PathBuf },
    /// The size is needed and not known.
    #[error("SD {sd}: {} has no size of its own; add size=", path.display())]
    NoSize { sd: String, path: PathBuf },
    #[error("SD {sd}: {} has {have_bytes} bytes, but size= is {asked_bytes}; format it first, or use a smaller \
             size=", path.display())]
    TooSmall {
        sd: String,
        path: PathBuf,
        /// Bytes there are.
        have_bytes: u64,
        asked_bytes: u64,
    },
    /// Addresses or sizes the device does not take.
    #[error("SD {sd}: {what} of {bytes} bytes is not a multiple of {unit_bytes}, which {} requires with these \
             openflags", path.display())]
    Unaligned {
        sd: String,
        path: PathBuf,
        /// What is not aligned.
        what: &'static str,
        bytes: u64,
        /// What it has to be a multiple of.
        unit_bytes: u64,
    },
    /// No room for two blocks.
    #[error(
        "WD {workload}: its range on {sds} has {width_bytes} bytes, less than two transfers of {size_bytes}; widen the range, \
         enlarge the SD or make the transfers smaller"
    )]
    Narrow {
        workload: String,
        sds: String,
        /// Bytes of the range.
        width_bytes: u64,
        /// Largest transfer on the SD.
        size_bytes: u64,
    },
    /// The run cannot be carried out as it stands.
    #[error("the run {run} is not possible: {what}")]
    Unusable {
        run: String,
        /// What is wrong and what to do.
        what: String,
    },
    /// More than the engine keeps.
    #[error("the run {run} needs {count} {what}, but at most {limit} are supported; use fewer")]
    TooMany {
        run: String,
        count: u64,
        what: &'static str,
        limit: u64,
    },
    /// Memory for the data in flight.
    #[error(
        "{bytes} bytes of memory for the data in flight cannot be allocated ({reason}); lower threads= or xfersize="
    )]
    Memory { bytes: u64, reason: io::Error },
    /// A file that a list names beside what it works on (pattern, journal, monitor file).
    #[error("{} cannot be used as {purpose} ({reason}); check the path, its permissions and the free space \
             there", path.display())]
    SideFile {
        path: PathBuf,
        purpose: &'static str,
        reason: io::Error,
    },
    /// The kernel refused the ring itself in the midst of work.
    #[error("the kernel refused to take more I/O ({reason}); the run ended early")]
    Submit { reason: io::Error },
    /// A thread of the engine is gone.
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
    /// Address in the file or device, in bytes.
    pub offset_bytes: u64,
    /// Bytes it asked for.
    pub size_bytes: u64,
    pub at: Duration,
    pub what: Fault,
}

/// What happened to an I/O that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The system refused, with this number.
    System(i32),
    /// Fewer bytes than asked for.
    Short {
        /// Bytes that were transferred.
        done_bytes: u64,
    },
    /// What was read is not what was written.
    Corrupt {
        /// Address of the sector in the file or device, in bytes: a part of what was read.
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
            // What is written in part found no room for the rest: Linux tells the reason at the next write alone.
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
