//! The scorecard: a fixed table of metrics, one column per target and per compared platform.
//!
//! The metrics are data (`scorecard.toml`); `evaluate` finds their values.

mod caution;
mod cell;
mod evaluate;
mod line;
mod section;

pub use cell::{Absence, Against, Cell, Column, Measured};
pub use line::{Line, Rule, lines, query_number, rank, throughput_line};

pub(crate) use caution::{caution, engine_specific, other_runtime};
pub(crate) use evaluate::{published_figure, published_loads};
pub(crate) use section::{ends, half, section};

use archive::Run;

use crate::component::place;
use crate::level::TestGroup;

#[derive(Debug, Clone)]
pub struct Row {
    pub line: &'static Line,
    pub cells: Vec<Cell>,
    /// The reason against comparing the cells with each other.
    pub caution: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub struct Scorecard {
    /// Targets first, then the compared platforms with any of the metrics.
    pub columns: Vec<Column>,
    /// One row per metric whose test was measured or published anywhere, by component, then in the order of [`lines`].
    pub rows: Vec<Row>,
    /// A sentence naming the tests of the other metrics.
    pub left_out: Option<String>,
    /// A sentence naming the references without any of the metrics; they have no column.
    pub silent: Option<String>,
}

/// The figure that represents a test's throughput: that of its line if any point has it, else that of backups, else operations, else rows;
/// `None` if all of them are unknown.
pub(crate) fn rate_figure(group: &TestGroup<'_>) -> Option<&'static str> {
    let known = |name: &&str| {
        let mut levels = group.curves.iter().flat_map(|c| &c.levels);
        levels.any(|l| l.figure(name).is_some_and(|v| v > 0.0))
    };
    let wanted = throughput_line(group.test).map(|l| l.figure.as_str());
    let mut names = wanted
        .into_iter()
        .chain(["backup_tb_per_h", "operations_per_s", "rows_per_s"]);
    names.find(known)
}

/// Evaluates every line for every target of `run` and for everything in `against`.
pub fn scorecard(run: &Run, against: &[Against<'_>]) -> Scorecard {
    let mut columns = evaluate::of_run(run, true);
    let mut silent = Vec::new();
    for other in against {
        match other {
            Against::Run(other) => columns.extend(evaluate::of_run(other, false)),
            Against::Reference(reference) => {
                let column = evaluate::of_reference(reference);
                if column.1.iter().any(|c| matches!(c, Cell::Value(_))) {
                    columns.push(column)
                } else {
                    silent.push(reference.title.as_str())
                }
            }
        }
    }
    let (heads, cells): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let (mut rows, rest): (Vec<Row>, Vec<Row>) = lines()
        .iter()
        .enumerate()
        .map(|(at, line)| Row {
            line,
            cells: cells.iter().map(|c: &Vec<Cell>| c[at].clone()).collect(),
            caution: caution::caution(run, against, &line.test),
        })
        .partition(|row| !row.nowhere_measured());
    rows.sort_by_key(|row| place(row.line.component));
    Scorecard {
        left_out: left_out(run, against, &rows, &rest),
        silent: (!silent.is_empty()).then(|| {
            format!(
                "Not shown, because they publish none of these metrics: {}.",
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

/// "Not in this plan: T133, T141." A workload that was not measured at all does not count as left out.
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
