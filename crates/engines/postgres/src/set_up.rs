//! Settings of a session by its URL, and those that every session sets so that the server's defaults for
//! language and time do not matter.

use super::overrides::READ_ONLY;
use super::reserved::RESERVED;
use engine::session_settings::{self, SessionSettings};
use engine::{Result, TargetError, TargetUrl};

/// The schema that everything of dbdyno's is in, unless a URL names another.
pub(super) const SCHEMA: &str = "dbdyno";
/// More parallel workers than any server starts.
pub(super) const THREADS_MAX: u32 = 1024;
/// Memory that each worker of an index build must find, or the server plans fewer workers
/// (PostgreSQL's documentation of `maintenance_work_mem` and of CREATE INDEX).
const MAINTENANCE_KIB_PER_THREAD: u64 = 32 << 10;

pub(super) const SETTINGS: &[(&str, &str)] = &[
    (
        "sslmode",
        "TLS: disable, prefer, require, verify-ca or verify-full (default $PGSSLMODE, else prefer)",
    ),
    (
        "sslrootcert",
        "file of trusted certificate authorities (PEM), or system (default $PGSSLROOTCERT)",
    ),
    (
        "sslcert",
        "file of the client's certificate (PEM; default $PGSSLCERT)",
    ),
    ("sslkey", "file of its private key (PEM; default $PGSSLKEY)"),
    (
        "sslnegotiation",
        "direct: begin with TLS, from PostgreSQL 17 on (default postgres: ask for it first)",
    ),
    (
        "channel_binding",
        "disable, prefer or require: bind the login to the server's certificate (default prefer)",
    ),
    (
        "others",
        "allow: measure although other sessions are active (default refuse)",
    ),
    ("schema", "dbdyno's schema in the database (default dbdyno)"),
    (
        "service",
        "section of ~/.pg_service.conf with what the URL leaves out (default $PGSERVICE, if it names no host)",
    ),
    (
        "passfile",
        "file of passwords (default $PGPASSFILE, else ~/.pgpass)",
    ),
    (
        READ_ONLY,
        "off: write although role, database or server are set to read only",
    ),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SetUp {
    pub others_allowed: bool,
    /// True if to write although role, database or server are set to read only.
    pub writes_anyway: bool,
    /// Settings of the server for the sessions that are measured, as they were asked for.
    pub session: SessionSettings,
}

impl SetUp {
    /// For a server that nobody else can reach, and that has the settings of its URL itself.
    pub(super) fn alone() -> Self {
        Self {
            others_allowed: true,
            writes_anyway: false,
            session: SessionSettings::new(),
        }
    }

    pub(super) fn from_url(url: &TargetUrl) -> Result<Self> {
        let read_only = url.settings.get(READ_ONLY);
        if let Some(other) = read_only.filter(|value| *value != "off") {
            return Err(TargetError::statement(format!(
                "{READ_ONLY}={other} is not off; to forbid writing, set it for the role"
            )));
        }
        Ok(Self {
            others_allowed: url.others_allowed()?,
            writes_anyway: read_only.is_some(),
            session: session_settings::of_url(url, SETTINGS, RESERVED)?,
        })
    }
}

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
        SetUp::from_url(
            &crate::ENGINES
                .parse(&format!("postgres://u@h/d?{settings}"))
                .unwrap(),
        )
    }

    #[test]
    fn settings_are_read() {
        assert!(!set_up("").unwrap().others_allowed);
        assert!(
            set_up("others=allow&sslmode=disable")
                .unwrap()
                .others_allowed
        );
    }

    #[test]
    fn senseless_settings_are_refused() {
        for (bad, what) in [
            ("others=some", "neither"),
            ("search_path=public", "schema=NAME"),
            ("Statement_Timeout=1s", "would cancel measured statements"),
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
