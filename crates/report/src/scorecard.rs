//! The scorecard: a fixed table of metrics, one column per target and per platform it is set against.
//!
//! Which metrics there are is data (`scorecard.toml`); how they are found is in `evaluate`.

mod caution;
mod evaluate;

pub(crate) use caution::{ENGINE_SPECIFIC, caution, engine_specific, other_runtime};
pub(crate) use evaluate::{published_figure, published_loads};

use std::sync::OnceLock;

use archive::reference::Reference;
use archive::{Component, Run};
use serde::Deserialize;

/// What a run is set against: another run, or the published figures of another platform.
#[derive(Debug, Clone, Copy)]
pub enum Against<'a> {
    /// Another run, from this or another archive.
    Run(&'a Run),
    /// Published figures.
    Reference(&'a Reference),
}

/// How one value is found among the levels of a sweep.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Rule {
    /// The value at one job; the smallest parallelism among those.
    Speed,
    /// The largest value.
    Maximum,
    /// The smallest value.
    Minimum,
    /// The largest value among the levels whose mean service time keeps the limit.
    Within {
        /// Limit of the mean service time, µs.
        limit_us: f64,
    },
    /// The value at the level where another figure is largest.
    AtMaximum {
        /// Name of that other figure.
        of: String,
    },
}

/// One metric of the scorecard.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Line {
    /// Part of the platform it belongs to.
    pub component: Component,
    /// Heading under which it stands.
    pub group: String,
    /// Name within the group.
    pub label: String,
    /// Test code.
    pub test: String,
    /// Figure of the result row, or a latency percentile such as `service_us_p99`.
    pub figure: String,
    /// Unit as printed.
    pub unit: String,
    /// Printed value = figure × scale.
    #[serde(default = "one")]
    pub scale: f64,
    /// Service times are those of one row, where an operation is a batch of rows.
    #[serde(default)]
    pub per_row: bool,
    /// How the value is found.
    #[serde(flatten)]
    pub rule: Rule,
}

fn one() -> f64 {
    1.0
}

#[derive(Deserialize)]
struct File {
    line: Vec<Line>,
}

/// All metrics, in the order in which they are printed.
pub fn lines() -> &'static [Line] {
    static LINES: OnceLock<Vec<Line>> = OnceLock::new();
    LINES.get_or_init(|| {
        toml::from_str::<File>(include_str!("../scorecard.toml"))
            .expect("scorecard.toml is embedded and a test of this module reads it")
            .line
    })
}

/// Place of a test in the scorecard; tests that are not in it come last.
pub fn rank(test: &str) -> usize {
    let in_card = lines().iter().position(|l| l.test == test);
    let place = |codes: &[&str]| codes.iter().position(|code| *code == test);
    let in_order_entry = || place(&ORDER_ENTRY);
    // Behind the order entry and its number of points the queries in theirs.
    let of_query = || Some(ORDER_ENTRY.len() + query_number(test)?);
    let of_refresh = || Some(ORDER_ENTRY.len() + QUERIES_MAX + 1 + place(&AROUND_QUERIES)?);
    in_card
        .or_else(|| {
            let in_workload = in_order_entry().or_else(of_query).or_else(of_refresh)?;
            Some(lines().len() + in_workload)
        })
        .unwrap_or(usize::MAX)
}

/// The number of a query of the analytical workload, from its code.
pub fn query_number(test: &str) -> Option<usize> {
    let number = test.strip_prefix('Q')?.parse().ok()?;
    (1..=QUERIES_MAX).contains(&number).then_some(number)
}

/// Queries of the analytical workload.
const QUERIES_MAX: usize = 22;
/// Its points behind the queries.
const AROUND_QUERIES: [&str; 3] = ["RF1", "RF2", "OLAP-LOAD"];

/// The points of the order-entry workload, what users did first, what was done around it last.
const ORDER_ENTRY: [&str; 10] = [
    "OLTP",
    "NEW-ORDER",
    "PAYMENT",
    "ORDER-STATUS",
    "DELIVERY",
    "STOCK-LEVEL",
    "OLTP-LOAD",
    "OLTP-BEFORE",
    "OLTP-AFTER",
    "OLTP-CHECK",
];

/// The figure that stands for a test's throughput: the one of its first line with a rate.
pub fn throughput_line(test: &str) -> Option<&'static Line> {
    lines().iter().find(|l| {
        l.test == test
            && matches!(l.rule, Rule::Speed | Rule::Maximum | Rule::Within { .. })
            && !l.figure.contains("_us_")
    })
}

/// A value of the scorecard and what stands behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Value in the line's unit; the median where there are repetitions.
    pub value: f64,
    /// Degree of parallelism at which it was found.
    pub dop: u32,
    /// Smallest and largest over the repetitions, when there were at least two.
    pub range: Option<(f64, f64)>,
    /// Repetitions behind it.
    pub repetitions: usize,
    /// Points of the same sweep that failed a check and were left out.
    pub invalid_left_out: usize,
    /// A contradiction or doubt recorded beside a published figure.
    pub doubt: Option<String>,
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// The target cannot do the test.
    MissingCapability,
    /// It was measured, but no point passed its checks.
    Invalid,
    /// It is not in the run (or was not published).
    NotMeasured,
    /// It was measured, but the platform does not tell this figure.
    NotTold,
    /// No level kept the line's limit.
    OutOfLimit,
    /// Nothing but labelled extras was measured.
    OnlyExtras,
}

/// One cell of the scorecard.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A value.
    Value(Measured),
    /// "–", and why.
    Absent {
        /// Kind of reason.
        why: Absence,
        /// One sentence.
        reason: String,
    },
}

/// One column: a target of a run, or a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// What is printed at its head.
    pub title: String,
    /// Where it comes from: "this run", the label of another run, or the document.
    pub source: String,
    /// True for the targets of the run that is reported.
    pub own: bool,
}

/// One row.
#[derive(Debug, Clone)]
pub struct Row {
    /// The metric.
    pub line: &'static Line,
    /// One cell per column.
    pub cells: Vec<Cell>,
    /// Why the cells must not be compared with each other.
    pub caution: Option<&'static str>,
}

/// The whole table.
#[derive(Debug, Clone)]
pub struct Scorecard {
    /// Targets first, then what they are set against, as far as it tells any of the metrics.
    pub columns: Vec<Column>,
    /// One row per metric whose test was measured or published anywhere, in the order of [`lines`].
    pub rows: Vec<Row>,
    /// Names the tests of the other metrics in one sentence.
    pub left_out: Option<String>,
    /// Names the references that publish none of the metrics, in one sentence; they have no column.
    pub silent: Option<String>,
}

/// Evaluates every line for every target of `run` and for everything it is set `against`.
pub fn scorecard(run: &Run, against: &[Against<'_>]) -> Scorecard {
    let mut columns = evaluate::of_run(run, true);
    let mut silent = Vec::new();
    for other in against {
        match other {
            Against::Run(other) => columns.extend(evaluate::of_run(other, false)),
            Against::Reference(reference) => {
                let column = evaluate::of_reference(reference);
                match column.1.iter().any(|c| matches!(c, Cell::Value(_))) {
                    true => columns.push(column),
                    false => silent.push(reference.title.as_str()),
                }
            }
        }
    }
    let (heads, cells): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let (rows, rest): (Vec<Row>, Vec<Row>) = lines()
        .iter()
        .enumerate()
        .map(|(at, line)| Row {
            line,
            cells: cells.iter().map(|c: &Vec<Cell>| c[at].clone()).collect(),
            caution: caution::caution(run, against, &line.test),
        })
        .partition(|row| !row.nowhere_measured());
    Scorecard {
        left_out: left_out(run, against, &rows, &rest),
        silent: (!silent.is_empty()).then(|| {
            format!(
                "Without a column, because they publish none of these metrics: {}.",
                silent.join("; ")
            )
        }),
        columns: heads,
        rows,
    }
}

impl Row {
    fn nowhere_measured(&self) -> bool {
        let nowhere =
            |cell: &Cell| matches!(cell, Cell::Absent { why, .. } if *why == Absence::NotMeasured);
        self.cells.iter().all(nowhere)
    }
}

/// "Not in this plan: T133, T141." Of a workload that was not measured at all nothing is left out.
fn left_out(run: &Run, against: &[Against<'_>], rows: &[Row], rest: &[Row]) -> Option<String> {
    let families: Vec<&str> = rows.iter().map(|row| family(&row.line.test)).collect();
    let tests = rest.iter().map(|r| r.line.test.as_str());
    let mut tests: Vec<&str> = tests
        .filter(|test| families.contains(&family(test)))
        .collect();
    tests.dedup();
    let complete = |run: &Run| run.state == archive::RunState::Complete;
    let all_complete = against.iter().all(|a| match a {
        Against::Run(other) => complete(other),
        Against::Reference(_) => true,
    });
    let where_not = match (complete(run) && all_complete, against.is_empty()) {
        (true, true) => "Not in this plan",
        (true, false) => "In none of these plans and references",
        (false, _) => "Not reached, or in no plan",
    };
    (!tests.is_empty()).then(|| format!("{where_not}: {}.", tests.join(", ")))
}

/// "T" of the component tests, "OLAP" of the queries.
fn family(test: &str) -> &str {
    let end = test.find(|c: char| !c.is_ascii_alphabetic());
    &test[..end.unwrap_or(test.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_names_a_figure_and_its_component_stays_together() {
        let lines = lines();
        assert!(lines.len() > 30);
        for line in lines {
            assert!(
                crate::level::is_figure(&line.figure),
                "{} is no figure",
                line.figure
            );
            if let Rule::AtMaximum { of } = &line.rule {
                assert!(crate::level::is_figure(of), "{of} is no figure");
            }
            assert!(line.scale > 0.0);
            let timed =
                line.figure == "service_us_mean" || matches!(line.rule, Rule::Within { .. });
            assert!(
                timed || !line.per_row,
                "{} has no time to divide",
                line.label
            );
        }
        assert!(lines.is_sorted_by_key(|l| l.component));
    }

    #[test]
    fn every_test_of_the_library_has_a_line() {
        let tests = "T132 T133 T141 T151 T152 T153 T421 T611 T621 T211 T426 T626 T721 \
                     T331 T332 T512 T311 T616 T716 T431 T521 T531";
        for test in tests.split_whitespace() {
            assert!(rank(test) < usize::MAX, "{test}");
            assert!(throughput_line(test).is_some(), "{test}");
        }
        assert_eq!(rank("T999"), usize::MAX);
    }
}
