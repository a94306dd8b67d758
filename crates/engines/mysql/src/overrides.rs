//! The settings that dbdyno replaces in its sessions, and what the server had set there.

use super::client::Client;
use super::flavour::Flavour;
use super::session_settings::assignment;
use engine::Result;
use engine::session_settings::{Override, Replaced};

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
const OVERRIDES: &[Override] = &[
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
const OF_MARIADB: &[Override] = &[
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
const OF_MYSQL: &[Override] = &[
    Override::but_scripts(
        "transaction_isolation",
        "REPEATABLE-READ",
        SAME_TRANSACTIONS,
    ),
    Override::but_scripts("max_execution_time", "0", ENDS_STATEMENTS),
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

/// The variable that makes transactions read-only.
pub(super) fn read_only(flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::MariaDb => "tx_read_only",
        Flavour::MySql => "transaction_read_only",
    }
}

fn all(flavour: Flavour) -> impl Iterator<Item = &'static Override> {
    let more = match flavour {
        Flavour::MariaDb => OF_MARIADB,
        Flavour::MySql => OF_MYSQL,
    };
    OVERRIDES.iter().chain(more)
}

/// Settings of a new session; `for_script` leaves the rest as the server has it.
pub(super) fn set_up(flavour: Flavour, for_script: bool, writes_anyway: bool) -> String {
    let all = all(flavour).filter(|of| of.in_scripts || !for_script);
    let lifted = writes_anyway.then(|| (read_only(flavour), "0"));
    let all = all.map(|of| (of.name, of.value)).chain(lifted);
    let all = all.map(|(name, value)| format!("SESSION {}", assignment(name, value)));
    let all: Vec<String> = all.collect();
    format!("SET NAMES utf8mb4; SET {}", all.join(", "))
}

/// Sets a session up that has set nothing yet, and says what it found.
pub(super) fn set_up_first(
    client: &mut Client,
    flavour: Flavour,
    writes_anyway: bool,
) -> Result<Vec<Replaced>> {
    let names: Vec<&str> = all(flavour).map(|of| of.name).collect();
    let values = |of: &str| {
        let names: Vec<String> = names.iter().map(|name| format!("@@{of}.{name}")).collect();
        format!("SELECT {}", names.join(", "))
    };
    // A limit of time or rows may end even this; then what the server has for all sessions says the same.
    let found = client.read(&values("SESSION")).unwrap_or_default();
    client.run(&set_up(flavour, false, writes_anyway))?;
    let found = if found.is_empty() {
        client.read(&values("GLOBAL"))?
    } else {
        found
    };
    let defaults = client
        .read(&flavour.defaults_query(&names))
        .unwrap_or_default();
    let is_default = |name: &str, value: &str| {
        defaults.iter().any(|row| match row.as_slice() {
            [Some(of), Some(default)] => of == name && is_same(default, value),
            _ => false,
        })
    };
    let found = found.into_iter().flatten().map(Option::unwrap_or_default);
    let replaced = all(flavour).zip(found).map(|(of, value)| {
        let is_set = !is_same(&value, of.value) && !is_default(of.name, &value);
        of.over(is_set.then(|| (value, SERVERS.to_owned())))
    });
    Ok(replaced.collect())
}

fn is_same(a: &str, b: &str) -> bool {
    let plain = |text: &str| match text {
        "ON" => "1".to_owned(),
        "OFF" => "0".to_owned(),
        _ => text.to_ascii_lowercase(),
    };
    let (a, b) = (plain(a), plain(b));
    let number = |text: &str| text.parse::<f64>().ok();
    a == b || (number(&a).is_some() && number(&a) == number(&b))
}

/// Where values come from that are no defaults.
pub(super) const SERVERS: &str = "the server's or the account's setting";

#[cfg(test)]
mod tests {
    use super::*;
    use engine::session_settings::table;

    #[test]
    fn the_documents_list_all_of_them() {
        let every = OVERRIDES.iter().map(|of| (of, String::new()));
        let of_mariadb = OF_MARIADB.iter().map(|of| (of, " (MariaDB)".to_owned()));
        let of_mysql = OF_MYSQL.iter().chain([&KEYS_REQUIRED]);
        let of_mysql = of_mysql.map(|of| (of, " (MySQL)".to_owned()));
        let binlog = [(&BINLOG_FORMAT, " (where it is STATEMENT)".to_owned())];
        let all = every.chain(of_mariadb).chain(of_mysql).chain(binlog);
        let table = table("MariaDB, MySQL", all);
        let document = include_str!("../../../../docs/SERVERS.md");
        assert!(
            document.contains(&table),
            "docs/SERVERS.md has not:\n{table}"
        );
    }

    #[test]
    fn spellings_of_one_value_are_the_same() {
        for (a, b) in [("0.000000", "0"), ("ON", "1"), ("no_chain", "NO_CHAIN")] {
            assert!(is_same(a, b), "{a} {b}");
        }
        for (a, b) in [("0.050000", "0"), ("OFF", "1"), ("", "0"), ("A,B", "A")] {
            assert!(!is_same(a, b), "{a} {b}");
        }
    }
}
