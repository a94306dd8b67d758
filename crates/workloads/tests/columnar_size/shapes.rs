//! Tables of other shapes than those of the analytical workload, made row by row from a seed.

use std::fmt::Write;

use engine::{BulkRow, Result, RowSource, Session, Value};
use stats::random::Random;

/// Table: its name, its columns, and the generator of a row.
pub struct Shape {
    pub name: &'static str,
    columns: &'static [(&'static str, Column)],
}

/// Content of a column. `i` is the number of the row; drawn numbers are below the given one.
#[derive(Clone, Copy)]
enum Column {
    Serial,
    /// i divided by the number: runs.
    Runs(u64),
    Number(u64),
    Cents(u64),
    /// Random walk with steps below the number.
    Walk(u64),
    /// Words of a vocabulary of 2000, few of them often.
    Words(u32),
    Named(u64),
    /// A word and a number, small numbers much oftener than large ones.
    Skewed(u64),
    Hex(u32),
    Document,
    /// A word that changes every so many rows.
    Period(u64),
    /// A number in so many of 1000 rows, else null.
    SparseNumber(u64),
    /// Three words in so many of 1000 rows, else null.
    SparseWords(u64),
    /// A number in the first of every ten stretches of so many rows, else null.
    Stretches(u64),
}

use Column::*;

/// The allowances of the estimator were set on these.
pub const TUNED: [Shape; 3] = [
    Shape {
        name: "wide_strings",
        columns: &[
            ("a0", Serial),
            ("a1", Words(6)),
            ("a2", Words(12)),
            ("a3", Words(3)),
            ("a4", Hex(32)),
            ("a5", Hex(16)),
            ("a6", Named(7)),
            ("a7", Named(500)),
            ("a8", Named(20_000)),
            ("a9", Named(300_000)),
        ],
    },
    Shape {
        name: "wide_numerics",
        columns: &[
            ("b0", Serial),
            ("b1", Number(10)),
            ("b2", Number(100)),
            ("b3", Number(1000)),
            ("b4", Number(100_000)),
            ("b5", Number(10_000_000)),
            ("b6", Number(1_000_000_000_000)),
            ("b7", Cents(1000)),
            ("b8", Cents(100_000)),
            ("b9", Cents(100_000_000)),
            ("b10", Runs(37)),
            ("b11", Walk(11)),
            ("b12", Number(3)),
            ("b13", Cents(1_000_000)),
            ("b14", Runs(5000)),
            ("b15", Number(65_536)),
        ],
    },
    Shape {
        name: "sparse_nulls",
        columns: &[
            ("c0", Serial),
            ("c1", SparseNumber(1)),
            ("c2", SparseNumber(20)),
            ("c3", SparseNumber(100)),
            ("c4", SparseNumber(500)),
            ("c5", SparseWords(1)),
            ("c6", SparseWords(10)),
            ("c7", SparseWords(50)),
            ("c8", SparseWords(300)),
            ("c9", SparseWords(800)),
            ("c10", Stretches(10_000)),
            ("c11", SparseNumber(900)),
        ],
    },
];

/// Nothing was set on these.
pub const UNTUNED: [Shape; 2] = [
    Shape {
        name: "events",
        columns: &[
            ("d0", Walk(90)),
            ("d1", Period(40_000)),
            ("d2", Named(3)),
            ("d3", Skewed(200_000)),
            ("d4", Document),
            ("d5", Hex(36)),
            ("d6", Number(600)),
            ("d7", SparseWords(15)),
        ],
    },
    Shape {
        name: "sensors",
        columns: &[
            ("e0", Runs(60)),
            ("e1", Named(60)),
            ("e2", Walk(7)),
            ("e3", Cents(4000)),
            ("e4", Skewed(50)),
            ("e5", Period(25_000)),
            ("e6", SparseNumber(5)),
        ],
    },
];

impl Shape {
    pub fn load(&self, session: &mut dyn Session, rows: u64, seed: u64) {
        let columns: Vec<String> = (self.columns.iter())
            .map(|(name, column)| format!("{name} {}", column.declared()))
            .collect();
        let (name, columns) = (self.name, columns.join(", "));
        session
            .batch(&format!("CREATE TABLE {name} ({columns})"))
            .unwrap();
        let mut made = Generated {
            columns: self.columns,
            random: Random::new(seed),
            row: 0,
            rows,
            walks: vec![0; self.columns.len()],
            texts: vec![String::new(); self.columns.len()],
        };
        assert_eq!(session.bulk_load(name, &mut made).unwrap(), rows);
    }
}

impl Column {
    fn declared(self) -> &'static str {
        match self {
            Serial | Runs(_) | Number(_) | Walk(_) | SparseNumber(_) | Stretches(_) => "bigint",
            Cents(_) => "decimal(15,2)",
            _ => "varchar(400)",
        }
    }
}

struct Generated {
    columns: &'static [(&'static str, Column)],
    random: Random,
    row: u64,
    rows: u64,
    walks: Vec<i64>,
    texts: Vec<String>,
}

impl RowSource for Generated {
    fn next_row(&mut self, sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        if self.row == self.rows {
            return Ok(false);
        }
        let (row, random) = (self.row, &mut self.random);
        let mut numbers: Vec<Option<i64>> = Vec::with_capacity(self.columns.len());
        for (at, (_, column)) in self.columns.iter().enumerate() {
            self.texts[at].clear();
            numbers.push(cell(
                *column,
                row,
                random,
                &mut self.walks[at],
                &mut self.texts[at],
            ));
        }
        let values: Vec<Value<'_>> = (self.columns.iter().zip(numbers).zip(&self.texts))
            .map(|(((_, column), number), text)| match (column, number) {
                (_, None) if text.is_empty() => Value::Null,
                (_, None) => Value::Text(text),
                (Cents(_), Some(unscaled)) => Value::Decimal {
                    unscaled,
                    places: 2,
                },
                (_, Some(number)) => Value::Int(number),
            })
            .collect();
        self.row += 1;
        sink(&values).map(|()| true)
    }
}

/// Number of a cell, or its text in `text`, or neither.
fn cell(
    column: Column,
    row: u64,
    random: &mut Random,
    walk: &mut i64,
    text: &mut String,
) -> Option<i64> {
    let mut below = |most: u64| random.index(most as usize) as u64;
    match column {
        Serial => Some(row as i64),
        Runs(length) => Some((row / length) as i64),
        Number(most) | Cents(most) => Some(below(most) as i64),
        Walk(step) => {
            *walk += below(step) as i64;
            Some(*walk)
        }
        SparseNumber(of_1000) => (below(1000) < of_1000).then(|| below(1_000_000) as i64),
        Stretches(length) => (row / length)
            .is_multiple_of(10)
            .then(|| below(100_000) as i64),
        Words(count) => {
            words(count, &mut below, text);
            None
        }
        SparseWords(of_1000) => {
            if below(1000) < of_1000 {
                words(3, &mut below, text);
            }
            None
        }
        Named(most) => put(text, format_args!("name{}", below(most))),
        Skewed(most) => {
            let ends = below(most).max(1);
            put(text, format_args!("/item/{}", below(ends)))
        }
        Hex(digits) => {
            for _ in 0..digits {
                let digit = char::from_digit(below(16) as u32, 16);
                text.extend(digit);
            }
            None
        }
        Document => put(
            text,
            format_args!(
                "{{\"user\": {}, \"agent\": \"browser/{}.0\", \"ok\": {}}}",
                below(5000),
                below(40),
                below(20) > 0
            ),
        ),
        Period(length) => put(text, format_args!("period {} of the year", row / length)),
    }
}

fn words(count: u32, below: &mut impl FnMut(u64) -> u64, text: &mut String) {
    for word in 0..count {
        let ends = below(2000).max(1);
        let space = if word > 0 { " " } else { "" };
        put(text, format_args!("{space}w{}", below(ends)));
    }
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) -> Option<i64> {
    text.write_fmt(what).unwrap();
    None
}
