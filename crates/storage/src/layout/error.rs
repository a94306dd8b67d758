//! Why a layout cannot be made, shown or removed.

use std::io;
use std::path::{Path, PathBuf};

/// Names the parent of all layouts.
pub const VARIABLE: &str = "DBDYNO_LAYOUT_DIR";

/// Why a layout cannot be made, shown or removed.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    #[error("layout {name}: {why}")]
    Invalid { name: String, why: String },
    /// There is no such layout, neither built in nor as a file.
    #[error("there is no layout \"{name}\" and no such file; built in are {known}")]
    Unknown { name: String, known: String },
    #[error(
        "layout {name} is made already; remove it with `dbdyno layout remove {name}`, or use it as it is"
    )]
    There { name: String },
    /// It is not made.
    #[error("layout {name} is not made")]
    NotThere { name: String },
    /// Another process makes, uses or removes it.
    #[error("another dbdyno is using layout {name}; wait until it has finished")]
    InUse { name: String },
    /// Only root can attach and mount.
    #[error("layouts attach and mount devices; run as root")]
    NotRoot,
    #[error("{program} is missing; install {package} (on Debian: apt-get install {package})")]
    Missing {
        program: &'static str,
        package: &'static str,
    },
    /// Not enough room for the files.
    #[error(
        "{names}: {} MiB are needed in {}, where {} MiB are free; name another directory in $DBDYNO_LAYOUT_DIR, or make its devices smaller",
        need_bytes >> 20, parent.display(), free_bytes >> 20
    )]
    NoRoom {
        names: String,
        parent: PathBuf,
        need_bytes: u64,
        free_bytes: u64,
    },
    /// A given device carries something.
    #[error("{} holds {what}, and a layout would destroy it; name another device, or erase its signature yourself (wipefs)", path.display())]
    Bears { path: PathBuf, what: String },
    /// A given device is used.
    #[error("{} is in use: it is mounted, swapped or stacked upon, or another program holds it", path.display())]
    DeviceInUse { path: PathBuf },
    /// A given path is no block device.
    #[error("{} is not a block device", path.display())]
    NoDevice { path: PathBuf },
    /// The directory belongs to somebody else.
    #[error("{} {why}; name another directory in ${VARIABLE}", path.display())]
    Foreign { path: PathBuf, why: &'static str },
    /// The file system below cannot do direct I/O.
    #[error("{} does not allow direct I/O, without which a loop device measures the page cache; name another directory in ${VARIABLE}", path.display())]
    NoDirectIo { path: PathBuf },
    /// Files on it are open.
    #[error("{} is in use; stop the database on it and close its files (`fuser -vm {}` lists who has them)", path.display(), path.display())]
    Busy { path: PathBuf },
    #[error("{program} failed: {said}")]
    Failed { program: String, said: String },
    #[error("{}: {reason}", path.display())]
    System { path: PathBuf, reason: io::Error },
}

/// An error of the system at this path.
pub(super) fn system(path: &Path) -> impl FnOnce(io::Error) -> LayoutError + use<> {
    let path = path.to_owned();
    move |reason| LayoutError::System { path, reason }
}
