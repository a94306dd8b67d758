//! Keeps dbdyno out of other people's tables: what is refused, and the schema that is its own.

use std::thread::sleep;
use std::time::Duration;

use super::client::Client;
use super::dialect::with_types;
use crate::access::Access;
use engine::register;
use engine::value::Identities;
use engine::{ErrorKind, OWN_TABLES, Result, TargetError};

/// The oldest version whose protocol and statements are used.
const VERSION_MIN: (u32, u32) = (12, 2);
/// A table that a running dbdyno keeps locked.
const LOCK: &str = "dbdyno_lock";
/// Schemas of the server itself.
const SERVERS_OWN: &[&str] = &[
    "SYS",
    "SYSTEM",
    "SYSMAN",
    "XDB",
    "OUTLN",
    "DBSNMP",
    "AUDSYS",
    "GSMADMIN_INTERNAL",
];
/// A session that is active now and a moment later works.
const ACTIVE_APART: Duration = Duration::from_millis(250);
pub(super) const ADVICE: &str = "create a user for dbdyno alone, and name it in the URL";

/// Facts of the session that decide whether anything can be measured.
#[derive(Debug, Clone, Default)]
pub(super) struct Surroundings {
    /// PRIMARY, or the kind of standby.
    pub role: String,
    pub container: String,
    pub characters: String,
}

impl Surroundings {
    pub(super) fn of(client: &mut Client) -> Result<Self> {
        let mut context = |name: &str| {
            let found = client.text(&format!(
                "SELECT sys_context('USERENV', '{name}') FROM dual"
            ));
            match found {
                Ok(text) => Ok(text.unwrap_or_default()),
                // A server that does not know the name has nothing to hide there.
                Err(error) if error.kind == ErrorKind::Statement => Ok(String::new()),
                Err(error) => Err(error),
            }
        };
        let (role, container) = (context("DATABASE_ROLE")?, context("CON_NAME")?);
        let characters = client.text(
            "SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'",
        )?;
        Ok(Self {
            role,
            container,
            characters: characters.unwrap_or_default(),
        })
    }

    /// Why nothing can be written.
    pub(super) fn read_only(&self) -> Option<String> {
        let is_standby = self.role.contains("STANDBY") && !self.role.starts_with("SNAPSHOT");
        is_standby.then(|| {
            format!(
                "the database is a {} and takes no writes (ORA-16000); name the service of the primary in the URL",
                self.role.to_lowercase()
            )
        })
    }

    /// True if every letter can be stored.
    pub(super) fn has_all_letters(&self) -> bool {
        self.characters.is_empty() || self.characters.contains("UTF8")
    }

    /// Refuses the root of a container database, where no user of a run's own can be.
    pub(super) fn refuse_root(&self, access: &Access) -> Result<()> {
        if self.container != "CDB$ROOT" {
            return Ok(());
        }
        Err(TargetError::foreign(format!(
            "the service \"{}\" at {}:{} is the root of a container database (ORA-65096), and dbdyno makes no tables there; name the \
             service of a pluggable database at the end of the URL",
            access.service, access.host, access.port
        )))
    }
}

pub(super) fn refuse_old(version: &str) -> Result<()> {
    let mut numbers = version.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found >= VERSION_MIN {
        return Ok(());
    }
    Err(TargetError::unreachable(format!(
        "the server is Oracle Database {version}, which is too old; dbdyno needs {}.{} or later",
        VERSION_MIN.0, VERSION_MIN.1
    )))
}

/// Refuses a server on which others work. Sessions that only wait for their clients do not count; without the right to see them,
/// nobody is seen.
pub(super) fn refuse_busy(client: &mut Client, access: &Access) -> Result<()> {
    let before = active(client)?;
    if before.is_empty() {
        return Ok(());
    }
    sleep(ACTIVE_APART);
    let others = active(client)?;
    let Some(other) = others.iter().find(|other| before.contains(other)) else {
        return Ok(());
    };
    let user = other.get(1).and_then(Option::as_deref).unwrap_or("?");
    Err(TargetError::foreign(format!(
        "other sessions are active on the server at {} (user \"{user}\"); they and the results would disturb each other: \
         wait, choose another server, or add others=allow to the URL",
        access.place()
    )))
}

fn active(client: &mut Client) -> Result<Vec<Vec<Option<String>>>> {
    let own = client.number().sid;
    let found = client.texts(&format!(
        "SELECT sid, username FROM v$session WHERE type = 'USER' AND status = 'ACTIVE' AND sid <> {own} AND username IS NOT NULL"
    ));
    match found {
        Err(error) if error.kind == ErrorKind::Statement => Ok(Vec::new()),
        other => other,
    }
}

/// Takes the lock that one dbdyno has on a schema: it goes with the connection, which does nothing else.
pub(super) fn lock(access: &std::sync::Arc<Access>) -> Result<Client> {
    let mut client = Client::connect(access, false)?;
    let schema = access.schema();
    if !relations(&mut client, &schema)?.contains_key(LOCK) {
        client.run(&format!("CREATE TABLE {schema}.{LOCK} (nothing NUMBER)"))?;
    }
    client.begin();
    match client.run(&format!(
        "LOCK TABLE {schema}.{LOCK} IN EXCLUSIVE MODE NOWAIT"
    )) {
        Ok(()) => Ok(client),
        Err(error) if error.is_conflict() => Err(locked(access)),
        Err(error) => Err(error),
    }
}

/// True if another dbdyno has the lock; nothing is made for that.
pub(super) fn is_locked(client: &mut Client, schema: &str) -> Result<bool> {
    if !relations(client, schema)?.contains_key(LOCK) {
        return Ok(false);
    }
    client.begin();
    let taken = client.run(&format!(
        "LOCK TABLE {schema}.{LOCK} IN EXCLUSIVE MODE NOWAIT"
    ));
    client.rollback()?;
    match taken {
        Err(error) if error.is_conflict() => Ok(true),
        other => other.map(|()| false),
    }
}

pub(super) fn locked(access: &Access) -> TargetError {
    TargetError::foreign(format!(
        "another dbdyno is using the schema {} at {}; wait until it has finished, or use another user",
        access.schema(),
        access.place()
    ))
}

/// Makes the register of a schema, or makes sure that it is dbdyno's own.
pub(super) fn own_schema(client: &mut Client, access: &Access) -> Result<()> {
    let schema = access.schema();
    let (found, is_empty) = register_of(client, access)?;
    match found.get(OWN_TABLES) {
        None => make_register(client, &schema, None),
        register if is_empty => make_register(client, &schema, register),
        Some(_) => Ok(()),
    }
}

/// Makes the register where there is none.
fn make_register(client: &mut Client, schema: &str, found: Option<&String>) -> Result<()> {
    if found.is_none() {
        let columns = with_types(register::COLUMNS);
        client.run(&format!("CREATE TABLE {schema}.{OWN_TABLES} {columns}"))?;
    }
    let identity = relations(client, schema)?.remove(OWN_TABLES);
    let identity = register::quoted(&identity.unwrap_or_default());
    client.run(&format!(
        "INSERT INTO {schema}.{OWN_TABLES} VALUES ('{OWN_TABLES}', {identity})"
    ))
}

/// Removes the tables of a schema that is dbdyno's own.
pub(super) fn remove_own_tables(client: &mut Client, access: &Access) -> Result<()> {
    let (found, _) = register_of(client, access)?;
    let tables = found
        .iter()
        .filter(|(_, identity)| identity.starts_with(TABLE));
    for (table, _) in tables {
        client.run(&format!("DROP TABLE {}.{table} PURGE", access.schema()))?;
    }
    Ok(())
}

/// Refuses a schema that holds something of others; touches nothing.
pub(super) fn refuse_foreign(client: &mut Client, access: &Access) -> Result<()> {
    register_of(client, access).map(drop)
}

/// Tables of a schema that dbdyno may use, and whether its register has no entry yet.
fn register_of(client: &mut Client, access: &Access) -> Result<(Identities, bool)> {
    let schema = access.schema();
    if SERVERS_OWN.contains(&schema.as_str()) {
        return Err(TargetError::foreign(format!(
            "\"{schema}\" is the server's own schema, and dbdyno makes no tables in it; {ADVICE}"
        )));
    }
    let found = relations(client, &schema)?;
    let mut is_empty = false;
    let entered = || {
        let rows = client.texts(&format!("SELECT name, identity FROM {schema}.{OWN_TABLES}"))?;
        let entered = register::identities(rows);
        is_empty = entered.is_empty();
        Ok(entered)
    };
    let is_table = |identity: &str| identity.starts_with(TABLE);
    match register::stranger(&found, is_table, entered)? {
        None => Ok((found, is_empty)),
        Some(table) => {
            let place = format!("the schema {schema} at {}", access.place());
            Err(register::refused(&place, &table, ADVICE))
        }
    }
}

/// Begins a table's identity; the rest is its object number.
const TABLE: &str = "TABLE ";

/// Tables and views of a schema, and what distinguishes them from others of their names. The server's capitals are dbdyno's small letters; a name
/// that was made in quotes keeps them.
pub(super) fn relations(client: &mut Client, schema: &str) -> Result<Identities> {
    let rows = client.texts(&format!(
        "SELECT object_name, object_type || ' ' || object_id FROM all_objects \
         WHERE owner = {} AND object_type IN ('TABLE', 'VIEW', 'MATERIALIZED VIEW')",
        register::quoted(schema)
    ))?;
    let found = register::identities(rows).into_iter();
    Ok(found
        .map(|(name, identity)| (folded(&name), identity))
        .collect())
}

/// A name of the server's as dbdyno writes it.
pub(super) fn folded(name: &str) -> String {
    if name.chars().any(char::is_lowercase) {
        format!("\"{name}\"")
    } else {
        name.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_are_refused() {
        assert!(refuse_old("12.2.0.1.0").is_ok() && refuse_old("23.26.2.0.0").is_ok());
        let message = refuse_old("12.1.0.2.0").unwrap_err().message;
        assert!(
            message.contains("12.1.0.2") && message.contains("12.2"),
            "{message}"
        );
    }

    #[test]
    fn names_are_folded_unless_they_were_quoted() {
        assert_eq!(folded("ORDERS"), "orders");
        assert_eq!(folded("Orders"), "\"Orders\"");
    }

    #[test]
    fn a_standby_and_a_root_are_named() {
        let of = |role: &str| Surroundings {
            role: role.into(),
            ..Surroundings::default()
        };
        let message = of("PHYSICAL STANDBY").read_only().unwrap();
        assert!(
            message.contains("ORA-16000") && message.contains("primary"),
            "{message}"
        );
        assert_eq!(of("PRIMARY").read_only(), None);
        assert_eq!(of("SNAPSHOT STANDBY").read_only(), None);
        let root = Surroundings {
            container: "CDB$ROOT".into(),
            ..Surroundings::default()
        };
        let url = crate::ENGINES.parse("oracle://b@h/s").unwrap();
        let access = Access::from_url(&url).unwrap();
        let message = root.refuse_root(&access).unwrap_err().message;
        assert!(message.contains("pluggable"), "{message}");
    }

    #[test]
    fn a_character_set_that_loses_letters_is_known() {
        let of = |characters: &str| Surroundings {
            characters: characters.into(),
            ..Surroundings::default()
        };
        assert!(of("AL32UTF8").has_all_letters() && of("UTF8").has_all_letters());
        assert!(!of("WE8MSWIN1252").has_all_letters());
    }
}
