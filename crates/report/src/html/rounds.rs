//! Queries run in rounds: the time and the reads of each query by round.

use chart::{Axis, Chart, Series, Shape, tick, tick_latency};
use std::collections::BTreeSet;

use archive::{Execution, Table};
use stats::summary::median;

use super::figure::{Figure, grouped};
use super::sweep::Sweep;
use crate::level::Level;
use crate::number;

/// More queries than this share one line, their sum; the table has each.
const LINES_MAX: usize = 4;

/// The rounds of one sweep over its repetitions, at its smallest degree of parallelism.
struct Side<'a> {
    sweep: &'a Sweep<'a>,
    cells: Vec<Cell<'a>>,
}

struct Cell<'a> {
    round: u32,
    statement: &'a str,
    time_us: Option<f64>,
    buffer_hit_pct: Option<f64>,
    device_read_mb: Option<f64>,
    /// Fingerprints of its plan over the repetitions.
    plans: BTreeSet<&'a str>,
}

/// The charts of a test whose points store their executions; empty for others.
pub fn figures(sweeps: &[Sweep<'_>]) -> Vec<Figure> {
    let sides: Vec<Side<'_>> = sweeps.iter().filter_map(Side::of).collect();
    if !sides.iter().any(|side| side.sweep.own) {
        return Vec::new();
    }
    [times(&sides), reads(&sides)]
        .into_iter()
        .flatten()
        .collect()
}

impl<'a> Side<'a> {
    fn of(sweep: &'a Sweep<'a>) -> Option<Self> {
        let level = sweep.curve.as_ref()?.levels.first()?.shown();
        let cells = cells(&level);
        (!cells.is_empty()).then_some(Self { sweep, cells })
    }

    fn statements(&self) -> Vec<&'a str> {
        let mut each: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !each.contains(&cell.statement) {
                each.push(cell.statement);
            }
        }
        each
    }

    fn rounds(&self) -> u32 {
        self.cells.iter().map(|cell| cell.round).max().unwrap_or(0)
    }

    /// The value of a round, of one query or summed over all; unknown if one of them is.
    fn value(
        &self,
        round: u32,
        statement: Option<&str>,
        value: fn(&Cell<'_>) -> Option<f64>,
    ) -> Option<f64> {
        let is = |cell: &&Cell<'_>| {
            cell.round == round && statement.is_none_or(|statement| cell.statement == statement)
        };
        let values: Option<Vec<f64>> = self.cells.iter().filter(is).map(value).collect();
        values
            .filter(|values| !values.is_empty())
            .map(|values| values.iter().sum())
    }

    fn series(
        &self,
        label: &str,
        (colour, shape): (usize, Shape),
        value: impl Fn(u32) -> Option<f64>,
    ) -> Series {
        Series::new(
            format!("{} {label}", self.sweep.label).trim(),
            colour,
            shape,
            self.sweep.dash,
            (1..=self.rounds())
                .map(|round| (f64::from(round), value(round)))
                .collect(),
        )
    }
}

/// Each query by round, with the median of the repetitions.
fn cells<'a>(level: &Level<'a>) -> Vec<Cell<'a>> {
    let Some(longest) = (level.points.iter()).max_by_key(|point| point.executions.len()) else {
        return Vec::new();
    };
    let cell = |of: &'a Execution| {
        let same: Vec<&'a Execution> = (level.points.iter())
            .flat_map(|point| &point.executions)
            .filter(|other| (other.round, &other.statement) == (of.round, &of.statement))
            .collect();
        let middle = |value: fn(&Execution) -> Option<f64>| {
            let values: Vec<f64> = same.iter().filter_map(|each| value(each)).collect();
            median(&values)
        };
        Cell {
            round: of.round,
            statement: &of.statement,
            time_us: middle(|each| each.elapsed_us.map(|us| us as f64)),
            buffer_hit_pct: middle(Execution::buffer_hit_pct),
            device_read_mb: middle(|each| each.device_read_bytes.map(|bytes| bytes as f64 / 1e6)),
            plans: same
                .iter()
                .filter_map(|each| each.plan.as_deref())
                .collect(),
        }
    };
    longest.executions.iter().map(cell).collect()
}

fn times(sides: &[Side<'_>]) -> Option<Figure> {
    let alone = sides.len() == 1;
    let mut series = Vec::new();
    for side in sides {
        let statements = side.statements();
        if statements.len() > LINES_MAX {
            let mark = (side.sweep.colour, side.sweep.shape);
            series.push(side.series("", mark, |round| {
                side.value(round, None, |cell| cell.time_us)
            }));
            continue;
        }
        for (index, statement) in statements.into_iter().enumerate() {
            // Colours distinguish queries if there is one side, else sides.
            let colour = if alone { index } else { side.sweep.colour };
            let mark = (colour, Shape::nth(index));
            series.push(side.series(statement, mark, |round| {
                side.value(round, Some(statement), |cell| cell.time_us)
            }));
        }
    }
    let is_of_all = sides.iter().any(|side| side.statements().len() > LINES_MAX);
    let caption = if is_of_all {
        "Time of all queries by round"
    } else {
        "Time of each query by round"
    };
    let how = "Queries run in the same order in each round. What a round leaves in the caches, the next one need not read. \
               Medians of the repetitions.";
    let mut figure = chart(caption, how, series, tick_latency)?;
    figure.said = sides.iter().flat_map(|side| said(side, alone)).collect();
    figure.tables = vec![table(sides)];
    Some(figure)
}

fn reads(sides: &[Side<'_>]) -> Option<Figure> {
    let line = |side: &Side<'_>| {
        let mark = (side.sweep.colour, side.sweep.shape);
        side.series("", mark, |round| {
            side.value(round, None, |cell| cell.device_read_mb)
        })
    };
    let how = "What the block devices under the database read in each round, for whomever. Nothing in later rounds: everything \
               was in a cache.";
    chart(
        "Device reads by round, MB",
        how,
        sides.iter().map(line).collect(),
        tick,
    )
}

fn chart(
    caption: &str,
    how: &str,
    series: Vec<Series>,
    label: fn(f64) -> String,
) -> Option<Figure> {
    let known = || series.iter().flat_map(|line| &line.points);
    let high = known().filter_map(|(_, value)| *value).reduce(f64::max)?;
    let last = known().map(|(round, _)| *round as u32).max()?;
    let x = Axis::numbered("round", last);
    let chart = Chart::new(caption, x, Axis::linear("", high, label), series);
    let heads = ["round", "value"];
    Some(Figure::of(&chart, how, heads, number::figure_or_unknown))
}

/// The change from the first round to the last, and queries whose plan changed.
fn said(side: &Side<'_>, is_alone: bool) -> Vec<String> {
    let of = if is_alone {
        String::new()
    } else {
        format!("{}: ", side.sweep.label)
    };
    let last = side.rounds();
    let time = |round| side.value(round, None, |cell| cell.time_us);
    let ratio = time(1).zip(time(last)).filter(|(first, _)| *first > 0.0);
    let ratio = ratio.filter(|_| last > 1).map(|(first, now)| {
        format!(
            "{of}round {last} takes {:.2} of the time of round 1 ({} of {}).",
            now / first,
            number::latency(Some(now)),
            number::latency(Some(first))
        )
    });
    let changed = side.statements().into_iter().filter_map(|statement| {
        let own = || side.cells.iter().filter(|cell| cell.statement == statement);
        let plans: BTreeSet<&str> = own().flat_map(|cell| &cell.plans).copied().collect();
        let rounds: Vec<String> = own()
            .map(|cell| {
                let plans: Vec<&str> = cell.plans.iter().copied().collect();
                format!("round {} {}", cell.round, plans.join(" and "))
            })
            .collect();
        (plans.len() > 1).then(|| {
            format!(
                "{of}the execution plan of {statement} changed: {}.",
                rounds.join(", ")
            )
        })
    });
    ratio.into_iter().chain(changed).collect()
}

fn table(sides: &[Side<'_>]) -> Table {
    let row = |cell: &Cell<'_>| {
        vec![
            cell.round.to_string(),
            cell.statement.to_owned(),
            number::latency(cell.time_us),
            number::one_decimal(cell.buffer_hit_pct),
            number::figure_or_unknown(cell.device_read_mb),
            cell.plans.iter().copied().collect::<Vec<_>>().join(", "),
        ]
    };
    let rows = sides.iter().flat_map(|side| {
        side.cells
            .iter()
            .map(move |cell| (side.sweep.label.clone(), row(cell)))
    });
    let heads = [
        "round",
        "query",
        "time",
        "buffer hits, %",
        "device MB",
        "plan",
    ];
    grouped(&heads, rows)
}

#[cfg(test)]
mod tests {
    use archive::{Component, Point, PointKey};

    use super::*;
    use crate::level::Curve;
    use chart::Dash;

    fn execution(round: u32, statement: &str, elapsed_us: u64, plan: &str) -> Execution {
        Execution {
            round,
            statement: statement.to_owned(),
            elapsed_us: Some(elapsed_us),
            plan: Some(plan.to_owned()),
            device_read_bytes: Some(u64::from(round == 1) * 2_000_000),
            buffer_gets: Some(100),
            pages_read: Some(u64::from(round == 1) * 40),
        }
    }

    fn point(repetition: u32, executions: Vec<Execution>) -> Point {
        let key = PointKey {
            repetition,
            ..PointKey::of("OLAP-ROUNDS", 1)
        };
        Point {
            executions,
            ..Point::blank(key, "rounds".into(), Component::Database)
        }
    }

    fn sweep<'a>(points: &'a [Point], label: &str, own: bool) -> Sweep<'a> {
        let level = Level {
            number: 1,
            points: points.iter().collect(),
        };
        Sweep {
            label: label.to_owned(),
            colour: usize::from(!own),
            shape: Shape::Circle,
            dash: Dash::Solid,
            curve: Some(Curve {
                target: 0,
                step: 1,
                label: label.to_owned(),
                levels: vec![level],
            }),
            own,
            other_runtime: false,
            levels: Vec::new(),
        }
    }

    /// Two queries in two rounds; the second plan of Q6 differs.
    fn run(slower: u64) -> Vec<Execution> {
        vec![
            execution(1, "Q14", 400_000 * slower, "a"),
            execution(1, "Q6", 600_000 * slower, "b"),
            execution(2, "Q14", 100_000 * slower, "a"),
            execution(2, "Q6", 150_000 * slower, "c"),
        ]
    }

    #[test]
    fn each_query_has_its_line_and_its_row() {
        // The median of three repetitions is the one in the middle.
        let points: Vec<Point> = [1, 3, 2]
            .iter()
            .zip(1..)
            .map(|(slower, repetition)| point(repetition, run(*slower)))
            .collect();
        let figures = figures(&[sweep(&points, "pg", true)]);
        let [times, reads] = figures.as_slice() else {
            panic!("{}", figures.len())
        };
        assert_eq!(times.caption, "Time of each query by round");
        assert_eq!(
            times.said,
            [
                "round 2 takes 0.25 of the time of round 1 (500 ms of 2.00 s).",
                "the execution plan of Q6 changed: round 1 b, round 2 c."
            ]
        );
        let [label, rows @ ..] = &times.tables[0].rows[..] else {
            panic!("{times:?}")
        };
        assert_eq!((&label[..], rows.len()), (&["pg".into()][..], 4));
        let row = |cells: [&str; 6]| cells.map(archive::Cell::from);
        assert_eq!(rows[0], row(["1", "Q14", "800 ms", "60.0", "2.00", "a"]));
        assert_eq!(rows[3], row(["2", "Q6", "300 ms", "100.0", "0", "c"]));
        assert_eq!(
            reads.tables[0].rows[1],
            ["1", "4.00"].map(archive::Cell::from)
        );
    }

    #[test]
    fn both_sides_are_drawn_and_many_queries_as_one() {
        let (own, other) = ([point(1, run(1))], [point(1, run(2))]);
        let sides = [sweep(&own, "all", true), sweep(&other, "half", false)];
        let both = figures(&sides);
        assert!(both[0].svg.contains("half Q14") && both[0].svg.contains("all Q6"));
        assert!(both[0].said[0].starts_with("all: round 2 takes 0.25"));
        // Rounds of a compared run alone do not appear.
        assert!(figures(&sides[1..]).is_empty());
        let many = ["Q1", "Q2", "Q3", "Q4", "Q5"].map(|query| execution(1, query, 100_000, "a"));
        let many = [point(1, many.to_vec())];
        let drawn = figures(&[sweep(&many, "pg", true)]);
        assert_eq!(drawn[0].caption, "Time of all queries by round");
        assert_eq!(drawn[0].tables[0].rows.len(), 1 + 5);
        assert!(
            drawn[0].said.is_empty(),
            "one round has none to be set against"
        );
        let none = [point(1, Vec::new())];
        assert!(figures(&[sweep(&none, "pg", true)]).is_empty());
    }
}
