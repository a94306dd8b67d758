//! Settings of a URL of DuckDB, and the options it is opened with.

use std::path::PathBuf;

use archive::Purpose;

use engine::{Result, TargetError, TargetUrl};

/// Settings of a URL, with their meaning.
pub const SETTINGS: &[(&str, &str)] = &[
    (
        "threads",
        "threads of the pool shared by all sessions (default: one per core)",
    ),
    (
        "memory_limit_mb",
        "buffer pool and working memory in MB (default: 80 % of the memory of the machine, or of its control group)",
    ),
    (
        "place.temporary",
        "directory of temporary files, apart from the data; made where it is not there",
    ),
];

/// More than any machine has cores; DuckDB would start them all.
pub const THREADS_MAX: u32 = 1024;
/// Less than this holds no working set of a single thread.
const MEMORY_LIMIT_MB_MIN: u64 = 16;

/// Settings of a URL; `None` leaves it to DuckDB.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetUp {
    /// Size of the thread pool.
    pub threads: Option<u32>,
    /// Limit of the memory in 10^6 bytes.
    pub memory_limit_mb: Option<u64>,
    pub temporary: Option<PathBuf>,
}

impl SetUp {
    pub fn from_url(url: &TargetUrl) -> Result<Self> {
        let number = |key: &str, least: u64, most: u64| match url.settings.get(key) {
            None => Ok(None),
            Some(text) => match text.parse::<u64>() {
                Ok(n) if (least..=most).contains(&n) => Ok(Some(n)),
                _ => Err(TargetError::statement(format!(
                    "setting {key}={text} of {url} is not an integer from {least} to {most}"
                ))),
            },
        };
        Ok(Self {
            threads: number("threads", 1, u64::from(THREADS_MAX))?.map(|n| n as u32),
            memory_limit_mb: number("memory_limit_mb", MEMORY_LIMIT_MB_MIN, 1_000_000_000)?,
            temporary: url.apart(Purpose::Temporary)?,
        })
    }

    /// Options for opening a database that dbdyno writes.
    pub(super) fn options(&self) -> Vec<(&'static str, String)> {
        let mut options = guarded();
        // Checkpoints happen where a test asks for them, so that the log's growth is its redo.
        options.push(("wal_autocheckpoint", "1TB".into()));
        if let Some(threads) = self.threads {
            options.push(("threads", threads.to_string()));
        }
        if let Some(mb) = self.memory_limit_mb.or_else(of_control_group) {
            options.push(("memory_limit", format!("{mb}MB")));
        }
        options
    }
}

/// Options for looking into a file without changing it.
pub(super) fn options_read_only() -> Vec<(&'static str, String)> {
    let mut options = guarded();
    options.push(("access_mode", "READ_ONLY".into()));
    options.extend(of_control_group().map(|mb| ("memory_limit", format!("{mb}MB"))));
    options
}

/// DuckDB's default share of memory, of the control group's: it does not know every group.
fn of_control_group() -> Option<u64> {
    let bytes = host::memory::limit_bytes()?;
    Some((bytes / 5 * 4 / 1_000_000).max(MEMORY_LIMIT_MB_MIN))
}

/// DuckDB would otherwise fetch extensions from the network when a statement seems to need one.
fn guarded() -> Vec<(&'static str, String)> {
    vec![
        ("autoinstall_known_extensions", "false".into()),
        ("autoload_known_extensions", "false".into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_up(url: &str) -> Result<SetUp> {
        SetUp::from_url(&crate::ENGINES.parse(url).unwrap())
    }

    #[test]
    fn settings_become_options() {
        let set = set_up("duckdb:?threads=3&memory_limit_mb=500").unwrap();
        assert!(set.options().contains(&("threads", "3".into())));
        assert!(set.options().contains(&("memory_limit", "500MB".into())));
        assert_eq!(set_up("duckdb:").unwrap(), SetUp::default());
    }

    #[test]
    fn senseless_settings_are_refused() {
        for bad in [
            "threads=0",
            "threads=two",
            "threads=99999",
            "memory_limit_mb=1",
        ] {
            let error = set_up(&format!("duckdb:?{bad}")).unwrap_err();
            assert!(error.message.contains(bad), "{error}");
        }
    }
}
