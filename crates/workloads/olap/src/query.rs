//! The 22 queries: SQL, titles, and comparison of their answers.

use std::sync::LazyLock;

use archive::Remark;
use serde::Deserialize;
use workload::sql_folder::Folder;

use super::{OlapError, Parameters, QUERIES, Result};

pub(super) const FOLDER: Folder = Folder("olap");

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// From 1 to 22.
    pub number: u32,
    /// Name in the specification.
    pub title: String,
    pub columns: Vec<Column>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub name: String,
    pub compared: Compared,
}

/// Comparison of a column with the right one, clause 2.1.3.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compared {
    /// For columns of a table and counts.
    Exact,
    /// For sums of amounts: within 100.
    Sum,
    /// For averages and shares: within a hundredth of the right one.
    Ratio,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Queries {
    query: Vec<Query>,
}

/// Queries in the order of their numbers.
///
/// # Errors
/// When the library's file is wrong, which the tests exclude.
pub fn queries() -> Result<&'static [Query]> {
    static PARSED: LazyLock<Result<Vec<Query>>> = LazyLock::new(|| {
        let text = FOLDER.text("queries.toml").unwrap_or_default();
        let parsed: Queries = toml::from_str(text)
            .map_err(|error| OlapError::Library(archive::toml_sentence(text, &error)))?;
        Ok(parsed.query)
    });
    PARSED.as_ref().map(Vec::as_slice).map_err(OlapError::clone)
}

impl Query {
    pub fn numbered(number: u32) -> Result<&'static Self> {
        let found = queries()?.iter().find(|query| query.number == number);
        found.ok_or_else(|| OlapError::Library(format!("there is no query {number}")))
    }

    pub fn code(&self) -> String {
        format!("Q{}", self.number)
    }

    /// SQL for an engine with these parameters.
    ///
    /// # Errors
    /// When the library has none, or it names an unknown parameter.
    pub fn sql(&self, engine: &str, parameters: &Parameters) -> Result<String> {
        let name = format!("query/{:02}", self.number);
        let text = FOLDER
            .sql(&name, engine)
            .ok_or_else(|| OlapError::Library(format!("{name}.sql is missing")))?;
        let statement = without_comments(text);
        parameters
            .fill(&statement)
            .map_err(|what| OlapError::Library(format!("{name}.sql: {what}")))
    }
}

/// Removes the first comment of a file, which explains it to readers, before a server gets it.
fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("--"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Statements that create the tables.
///
/// # Errors
/// When the engine has none.
pub(super) fn tables(engine: &str) -> Result<&'static str> {
    FOLDER
        .sql("tables", engine)
        .ok_or_else(|| OlapError::Engine {
            engine: engine.to_owned(),
            known: FOLDER.engines().join(", "),
        })
}

pub fn obstacle(engine: &str) -> Option<Remark> {
    let error = tables(engine).err()?.to_string();
    Some(Remark::OlapWithoutEngine { error })
}

/// Sixteen hexadecimal digits that change with any of the engine's files.
pub fn fingerprint(engine: &str) -> String {
    FOLDER.fingerprint(engine)
}

/// Parses query numbers such as `14,6,1`.
///
/// # Errors
/// When a number is unknown or repeated.
pub fn numbers(text: &str) -> std::result::Result<Vec<u32>, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let number = part.trim().trim_start_matches(['Q', 'q']).parse::<u32>();
        let number = number.ok().filter(|n| (1..=QUERIES).contains(n));
        let number = number.ok_or_else(|| {
            format!(
                "\"{part}\" is not a query; expected numbers from 1 to {QUERIES}, such as 14,6,1"
            )
        })?;
        if numbers.contains(&number) {
            return Err(format!("query {number} is named twice"));
        }
        numbers.push(number);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scale, TABLES};

    #[test]
    fn all_queries_have_sql_for_every_engine() {
        let queries = queries().unwrap();
        let all: Vec<u32> = queries.iter().map(|query| query.number).collect();
        assert_eq!(all, (1..=QUERIES).collect::<Vec<_>>());
        let engines = FOLDER.engines();
        assert_eq!(engines.len(), 5, "{engines:?}");
        for query in queries {
            let parameters = Parameters::qualification(query.number, Scale::new(1.0).unwrap());
            for engine in &engines {
                let sql = query.sql(engine, &parameters).unwrap();
                assert!(sql.contains("SELECT") && !sql.contains('{'), "{sql}");
                assert!(!sql.contains("--"), "{sql}");
            }
        }
    }

    #[test]
    fn every_engine_has_all_tables() {
        for engine in FOLDER.engines() {
            let made = tables(&engine).unwrap();
            for table in TABLES {
                let create = format!("CREATE TABLE {{schema}}.{table} (");
                assert!(made.contains(&create), "{engine} {table}");
            }
        }
        let message = tables("abacus").unwrap_err().to_string();
        assert!(message.contains("abacus"), "{message}");
    }

    /// A file for a single engine explains its existence.
    #[test]
    fn variants_say_their_reason_first() {
        for query in queries().unwrap() {
            let name = format!("query/{:02}", query.number);
            let common = FOLDER.sql(&name, "").unwrap();
            assert!(common.starts_with("SELECT") || common.starts_with("WITH"));
            for engine in FOLDER.engines() {
                let own = FOLDER.sql(&name, &engine).unwrap();
                assert!(own == common || own.starts_with("-- "), "{name} {engine}");
            }
        }
    }

    #[test]
    fn numbers_are_those_of_queries() {
        assert_eq!(numbers("14,6, Q1"), Ok(vec![14, 6, 1]));
        for wrong in ["", "0", "23", "1,1", "x"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }
}
