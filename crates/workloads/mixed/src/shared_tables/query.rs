//! Analytical queries on the order-entry tables, and the comparison of their answers.
//!
//! The idea of order entry and analytics on one schema comes from a published benchmark (Cole and others, 2011); these
//! queries are dbdyno's own.

use std::sync::LazyLock;

use olap::Answer;
use serde::Deserialize;
use workload::sql_folder::Folder;

const FOLDER: Folder = Folder("htap");
/// Tolerance for sums in another order, or of binary instead of decimal numbers.
const PART_MAX: f64 = 1e-9;
/// Half of the last digit of an amount.
const HALF_PLACE: f64 = 0.005;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// From 1 on.
    pub number: u32,
    pub title: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Queries {
    query: Vec<Query>,
}

/// Queries in the order of their numbers.
///
/// # Panics
/// When the library's file is wrong, which the tests exclude.
pub fn queries() -> &'static [Query] {
    static PARSED: LazyLock<Vec<Query>> = LazyLock::new(|| {
        let parsed = toml::from_str::<Queries>(text("queries.toml"));
        parsed.expect("the library is part of the program").query
    });
    &PARSED
}

pub(super) fn text(name: &str) -> &'static str {
    FOLDER.text(name).unwrap_or_default()
}

impl Query {
    pub fn sql(&self, engine: &str) -> &'static str {
        let name = format!("query/{:02}", self.number);
        FOLDER.sql(&name, engine).unwrap_or_default()
    }
}

/// Sixteen hexadecimal digits that change with any of the files.
pub fn fingerprint(engine: &str) -> String {
    FOLDER.fingerprint(engine)
}

/// Sentence about the difference between two answers; `None` if they are equal.
pub fn differing(found: &Answer, right: &Answer) -> Option<String> {
    let (rows, rows_right) = (found.rows.len(), right.rows.len());
    if rows != rows_right {
        return Some(format!("{rows} rows instead of {rows_right}"));
    }
    for (number, (row, row_right)) in (1..).zip(found.rows.iter().zip(&right.rows)) {
        let is_alike =
            row.len() == row_right.len() && row.iter().zip(row_right).all(|(a, b)| is_alike(a, b));
        if !is_alike {
            let [row, row_right] = [row, row_right].map(|row| row.join(", "));
            return Some(format!("row {number}: ({row}) instead of ({row_right})"));
        }
    }
    None
}

/// Compares two cells: texts as they are, numbers by value.
pub(super) fn is_alike(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => (x - y).abs() <= HALF_PLACE.max(PART_MAX * y.abs()),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_has_sql_that_orders_its_rows() {
        let all = queries();
        let numbers: Vec<u32> = all.iter().map(|query| query.number).collect();
        assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
        for query in all {
            let sql = query.sql("sqlite");
            assert!(sql.starts_with("SELECT "), "{}", query.number);
            let is_one_row = !sql.contains("GROUP BY");
            assert!(is_one_row || sql.contains("ORDER BY"), "{}", query.number);
        }
        assert_ne!(fingerprint("sqlite"), "");
    }

    #[test]
    fn answers_are_the_same_whatever_their_numbers_look_like() {
        let answer = |rows: &[[&str; 2]]| Answer {
            rows: (rows.iter())
                .map(|row| row.map(str::to_owned).to_vec())
                .collect(),
        };
        let right = answer(&[["1", "12.50"], ["2", "BARBAR"]]);
        assert_eq!(
            differing(&answer(&[["1", "12.5"], ["2", "BARBAR"]]), &right),
            None
        );
        for (wrong, says) in [
            (answer(&[["1", "12.5"]]), "1 rows instead of 2"),
            (
                answer(&[["1", "12.51"], ["2", "BARBAR"]]),
                "row 1: (1, 12.51) instead of (1, 12.50)",
            ),
            (
                answer(&[["1", "12.5"], ["2", "BARBARS"]]),
                "row 2: (2, BARBARS)",
            ),
        ] {
            let difference = differing(&wrong, &right).unwrap();
            assert!(difference.contains(says), "{difference}");
        }
    }
}
