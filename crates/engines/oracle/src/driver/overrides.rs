//! The settings that dbdyno replaces in its sessions.

use engine::session_settings::Override;

const CHANGES_RESULTS: &str = "so that results do not depend on it";
const SAME_TRANSACTIONS: &str = "so that transactions behave the same on every server";

/// Settings of every session.
pub(super) const OVERRIDES: &[Override] = &[
    Override::everywhere(
        "nls_date_format",
        "YYYY-MM-DD",
        "dates are written as everywhere",
    ),
    Override::everywhere(
        "nls_timestamp_format",
        "YYYY-MM-DD HH24:MI:SS.FF6",
        "moments are written as everywhere",
    ),
    Override::everywhere(
        "nls_numeric_characters",
        ".,",
        "numbers are written as everywhere",
    ),
    Override::but_scripts("nls_sort", "BINARY", CHANGES_RESULTS),
    Override::but_scripts("nls_comp", "BINARY", CHANGES_RESULTS),
    Override::but_scripts(
        "nls_length_semantics",
        "CHAR",
        "so that texts of any letters fit",
    ),
    Override::but_scripts("time_zone", "+00:00", CHANGES_RESULTS),
    Override::but_scripts("isolation_level", "READ COMMITTED", SAME_TRANSACTIONS),
    Override::but_scripts(
        "ddl_lock_timeout",
        "30",
        "so that tables wait for others as elsewhere",
    ),
];

/// The statements of a new session; a script's leaves the rest as the server has it.
pub(super) fn set_up(for_script: bool) -> Vec<String> {
    let meant = OVERRIDES.iter().filter(|of| of.in_scripts || !for_script);
    meant.map(|of| assignment(of.name, of.value)).collect()
}

/// Sets a parameter of the session; numbers and words stand as they are.
pub(super) fn assignment(name: &str, value: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_quoted = name.starts_with("nls_") || name == "time_zone" || !value.chars().all(is_word);
    let value = match name {
        // Its values are words, though one has a blank.
        "isolation_level" => value.to_owned(),
        _ if is_quoted => engine::register::quoted(value),
        _ => value.to_owned(),
    };
    format!("ALTER SESSION SET {name} = {value}")
}

#[cfg(test)]
mod tests {
    use engine::session_settings::table;

    use super::*;

    #[test]
    fn the_document_has_every_override() {
        let rows = OVERRIDES.iter().map(|of| (of, String::new()));
        let table = table("Oracle", rows);
        let document = include_str!("../../../../../docs/SERVERS.md");
        assert!(
            document.contains(&table),
            "docs/SERVERS.md has not:\n{table}"
        );
    }

    #[test]
    fn values_are_quoted_where_they_are_no_words() {
        assert_eq!(
            assignment("commit_wait", "NOWAIT"),
            "ALTER SESSION SET commit_wait = NOWAIT"
        );
        assert_eq!(
            assignment("time_zone", "+00:00"),
            "ALTER SESSION SET time_zone = '+00:00'"
        );
        assert_eq!(
            assignment("isolation_level", "READ COMMITTED"),
            "ALTER SESSION SET isolation_level = READ COMMITTED"
        );
        assert_eq!(set_up(true).len(), 3);
    }
}
