//! Rights of a user, from the server's list of grants.

use super::client::Client;
use super::flavour::Flavour;
use super::name;
use engine::Result;
use engine::inspection::Right;

/// Privileges that dbdyno uses on its own database. The creator of stored code may execute it.
const ON_DATABASE: [&str; 11] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "INDEX",
    "ALTER",
    "LOCK TABLES",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
];
const EVERYTHING: &str = "ALL PRIVILEGES";

/// Privileges with the databases that they are for.
pub(super) struct Grants(Vec<Grant>);

struct Grant {
    privileges: Vec<String>,
    /// Pattern of databases; `%` is all of them.
    databases: String,
}

impl Grants {
    /// Those of this session's user, its roles included where the server lists them.
    pub(super) fn of(client: &mut Client) -> Result<Self> {
        let rows = client.read("SHOW GRANTS")?;
        let lines = rows.into_iter().flatten().flatten();
        Ok(Self(lines.filter_map(|line| parsed(&line)).collect()))
    }

    /// True if all databases are covered by a privilege, as server-wide ones are.
    pub(super) fn everywhere(&self, privilege: &str) -> bool {
        let mut grants = self.0.iter();
        grants.any(|grant| grant.databases == "%" && grant.has(privilege))
    }

    fn on(&self, database: &str, privilege: &str) -> bool {
        let mut grants = self.0.iter();
        grants.any(|grant| is_like(database, &grant.databases) && grant.has(privilege))
    }

    pub(super) fn is_superuser(&self) -> bool {
        self.everywhere(EVERYTHING)
    }

    pub(super) fn rights(
        &self,
        flavour: Flavour,
        account: &str,
        database: &str,
        others_allowed: bool,
        is_read_only: bool,
        shows_waits: bool,
    ) -> Vec<Right> {
        let mut rights = Vec::new();
        if !is_read_only {
            let needed = ON_DATABASE.into_iter().chain(flavour.foreign_key_right);
            let needed: Vec<&str> = needed.collect();
            let missing = needed.iter().filter(|one| !self.on(database, one));
            let missing: Vec<&str> = missing.copied().collect();
            rights.push(Right {
                name: if missing.is_empty() || missing.len() == needed.len() {
                    format!("privileges on `{database}`")
                } else {
                    format!("{} on `{database}`", missing.join(", "))
                },
                is_held: missing.is_empty(),
                needed_for: "dbdyno's database and its tables",
                without: "a run is refused, or its first table is not created",
                is_required: true,
                grant: format!("GRANT ALL ON {}.* TO {account}", name::identifier(database)),
            });
            let name = flavour.checkpoint_right();
            let mut enough = flavour.checkpoint_rights.iter();
            rights.push(Right {
                name: name.into(),
                is_held: enough.any(|right| self.everywhere(right)),
                needed_for: "making the server write its pages to the data files (checkpoints)",
                without: "a run is refused",
                is_required: true,
                grant: format!("GRANT {name} ON *.* TO {account}"),
            });
        }
        rights.push(Right {
            name: "PROCESS".into(),
            is_held: self.everywhere("PROCESS"),
            needed_for: "other active sessions; compression of a table",
            without: if others_allowed {
                "tests of compression are invalid"
            } else {
                "other active sessions are not detected, and tests of compression are invalid"
            },
            is_required: false,
            grant: format!("GRANT PROCESS ON *.* TO {account}"),
        });
        rights.push(Right {
            name: "SELECT on performance_schema".into(),
            is_held: shows_waits,
            needed_for: "waits of sessions for data files",
            without: "these waits are not separated from others",
            is_required: false,
            grant: format!("GRANT SELECT ON performance_schema.* TO {account}"),
        });
        rights
    }
}

impl Grant {
    fn has(&self, privilege: &str) -> bool {
        let mut held = self.privileges.iter();
        held.any(|held| held == privilege || held == EVERYTHING)
    }
}

/// A line as ``GRANT SELECT, LOCK TABLES ON `bench`.* TO `u`@`h` ``; nothing of a role or of a single table.
fn parsed(line: &str) -> Option<Grant> {
    let (privileges, rest) = line.strip_prefix("GRANT ")?.split_once(" ON ")?;
    let (place, _) = rest.split_once(" TO ")?;
    let database = place.strip_suffix(".*")?;
    let databases = match database {
        "*" => "%".to_owned(),
        name => name.trim_matches('`').replace("``", "`"),
    };
    let privileges = privileges.split(", ").map(str::to_owned).collect();
    Some(Grant {
        privileges,
        databases,
    })
}

/// True if a name fits a pattern in which `%` stands for anything, `_` for any letter, and `\` takes both their meaning.
fn is_like(name: &str, pattern: &str) -> bool {
    let mut letters = pattern.chars();
    match letters.next() {
        None => name.is_empty(),
        Some('%') => {
            let rest = letters.as_str();
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.any(|at| is_like(&name[at..], rest))
        }
        Some(letter) => {
            let (is_any, letter) = match letter {
                '_' => (true, letter),
                '\\' => (false, letters.next().unwrap_or(letter)),
                _ => (false, letter),
            };
            let mut name = name.chars();
            let fits = name.next().is_some_and(|it| is_any || it == letter);
            fits && is_like(name.as_str(), letters.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flavour::{MARIADB, MYSQL};
    use super::*;

    fn grants(lines: &[&str]) -> Grants {
        Grants(lines.iter().filter_map(|line| parsed(line)).collect())
    }

    #[test]
    fn grants_are_of_the_server_or_of_databases_by_pattern() {
        let held = grants(&[
            "GRANT PROCESS, SUPER ON *.* TO `bench`@`%` IDENTIFIED BY PASSWORD '*0'",
            "GRANT ALL PRIVILEGES ON `dbdyno\\_%`.* TO `bench`@`%`",
            "GRANT SELECT ON `shop`.`orders` TO `bench`@`%`",
            "GRANT `reader` TO `bench`@`%`",
        ]);
        assert!(held.everywhere("SUPER") && held.everywhere("PROCESS"));
        assert!(!held.everywhere("SELECT") && !held.is_superuser());
        assert!(held.on("dbdyno_check", "LOCK TABLES") && held.on("dbdyno_", "DROP"));
        assert!(!held.on("dbdynoxcheck", "DROP") && !held.on("shop", "SELECT"));
        assert!(grants(&["GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost`"]).is_superuser());
    }

    #[test]
    fn what_is_missing_is_named_with_its_grant() {
        let held = grants(&[
            "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER, \
             CREATE ROUTINE, ALTER ROUTINE ON `dbdyno`.* TO `bench`@`%`",
        ]);
        let rights = held.rights(&MARIADB, "'bench'@'%'", "dbdyno", false, false, false);
        assert_eq!(rights[0].name, "LOCK TABLES on `dbdyno`");
        assert!(rights.iter().all(|right| !right.is_held));
        assert_eq!(rights[1].grant, "GRANT SUPER ON *.* TO 'bench'@'%'");
        let rights = held.rights(&MYSQL, "'b'@'%'", "dbdyno", true, false, true);
        assert_eq!(rights[0].name, "LOCK TABLES, REFERENCES on `dbdyno`");
        let rights = held.rights(&MYSQL, "'b'@'%'", "dbdyno", true, true, true);
        assert!(rights.iter().all(|right| !right.is_required));
    }

    #[test]
    fn long_patterns_end() {
        assert!(is_like("ä_b", "%\\_b") && !is_like("ab", "%\\_b"));
        assert!(!is_like("x", "") && is_like("", "%"));
    }
}
