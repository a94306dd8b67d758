//! Keeps dbdyno out of other people's databases: what is refused, and the database of its own.

use std::thread::sleep;
use std::time::Duration;

use super::access::{Access, refuse_servers_own};
use super::client::Client;
use super::flavour::Flavour;
use super::name;
use engine::register::{self, COLUMNS};
use engine::value::Identities;
use engine::{OWN_TABLES, Result, TargetError};

/// The first connection of a target to a server that is not too old, and its version.
pub(super) fn connect(access: &Access) -> Result<(Client, Flavour, String)> {
    let client = access.connect_to_server()?;
    let version = client.server_version().to_owned();
    let flavour = client.flavour();
    refuse_old(flavour, &version)?;
    Ok((client, flavour, version))
}

fn refuse_old(flavour: Flavour, version: &str) -> Result<()> {
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse::<u32>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let least = flavour.oldest;
    if found >= least {
        return Ok(());
    }
    Err(TargetError::unreachable(format!(
        "the server is {} {version}, which is too old; dbdyno needs {}.{} or later",
        flavour.title, least.0, least.1
    )))
}

/// Somebody who is active now and a moment later is at work.
const ACTIVE_APART: Duration = Duration::from_millis(250);

/// Refuses a server on which others work. Sessions that only wait for their clients do not count.
pub(super) fn refuse_busy(client: &mut Client, access: &Access) -> Result<()> {
    let before = active(client)?;
    if before.is_empty() {
        return Ok(());
    }
    sleep(ACTIVE_APART);
    let others = active(client)?;
    let Some(user) = others.iter().find(|o| before.contains(o)).map(|o| &o[1]) else {
        return Ok(());
    };
    let user = user.as_deref().unwrap_or("?");
    Err(TargetError::foreign(format!(
        "other sessions are active on the server at {} (user \"{user}\"); they and the results would disturb each other: \
         wait, choose another server, or add others=allow to the URL",
        access.place
    )))
}

/// Number and user of every session at work but our own and the server's.
fn active(client: &mut Client) -> Result<Vec<Vec<Option<String>>>> {
    client.read(
        "SELECT id, user FROM information_schema.processlist \
         WHERE id <> connection_id() AND command NOT IN ('Sleep', 'Daemon', 'Connect') \
         AND command NOT LIKE 'Binlog%' AND user NOT IN ('system user', 'event_scheduler') LIMIT 100",
    )
}

/// Takes the lock that one dbdyno has on its database; it goes with the connection.
pub(super) fn lock(client: &mut Client, access: &Access) -> Result<()> {
    // A dbdyno that was killed leaves sessions behind, which end as soon as the server notices.
    const SECONDS: u32 = 10;
    let taken = client.read_one(&format!(
        "SELECT get_lock({}, {SECONDS})",
        name::lock(&access.database)
    ))?;
    if taken.as_deref() == Some("1") {
        return Ok(());
    }
    Err(locked(access))
}

/// True if another dbdyno has the lock; takes none, so that a run that begins meanwhile does not wait.
pub(super) fn is_locked(client: &mut Client, access: &Access) -> Result<bool> {
    let holder = client.read_one(&format!(
        "SELECT is_used_lock({})",
        name::lock(&access.database)
    ))?;
    Ok(holder.is_some())
}

/// The error where it has.
pub(super) fn locked(access: &Access) -> TargetError {
    TargetError::foreign(format!(
        "another dbdyno is using the database \"{}\" at {}; wait until it has finished, or name another database in the URL",
        access.database, access.place
    ))
}

pub(super) fn is_there(client: &mut Client, database: &str) -> Result<bool> {
    let count = client.read_one(&format!(
        "SELECT count(*) FROM information_schema.schemata WHERE schema_name = {}",
        name::literal(database)
    ))?;
    Ok(count.as_deref() != Some("0"))
}

/// Makes the database that is dbdyno's own, or makes sure that it is.
pub(super) fn own_database(client: &mut Client, access: &Access) -> Result<()> {
    let name = &access.database;
    refuse_servers_own(name)?;
    if !is_there(client, name)? {
        // The order of bytes: the same on every server, and that of the embedded engines.
        client.run(&format!(
            "CREATE DATABASE {} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            name::identifier(name)
        ))?;
        return make_register(client, name, None);
    }
    let register = register_of(client, access)?;
    let collation = client.read_one(&format!(
        "SELECT default_collation_name FROM information_schema.schemata WHERE schema_name = '{name}'"
    ))?;
    if collation.as_deref() != Some("utf8mb4_bin") {
        // An administrator made it as the server does; new tables take this from it.
        client.run(&format!(
            "ALTER DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        ))?;
    }
    match register {
        Register::Absent => make_register(client, name, None),
        Register::Empty(identity) => make_register(client, name, Some(&identity)),
        Register::Whole => Ok(()),
    }
}

/// Removes the database that is dbdyno's own with all that is in it, if it is there.
pub(super) fn remove_own_database(client: &mut Client, access: &Access) -> Result<()> {
    let name = &access.database;
    if !is_there(client, name)? {
        return Ok(());
    }
    lock(client, access)?;
    match register_of(client, access)? {
        // Empty, and made by somebody who may do that.
        Register::Absent => Ok(()),
        Register::Empty(_) | Register::Whole => {
            let database = name::identifier(name);
            client.run(&format!("DROP DATABASE {database}")).map(drop)
        }
    }
}

/// The register of a database that dbdyno may use.
enum Register {
    Absent,
    /// Made a moment before dbdyno was killed.
    Empty(String),
    Whole,
}

/// Refuses a database that holds something of others; touches nothing, and one that is not there holds nothing.
fn register_of(client: &mut Client, access: &Access) -> Result<Register> {
    let name = &access.database;
    refuse_foreign_code(client, access)?;
    let found = relations(client, name)?;
    let refused = |table: &str| Err(register::refused(&place_of(access), table, ADVICE));
    let Some(identity) = found.get(OWN_TABLES) else {
        // An empty database may have been made for dbdyno by somebody who may do that.
        return match found.keys().next() {
            None => Ok(Register::Absent),
            Some(table) => refused(table),
        };
    };
    let mut is_empty = false;
    let entered = || {
        let sql = format!(
            "SELECT name, identity FROM {}.{OWN_TABLES}",
            name::identifier(name)
        );
        let entered = client.read(&sql).map(register::identities)?;
        is_empty = entered.is_empty();
        Ok(entered)
    };
    let is_table = |identity: &str| identity.starts_with(TABLE);
    match register::stranger(&found, is_table, entered)? {
        None if is_empty => Ok(Register::Empty(identity.clone())),
        None => Ok(Register::Whole),
        Some(table) => refused(&table),
    }
}

/// Refuses a database that holds something of others; touches nothing.
pub(super) fn refuse_foreign(client: &mut Client, access: &Access) -> Result<()> {
    register_of(client, access).map(drop)
}

/// Makes the register, or enters it in itself where dbdyno was killed in between.
fn make_register(client: &mut Client, database: &str, made: Option<&String>) -> Result<()> {
    let database = name::identifier(database);
    let identity = match made {
        Some(identity) => identity.clone(),
        None => {
            let token = register::token();
            client.run(&format!(
                "CREATE TABLE {database}.{OWN_TABLES} {COLUMNS} ENGINE = InnoDB COMMENT = '{token}'"
            ))?;
            format!("{TABLE}{token}")
        }
    };
    let identity = register::quoted(&identity);
    client.run(&format!(
        "INSERT INTO {database}.{OWN_TABLES} VALUES ('{OWN_TABLES}', {identity})"
    ))?;
    // The server may be set not to commit each statement by itself.
    client.run("COMMIT").map(drop)
}

/// Refuses a proxy that answers for the server, by the number of the session of the logon.
pub(super) fn refuse_proxy(client: &mut Client, access: &Access) -> Result<()> {
    let number = client.read_one("SELECT connection_id()")?;
    let number = number.and_then(|number| number.parse::<u64>().ok());
    // The logon reports the lower half.
    let number = number.unwrap_or_default() as u32;
    if number == client.connection() {
        return Ok(());
    }
    Err(TargetError::unreachable(format!(
        "there is a proxy in front of the server at {}: dbdyno logged in to session {}, but session {number} answers, \
         so session settings do not last; connect to the server directly",
        access.place,
        client.connection()
    )))
}

/// The account of this session, as it is written in a GRANT.
pub(super) fn account(client: &mut Client) -> Result<String> {
    let account = client.read_one(
        "SELECT concat(quote(substring_index(current_user(), '@', 1)), '@', \
         quote(substring_index(current_user(), '@', -1)))",
    )?;
    Ok(account.unwrap_or_default())
}

/// Makes sure that a table without a database is one of dbdyno's own.
pub(super) fn check_database(client: &mut Client, access: &Access) -> Result<()> {
    let rows = client.read("SELECT database(), @@lower_case_table_names")?;
    let mut cells = rows.into_iter().flatten().map(Option::unwrap_or_default);
    let mut cell = || cells.next().unwrap_or_default();
    let (database, folds, asked) = (cell(), cell() != "0", &access.database);
    if database == *asked || folds && database.eq_ignore_ascii_case(asked) {
        return Ok(());
    }
    Err(TargetError::foreign(format!(
        "a session at {} uses the database \"{database}\" instead of \"{asked}\"; nothing was changed: connect to the \
         server directly",
        access.place
    )))
}

const ADVICE: &str =
    "name a database that does not exist at the end of the URL, for example /dbdyno";

fn place_of(access: &Access) -> String {
    format!("the database \"{}\" at {}", access.database, access.place)
}

/// Begins a table's identity; the rest is its comment.
pub(super) const TABLE: &str = "BASE TABLE ";

/// Tables and views of a database, and what tells them from others of their names.
pub(super) fn relations(client: &mut Client, database: &str) -> Result<Identities> {
    let rows = client.read(&format!(
        "SELECT table_name, concat(table_type, ' ', table_comment) FROM information_schema.tables \
         WHERE table_schema = {}",
        name::literal(database)
    ))?;
    Ok(register::identities(rows))
}

/// Code that somebody else has put into the database would be run, or removed, by dbdyno.
fn refuse_foreign_code(client: &mut Client, access: &Access) -> Result<()> {
    let name = name::literal(&access.database);
    let found = client.read_one(&format!(
        "SELECT what FROM (SELECT concat('stored code \"', routine_name, '\" of ', definer) AS what \
         FROM information_schema.routines WHERE routine_schema = {name} AND definer <> current_user() \
         UNION ALL SELECT concat('trigger \"', trigger_name, '\"') FROM information_schema.triggers \
         WHERE trigger_schema = {name} \
         UNION ALL SELECT concat('event \"', event_name, '\"') FROM information_schema.events \
         WHERE event_schema = {name}) AS code LIMIT 1"
    ))?;
    match found {
        None => Ok(()),
        Some(what) => Err(TargetError::foreign(format!(
            "{} contains the {what}, which dbdyno did not create; {ADVICE}",
            place_of(access)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::flavour::{MARIADB, MYSQL};
    use super::*;

    #[test]
    fn old_servers_are_refused() {
        assert!(refuse_old(&MARIADB, "10.11.19-MariaDB").is_ok());
        assert!(refuse_old(&MYSQL, "8.4.2").is_ok());
        let message = refuse_old(&MYSQL, "5.7.44").unwrap_err().message;
        assert!(
            message.contains("5.7.44") && message.contains("8.0"),
            "{message}"
        );
        assert!(refuse_old(&MARIADB, "10.4.1-MariaDB").is_err());
    }
}
