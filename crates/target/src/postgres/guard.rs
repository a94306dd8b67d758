//! The guard for other people's databases.
//!
//! Everything of dbdyno's lives in a schema of its own, which carries its mark as a comment. A schema
//! of that name without the mark is somebody else's, and a server on which others are at work is not
//! measured, because both would suffer.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::connection::Connection;
use crate::{ErrorKind, OWN_TABLES, Result, TargetError, Value};

/// The comment on the schema.
const MARK: &str = "dbdyno: made by dbdyno, may be dropped";
/// Key of the lock that one dbdyno holds on a database.
const LOCK: i64 = 0x6462_6479_6e6f;
/// A dbdyno that was killed leaves sessions behind, which end as soon as they notice.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// Somebody who is active now and a moment later is at work.
const ACTIVE_APART: Duration = Duration::from_millis(250);
/// The oldest server that the statements here are written for.
const VERSION_MIN: u32 = 12;

/// What the guard learned about the server.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// Major version.
    pub major: u32,
    /// Parallel workers that the server starts at most.
    pub workers_max: u32,
    /// Whether sessions go through a pooler.
    pub is_pooled: bool,
    /// What the user may not see, with what is missing for it.
    pub notes: Vec<String>,
}

/// Checks that the database may be used; `connection` keeps the lock.
pub(super) fn claim(connection: &mut Connection, others_allowed: bool) -> Result<Facts> {
    let mut facts = Facts {
        major: major(connection.version())?,
        ..Facts::default()
    };
    refuse_standby_and_no_rights(connection, facts.major)?;
    if !others_allowed {
        facts.notes.extend(refuse_others(connection)?);
    }
    lock(connection)?;
    let workers = one(
        connection,
        "SELECT least(current_setting('max_parallel_workers')::int, \
         current_setting('max_worker_processes')::int)::text",
        &[],
    )?;
    facts.workers_max = workers.parse().unwrap_or(0);
    Ok(facts)
}

fn major(version: &str) -> Result<u32> {
    let digits = version.split(|c: char| !c.is_ascii_digit()).next();
    let major = digits.and_then(|d| d.parse().ok()).unwrap_or(0);
    if major >= VERSION_MIN {
        return Ok(major);
    }
    Err(TargetError::new(
        ErrorKind::Unreachable,
        format!(
            "PostgreSQL {version} is too old: dbdyno needs {VERSION_MIN} or later, and 15 for all \
             figures"
        ),
    ))
}

/// The only text of the only row.
fn one(connection: &mut Connection, sql: &str, parameters: &[Value<'_>]) -> Result<String> {
    let rows = connection.texts(sql, parameters)?;
    let cell = rows
        .into_iter()
        .next()
        .and_then(|row| row.into_iter().next());
    Ok(cell.flatten().unwrap_or_default())
}

fn refuse_standby_and_no_rights(connection: &mut Connection, major: u32) -> Result<()> {
    if one(connection, "SELECT pg_is_in_recovery()::text", &[])? == "true" {
        return Err(TargetError::new(
            ErrorKind::Unreachable,
            "PostgreSQL: the server is a standby, on which nothing can be loaded; name its primary",
        ));
    }
    let role = match major {
        15.. => "pg_has_role(current_user, 'pg_checkpoint', 'USAGE')",
        _ => "false",
    };
    let may = one(
        connection,
        &format!("SELECT (rolsuper OR {role})::text FROM pg_roles WHERE rolname = current_user"),
        &[],
    )?;
    if may == "true" {
        return Ok(());
    }
    Err(TargetError::new(
        ErrorKind::Unreachable,
        "PostgreSQL: this user may not CHECKPOINT, without which no test begins in a known state; \
         GRANT pg_checkpoint TO it (15 and later), or log on as a superuser",
    ))
}

/// Processes that are at work for somebody else; the text says for whom.
const OTHERS: &str = "SELECT pid::text, coalesce(usename, '?') || ' in ' || coalesce(datname, '?') \
     FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() \
     AND application_name <> 'dbdyno' AND state IS NOT NULL AND state <> 'idle'";
const UNSEEN: &str = "SELECT count(*)::text FROM pg_stat_activity \
     WHERE pid <> pg_backend_pid() AND usename IS NOT NULL AND backend_type IS NULL";

fn refuse_others(connection: &mut Connection) -> Result<Option<String>> {
    let before = connection.texts(OTHERS, &[])?;
    if !before.is_empty() {
        sleep(ACTIVE_APART);
        let now = connection.texts(OTHERS, &[])?;
        if let Some(other) = now.iter().find(|row| before.contains(row)) {
            let who = other.get(1).cloned().flatten().unwrap_or_default();
            return Err(TargetError::new(
                ErrorKind::Foreign,
                format!(
                    "PostgreSQL: others are at work on this server ({who}); dbdyno would disturb them \
                     and they the figures: wait, choose another server, or say others=allow in the URL"
                ),
            ));
        }
    }
    Ok(match one(connection, UNSEEN, &[])?.as_str() {
        "0" => None,
        sessions => Some(format!(
            "{sessions} sessions of others whose activity this user may not see; GRANT \
             pg_read_all_stats TO it"
        )),
    })
}

fn lock(connection: &mut Connection) -> Result<()> {
    let until = Instant::now() + LOCK_WAIT;
    loop {
        let sql = format!("SELECT pg_try_advisory_lock({LOCK})::text");
        if one(connection, &sql, &[])? == "true" {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(TargetError::new(
                ErrorKind::Foreign,
                "PostgreSQL: another dbdyno is at work in this database; wait for it or name another \
                 database",
            ));
        }
        sleep(ACTIVE_APART);
    }
}

/// Makes the schema, or makes sure that it is dbdyno's own.
pub(super) fn own_schema(connection: &mut Connection, schema: &str) -> Result<()> {
    let rows = connection.texts(
        "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace \
         WHERE nspname = $1",
        &[Value::Text(schema)],
    )?;
    let foreign = |what: &str| {
        TargetError::new(
            ErrorKind::Foreign,
            format!(
                "PostgreSQL: the schema \"{schema}\" {what}; name another database, dbdyno does not \
                 load tests into somebody's schema"
            ),
        )
    };
    match rows.first().map(|row| row.first().cloned().flatten()) {
        None => connection.batch(&format!(
            "CREATE SCHEMA {schema}; COMMENT ON SCHEMA {schema} IS '{MARK}'"
        ))?,
        Some(mark) if mark.as_deref() == Some(MARK) => {}
        Some(_) => return Err(foreign("is there already and was not made by dbdyno")),
    }
    let register = format!("SELECT coalesce(to_regclass('{schema}.{OWN_TABLES}')::text, '')");
    let registered = match one(connection, &register, &[])?.is_empty() {
        false => format!("SELECT name FROM {schema}.{OWN_TABLES}"),
        true => "''".to_owned(),
    };
    let stranger = one(
        connection,
        &format!(
            "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace \
             WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f') \
             AND relname NOT LIKE 'dbdyno\\_%' AND relname NOT IN ({registered}) ORDER BY 1 LIMIT 1"
        ),
        &[Value::Text(schema)],
    )?;
    match stranger.is_empty() {
        true => connection.check_schema(schema),
        false => Err(foreign(&format!(
            "holds \"{stranger}\", which is not dbdyno's"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_are_refused() {
        assert_eq!(major("15.18 (Debian 15.18-0+deb12u1)").unwrap(), 15);
        assert_eq!(major("18beta1").unwrap(), 18);
        for old in ["11.22", "9.6.24", "unknown"] {
            let error = major(old).unwrap_err();
            assert!(error.message.contains("too old"), "{error}");
        }
    }
}
