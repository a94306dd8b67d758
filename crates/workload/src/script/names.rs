//! Check of the names in a transaction.

use super::definition::{PARAMETERS_MAX, Transaction};
use super::sql;
use super::table::Section;

/// Checks that every parameter is drawn, or stored by an earlier statement, and that every drawn or stored value is
/// used.
///
/// # Errors
/// Sentence about the first name that is undefined or unused.
pub fn check(section: &Section, transaction: &Transaction) -> Result<(), String> {
    let mut known: Vec<&str> = Vec::new();
    for (name, _) in &transaction.draws {
        declare(section, &mut known, name)?;
    }
    let mut used: Vec<String> = Vec::new();
    for (number, statement) in (1..).zip(&transaction.statements) {
        let wrong = |what: String| section.wrong(&format!("statement {number}: {what}"));
        let mut own = statement.sql.own.iter();
        let unfit = own.find(|(engine, texts)| {
            texts.iter().any(|text| sql::mark(text).has_question_mark)
                && !engines::has_question_mark_operators(engine)
        });
        if let Some((engine, _)) = unfit {
            return Err(wrong(sql::no_question_mark(engine)));
        }
        for text in statement.sql.texts() {
            let marked = sql::mark(text);
            if marked.names.len() > PARAMETERS_MAX {
                return Err(wrong(format!(
                    "it has more than {PARAMETERS_MAX} parameters"
                )));
            }
            if let Some(name) = marked.names.iter().find(|n| !known.contains(&n.as_str())) {
                return Err(wrong(missing(transaction, number, name, &known)));
            }
            used.extend(marked.names);
        }
        for (name, _) in &statement.keep {
            declare(section, &mut known, name)?;
        }
    }
    match known.iter().find(|name| !used.iter().any(|u| u == *name)) {
        Some(name) => Err(section.wrong(&format!(
            "the value \"{name}\" is never used; use :{name} in a later statement, or remove it"
        ))),
        None => Ok(()),
    }
}

fn declare<'a>(section: &Section, known: &mut Vec<&'a str>, name: &'a str) -> Result<(), String> {
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_word {
        return Err(section.wrong(&format!(
            "\"{name}\" is not a valid name of a value: use letters, digits and _"
        )));
    }
    if known.contains(&name) {
        return Err(section.wrong(&format!("two values are called \"{name}\"")));
    }
    known.push(name);
    Ok(())
}

fn missing(transaction: &Transaction, number: usize, name: &str, known: &[&str]) -> String {
    let keeps = |n: usize| {
        let statement = transaction.statements.get(n);
        statement.is_some_and(|s| s.keep.iter().any(|(stored, _)| stored == name))
    };
    match (number - 1..transaction.statements.len()).find(|n| keeps(*n)) {
        Some(later) => format!(
            ":{name} is only kept by statement {}, which does not come earlier",
            later + 1
        ),
        None => format!(
            ":{name} has no generator and is not kept by an earlier statement{}",
            archive::nearest(name, known)
        ),
    }
}
