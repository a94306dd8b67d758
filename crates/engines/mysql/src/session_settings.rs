//! Settings of a URL in the sessions of MariaDB and MySQL.

use super::client::Client;
use super::explain::explain;
use super::flavour::Flavour;
use engine::session_settings::{
    SessionSettings, all_in_force, not_in_force, not_taken, of_the_server,
};
use engine::{Result, TargetError};

/// Settings that a URL cannot change, with the reason.
pub(super) const RESERVED: &[(&str, &str)] = &[
    (
        "character_set_client character_set_connection character_set_database character_set_results collation_connection \
         collation_database default_storage_engine foreign_key_checks sql_mode time_zone unique_checks",
        "dbdyno sets it, so that results and tables do not depend on it",
    ),
    (
        "autocommit completion_type transaction_isolation tx_isolation",
        "dbdyno sets it, so that transactions behave the same on every server",
    ),
    (
        "max_execution_time max_statement_time",
        "a time limit would cancel measured statements; scripts keep that of the server or the account",
    ),
    (
        "idle_readonly_transaction_timeout idle_transaction_timeout idle_write_transaction_timeout net_read_timeout net_write_timeout \
         wait_timeout",
        "it would end sessions that are measured",
    ),
    (
        "max_join_size sql_big_selects sql_safe_updates",
        "it would refuse measured statements; scripts keep what the server has",
    ),
    (
        "max_recursive_iterations max_sp_recursion_depth sql_select_limit",
        "a limit would change results",
    ),
    (
        "innodb_compression_default",
        "the plan decides whether tables are compressed",
    ),
    (
        "sql_log_bin",
        "replicas of the server would miss the changes",
    ),
];

/// Errors of the server by number, as its manual lists them.
mod code {
    pub const UNKNOWN_VARIABLE: u16 = 1193;
    pub const GLOBAL_VARIABLE: u16 = 1229;
    pub const READ_ONLY_OR_GLOBAL: u16 = 1238;
}

/// Sets what is asked for, one by one, and gives the values as the server writes them.
pub(super) fn try_settings(
    client: &mut Client,
    flavour: Flavour,
    asked: &SessionSettings,
) -> Result<SessionSettings> {
    let mut in_force = SessionSettings::new();
    for (name, value) in asked {
        let sql = format!("SET SESSION {}", assignment(name, value));
        if let Err(error) = client.attempt(&sql)? {
            let why = match error.code {
                code::GLOBAL_VARIABLE => "it is a global variable, which all sessions share",
                code::READ_ONLY_OR_GLOBAL => {
                    "it is read-only while the server runs, or cannot be set for a session"
                }
                code::UNKNOWN_VARIABLE => return Err(unknown(flavour, name)),
                _ => return Err(not_taken(name, value, explain("SET SESSION", &error))),
            };
            return Err(of_the_server(flavour.title, name, why));
        }
        let found = read_back(client, [name.as_str()])?;
        let found = found.into_iter().next().unwrap_or_default();
        if !means(&found, value) {
            return Err(not_in_force(flavour.title, name, value, &found));
        }
        in_force.insert(name.clone(), found);
    }
    Ok(in_force)
}

/// Sets what [`try_settings`] gave, and reads it back.
pub(super) fn set_settings(
    client: &mut Client,
    flavour: Flavour,
    settings: &SessionSettings,
) -> Result<()> {
    if settings.is_empty() {
        return Ok(());
    }
    let all: Vec<String> = settings.iter().map(|(n, v)| assignment(n, v)).collect();
    client.run(&format!("SET SESSION {}", all.join(", SESSION ")))?;
    let found = read_back(client, settings.keys().map(String::as_str))?;
    all_in_force(flavour.title, settings, found)
}

fn read_back<'n>(
    client: &mut Client,
    names: impl IntoIterator<Item = &'n str>,
) -> Result<Vec<String>> {
    let names: Vec<String> = names
        .into_iter()
        .map(|n| format!("@@SESSION.{n}"))
        .collect();
    let rows = client.read(&format!("SELECT {}", names.join(", ")))?;
    let cells = rows.into_iter().flatten();
    Ok(cells.map(Option::unwrap_or_default).collect())
}

/// A variable with its value, as SET takes it.
pub(super) fn assignment(name: &str, value: &str) -> String {
    match number(value) {
        Some(number) => format!("{name} = {number}"),
        None => {
            let value = value.replace('\\', "\\\\").replace('\'', "''");
            format!("{name} = '{value}'")
        }
    }
}

/// A number as statements have it; option files, and so the URLs of local servers, know K, M and G as well.
fn number(text: &str) -> Option<String> {
    if let Ok(number) = text.parse::<i128>() {
        return Some(number.to_string());
    }
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let factor: u64 = match unit {
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => {
            let is_decimal = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            return (is_decimal && text.parse::<f64>().is_ok()).then(|| text.to_owned());
        }
    };
    let number = digits.parse::<u64>().ok()?.checked_mul(factor)?;
    Some(number.to_string())
}

/// True if what was read back is what was asked for: a number, a word, yes or no, or flags among all that there are.
fn means(found: &str, asked: &str) -> bool {
    let switch = |text: &str| match text.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" => Some(true),
        "0" | "off" | "false" => Some(false),
        _ => None,
    };
    let value = |text: &str| number(text)?.parse::<f64>().ok();
    if value(asked).is_some() && value(found) == value(asked) {
        return true;
    }
    if switch(asked).is_some() && switch(found) == switch(asked) {
        return true;
    }
    let flags: Vec<String> = found.split(',').map(str::to_ascii_lowercase).collect();
    let mut asked = asked
        .split(',')
        .map(|flag| flag.trim().to_ascii_lowercase());
    asked.all(|flag| flags.contains(&flag))
}

fn unknown(flavour: Flavour, name: &str) -> TargetError {
    TargetError::statement(format!(
        "{0}: this server has no setting \"{name}\"; `SHOW SESSION VARIABLES` lists its settings, and the URL has \
         socket and others",
        flavour.title
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_statements_take_them() {
        for (value, expected) in [
            ("65536", "x = 65536"),
            ("4M", "x = 4194304"),
            ("0.5", "x = 0.5"),
            ("ON", "x = 'ON'"),
            ("", "x = ''"),
            ("1; DROP TABLE t", "x = '1; DROP TABLE t'"),
            ("a'b\\", "x = 'a''b\\\\'"),
            ("ä", "x = 'ä'"),
        ] {
            assert_eq!(assignment("x", value), expected, "{value}");
        }
    }

    #[test]
    fn what_is_read_back_is_what_was_asked_for_or_not() {
        for (found, asked) in [
            ("4194304", "4M"),
            ("0.500000", "0.5"),
            ("1", "ON"),
            ("OFF", "0"),
            ("COMPLEMENTARY", "complementary"),
            ("mrr=on,mrr_cost_based=off", "mrr=on"),
        ] {
            assert!(means(found, asked), "{found} {asked}");
        }
        for (found, asked) in [
            ("1024", "1"),
            ("0", "on"),
            ("mrr=off,mrr_cost_based=off", "mrr=on"),
            ("", "x"),
        ] {
            assert!(!means(found, asked), "{found} {asked}");
        }
    }
}
