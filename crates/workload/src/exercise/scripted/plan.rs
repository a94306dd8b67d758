//! A script compiled for an engine: names are resolved to indexes, and requests are grouped.

use std::ops::RangeInclusive;

use crate::executor::{Group, Opening};
use crate::script::draw::Draw;
use crate::script::file::{Pipeline, Script, Transaction};
use crate::script::sql;

#[derive(Debug)]
pub struct Ready {
    pub transactions: Vec<ReadyTransaction>,
    pub weights: u64,
    pub retries: u32,
}

#[derive(Debug)]
pub struct ReadyTransaction {
    pub name: String,
    pub weight: u64,
    pub draws: Vec<Draw>,
    pub statements: Vec<ReadyStatement>,
    /// Statement numbers, BEGIN and COMMIT included, in groups that travel together.
    pub groups: Vec<Group<usize>>,
    /// `None` if every statement is its own transaction.
    pub opening: Option<Opening>,
}

#[derive(Debug)]
pub struct ReadyStatement {
    /// With `?` for its parameters.
    pub sql: String,
    pub parameters: Vec<Parameter>,
    /// Allowed number of rows that it returns or changes.
    pub rows: RangeInclusive<u64>,
    pub columns: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// Index of a drawn value.
    Drawn(usize),
    /// A column of the first row of this statement.
    Stored {
        statement: usize,
        column: usize,
        name: String,
    },
}

impl Ready {
    /// Compiles the script for an engine.
    ///
    /// # Errors
    /// When a statement has no text for it.
    pub fn new(script: &Script, engine: &str) -> Result<Self, String> {
        if let Some(reason) = script.lacks(engine) {
            return Err(reason.to_string());
        }
        let transactions = script.transactions.iter();
        let transactions = transactions
            .map(|t| transaction(t, engine, script.pipeline))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            weights: transactions.iter().map(|t| t.weight).sum(),
            transactions,
            retries: script.retries,
        })
    }
}

fn transaction(
    of: &Transaction,
    engine: &str,
    pipeline: Pipeline,
) -> Result<ReadyTransaction, String> {
    let mut statements: Vec<ReadyStatement> = Vec::new();
    for statement in &of.statements {
        let text = statement.sql.of(engine).first().map_or("", String::as_str);
        let marked = sql::mark(text);
        let parameters = marked.names.into_iter().map(|name| parameter(of, name));
        statements.push(ReadyStatement {
            parameters: parameters.collect::<Result<_, _>>()?,
            sql: marked.sql,
            rows: statement.rows.clone(),
            columns: statement.keep.iter().map(|(_, column)| *column).collect(),
        });
    }
    let opening = match (of.autocommit, of.read_only) {
        (true, _) => None,
        (false, true) => Some(Opening::Read),
        (false, false) => Some(Opening::Write),
    };
    Ok(ReadyTransaction {
        name: of.name.clone(),
        weight: of.weight,
        draws: of.draws.iter().map(|(_, draw)| draw.clone()).collect(),
        groups: groups(&statements, opening, pipeline),
        statements,
        opening,
    })
}

fn parameter(of: &Transaction, name: String) -> Result<Parameter, String> {
    if let Some(index) = of.draws.iter().position(|(drawn, _)| *drawn == name) {
        return Ok(Parameter::Drawn(index));
    }
    for (statement, earlier) in of.statements.iter().enumerate() {
        if let Some((_, column)) = earlier.keep.iter().find(|(stored, _)| *stored == name) {
            let column = *column;
            return Ok(Parameter::Stored {
                statement,
                column,
                name,
            });
        }
    }
    Err(format!(
        ":{name} has no generator and is not kept by a statement"
    ))
}

/// Divides the requests into groups. A statement never travels with the one whose result it needs. After a failed
/// statement the rest of its group, COMMIT included, is not executed; a wrong number of rows is found when the group is
/// answered.
fn groups(
    statements: &[ReadyStatement],
    opening: Option<Opening>,
    pipeline: Pipeline,
) -> Vec<Group<usize>> {
    let mut groups: Vec<Group<usize>> = Vec::new();
    if opening.is_some() {
        groups.push(Group {
            begin: opening,
            ..Group::default()
        });
    }
    for (number, statement) in statements.iter().enumerate() {
        let needs = |number: &usize| {
            let mut parameters = statement.parameters.iter();
            parameters.any(
                |parameter| matches!(parameter, Parameter::Stored { statement, .. } if statement == number),
            )
        };
        let joins = |group: &&mut Group<usize>| match pipeline {
            Pipeline::Off => false,
            Pipeline::Ends => group.begin.is_some() && group.asks.is_empty(),
            Pipeline::All => opening.is_some() && !group.asks.iter().any(needs),
        };
        match groups.last_mut().filter(joins) {
            Some(group) => group.asks.push(number),
            None => groups.push(Group {
                asks: vec![number],
                ..Group::default()
            }),
        }
    }
    if opening.is_some() {
        match groups.last_mut().filter(|_| pipeline != Pipeline::Off) {
            Some(group) => group.commit = true,
            None => groups.push(Group {
                commit: true,
                ..Group::default()
            }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn groups_of(pipeline: &str) -> Vec<usize> {
        let text = format!(
            "name = 'p'\npipeline = '{pipeline}'\n[[transaction]]\nname = 't'\n\
             [[transaction.statement]]\nsql = 'SELECT a'\nkeep = {{ a = 1 }}\n\
             [[transaction.statement]]\nsql = 'SELECT 2'\n\
             [[transaction.statement]]\nsql = 'SELECT :a'\n\
             [[transaction.statement]]\nsql = 'SELECT 4'\n"
        );
        let script = Script::parse(&text, Path::new(".")).unwrap();
        let ready = Ready::new(&script, "sqlite").unwrap();
        let requests = |group: &Group<usize>| {
            usize::from(group.begin.is_some()) + group.asks.len() + usize::from(group.commit)
        };
        ready.transactions[0].groups.iter().map(requests).collect()
    }

    #[test]
    fn what_travels_together() {
        assert_eq!(groups_of("off"), [1, 1, 1, 1, 1, 1]);
        assert_eq!(groups_of("ends"), [2, 1, 1, 2]);
        // BEGIN and two independent statements; then the one that needs the first one's result, and the rest.
        assert_eq!(groups_of("all"), [3, 3]);
    }
}
