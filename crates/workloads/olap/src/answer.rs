//! Comparison of answers, with the tolerances of clause 2.1.3.5 of the specification.

use super::query::{Column, Compared, Query};

/// Absolute tolerance for sums of amounts.
const SUM_MAX: f64 = 100.0;
/// Relative tolerance for averages and shares.
const RATIO_MAX: f64 = 0.01;
/// Half of the last digit of an amount, the error of rounding.
const HALF_PLACE: f64 = 0.005;
const NULL: &str = "NULL";

/// Cells of an answer by row, as texts without surrounding blanks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub rows: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Right {
    pub answer: Answer,
    /// Column whose right values are unknown.
    pub unknown_column: Option<usize>,
    pub from: String,
}

impl Answer {
    pub fn of(rows: Vec<Vec<Option<String>>>) -> Self {
        let cell = |cell: Option<String>| match cell {
            None => NULL.to_owned(),
            // Texts of a fixed length have trailing blanks.
            Some(text) => text.trim().to_owned(),
        };
        let row = |row: Vec<Option<String>>| row.into_iter().map(cell).collect();
        Self {
            rows: rows.into_iter().map(row).collect(),
        }
    }

    /// Rounds numbers like the specification's answers: amounts to two places.
    pub fn rounded(&self, query: &Query) -> Self {
        let cell = |(cell, column): (&String, &Column)| match (column.compared, number(cell)) {
            (Compared::Exact, _) | (_, None) => cell.clone(),
            (Compared::Sum | Compared::Ratio, Some(n)) => format!("{n:.2}"),
        };
        let row = |row: &Vec<String>| row.iter().zip(&query.columns).map(cell).collect();
        Self {
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// Sentence that names row and column of the first error; `None` if the answer is right.
    pub fn wrong(&self, query: &Query, right: &Right) -> Option<String> {
        let (found, expected) = (self.rows.len(), right.answer.rows.len());
        if found == 0 && expected > 0 {
            return Some(format!("no rows returned, {expected} expected"));
        }
        let rows = self.rows.iter().zip(&right.answer.rows);
        for (number, (row, right_row)) in (1..).zip(rows) {
            if row.len() != query.columns.len() {
                let (found, expected) = (row.len(), query.columns.len());
                return Some(format!(
                    "row {number} has {found} columns instead of {expected}"
                ));
            }
            let cells = query.columns.iter().zip(row.iter().zip(right_row));
            for (place, (column, (cell, right_cell))) in cells.enumerate() {
                let is_known = right.unknown_column != Some(place);
                if is_known && !is_alike(column.compared, cell, right_cell) {
                    let name = &column.name;
                    return Some(format!(
                        "row {number}, column {name}: {cell} instead of {right_cell} ({})",
                        right.from
                    ));
                }
            }
        }
        (found != expected).then(|| {
            format!(
                "{found} rows returned, {expected} expected ({})",
                right.from
            )
        })
    }
}

fn is_alike(compared: Compared, found: &str, right: &str) -> bool {
    let (Some(a), Some(b)) = (number(found), number(right)) else {
        return found == right;
    };
    match compared {
        Compared::Exact => (a - b).abs() < HALF_PLACE,
        Compared::Sum => (a - b).abs() <= SUM_MAX,
        Compared::Ratio => {
            let rounded = (a * 100.0).round() / 100.0;
            // The right answer has two places and is itself rounded.
            (rounded - b).abs() <= RATIO_MAX * b.abs() + f64::EPSILON * 1e3
        }
    }
}

fn number(cell: &str) -> Option<f64> {
    let is_numeric = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    let begins = cell.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    let is_number = begins && cell.chars().all(is_numeric);
    is_number.then(|| cell.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: &[&[&str]]) -> Answer {
        let cells = |row: &&[&str]| row.iter().map(|cell| Some((*cell).to_owned())).collect();
        Answer::of(rows.iter().map(cells).collect())
    }

    fn right(rows: &[&[&str]]) -> Right {
        Right {
            answer: answer(rows),
            from: "test".into(),
            ..Right::default()
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let q = Query::numbered(5).unwrap();
        let known = right(&[&["CHINA", "1000.00"], &["JAPAN", "900.00"]]);
        let wrong = |rows: &[&[&str]]| answer(rows).wrong(q, &known);
        assert_eq!(wrong(&[&["CHINA   ", "1000"], &["JAPAN", "985.5"]]), None);
        assert_eq!(
            wrong(&[&["CHINA", "1000"], &["JAPAN", "1000.01"]]).unwrap(),
            "row 2, column revenue: 1000.01 instead of 900.00 (test)"
        );
        assert_eq!(
            wrong(&[&["CHIMA", "1000"], &["JAPAN", "900"]]).unwrap(),
            "row 1, column n_name: CHIMA instead of CHINA (test)"
        );
        assert_eq!(wrong(&[]).unwrap(), "no rows returned, 2 expected");
        assert!(
            wrong(&[&["CHINA", "1000"]])
                .unwrap()
                .contains("1 rows returned, 2")
        );
        let more = [["CHINA", "1000"], ["JAPAN", "900"], ["INDIA", "1"]];
        let more: Vec<&[&str]> = more.iter().map(|row| row.as_slice()).collect();
        assert!(wrong(&more).unwrap().contains("3 rows returned, 2"));
        assert!(
            wrong(&[&["CHINA"]])
                .unwrap()
                .contains("1 columns instead of 2")
        );
    }

    #[test]
    fn tolerances_are_those_of_the_specification() {
        use Compared::{Exact, Ratio, Sum};
        assert!(is_alike(Exact, "10", "10.00") && !is_alike(Exact, "10.01", "10.00"));
        assert!(!is_alike(Exact, "25-989-741-2988", "25-989-741-2989"));
        assert!(is_alike(Sum, "100.00", "200.00") && !is_alike(Sum, "99.99", "200.00"));
        assert!(is_alike(Ratio, "0.03443589040665", "0.03"));
        assert!(!is_alike(Ratio, "0.045", "0.03") && !is_alike(Ratio, "0.02", "0.03"));
        assert!(is_alike(Ratio, "101.00", "100.00") && !is_alike(Ratio, "101.01", "100.00"));
        assert!(is_alike(Sum, NULL, NULL) && !is_alike(Sum, NULL, "0.00"));
    }

    #[test]
    fn a_column_that_is_not_known_is_passed_over() {
        let q = Query::numbered(11).unwrap();
        let known = Right {
            unknown_column: Some(0),
            ..right(&[&["1297", "17538456.86"]])
        };
        assert_eq!(answer(&[&["129760", "17538456.86"]]).wrong(q, &known), None);
        assert!(
            answer(&[&["129760", "17538756.86"]])
                .wrong(q, &known)
                .is_some()
        );
    }
}
