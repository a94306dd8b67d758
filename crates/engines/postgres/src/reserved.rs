//! Settings that no URL changes.

/// Settings that a URL cannot change, with the reason.
pub(super) const RESERVED: &[(&str, &str)] = &[
    (
        "search_path",
        "dbdyno's tables are in a separate schema; choose it with schema=NAME",
    ),
    ("role session_authorization", "the URL names the user"),
    (
        "application_name bytea_output client_encoding client_min_messages datestyle extra_float_digits intervalstyle \
         standard_conforming_strings timezone",
        "dbdyno sets it, so that results do not depend on it",
    ),
    (
        "default_transaction_deferrable default_transaction_isolation transaction_deferrable transaction_isolation transaction_read_only",
        "dbdyno sets it, so that transactions behave the same on every server",
    ),
    (
        "idle_in_transaction_session_timeout idle_session_timeout lock_timeout statement_timeout transaction_timeout",
        "a time limit would cancel measured statements; scripts keep statement_timeout and lock_timeout of the role (ALTER ROLE … SET)",
    ),
    (
        "max_parallel_maintenance_workers max_parallel_workers_per_gather",
        "the plan sets the threads of a component test (step.threads), and scripts keep the role's value (ALTER ROLE … SET)",
    ),
    (
        "local_preload_libraries session_preload_libraries",
        "it only takes effect when a session starts",
    ),
];
