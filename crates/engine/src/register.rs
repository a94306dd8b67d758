//! Which tables are dbdyno's: those that it made and entered in a register, each with what tells it from any
//! other table of its name. A name alone makes no table dbdyno's.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use crate::{ErrorKind, Identities, OWN_TABLES, Result, Session, TargetError};

pub const SCHEMA_MARK: &str = "{schema}";
/// Begins tables that scripts make: they are no reason to refuse a database, and never removed.
const OF_SCRIPTS: &str = "dbdyno_";

/// The columns of the register.
pub const COLUMNS: &str = "(name VARCHAR(64) NOT NULL PRIMARY KEY, identity TEXT NOT NULL)";

/// A text that nobody has used before.
pub fn token() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("dbdyno {:016x}{:016x}", random(), random())
}

/// A text as SQL has it.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Rows of a name and an identity.
pub fn identities(rows: Vec<Vec<Option<String>>>) -> Identities {
    let pair = |row: Vec<Option<String>>| {
        let mut cells = row.into_iter();
        Some((cells.next()??, cells.next()?.unwrap_or_default()))
    };
    rows.into_iter().filter_map(pair).collect()
}

/// The table that keeps dbdyno out, if there is one. `entered` reads the register, which it may only be asked for
/// where the register is a table of this user's own, as `is_own` says of identities.
pub fn stranger(
    found: &Identities,
    is_own: impl Fn(&str) -> bool,
    entered: impl FnOnce() -> Result<Identities>,
) -> Result<Option<String>> {
    let entered = match found.get(OWN_TABLES) {
        None => Identities::new(),
        Some(register) if !is_own(register) => return Ok(Some(OWN_TABLES.to_owned())),
        Some(_) => match entered() {
            // Empty it was made a moment before dbdyno was killed.
            Ok(entered)
                if entered.is_empty() || entered.get(OWN_TABLES) == found.get(OWN_TABLES) =>
            {
                entered
            }
            Err(error) if error.kind != ErrorKind::Statement => return Err(error),
            // It says something else of itself, or has other columns.
            _ => return Ok(Some(OWN_TABLES.to_owned())),
        },
    };
    let is_ours = |name: &str, identity: &String| {
        let of_script = name.starts_with(OF_SCRIPTS) && is_own(identity);
        of_script || entered.get(name) == Some(identity)
    };
    let mut strangers = found.iter().filter(|(name, of)| !is_ours(name, of));
    Ok(strangers.next().map(|(name, _)| name.clone()))
}

/// The error for a table that keeps dbdyno out of `place`; `advice` says what to do.
pub fn refused(place: &str, table: &str, advice: &str) -> TargetError {
    let why = if table == OWN_TABLES {
        "not the register of this version of dbdyno"
    } else {
        "not a table of dbdyno"
    };
    TargetError::foreign(format!(
        "{place} contains the table \"{table}\", which is {why}; {advice}"
    ))
}

/// The tables that are entered; none where there is no register.
pub fn entered<S: Session + ?Sized>(session: &mut S) -> Result<Identities> {
    let found = session.relations()?;
    if !found.contains_key(OWN_TABLES) {
        return Ok(Identities::new());
    }
    let entered = of_register(session)?;
    if entered.get(OWN_TABLES) == found.get(OWN_TABLES) {
        Ok(entered)
    } else {
        Err(foreign(session, OWN_TABLES))
    }
}

/// Everything that the register says.
pub(crate) fn of_register<S: Session + ?Sized>(session: &mut S) -> Result<Identities> {
    let sql = format!(
        "SELECT name, identity FROM {}.{OWN_TABLES}",
        session.schema()
    );
    session.texts(&sql).map(identities)
}

/// Enters a table, in the place of one of the same name.
pub fn enter<S: Session + ?Sized>(session: &mut S, table: &str, of: &str) -> Result<()> {
    strike(session, table)?;
    let register = format!("{}.{OWN_TABLES}", session.schema());
    let (table, of) = (quoted(table), quoted(of));
    session.batch(&format!("INSERT INTO {register} VALUES ({table}, {of})"))
}

/// Takes a table out of the register.
pub fn strike<S: Session + ?Sized>(session: &mut S, table: &str) -> Result<()> {
    let register = format!("{}.{OWN_TABLES}", session.schema());
    let table = quoted(table);
    session.batch(&format!("DELETE FROM {register} WHERE name = {table}"))
}

/// [`Session::create_table`] of an engine that makes tables in transactions; `more` is done with it.
pub fn create<S: Session + ?Sized>(
    session: &mut S,
    table: &str,
    sql: &str,
    more: &dyn Fn(&str) -> String,
) -> Result<()> {
    let schema = session.schema().to_owned();
    session.begin()?;
    let make = |session: &mut S, table: &str, sql: &str| -> Result<()> {
        session.batch(sql)?;
        let more = more(table);
        if !more.is_empty() {
            session.batch(&more)?;
        }
        let identity = session.relations()?.remove(table);
        let identity = identity.ok_or_else(|| not_made(table))?;
        enter(session, table, &identity)
    };
    let all = |session: &mut S| -> Result<()> {
        if !session.relations()?.contains_key(OWN_TABLES) {
            let register = format!("CREATE TABLE {schema}.{OWN_TABLES} {COLUMNS}");
            make(session, OWN_TABLES, &register)?;
        }
        entered(session)?;
        make(session, table, &sql.replace(SCHEMA_MARK, &schema))
    };
    let made = all(session);
    ended(session, made)
}

/// [`Session::drop_table`] of an engine that removes tables in transactions; `lock` keeps others from the table.
pub fn drop<S: Session + ?Sized>(session: &mut S, table: &str, lock: &str) -> Result<bool> {
    if !is_there_and_ours(session, table)? {
        return Ok(false);
    }
    session.begin()?;
    let mut remove = || {
        if !lock.is_empty() {
            session.batch(lock)?;
        }
        // It may have been another one's since.
        if !is_there_and_ours(session, table)? {
            return Ok(false);
        }
        let schema = session.schema().to_owned();
        session.batch(&format!("DROP TABLE {schema}.{table}"))?;
        strike(session, table)?;
        Ok(true)
    };
    let removed = remove();
    ended(session, removed)
}

/// True if there is such a table; one that is not dbdyno's is an error.
pub fn is_there_and_ours<S: Session + ?Sized>(session: &mut S, table: &str) -> Result<bool> {
    let Some(identity) = session.relations()?.remove(table) else {
        return Ok(false);
    };
    if entered(session)?.get(table) == Some(&identity) {
        Ok(true)
    } else {
        Err(foreign(session, table))
    }
}

fn ended<S: Session + ?Sized, T>(session: &mut S, outcome: Result<T>) -> Result<T> {
    match outcome {
        Ok(value) => session.commit().map(|()| value),
        Err(error) => {
            // The first error is the one to tell.
            let _ = session.rollback();
            Err(error)
        }
    }
}

pub fn foreign<S: Session + ?Sized>(session: &S, table: &str) -> TargetError {
    TargetError::foreign(format!(
        "this version of dbdyno did not create the table {}.{table} and leaves it unchanged; rename or drop it \
         yourself, or choose another place for dbdyno's tables",
        session.schema()
    ))
}

pub fn there_already<S: Session + ?Sized>(session: &S, table: &str) -> TargetError {
    TargetError::statement(format!(
        "the table {}.{table} already exists",
        session.schema()
    ))
}

fn not_made(table: &str) -> TargetError {
    TargetError::statement(format!(
        "the statement that should create the table {table} did not create it in dbdyno's schema"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Identities {
        let pair = |(name, of): &(&str, &str)| ((*name).to_owned(), (*of).to_owned());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_table_is_ours_by_what_tells_it_from_others_of_its_name() {
        let found = |orders| of(&[(OWN_TABLES, "r 1"), ("dbdyno_x", "r 2"), ("orders", orders)]);
        let entered = || Ok(of(&[(OWN_TABLES, "r 1"), ("orders", "r 3")]));
        let is_own = |identity: &str| identity.starts_with("r ");
        assert_eq!(stranger(&found("r 3"), is_own, entered).unwrap(), None);
        let other = stranger(&found("r 4"), is_own, entered).unwrap();
        assert_eq!(other.as_deref(), Some("orders"));
        // A foreign register is not read.
        let forged = of(&[(OWN_TABLES, "v 1")]);
        let never = || panic!("a register that is a view was read");
        let found = stranger(&forged, is_own, never).unwrap();
        assert_eq!(found.as_deref(), Some(OWN_TABLES));
        let unreadable = || Err(TargetError::statement("no such column"));
        let found = stranger(&of(&[(OWN_TABLES, "r 1")]), is_own, unreadable).unwrap();
        assert_eq!(found.as_deref(), Some(OWN_TABLES));
    }

    #[test]
    fn no_token_comes_twice() {
        assert_ne!(token(), token());
    }
}
