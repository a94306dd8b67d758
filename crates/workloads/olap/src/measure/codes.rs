//! Codes of the points.

use crate::{Function, Query, queries};

pub const LOAD: &str = "OLAP-LOAD";

/// All queries of one user, as one figure.
pub const POWER: &str = "OLAP-POWER";

/// All queries of one user, repeated in rounds.
pub const ROUNDS: &str = "OLAP-ROUNDS";

/// All queries of several users at the same time.
pub const THROUGHPUT: &str = "OLAP-THROUGHPUT";

/// Power and throughput combined.
pub const COMPOSITE: &str = "OLAP-COMPOSITE";

pub fn title(code: &str) -> String {
    match (code, of_code(code)) {
        (LOAD, _) => "Analytical: load".into(),
        (POWER, _) => "Analytical: power".into(),
        (ROUNDS, _) => "Analytical: rounds".into(),
        (THROUGHPUT, _) => "Analytical: throughput".into(),
        (COMPOSITE, _) => "Analytical: power and throughput".into(),
        (_, Some(query)) => format!("Analytical: {}", query.title),
        (other, None) => match function_of(other) {
            Some(function) => format!("Analytical: {}", function.title()),
            None => other.to_owned(),
        },
    }
}

pub(crate) fn of_code(code: &str) -> Option<&'static Query> {
    let number: u32 = code.strip_prefix('Q')?.parse().ok()?;
    let all = queries().ok()?;
    all.iter().find(|query| query.number == number)
}

pub(crate) fn function_of(code: &str) -> Option<Function> {
    Function::ALL
        .into_iter()
        .find(|function| function.code() == code)
}
