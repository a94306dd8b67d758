//! Limits of a server or an account that would abort a run, found before it begins.

use super::client::Client;
use super::flavour::Flavour;
use super::guard;
use super::override_tables::{BINLOG_FORMAT, KEYS_REQUIRED};
use super::overrides::SERVERS;
use super::session_settings::assignment;
use engine::session_settings::{Override, Replaced};
use engine::{Result, TargetError};

/// Settings of measured sessions alone, and the limits that stay.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    pub assignments: Vec<String>,
    pub replaced: Vec<Replaced>,
    /// Why no table without a primary key can be made, with the way out.
    pub keys: Option<String>,
}

impl Limits {
    /// Finds them on a session that is set up; sets what it finds for that session.
    pub(super) fn of(client: &mut Client, flavour: Flavour) -> Result<Self> {
        refuse_hourly(client, flavour)?;
        let mut limits = Self::default();
        if variable(client, "log_bin")? == "1" && variable(client, "binlog_format")? == "STATEMENT"
        {
            limits.lift(client, &BINLOG_FORMAT, "STATEMENT").map_err(|error| {
                let message = format!(
                    "the binary log is written in the format STATEMENT, in which nothing can be changed at READ COMMITTED \
                     (error 1665), and this user may not set another: SET GLOBAL binlog_format = 'MIXED', or GRANT BINLOG \
                     ADMIN ON *.* to it: {}",
                    error.message
                );
                TargetError::new(error.kind, message)
            })?;
        }
        if variable(client, KEYS_REQUIRED.name)? == "1" {
            // Without the right to set it, the tables' check reports it.
            if limits.lift(client, &KEYS_REQUIRED, "1").is_err() {
                limits.keys = Some(no_keys(KEYS_REQUIRED.name));
            }
        }
        if variable(client, "innodb_force_primary_key")? == "1" {
            limits.keys = Some(no_keys("innodb_force_primary_key"));
        }
        Ok(limits)
    }

    fn lift(&mut self, client: &mut Client, of: &Override, found: &str) -> Result<()> {
        let assignment = format!("SESSION {}", assignment(of.name, of.value));
        client.run(&format!("SET {assignment}"))?;
        self.assignments.push(assignment);
        let found = (found.to_owned(), SERVERS.to_owned());
        self.replaced.push(of.over(Some(found)));
        Ok(())
    }
}

fn no_keys(variable: &str) -> String {
    format!(
        "the server refuses tables without a primary key ({variable} = ON), and this needs such a table: SET GLOBAL \
         {variable} = OFF"
    )
}

/// True if the server takes no writes, and why: a replica, as a rule. Who has the right to write to it all the same must not,
/// because it would no longer be one.
pub(super) fn is_read_only(
    client: &mut Client,
    flavour: Flavour,
    writes_anyway: bool,
) -> Result<Option<String>> {
    for name in ["read_only", "innodb_read_only"] {
        // MariaDB 12 has words instead of a number.
        if !matches!(variable(client, name)?.as_str(), "" | "0" | "OFF") {
            return Ok(Some(format!(
                "the server is read-only ({name}); name its primary, or run only scripts that read"
            )));
        }
    }
    let name = flavour.read_only;
    match variable(client, name)?.as_str() {
        "1" if !writes_anyway => Ok(Some(format!(
            "transactions are read-only by default ({name} = ON); run only scripts that read, or let dbdyno write: \
             SET GLOBAL {name} = OFF, or {name}=off in the URL"
        ))),
        _ => Ok(None),
    }
}

/// The value of a variable for all sessions; nothing where the server has none of that name.
fn variable(client: &mut Client, name: &str) -> Result<String> {
    match client.attempt(&format!("DO @@GLOBAL.{name}"))? {
        Ok(_) => Ok(client
            .read_one(&format!("SELECT @@GLOBAL.{name}"))?
            .unwrap_or_default()),
        Err(_) => Ok(String::new()),
    }
}

/// Refuses an account that may do so much an hour and no more.
fn refuse_hourly(client: &mut Client, flavour: Flavour) -> Result<()> {
    // Not everybody may see it of himself.
    let account = client.read(flavour.account_query).unwrap_or_default();
    let account: String = account.into_iter().flatten().flatten().collect();
    for limit in [
        "MAX_QUERIES_PER_HOUR",
        "MAX_UPDATES_PER_HOUR",
        "MAX_CONNECTIONS_PER_HOUR",
    ] {
        let Some(number) = number_behind(&account, limit).filter(|number| *number > 0) else {
            continue;
        };
        let account = guard::account(client)?;
        return Err(TargetError::foreign(format!(
            "the account {account} may use {number} an hour ({limit}), which would end a run in its middle: ALTER USER \
             {account} WITH {limit} 0"
        )));
    }
    Ok(())
}

fn number_behind(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once(word)?;
    let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit());
    digits.into_iter().next()?.parse().ok()
}
