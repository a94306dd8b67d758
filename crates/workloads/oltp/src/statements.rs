//! SQL of the transactions, prepared on a session: files of the library, steps with named parameters.

use std::ops::RangeInclusive;

use engine::{Session, Value};
use workload::executor;
use workload::script::sql::{first_word, mark};
use workload::transaction_error::TransactionError;

use super::initial_rows::ORDER_LINES;
use super::mix::{KINDS, Kind};
use super::transaction::{Name, StatementRequest, Step, Transaction, effect};
use super::{OltpError, Result, files};

/// Most parameters of a statement: fifteen lines of ten values, and those of the order.
const VALUES_MAX: usize = 160;
/// Enough for nearly all statements.
const VALUES_USUAL: usize = 16;
/// Lines with which an order is entered; the one with an unknown item is left out.
const LINES: RangeInclusive<usize> =
    *ORDER_LINES.start() as usize - 1..=*ORDER_LINES.end() as usize;
/// Delimiters of the part that is repeated for every line of an order.
const REPEATED: [char; 2] = ['{', '}'];
/// Begins, in that part, the text between two lines, where it is not a comma.
const SEPARATOR: char = '|';

/// Access path of the transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Client,
    /// One call of a stored procedure each.
    Procedure,
}

/// Name of a step that sets a session up, if an engine needs one.
const SESSION: &str = "session";
/// Ends the name of a step in fewer statements, for servers that accept them.
const RETURNING: &str = ", returning";
/// Names of the steps in the files, by number.
const NAMES: [&str; 16] = [
    "new order: customer",
    "new order: stock",
    "new order: district",
    "new order: order",
    "new order: lines",
    "payment: customer by id",
    "payment: customer by name",
    "payment: district",
    "payment: warehouse",
    "order status: by id",
    "order status: by name",
    "delivery: oldest",
    "delivery: order",
    "delivery: lines",
    "delivery: customer",
    "stock level: count",
];

#[derive(Debug)]
pub(super) struct Prepared {
    pub prepared: executor::Prepared,
    /// Origin of its parameters: a name, and an offset from the requested line.
    sources: Vec<(Name, u8)>,
}

impl Prepared {
    pub(super) fn with_values<T>(
        &self,
        transaction: &dyn Transaction,
        line: usize,
        work: impl FnOnce(&[Value<'_>]) -> std::result::Result<T, TransactionError>,
    ) -> std::result::Result<T, TransactionError> {
        match self.sources.len() <= VALUES_USUAL {
            true => self.with::<VALUES_USUAL, T>(transaction, line, work),
            false => self.with::<VALUES_MAX, T>(transaction, line, work),
        }
    }

    #[inline]
    fn with<const MAX: usize, T>(
        &self,
        transaction: &dyn Transaction,
        line: usize,
        work: impl FnOnce(&[Value<'_>]) -> std::result::Result<T, TransactionError>,
    ) -> std::result::Result<T, TransactionError> {
        let mut values = [Value::Null; MAX];
        for (value, (name, further)) in values.iter_mut().zip(&self.sources) {
            let found = transaction.value(*name, line + usize::from(*further));
            *value = found.ok_or_else(|| {
                effect(format!(
                    "a statement uses {name:?}, which its transaction does not have"
                ))
            })?;
        }
        work(&values[..self.sources.len()])
    }
}

pub(super) struct Statements {
    /// By step, then by number of lines if it takes several, then in their order.
    steps: Vec<Vec<Vec<Prepared>>>,
}

impl Statements {
    /// # Errors
    /// When the engine has none, or refuses one.
    pub(super) fn prepare(session: &mut dyn Session, engine: &str, mode: Mode) -> Result<Self> {
        let mut steps = Vec::new();
        steps.resize_with(NAMES.len() + KINDS, Vec::new);
        match mode {
            Mode::Client => {
                let found = files::FOLDER.steps("transactions", engine);
                if let Some(step) = found.iter().find(|step| step.name == SESSION) {
                    session.batch(step.sql)?;
                }
                let sql_of = |name: &str| {
                    found
                        .iter()
                        .find(|step| step.name == name)
                        .map(|step| step.sql)
                };
                for (index, name) in NAMES.iter().enumerate() {
                    // MariaDB returns what it deletes in one round trip; MySQL refuses the statement.
                    let returning = sql_of(&format!("{name}{RETURNING}"));
                    let returning = returning.and_then(|sql| prepare_step(session, name, sql).ok());
                    steps[index] = match (returning, sql_of(name)) {
                        (Some(prepared), _) => prepared,
                        (None, Some(sql)) => prepare_step(session, name, sql)?,
                        (None, None) => return Err(no_sql(engine, name)),
                    };
                }
            }
            Mode::Procedure => {
                for kind in Kind::ALL {
                    let sql = procedure(kind, "call", engine)
                        .ok_or_else(|| OltpError::Procedures(engine.to_owned()))?;
                    steps[Step::call(kind) as usize] = prepare_step(session, kind.name(), sql)?;
                }
            }
        }
        Ok(Self { steps })
    }

    /// Statements of a requested step; the last one gives the answer.
    #[inline]
    pub(super) fn of(&self, request: StatementRequest) -> &[Prepared] {
        let variants = &self.steps[request.step as usize];
        let index = match variants.len() {
            1 => 0,
            _ => usize::from(request.lines).saturating_sub(*LINES.start()),
        };
        variants.get(index).map_or(&[], Vec::as_slice)
    }
}

/// A part of a kind's stored procedure: "create", "drop" or "call".
pub(super) fn procedure(kind: Kind, part: &str, engine: &str) -> Option<&'static str> {
    let name = format!("procedure/{}", kind.name().replace('-', "_"));
    let steps = files::FOLDER.steps(&name, engine);
    let found = steps.into_iter().find(|step| step.name == part)?;
    Some(found.sql)
}

fn no_sql(engine: &str, name: &str) -> OltpError {
    OltpError::Transactions {
        engine: engine.to_owned(),
        what: format!("the step \"{name}\" is missing"),
    }
}

fn prepare_step(session: &mut dyn Session, name: &str, sql: &str) -> Result<Vec<Vec<Prepared>>> {
    let is_repeated = sql.contains(REPEATED[0]);
    let lines = if is_repeated { LINES } else { 1..=1 };
    let of = |lines: usize, session: &mut dyn Session| -> Result<Vec<Prepared>> {
        let statements = sql.split(';').map(str::trim).filter(|sql| !sql.is_empty());
        let prepared = statements.map(|sql| prepare_one(session, name, sql, lines));
        prepared.collect()
    };
    lines.map(|lines| of(lines, session)).collect()
}

fn prepare_one(session: &mut dyn Session, name: &str, sql: &str, lines: usize) -> Result<Prepared> {
    let wrong = |what: String| OltpError::Transactions {
        engine: name.to_owned(),
        what,
    };
    let (sql, sources) = expand(sql, lines).map_err(wrong)?;
    let statement = session.prepare(&sql).map_err(|mut error| {
        error.message = format!("{name}: {}", error.message);
        error
    })?;
    let word = first_word(&sql);
    // Some engines know the columns of a call or a change only after its execution; and inside a WITH, RETURNING need
    // not be the statement's result.
    let is_telling = word == "call" || (word != "with" && sql.contains("RETURNING"));
    let returns = match session.columns(statement) {
        Some(columns) => columns > 0 || is_telling,
        None => is_telling || ["select", "with"].contains(&word.as_str()),
    };
    Ok(Prepared {
        prepared: executor::Prepared { statement, returns },
        sources,
    })
}

/// Statement with `?` for its parameters, and the part in braces repeated for every line.
fn expand(sql: &str, lines: usize) -> std::result::Result<(String, Vec<(Name, u8)>), String> {
    let mut sources = Vec::new();
    let mut text = String::new();
    let mut put = |part: &str, line: usize, text: &mut String| -> std::result::Result<(), String> {
        let marked = mark(part);
        text.push_str(&marked.sql);
        for name in &marked.names {
            let known = Name::of(name).ok_or_else(|| format!("there is no value :{name}"))?;
            sources.push((known, line as u8));
        }
        Ok(())
    };
    match sql.split_once(REPEATED[0]) {
        None => put(sql, 0, &mut text)?,
        Some((front, rest)) => {
            let (repeated, end) = rest
                .split_once(REPEATED[1])
                .ok_or("a brace is not closed")?;
            let (repeated, separator) = repeated.split_once(SEPARATOR).unwrap_or((repeated, ", "));
            put(front, 0, &mut text)?;
            for line in 0..lines {
                if line > 0 {
                    text.push_str(separator);
                }
                put(repeated, line, &mut text)?;
            }
            put(end, 0, &mut text)?;
        }
    }
    if sources.len() <= VALUES_MAX {
        Ok((text, sources))
    } else {
        Err(format!(
            "{} parameters exceed the limit of {VALUES_MAX}",
            sources.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_braces_is_repeated() {
        let (sql, sources) = expand("VALUES {(:w, :item)} WHERE d = :d", 2).unwrap();
        assert_eq!(sql, "VALUES (?, ?), (?, ?) WHERE d = ?");
        let names = [
            (Name::W, 0),
            (Name::Item, 0),
            (Name::W, 1),
            (Name::Item, 1),
            (Name::D, 0),
        ];
        assert_eq!(sources, names);
        let (sql, _) = expand("{SELECT :w| UNION ALL }", 2).unwrap();
        assert_eq!(sql, "SELECT ? UNION ALL SELECT ?");
        assert!(expand("VALUES {(:w)", 2).unwrap_err().contains("brace"));
        assert!(expand(":nothing", 1).unwrap_err().contains(":nothing"));
    }

    #[test]
    fn every_engine_has_every_step() {
        for engine in files::FOLDER.engines() {
            let mut found = files::FOLDER.steps("transactions", &engine);
            found.retain(|step| step.name != SESSION);
            let names = found.iter().map(|step| step.name);
            let names: Vec<&str> = names.filter(|name| !name.ends_with(RETURNING)).collect();
            assert_eq!(names, NAMES, "{engine}");
            for step in found {
                let lines = if step.sql.contains('{') { 15 } else { 1 };
                for sql in step.sql.split(';') {
                    expand(sql, lines).unwrap();
                }
            }
        }
    }
}
