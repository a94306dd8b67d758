//! Row counts and the answers of all queries with the qualification parameters.

use std::time::Duration;

use engine::{ErrorKind, Session, Target};
use workload::owned::count;

use super::metadata::Metadata;
use super::resume::right_rows;
use super::{
    Answer, OlapError, Parameters, Query, Result, Right, TABLES, queries, query, reference,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub metadata: Metadata,
    /// Row counts first, then the queries in their order.
    pub findings: Vec<Finding>,
}

impl Checked {
    pub fn is_sound(&self) -> bool {
        let is_wrong = |f: &Finding| matches!(f.verdict, Verdict::Wrong(_));
        !self.findings.iter().any(is_wrong)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Number of the query; 0 for the row counts.
    pub number: u32,
    pub title: String,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Right,
    /// Answer of a query whose right answer is unknown.
    Unknown(Answer),
    Wrong(String),
}

/// Counts rows and runs these queries (all if empty), each within the limit.
///
/// # Errors
/// When there is no complete database, or the target is gone.
pub fn check(
    target: &dyn Target,
    engine: &str,
    numbers: &[u32],
    limit: Option<Duration>,
    tell: &dyn Fn(&str),
) -> Result<Checked> {
    query::tables(engine)?;
    let mut session = target.open_session()?;
    let session = session.as_mut();
    let metadata = Metadata::as_loaded(session)?;
    // The limit also applies to counting, because a table may be locked.
    if limit.is_some() {
        session.limit_statements(limit)?;
    }
    tell("counting rows");
    let mut findings = vec![row_counts(session, &metadata)?];
    let is_selected = |query: &&Query| numbers.is_empty() || numbers.contains(&query.number);
    for query in queries()?.iter().filter(is_selected) {
        tell(&query.code());
        findings.push(Finding {
            number: query.number,
            title: query.title.clone(),
            verdict: ask(session, engine, query, &metadata)?,
        });
    }
    Ok(Checked { metadata, findings })
}

fn ask(
    session: &mut dyn Session,
    engine: &str,
    query: &Query,
    metadata: &Metadata,
) -> Result<Verdict> {
    let parameters = Parameters::qualification(query.number, metadata.scale);
    let known = reference::known(query, metadata.scale);
    let verdict = ask_with(session, engine, query, &parameters, known)?;
    match (reference::probe(query, metadata.scale), &verdict) {
        (Some((parameters, right)), Verdict::Right) => {
            ask_with(session, engine, query, &parameters, Some(right))
        }
        _ => Ok(verdict),
    }
}

fn ask_with(
    session: &mut dyn Session,
    engine: &str,
    query: &Query,
    parameters: &Parameters,
    right: Option<Right>,
) -> Result<Verdict> {
    let answer = match session.texts(&query.sql(engine, parameters)?) {
        Ok(rows) => Answer::of(rows),
        // An error of one query does not prevent the others.
        Err(error) if is_of_the_query(error.kind) => return Ok(Verdict::Wrong(error.message)),
        Err(error) => return Err(OlapError::Target(error)),
    };
    Ok(match right {
        None => Verdict::Unknown(answer),
        Some(right) => match answer.wrong(query, &right) {
            None => Verdict::Right,
            Some(what) => Verdict::Wrong(what),
        },
    })
}

/// True for an error that concerns one query and not the target.
pub(crate) fn is_of_the_query(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Statement | ErrorKind::Conflict)
}

fn row_counts(session: &mut dyn Session, metadata: &Metadata) -> Result<Finding> {
    let mut wrong = Vec::new();
    for table in TABLES {
        let known = right_rows(metadata.scale, table);
        let Some(right) = known.or(metadata.rows.get(table).copied()) else {
            return Err(OlapError::Metadata(format!("rows_{table} is missing")));
        };
        match count(session, table) {
            Ok(found) if found == right => {}
            Ok(found) => wrong.push(format!("{table}: {found} rows instead of {right}")),
            Err(error) if is_of_the_query(error.kind) => {
                wrong.push(format!("{table}: {}", error.message));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Finding {
        number: 0,
        title: "every table has the expected number of rows".into(),
        verdict: if wrong.is_empty() {
            Verdict::Right
        } else {
            Verdict::Wrong(wrong.join("; "))
        },
    })
}
