//! The monitor file, with which a run is ended from outside.

use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use crate::regular;

/// Contents of a monitor file that end the run, or all of them.
const END_RUN: &str = "end_rd";
const END_ALL: &str = "end_vdbench";
/// Bytes of a monitor file that are read.
const MONITOR_BYTES_MAX: u64 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Monitored {
    EndRun,
    EndAll,
}

pub(super) fn check(path: &Path) -> io::Result<()> {
    regular::may_write(path)
}

/// Request of the file, if it was written since.
pub(super) fn monitored(path: Option<&Path>, since: SystemTime) -> Option<Monitored> {
    let mut text = String::new();
    let file = regular::read(path?).ok()?;
    if file.metadata().ok()?.modified().ok()? < since {
        return None;
    }
    file.take(MONITOR_BYTES_MAX)
        .read_to_string(&mut text)
        .ok()?;
    if text.contains(END_ALL) {
        Some(Monitored::EndAll)
    } else {
        text.contains(END_RUN).then_some(Monitored::EndRun)
    }
}
