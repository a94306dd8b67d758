//! The settings that dbdyno replaces in its sessions, with the reason for each.

use engine::session_settings::Override;

const ENDS_SESSIONS: &str = "a limit would end measured sessions";
const ENDS_STATEMENTS: &str = "a limit would cancel measured statements";
const REFUSES: &str = "it would refuse measured statements";
const CUTS: &str = "a limit would cut results";
const CHANGES_RESULTS: &str = "so that results do not depend on it";
const SAME_TRANSACTIONS: &str = "so that transactions behave the same on every server";

/// The longest time of variables in seconds, a year.
const YEAR: &str = "31536000";
/// The largest number of variables of 64 bits.
const MOST: &str = "18446744073709551615";

/// Settings of every session, in this order: `max_join_size` resets `sql_big_selects`.
pub(super) const OVERRIDES: &[Override] = &[
    Override::everywhere(
        "character_set_client",
        "utf8mb4",
        "statements and results are sent in it",
    ),
    Override::everywhere("autocommit", "1", SAME_TRANSACTIONS),
    Override::everywhere("completion_type", "NO_CHAIN", SAME_TRANSACTIONS),
    Override::everywhere("wait_timeout", YEAR, ENDS_SESSIONS),
    Override::everywhere("net_read_timeout", YEAR, ENDS_SESSIONS),
    Override::everywhere("net_write_timeout", YEAR, ENDS_SESSIONS),
    Override::but_scripts("collation_connection", "utf8mb4_bin", CHANGES_RESULTS),
    Override::but_scripts(
        "sql_mode",
        "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
        CHANGES_RESULTS,
    ),
    Override::but_scripts("time_zone", "+00:00", CHANGES_RESULTS),
    Override::but_scripts("sql_auto_is_null", "0", CHANGES_RESULTS),
    Override::but_scripts("div_precision_increment", "4", CHANGES_RESULTS),
    Override::but_scripts("sql_select_limit", MOST, CUTS),
    Override::but_scripts("max_sp_recursion_depth", "255", REFUSES),
    Override::but_scripts("sql_safe_updates", "0", REFUSES),
    Override::but_scripts("max_join_size", MOST, REFUSES),
    Override::but_scripts("sql_big_selects", "1", REFUSES),
    Override::but_scripts("lock_wait_timeout", "86400", ENDS_STATEMENTS),
    Override::but_scripts(
        "default_storage_engine",
        "InnoDB",
        "dbdyno measures tables of InnoDB",
    ),
    Override::but_scripts("unique_checks", "1", "so that keys are checked"),
    Override::but_scripts("foreign_key_checks", "1", "so that keys are checked"),
];

/// Those that only one of the servers has.
pub(super) const OF_MARIADB: &[Override] = &[
    Override::everywhere("idle_transaction_timeout", "0", ENDS_SESSIONS),
    Override::everywhere("idle_readonly_transaction_timeout", "0", ENDS_SESSIONS),
    Override::everywhere("idle_write_transaction_timeout", "0", ENDS_SESSIONS),
    Override::but_scripts("tx_isolation", "REPEATABLE-READ", SAME_TRANSACTIONS),
    Override::but_scripts("max_statement_time", "0", ENDS_STATEMENTS),
    Override::everywhere("max_recursive_iterations", "4294967295", CUTS),
    Override::but_scripts(
        "check_constraint_checks",
        "1",
        "so that constraints are checked",
    ),
];
pub(super) const OF_MYSQL: &[Override] = &[
    Override::but_scripts(
        "transaction_isolation",
        "REPEATABLE-READ",
        SAME_TRANSACTIONS,
    ),
    Override::but_scripts("max_execution_time", "0", ENDS_STATEMENTS),
    Override::everywhere(
        "information_schema_stats_expiry",
        "0",
        "so that sizes of tables are those of now",
    ),
    Override::everywhere("cte_max_recursion_depth", "4294967295", REFUSES),
];

/// Set where the server would refuse measured statements otherwise; both need a right that dbdyno has.
pub(super) const BINLOG_FORMAT: Override = Override::but_scripts(
    "binlog_format",
    "MIXED",
    "STATEMENT cannot log what changes at READ COMMITTED (error 1665)",
);
pub(super) const KEYS_REQUIRED: Override = Override::but_scripts(
    "sql_require_primary_key",
    "0",
    "some of the tables have no primary key",
);
