//! The settings that dbdyno replaces in its sessions, and what role, database and server had set there.

use engine::register::quoted;
use engine::session_settings::{Override, Replaced};

const ENDS_SESSIONS: &str = "a limit would end measured sessions";
const ENDS_STATEMENTS: &str = "a limit would cancel measured statements";
const CHANGES_RESULTS: &str = "so that results do not depend on it";
const OF_THREADS: &str = "the plan sets the threads of a statement (step.threads)";

/// Setting with the schemas in which names are looked up.
pub(super) const SEARCH_PATH: &str = "search_path";
/// Setting that limits the time of a statement.
pub(super) const TIMEOUT: &str = "statement_timeout";
/// Setting of roles, databases and servers that nobody is to write to.
pub(super) const READ_ONLY: &str = "default_transaction_read_only";

/// Settings of every new session, without the schemas in which names are looked up.
pub(super) const OVERRIDES: [Override; 9] = [
    Override::everywhere("application_name", "dbdyno", "it names dbdyno's sessions"),
    Override::everywhere("idle_in_transaction_session_timeout", "0", ENDS_SESSIONS),
    Override::everywhere("exit_on_error", "off", "an error would end the session"),
    Override::but_scripts(TIMEOUT, "0", ENDS_STATEMENTS),
    Override::but_scripts("lock_timeout", "0", ENDS_STATEMENTS),
    Override::but_scripts("TimeZone", "UTC", CHANGES_RESULTS),
    Override::but_scripts("DateStyle", "ISO, MDY", CHANGES_RESULTS),
    Override::but_scripts(
        "default_transaction_isolation",
        "read committed",
        "so that transactions behave the same on every server",
    ),
    Override::but_scripts(
        "client_min_messages",
        "warning",
        "statements that prepare tables print \"already exists, skipping\" at every point",
    ),
];

/// The same of servers from a version on.
const LATER: [(u32, Override); 2] = [
    (
        14,
        Override::everywhere("idle_session_timeout", "0", ENDS_SESSIONS),
    ),
    (
        17,
        Override::everywhere("transaction_timeout", "0", ENDS_SESSIONS),
    ),
];

/// Settings with other values: the schema ([`Connection::open`]), and the threads of a target
/// ([`super::set_up::threads_sql`]).
const BY_TARGET: [Override; 3] = [
    Override::everywhere(
        SEARCH_PATH,
        "dbdyno, pg_temp",
        "dbdyno's tables are in dbdyno; for scripts the role's own schemas come between the two",
    ),
    Override::but_scripts("max_parallel_workers_per_gather", "0", OF_THREADS),
    Override::but_scripts("max_parallel_maintenance_workers", "0", OF_THREADS),
];

/// Those of [`OVERRIDES`] as settings of a logon.
pub(super) const OF_SESSIONS: &[(&str, &str)] = &settings_of(&OVERRIDES);

const fn settings_of<const N: usize>(all: &[Override; N]) -> [(&'static str, &'static str); N] {
    let mut settings = [("", ""); N];
    let mut at = 0;
    while at < N {
        settings[at] = (all[at].name, all[at].value);
        at += 1;
    }
    settings
}

/// Settings of sessions on a server of this version that end sessions, which an older one does not know.
pub(super) fn later<'s>(major: u32) -> impl Iterator<Item = (&'s str, &'s str)> {
    let known = LATER.iter().filter(move |(since, _)| *since <= major);
    known.map(|(_, of)| (of.name, of.value))
}

/// Settings of the sessions of scripts.
pub(super) fn of_scripts<'s>() -> impl Iterator<Item = (&'s str, &'s str)> {
    let all = OVERRIDES.iter().filter(|of| of.in_scripts);
    all.map(|of| (of.name, of.value))
}

/// All of them that a server of this version knows.
fn all(major: u32) -> impl Iterator<Item = &'static Override> {
    let later = LATER.iter().filter(move |(since, _)| *since <= major);
    let later = later.map(|(_, of)| of);
    BY_TARGET.iter().chain(&OVERRIDES).chain(later)
}

/// The statement that sets a setting for the session.
pub(super) fn set(name: &str, value: &str) -> String {
    // Either way of reading a backslash in a plain string; in this one it has one meaning.
    let value = value.replace('\\', "\\\\").replace('\'', "''");
    format!("SELECT set_config({}, E'{value}', false)", quoted(name))
}

#[derive(Debug, Clone, Default)]
pub(super) struct Inherited {
    pub replaced: Vec<Replaced>,
    /// Why nobody is to write here, with the way out; `None` where transactions may write.
    pub read_only: Option<String>,
}

impl Inherited {
    /// The query for a session whose settings are still those of its role.
    pub(super) fn query(major: u32) -> String {
        let names = all(major).map(|of| of.name).chain([READ_ONLY]);
        format!(
            "SELECT name, pg_catalog.current_setting(name), source, pg_catalog.quote_ident(session_user), \
             pg_catalog.quote_ident(pg_catalog.current_database()) FROM pg_catalog.pg_settings \
             WHERE source <> 'default' AND name IN ({})",
            names.map(quoted).collect::<Vec<_>>().join(", ")
        )
    }

    pub(super) fn of(major: u32, rows: Vec<Vec<Option<String>>>) -> Self {
        let found: Vec<Found> = rows.into_iter().filter_map(Found::of).collect();
        let of = |name: &str| found.iter().find(|found| found.name == name);
        let over = |replacing: &Override| {
            let found = of(replacing.name);
            replacing.over(found.map(|found| (found.value.clone(), found.set_by())))
        };
        let read_only = of(READ_ONLY).filter(|found| found.value == "on");
        Self {
            replaced: all(major).map(over).collect(),
            read_only: read_only.map(Found::refusal),
        }
    }

    /// The same where statements have so little time that it could not be read.
    pub(super) fn with_short_timeout(mut self) -> Self {
        let mut replaced = self.replaced.iter_mut();
        if let Some(timeout) = replaced.find(|of| of.name == TIMEOUT) {
            let found = ("a few ms", "role, database or server");
            timeout.instead_of = Some((found.0.into(), found.1.into()));
        }
        self
    }
}

/// A setting that somebody set.
struct Found {
    name: String,
    value: String,
    source: String,
    user: String,
    database: String,
}

impl Found {
    fn of(row: Vec<Option<String>>) -> Option<Self> {
        let cells: Option<Vec<String>> = row.into_iter().collect();
        let [name, value, source, user, database] = cells?.try_into().ok()?;
        Some(Self {
            name,
            value,
            source,
            user,
            database,
        })
    }

    /// Where it was set, in the words of the statement that does so.
    fn set_by(&self) -> String {
        let Self { user, database, .. } = self;
        match self.source.as_str() {
            "user" => format!("ALTER ROLE {user}"),
            "database" => format!("ALTER DATABASE {database}"),
            "database user" => format!("ALTER ROLE {user} IN DATABASE {database}"),
            "global" => "ALTER ROLE ALL".into(),
            _ => "the server's configuration".into(),
        }
    }

    fn refusal(&self) -> String {
        let by = self.set_by();
        let lift = if by.starts_with("ALTER") {
            format!("{by} SET {READ_ONLY} = off")
        } else {
            format!("ALTER SYSTEM SET {READ_ONLY} = off; SELECT pg_reload_conf()")
        };
        format!(
            "transactions are read-only by default ({READ_ONLY} = on, set by {by}); run only scripts that read, or let \
             dbdyno write: {lift}, or {READ_ONLY}=off in the URL"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::session_settings::table;

    #[test]
    fn the_documents_list_all_of_them() {
        let since = |name: &str| {
            let later = LATER.iter().find(|(_, of)| of.name == name);
            later.map_or(String::new(), |(since, _)| format!(" ({since} and later)"))
        };
        let table = table("PostgreSQL", all(u32::MAX).map(|of| (of, since(of.name))));
        let document = include_str!("../../../../docs/SERVERS.md");
        assert!(
            document.contains(&table),
            "docs/SERVERS.md has not:\n{table}"
        );
    }
}
