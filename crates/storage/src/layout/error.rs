//! Errors of layouts.

use std::io;
use std::path::{Path, PathBuf};

/// Environment variable with the parent directory of all layouts.
pub const VARIABLE: &str = "DBDYNO_LAYOUT_DIR";

#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    #[error("layout {name}: {why}")]
    Invalid { name: String, why: String },
    #[error("there is no layout \"{name}\" and no such file; built in are {known}")]
    Unknown { name: String, known: String },
    #[error(
        "layout {0} is made already; remove it with `dbdyno storage layout remove {0}`, or use it as it is"
    )]
    There(String),
    #[error("layout {0} is not made")]
    NotThere(String),
    /// Another process creates, uses or removes it.
    #[error("another dbdyno is using layout {0}; wait until it has finished")]
    InUse(String),
    #[error("layouts attach and mount devices; run as root")]
    NotRoot,
    #[error("{program} is missing; install {package} (on Debian: apt-get install {package})")]
    Missing {
        program: &'static str,
        package: &'static str,
    },
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
    /// A given device carries a signature.
    #[error("{} holds {what}, and a layout would destroy it; name another device, or erase its signature yourself (wipefs)", path.display())]
    Bears { path: PathBuf, what: String },
    #[error("{} is in use: it is mounted, swapped or stacked upon, or another program holds it", .0.display())]
    DeviceInUse(PathBuf),
    #[error("{} is not a block device", .0.display())]
    NoDevice(PathBuf),
    /// The directory belongs to another user.
    #[error("{} {why}; name another directory in ${VARIABLE}", path.display())]
    Foreign { path: PathBuf, why: &'static str },
    #[error("{} does not allow direct I/O, without which a loop device measures the page cache; name another directory in ${VARIABLE}", .0.display())]
    NoDirectIo(PathBuf),
    #[error("{} is in use; stop the database on it and close its files (`fuser -vm {}` lists who has them)", .0.display(), .0.display())]
    Busy(PathBuf),
    #[error("{program} failed: {said}")]
    Failed { program: String, said: String },
    #[error("{}: {reason}", path.display())]
    System { path: PathBuf, reason: io::Error },
}

pub(super) fn system(path: &Path) -> impl FnOnce(io::Error) -> LayoutError + use<> {
    let path = path.to_owned();
    move |reason| LayoutError::System { path, reason }
}
