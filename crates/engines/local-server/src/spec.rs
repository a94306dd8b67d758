//! Specification of a local server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Apart;

/// Sessions that every server lets in: the largest degree of parallelism of a sweep.
pub const SESSIONS_USUAL: u32 = 512;
/// Sessions beside those of the jobs: set-up, proofs, samplers of counters and waits.
const SESSIONS_RESERVE: u32 = 64;
/// The setting of all kinds of server that limits sessions.
pub const MAX_CONNECTIONS: &str = "max_connections";

/// Value of [`MAX_CONNECTIONS`] for so many sessions of jobs.
pub fn connections_for(sessions: u32) -> String {
    sessions.saturating_add(SESSIONS_RESERVE).to_string()
}

/// Sessions of jobs under a value of [`MAX_CONNECTIONS`].
pub(super) fn sessions_under(connections: u32) -> u32 {
    connections.saturating_sub(SESSIONS_RESERVE)
}

/// The setting that lets so many sessions of jobs in; `None` where the usual value does.
pub(super) fn sessions_setting(sessions: u32) -> Option<(&'static str, String)> {
    (sessions > SESSIONS_USUAL).then(|| (MAX_CONNECTIONS, connections_for(sessions)))
}

/// Specification of a local server; everything else has a default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerSpec {
    /// Where its data lies and stays; `None` for a directory that goes with the server.
    pub data_directory: Option<PathBuf>,
    /// Where else some of its files lie and stay.
    pub places: BTreeMap<Apart, PathBuf>,
    /// Version or series of versions, e.g. "15".
    pub version: Option<String>,
    /// Size of the memory group, page cache included.
    pub memory_bytes: Option<u64>,
    pub settings: BTreeMap<String, String>,
    /// Parent of the servers' directories, where neither the default nor `$DBDYNO_SERVER_DIR` will do.
    pub parent_directory: Option<PathBuf>,
}

/// Reads a size: digits and kB, MB, GB (powers of 10^3) or KiB, MiB, GiB, TiB (of 2^10).
pub fn parse_bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let unit: u64 = match &text[digits..] {
        "kB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}
