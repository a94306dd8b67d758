//! Keeps dbdyno out of other people's databases: what is refused, and the database of its own.

use std::thread::sleep;
use std::time::Duration;

use super::access::Access;
use super::client::Client;
use super::flavour::Flavour;
use crate::{ErrorKind, OWN_TABLES, Result, TargetError};

/// Stands in every database that dbdyno made.
const MARKER: &str = "dbdyno_marker";
/// What every table of dbdyno begins with, as a pattern.
const OWN: &str = r"dbdyno\_%";

/// Oldest versions whose protocol and statements are used; what is older was never tried.
const MARIADB_MIN: (u32, u32) = (10, 5);
const MYSQL_MIN: (u32, u32) = (8, 0);

fn foreign(message: String) -> TargetError {
    TargetError::new(ErrorKind::Foreign, message)
}

/// Refuses servers that are too old.
pub(super) fn refuse_old(flavour: Flavour, version: &str) -> Result<()> {
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse::<u32>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let least = match flavour {
        Flavour::MariaDb => MARIADB_MIN,
        Flavour::MySql => MYSQL_MIN,
    };
    if found >= least {
        return Ok(());
    }
    Err(TargetError::new(
        ErrorKind::Unreachable,
        format!(
            "the server is {} {version}, which is too old for dbdyno; it needs {}.{} or newer",
            flavour.title(),
            least.0,
            least.1
        ),
    ))
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
    Err(foreign(format!(
        "others are at work on the server at {} (user \"{user}\"); dbdyno would disturb them and they \
         the figures: wait, choose another server, or say others=allow in the URL",
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
        "SELECT get_lock('dbdyno.{}', {SECONDS})",
        access.database
    ))?;
    if taken.as_deref() == Some("1") {
        return Ok(());
    }
    Err(foreign(format!(
        "another dbdyno is at work in the database \"{}\" at {}; wait for it, or end the URL with another \
         name",
        access.database, access.place
    )))
}

/// Makes the database that is dbdyno's own, or makes sure that it is.
pub(super) fn own_database(client: &mut Client, access: &Access) -> Result<()> {
    let name = &access.database;
    let count = |client: &mut Client, sql: String| -> Result<u64> {
        let text = client.read_one(&sql)?.unwrap_or_default();
        Ok(text.parse().unwrap_or(0))
    };
    let exists = count(
        client,
        format!("SELECT count(*) FROM information_schema.schemata WHERE schema_name = '{name}'"),
    )? > 0;
    if exists {
        refuse_foreign_tables(client, access)?;
    } else {
        // The order of bytes: the same on every server, and that of the embedded engines.
        client.run(&format!(
            "CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        ))?;
    }
    client
        .run(&format!(
            "CREATE TABLE IF NOT EXISTS {name}.{MARKER} (made_by VARCHAR(64) NOT NULL) \
             COMMENT = 'this database belongs to dbdyno' ENGINE = InnoDB"
        ))
        .map(|_| ())
}

fn refuse_foreign_tables(client: &mut Client, access: &Access) -> Result<()> {
    let name = &access.database;
    let all = format!("FROM information_schema.tables WHERE table_schema = '{name}'");
    let registers = client.read_one(&format!(
        "SELECT count(*) {all} AND table_name = '{OWN_TABLES}'"
    ))?;
    let registered = match registers.as_deref() {
        Some("0") | None => "0".to_owned(),
        Some(_) => format!("table_name IN (SELECT name FROM {name}.{OWN_TABLES})"),
    };
    let tables = client.read(&format!(
        "SELECT table_name, table_name = '{MARKER}', table_name LIKE '{OWN}' OR {registered} \
         {all} ORDER BY 3, 1 LIMIT 10000"
    ))?;
    let is = |row: &Vec<Option<String>>, column: usize| row[column].as_deref() == Some("1");
    let is_marked = tables.iter().any(|row| is(row, 1));
    // An empty database may have been made for dbdyno by somebody who may do that.
    let stranger = tables.iter().find(|row| !is_marked || !is(row, 2));
    match stranger.and_then(|row| row[0].as_deref()) {
        None => Ok(()),
        Some(table) => Err(foreign(format!(
            "the database \"{name}\" at {} holds the table \"{table}\", which is not dbdyno's; end the \
             URL with the name of a database that does not exist, for example /dbdyno",
            access.place
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_are_refused() {
        assert!(refuse_old(Flavour::MariaDb, "10.11.19-MariaDB").is_ok());
        assert!(refuse_old(Flavour::MySql, "8.4.2").is_ok());
        let message = refuse_old(Flavour::MySql, "5.7.44").unwrap_err().message;
        assert!(
            message.contains("5.7.44") && message.contains("8.0"),
            "{message}"
        );
        assert!(refuse_old(Flavour::MariaDb, "10.4.1-MariaDB").is_err());
    }
}
