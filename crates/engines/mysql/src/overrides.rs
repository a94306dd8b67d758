//! The settings that dbdyno replaces in its sessions, and what the server had set there.

use super::client::Client;
use super::flavour::Flavour;
use super::override_tables::OVERRIDES;
use super::session_settings::assignment;
use engine::Result;
use engine::session_settings::{Override, Replaced};

fn all(flavour: Flavour) -> impl Iterator<Item = &'static Override> {
    OVERRIDES.iter().chain(flavour.overrides)
}

/// Settings of a new session; `for_script` leaves the rest as the server has it.
pub(super) fn set_up(flavour: Flavour, for_script: bool, writes_anyway: bool) -> String {
    let all = all(flavour).filter(|of| of.in_scripts || !for_script);
    let lifted = writes_anyway.then_some((flavour.read_only, "0"));
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
    use super::super::override_tables::{BINLOG_FORMAT, KEYS_REQUIRED, OF_MARIADB, OF_MYSQL};
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
