//! What a URL asks of a session, and what every session sets itself so that the server's defaults for
//! language and time do not matter.

use crate::{ErrorKind, Result, TargetError, TargetUrl};

/// The schema that everything of dbdyno's is in.
pub(super) const SCHEMA: &str = "dbdyno";
/// More parallel workers than any server starts.
pub(super) const THREADS_MAX: u32 = 1024;
/// Memory that each worker of an index build must find, or the server plans fewer workers
/// (PostgreSQL's documentation of `maintenance_work_mem` and of CREATE INDEX).
const MAINTENANCE_KIB_PER_THREAD: u64 = 32 << 10;

/// Settings of a URL of a running server.
pub(super) const SETTINGS: &[(&str, &str)] = &[
    (
        "sslmode",
        "disable, allow or prefer: dbdyno does not speak TLS (default prefer)",
    ),
    (
        "others",
        "allow: measure although other sessions are active (default refuse)",
    ),
    (
        "threads",
        "processes of one statement where no test sweeps them (default 1)",
    ),
];

/// Settings of a URL of a local server that are not the server's own.
pub(super) const SETTINGS_LOCAL: &[(&str, &str)] = &[
    (
        "version",
        "which of the installed versions, e.g. 15 (default the newest)",
    ),
    (
        "memory",
        "memory that the server is held to with its page cache, e.g. 2GiB (default no limit)",
    ),
    (
        "threads",
        "processes of one statement where no test sweeps them (default 1)",
    ),
    (
        "KEY",
        "any setting of the server itself, e.g. shared_buffers=1GB",
    ),
];

/// What a URL asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SetUp {
    /// Whether sessions of others may be active.
    pub others_allowed: bool,
    /// Processes of one statement, that of the session included.
    pub threads: u32,
}

impl SetUp {
    pub(super) fn from_url(url: &TargetUrl) -> Result<Self> {
        let value = |key: &str| url.settings.get(key).map(String::as_str);
        let bad = |message: String| Err(TargetError::new(ErrorKind::Statement, message));
        match value("sslmode") {
            None | Some("disable" | "allow" | "prefer") => {}
            Some(mode @ ("require" | "verify-ca" | "verify-full")) => {
                return bad(format!(
                    "sslmode={mode} asks for TLS, which dbdyno does not speak; use sslmode=disable \
                     where the network allows it, or go through an SSH tunnel"
                ));
            }
            Some(mode) => {
                return bad(format!("sslmode={mode} is none of disable, allow, prefer"));
            }
        }
        let others_allowed = match value("others") {
            None | Some("refuse") => false,
            Some("allow") => true,
            Some(other) => return bad(format!("others={other} is neither allow nor refuse")),
        };
        let threads = match value("threads").map(|text| (text, text.parse())) {
            None => 1,
            Some((_, Ok(threads))) if (1..=THREADS_MAX).contains(&threads) => threads,
            Some((text, _)) => {
                return bad(format!(
                    "setting threads={text} of {url} is not a whole number from 1 to {THREADS_MAX}"
                ));
            }
        };
        Ok(Self {
            others_allowed,
            threads,
        })
    }
}

/// Settings of every session from its beginning. Limits on time would end what is measured.
pub(super) const OF_SESSIONS: &[(&str, &str)] = &[
    ("application_name", "dbdyno"),
    ("search_path", SCHEMA),
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "off"),
    ("statement_timeout", "0"),
    ("lock_timeout", "0"),
    ("idle_in_transaction_session_timeout", "0"),
    // What prepared the schema says "already exists, skipping" at every point.
    ("client_min_messages", "warning"),
];

/// Makes statements of a session run in `threads` processes: its own and the workers. A table is small
/// enough for fewer workers only where the degree is swept, so that the figure is of the degree it says.
pub(super) fn threads_sql(threads: u32) -> String {
    let workers = threads.saturating_sub(1);
    let mut sql = format!(
        "SET max_parallel_workers_per_gather = {workers}; \
         SET max_parallel_maintenance_workers = {workers}"
    );
    if workers > 0 {
        let kib = MAINTENANCE_KIB_PER_THREAD * u64::from(threads);
        sql.push_str(&format!(
            "; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0; \
             SELECT set_config('maintenance_work_mem', \
             greatest({kib}, (SELECT setting::bigint FROM pg_settings \
             WHERE name = 'maintenance_work_mem')) || 'kB', false)"
        ));
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_up(settings: &str) -> Result<SetUp> {
        SetUp::from_url(&TargetUrl::parse(&format!("postgres://u@h/d?{settings}")).unwrap())
    }

    #[test]
    fn settings_are_read() {
        let plain = set_up("").unwrap();
        assert_eq!((plain.others_allowed, plain.threads), (false, 1));
        let asked = set_up("others=allow&threads=4&sslmode=disable").unwrap();
        assert_eq!((asked.others_allowed, asked.threads), (true, 4));
    }

    #[test]
    fn senseless_settings_are_refused() {
        for (bad, what) in [
            ("sslmode=require", "TLS"),
            ("sslmode=maybe", "none of"),
            ("others=some", "neither"),
            ("threads=0", "whole number"),
            ("threads=x", "whole number"),
        ] {
            let error = set_up(bad).unwrap_err();
            assert!(error.message.contains(what), "{error}");
        }
    }

    #[test]
    fn one_thread_means_no_worker() {
        assert!(threads_sql(1).contains("per_gather = 0"));
        let four = threads_sql(4);
        assert!(four.contains("per_gather = 3") && four.contains("greatest(131072"));
    }
}
