//! The guard for other people's databases.
//!
//! Everything of dbdyno's lives in a schema of its own, which carries its mark as a comment. A schema
//! of that name without the mark is somebody else's, and a server on which others are at work is not
//! measured, because both would suffer.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use archive::{RightsMissing, Unseen};

use super::connection::Connection;
use super::overrides::Inherited;
use super::set_up::SetUp;
use super::version::major;
use engine::inspection::Protection;
use engine::register;
use engine::session_settings::{self, Replaced};
use engine::value::{Identities, SessionLimit};
use engine::{ErrorKind, OWN_TABLES, Result, SessionsLeft, TargetError, Value, WEAK_LOGIN};

const MARK: &str = "dbdyno: made by dbdyno, may be dropped";
/// Key of the lock that one dbdyno holds on a database.
const LOCK: i64 = 0x6462_6479_6e6f;
/// A dbdyno that was killed leaves sessions behind, which end as soon as they notice.
const LOCK_WAIT: Duration = Duration::from_secs(10);
pub(super) const LOCKED: &str = "PostgreSQL: another dbdyno is using this database; wait until it has finished, or name another database";
/// Reason for a server that only replays the log of another one.
pub(super) const STANDBY: &str =
    "the server is a read-only standby; name its primary, or run only scripts that read";
pub(super) const WEAK_LOGIN_WORDS: &str = "MD5 over a connection without verified TLS: whoever reads along can guess the password; use \
     scram-sha-256 (password_encryption) or sslmode=verify-full";
/// Somebody who is active now and a moment later is at work.
const ACTIVE_APART: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub major: u32,
    /// Parallel workers that the server starts at most.
    pub workers_max: u32,
    pub is_pooled: bool,
    pub protection: Option<Protection>,
    /// True if the password went as a digest that can be guessed, where others may have read it.
    pub is_weak_logon: bool,
    pub is_observed: bool,
    pub is_standby: bool,
    /// Why nothing is written here, with the way out.
    pub read_only: Option<String>,
    /// Settings of the role, the database and the server that sessions replace.
    pub replaced: Vec<Replaced>,
    /// Rights that the user lacks.
    pub rights_missing: Option<RightsMissing>,
}

impl Facts {
    /// Says in the record of a run what sessions are like on this server.
    pub(super) fn record(&self, recorded: &mut BTreeMap<String, String>) {
        let mut note = |name: &str, what: &str| recorded.insert(name.into(), what.into());
        if self.is_pooled {
            note(
                "dbdyno.pooler",
                "sessions use a connection pooler in session mode; every figure includes its time",
            );
        }
        if let Some(tls) = self.protection.as_ref().and_then(Protection::tls) {
            note("dbdyno.tls", tls);
        }
        if self.is_weak_logon {
            note(WEAK_LOGIN, WEAK_LOGIN_WORDS);
        }
        if self.is_standby {
            note(
                "dbdyno.standby",
                "the server replays the changes of its primary; every figure includes that work",
            );
        }
        session_settings::record_replaced(&self.replaced, recorded);
    }
}

/// Checks that the database may be used; `connection` keeps the lock.
pub(super) fn claim(
    connection: &mut Connection,
    inherited: Inherited,
    set_up: &SetUp,
) -> Result<Facts> {
    let facts = look(connection, inherited, set_up)?;
    reclaim(connection, set_up.others_allowed)?;
    Ok(facts)
}

/// Takes the lock again on a connection after the one that was lost.
pub(super) fn reclaim(connection: &mut Connection, others_allowed: bool) -> Result<()> {
    if !others_allowed {
        refuse_others(connection)?;
    }
    lock(connection)
}

pub(super) fn look(
    connection: &mut Connection,
    inherited: Inherited,
    set_up: &SetUp,
) -> Result<Facts> {
    let mut facts = see(connection, set_up.others_allowed)?;
    facts.replaced = inherited.replaced;
    facts.read_only = if facts.is_standby {
        Some(STANDBY.into())
    } else {
        inherited.read_only.filter(|_| !set_up.writes_anyway)
    };
    if facts.read_only.is_none() {
        refuse_no_rights(connection, facts.major)?;
    }
    Ok(facts)
}

/// The same of a server that is only observed, for which no right is needed.
pub(super) fn see(connection: &mut Connection, others_allowed: bool) -> Result<Facts> {
    let mut facts = Facts {
        major: major(connection.version())?,
        is_pooled: connection.is_pooled(),
        protection: Some(connection.protection()),
        is_weak_logon: connection.is_weak_logon(),
        ..Facts::default()
    };
    facts.is_standby = one(connection, "SELECT pg_is_in_recovery()::text", &[])? == "true";
    facts.rights_missing = rights_missing(connection, others_allowed)?;
    let workers = one(
        connection,
        "SELECT least(current_setting('max_parallel_workers')::int, \
         current_setting('max_worker_processes')::int)::text",
        &[],
    )?;
    facts.workers_max = workers.parse().unwrap_or(0);
    Ok(facts)
}

/// The only text of the only row.
pub(super) fn one(
    connection: &mut Connection,
    sql: &str,
    parameters: &[Value<'_>],
) -> Result<String> {
    let rows = connection.texts(sql, parameters)?;
    let cell = rows
        .into_iter()
        .next()
        .and_then(|row| row.into_iter().next());
    Ok(cell.flatten().unwrap_or_default())
}

fn refuse_no_rights(connection: &mut Connection, major: u32) -> Result<()> {
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
    Err(TargetError::unreachable(
        "PostgreSQL: this user may not run CHECKPOINT, which dbdyno needs to start tests in a known state; GRANT \
         pg_checkpoint to the user (15 and later), or log in as a superuser",
    ))
}

/// Processes that are at work for somebody else; the text says for whom.
const OTHERS: &str = "SELECT pid::text, coalesce(usename, '?') || ' in ' || coalesce(datname, '?') \
     FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() \
     AND application_name <> 'dbdyno' AND state IS NOT NULL AND state <> 'idle'";

/// Refuses a server on which others are at work.
pub(super) fn refuse_others(connection: &mut Connection) -> Result<()> {
    let before = connection.texts(OTHERS, &[])?;
    if !before.is_empty() {
        sleep(ACTIVE_APART);
        let now = connection.texts(OTHERS, &[])?;
        if let Some(other) = now.iter().find(|row| before.contains(row)) {
            let who = other.get(1).cloned().flatten().unwrap_or_default();
            return Err(TargetError::foreign(format!(
                "PostgreSQL: other sessions are active on this server ({who}); they and the results would disturb \
                 each other: wait, choose another server, or add others=allow to the URL"
            )));
        }
    }
    Ok(())
}

/// True if the user is a member of the roles that see everybody's activity, and all settings; and its name.
const ROLES: &str = "SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')::text, \
     pg_has_role(current_user, 'pg_read_all_settings', 'USAGE')::text, quote_ident(current_user)";

/// Rights that the user lacks; none on sessions of others where they are allowed.
fn rights_missing(
    connection: &mut Connection,
    others_allowed: bool,
) -> Result<Option<RightsMissing>> {
    let row = connection.texts(ROLES, &[])?.into_iter().next();
    let cells: Vec<String> = row.into_iter().flatten().flatten().collect();
    let [stats, settings, user] = &cells[..] else {
        return Ok(None);
    };
    let mut unseen = Vec::new();
    if stats != "true" {
        unseen.extend((!others_allowed).then_some(Unseen::OthersAtWork));
        unseen.push(Unseen::ServerProcesses);
    }
    if settings != "true" {
        unseen.push(Unseen::DataDirectory);
    }
    let role = match (stats.as_str(), settings.as_str()) {
        ("true", "true") => return Ok(None),
        ("true", _) => "pg_read_all_settings",
        (_, "true") => "pg_read_all_stats",
        // A member of both.
        _ => "pg_monitor",
    };
    let grant = format!("GRANT {role} TO {user}");
    Ok(Some(RightsMissing { unseen, grant }))
}

/// How to raise each limit of sessions.
const RAISE_MOST: &str = "raise it (ALTER SYSTEM SET max_connections = N, then restart the server; of a local server in its URL)";
const RAISE_OF_USER: &str = "raise it (ALTER ROLE … CONNECTION LIMIT N)";
const RAISE_OF_DATABASE: &str = "raise it (ALTER DATABASE … CONNECTION LIMIT N)";

/// Limits of sessions, of which −1 is none: the server's, how many of it are kept for others, how many are in use; the
/// user's with those of its own; the database's with those in it.
const SESSIONS: &str = "SELECT current_setting('max_connections'), \
     (CASE WHEN r.rolsuper THEN 0 ELSE current_setting('superuser_reserved_connections')::int \
     + CASE WHEN EXISTS (SELECT FROM pg_roles p WHERE p.rolname = 'pg_use_reserved_connections' \
     AND pg_has_role(p.oid, 'USAGE')) THEN 0 \
     ELSE coalesce(current_setting('reserved_connections', true)::int, 0) END END)::text, \
     count(*)::text, \
     CASE WHEN r.rolsuper THEN -1 ELSE r.rolconnlimit END::text, \
     count(*) FILTER (WHERE a.usesysid = r.oid)::text, \
     CASE WHEN r.rolsuper THEN -1 ELSE d.datconnlimit END::text, \
     count(*) FILTER (WHERE a.datid = d.oid)::text \
     FROM pg_stat_activity a, pg_roles r, pg_database d \
     WHERE r.rolname = current_user AND d.datname = current_database() AND a.usesysid IS NOT NULL \
     AND coalesce(a.backend_type, 'client backend') = 'client backend' \
     GROUP BY r.rolsuper, r.rolconnlimit, d.datconnlimit";

/// Sessions that the server lets in beside those that are there.
pub(super) fn sessions_left(connection: &mut Connection) -> Result<Option<SessionsLeft>> {
    let row = connection.texts(SESSIONS, &[])?.into_iter().next();
    let numbers = row.into_iter().flatten().map(|cell| cell?.parse().ok());
    let numbers: Option<Vec<i64>> = numbers.collect();
    let Some([most, reserved, used, of_user, users, of_database, there]) = numbers.as_deref()
    else {
        return Ok(None);
    };
    let limits = [
        ("max_connections", RAISE_MOST, most, reserved, used),
        (
            "the user's CONNECTION LIMIT",
            RAISE_OF_USER,
            of_user,
            &0,
            users,
        ),
        (
            "the database's CONNECTION LIMIT",
            RAISE_OF_DATABASE,
            of_database,
            &0,
            there,
        ),
    ];
    let limits = limits.into_iter().filter(|(_, _, most, ..)| **most >= 0);
    let limits = limits.map(|(name, how_to_raise, most, reserved, used)| SessionLimit {
        name,
        how_to_raise,
        most: most.unsigned_abs(),
        reserved: reserved.unsigned_abs(),
        used: used.unsigned_abs(),
    });
    Ok(SessionsLeft::under(&limits.collect::<Vec<_>>()))
}

fn lock(connection: &mut Connection) -> Result<()> {
    let until = Instant::now() + LOCK_WAIT;
    loop {
        let sql = format!("SELECT pg_try_advisory_lock({LOCK})::text");
        if one(connection, &sql, &[])? == "true" {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(TargetError::foreign(LOCKED));
        }
        sleep(ACTIVE_APART);
    }
}

/// Facts of the schema: its mark, whether this user owns it, and whether somebody else may make things in it.
const SCHEMA_FACTS: &str = "SELECT coalesce(obj_description(n.oid, 'pg_namespace'), ''), \
     (n.nspowner = u.oid)::text, EXISTS (SELECT FROM aclexplode(n.nspacl) \
     WHERE privilege_type = 'CREATE' AND grantee <> n.nspowner)::text \
     FROM pg_namespace n, pg_roles u WHERE n.nspname = $1 AND u.rolname = current_user";
/// Kind and number of tables and views, and whose they are where they are another user's.
const RELATIONS: &str = "SELECT c.relname::text, c.relkind::text || ' ' || c.oid || \
     CASE WHEN c.relowner = u.oid THEN '' ELSE ' of ' || c.relowner::regrole END \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, pg_roles u \
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND u.rolname = current_user \
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid \
     AND d.deptype = 'e')";
/// Members of an extension belong to it, whoever owns them: a script's set-up may have created it.
const CODE_OF_OTHERS: &str = "SELECT min(p.proname::text) FROM pg_proc p \
     JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_roles u ON u.rolname = current_user \
     WHERE n.nspname = $1 AND p.proowner <> u.oid AND NOT EXISTS (SELECT FROM pg_depend d \
     WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')";

/// Tables and views of a schema, and what tells them from others of their names.
pub(super) fn relations(connection: &mut Connection, schema: &str) -> Result<Identities> {
    let rows = connection.texts(RELATIONS, &[Value::Text(schema)])?;
    Ok(register::identities(rows))
}

/// True if a relation of this identity is a table of this user's own.
fn is_own_table(identity: &str) -> bool {
    identity.starts_with("r ") && !identity.contains(" of ")
}

/// Makes the schema, or makes sure that it is dbdyno's own, and that what is made in it stays so.
pub(super) fn own_schema(connection: &mut Connection, schema: &str) -> Result<()> {
    let is_there = is_there_and_own(connection, schema)?;
    let make = if is_there {
        String::new()
    } else {
        format!("CREATE SCHEMA {schema}; COMMENT ON SCHEMA {schema} IS '{MARK}';")
    };
    refuse_event_triggers(connection, schema, &make)?;
    if !is_there {
        connection.batch(&format!("BEGIN; {make}"))?;
        // Whoever may create in new schemas by default (ALTER DEFAULT PRIVILEGES) would keep dbdyno out of it later.
        let revoke = connection.texts(REVOKE_CREATE, &[Value::Text(schema)])?;
        let revoke: Vec<String> = revoke.into_iter().flatten().flatten().collect();
        connection.batch(&format!("{} COMMIT", revoke.concat()))?;
    }
    connection.check_schema(schema)
}

/// Statements that leave a schema to its owner.
const REVOKE_CREATE: &str = "SELECT format('REVOKE CREATE ON SCHEMA %I FROM %s;', nspname, \
     CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END) \
     FROM pg_namespace, aclexplode(nspacl) WHERE nspname = $1 AND privilege_type = 'CREATE' AND grantee <> nspowner";
/// Event triggers of what dbdyno creates.
const EVENT_TRIGGERS: &str = "SELECT quote_ident(evtname) FROM pg_event_trigger WHERE evtenabled IN ('O', 'A') \
     AND evtevent IN ('ddl_command_start', 'ddl_command_end') AND (evttags IS NULL \
     OR evttags && ARRAY['CREATE SCHEMA', 'CREATE TABLE', 'CREATE TABLE AS']) ORDER BY evtname";
/// Foreign owner of a schema, or of a relation in it, that this user has just made; empty where all of it is this user's.
const TAKEN_BY: &str = "SELECT min(owner::regrole::text) FROM (SELECT nspowner FROM pg_namespace WHERE nspname = $1 \
     UNION ALL SELECT relowner FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE n.nspname = $1 AND c.relname LIKE 'dbdyno\\_trial\\_%') AS made(owner) \
     WHERE owner <> (SELECT oid FROM pg_roles WHERE rolname = current_user)";

/// The event triggers that run where dbdyno creates something.
pub(super) fn event_triggers(connection: &mut Connection) -> Result<Vec<String>> {
    let names = connection.texts(EVENT_TRIGGERS, &[])?;
    Ok(names.into_iter().flatten().flatten().collect())
}

/// Refuses a database whose event triggers give new tables away, or forbid them: tries it in a transaction that is rolled back.
fn refuse_event_triggers(connection: &mut Connection, schema: &str, make: &str) -> Result<()> {
    let triggers = event_triggers(connection)?;
    let Some(first) = triggers.first() else {
        return Ok(());
    };
    let make = [
        format!("BEGIN; {make}"),
        format!("CREATE TABLE {schema}.dbdyno_trial_1 (i int)"),
        format!("CREATE TABLE {schema}.dbdyno_trial_2 AS SELECT 1 AS i"),
    ];
    let made = make.iter().try_for_each(|sql| connection.batch(sql));
    let owner = made.and_then(|()| one(connection, TAKEN_BY, &[Value::Text(schema)]));
    connection.batch("ROLLBACK")?;
    let why = match owner {
        Ok(owner) if owner.is_empty() => return Ok(()),
        Ok(owner) => format!("gives what is created to the role {owner}"),
        Err(error) if error.kind != ErrorKind::Statement => return Err(error),
        Err(error) => format!("keeps dbdyno from creating tables: {}", error.message),
    };
    Err(TargetError::foreign(format!(
        "PostgreSQL: an event trigger of this database ({}) {why}; nothing was created: exempt the schema \"{schema}\" \
         in the trigger's function, or ALTER EVENT TRIGGER {first} DISABLE",
        triggers.join(", ")
    )))
}

/// Dependents of a schema's tables and types outside of it: views, columns, and foreign keys.
const DEPENDENTS: &str = "SELECT min(c.oid::regclass::text) FROM pg_class c \
     JOIN pg_namespace n ON n.oid = c.relnamespace, pg_namespace own \
     WHERE own.nspname = $1 AND n.oid <> own.oid AND n.nspname NOT LIKE 'pg\\_%' AND (EXISTS (SELECT FROM pg_rewrite r \
     JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid \
     JOIN pg_class t ON d.refclassid = 'pg_class'::regclass AND t.oid = d.refobjid \
     WHERE r.ev_class = c.oid AND t.relnamespace = own.oid) OR EXISTS (SELECT FROM pg_depend d \
     JOIN pg_type t ON t.oid = d.refobjid WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid \
     AND d.refclassid = 'pg_type'::regclass AND t.typnamespace = own.oid) OR EXISTS (SELECT FROM pg_constraint k \
     JOIN pg_class t ON t.oid = k.confrelid WHERE k.conrelid = c.oid AND t.relnamespace = own.oid))";
const MAY_CREATE: &str = "SELECT has_database_privilege(current_database(), 'CREATE')::text";

/// Removes a schema of dbdyno's with all that is in it, if it is there. One that this user could not make again stays, without
/// the tables that are entered as dbdyno's.
pub(super) fn remove_own_schema(connection: &mut Connection, schema: &str) -> Result<()> {
    if !is_there_and_own(connection, schema)? {
        return Ok(());
    }
    let dependent = connection.texts(DEPENDENTS, &[Value::Text(schema)])?;
    if let Some(name) = dependent.into_iter().flatten().flatten().next() {
        return Err(TargetError::foreign(format!(
            "PostgreSQL: the schema \"{schema}\" cannot be removed, because {name} needs tables in it; drop {name} \
             yourself"
        )));
    }
    if one(connection, MAY_CREATE, &[])? == "true" {
        return connection.batch(&format!("DROP SCHEMA {schema} CASCADE"));
    }
    let found = relations(connection, schema)?;
    let tables = found.iter().filter(|(_, of)| is_own_table(of));
    let tables: Vec<String> = tables.map(|(name, _)| format!("{schema}.{name}")).collect();
    match tables.as_slice() {
        [] => Ok(()),
        tables => connection.batch(&format!("DROP TABLE {} CASCADE", tables.join(", "))),
    }
}

pub(super) fn is_there_and_own(connection: &mut Connection, schema: &str) -> Result<bool> {
    const ADVICE: &str =
        "name another database: dbdyno does not load tests into a schema that it did not create";
    let foreign = |what: &str| {
        let message = format!("PostgreSQL: the schema \"{schema}\" {what}; {ADVICE}");
        Err(TargetError::foreign(message))
    };
    let facts = connection.texts(SCHEMA_FACTS, &[Value::Text(schema)])?;
    let facts: Option<Vec<String>> = facts
        .into_iter()
        .next()
        .and_then(|f| f.into_iter().collect());
    match facts.as_deref() {
        None => return Ok(false),
        Some([mark, ..]) if mark != MARK => {
            return foreign("already exists and was not created by dbdyno");
        }
        Some([_, is_mine, _]) if is_mine != "true" => {
            return foreign("belongs to another user: log in as that user");
        }
        Some([_, _, is_open]) if is_open == "true" => {
            return foreign("lets other users create tables and functions (GRANT CREATE)");
        }
        Some(_) => {}
    }
    if let Some(name) = connection
        .texts(CODE_OF_OTHERS, &[Value::Text(schema)])?
        .into_iter()
        .flatten()
        .flatten()
        .next()
    {
        return foreign(&format!("contains the function \"{name}\" of another user"));
    }
    let found = relations(connection, schema)?;
    let entered = || {
        let sql = format!("SELECT name, identity FROM {schema}.{OWN_TABLES}");
        connection.texts(&sql, &[]).map(register::identities)
    };
    match register::stranger(&found, is_own_table, entered)? {
        None => Ok(true),
        Some(table) => {
            let place = format!("PostgreSQL: the schema \"{schema}\"");
            Err(register::refused(&place, &table, ADVICE))
        }
    }
}

/// Enters the tables that are entered as what they are now.
pub(super) fn enter_anew(connection: &mut Connection, schema: &str) -> Result<()> {
    for (name, identity) in relations(connection, schema)? {
        let [name, identity] = [name, identity].map(|text| register::quoted(&text));
        connection.batch(&format!(
            "UPDATE {schema}.{OWN_TABLES} SET identity = {identity} WHERE name = {name}"
        ))?;
    }
    Ok(())
}

/// True if another dbdyno has the lock; takes none, so that a run that begins meanwhile does not wait.
pub(super) fn is_locked(connection: &mut Connection) -> Result<bool> {
    let (upper, lower) = (LOCK >> 32, LOCK & 0xffff_ffff);
    let sql = format!(
        "SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
         WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.classid = {upper} \
         AND l.objid = {lower} AND l.objsubid = 1 AND l.granted)::text"
    );
    Ok(one(connection, &sql, &[])? == "true")
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
