//! An observed database: sessions over time, and tables from its statistics views.

use archive::{About, Observed, ObservedCell, Point, Remark, Run};
use askama::Template;

use super::figure::{Figure, Table};
use crate::level;
use crate::number::{self, tick};
use crate::svg::{Axis, Chart, Dash, Series, Shape, Trace};

/// A longer series is thinned to about this many intervals.
const INTERVALS_MAX: usize = 180;
/// Columns of the activity before its classes.
const BEFORE_CLASSES: usize = 2;

#[derive(Template)]
#[template(path = "observed.html", whitespace = "minimize")]
pub struct View {
    points: Vec<PointView>,
}

struct PointView {
    title: String,
    facts: Vec<(&'static str, String)>,
    sentence: String,
    charts: Vec<Figure>,
    tables: Vec<TableView>,
}

struct TableView {
    title: &'static str,
    how: String,
    /// Name and unit, and a flag for texts.
    heads: Vec<(String, String, bool)>,
    /// Cells, and a flag for texts.
    rows: Vec<Vec<(String, bool)>>,
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

pub fn view(run: &Run) -> View {
    let points = run.points.iter().filter(|point| !point.observed.is_empty());
    View {
        points: points.map(|point| of_point(run, point)).collect(),
    }
}

fn of_point(run: &Run, point: &Point) -> PointView {
    let bottleneck = point.held_back.bottleneck.as_ref();
    let activity = point
        .observed
        .iter()
        .find(|table| table.about == About::Activity);
    let charts = activity.map(|table| charts(table, run.platform.threads));
    let tables = point
        .observed
        .iter()
        .filter(|table| table.about != About::Activity);
    PointView {
        title: format!(
            "{}, {} s from {}",
            level::target_name(run, point.key.target),
            number::figure_or_unknown(point.figures.elapsed_s),
            point.started_at
        ),
        facts: facts(point),
        sentence: bottleneck.map(|b| b.sentence.clone()).unwrap_or_default(),
        charts: charts.unwrap_or_default(),
        tables: tables.map(table).collect(),
    }
}

/// Sampled counterpart of an average from counters.
const BY_LOOKS: (&str, &str, &str) = ("… by the looks", "active_sessions_seen_mean", "");
/// Heads of the other main figures, with their units.
const FACTS: [(&str, &str, &str); 7] = [
    ("… of which waiting", "waiting_sessions_mean", ""),
    ("… of which blocked by a lock", "blocked_sessions_mean", ""),
    ("active sessions, most at once", "active_sessions_max", ""),
    ("transactions", "operations_per_s", "/s"),
    ("oldest transaction", "transaction_s_max", "s"),
    ("replica behind, at most", "replication_lag_s_max", "s"),
    ("processors busy", "cpu_pct_avg", "%"),
];

fn facts(point: &Point) -> Vec<(&'static str, String)> {
    let fact = |(head, figure, unit): (&'static str, &str, &str)| {
        let value = point.figures.get(figure).map(number::figure);
        let text = value.map(|value| format!("{value} {unit}").trim_end().to_owned());
        (head, text.unwrap_or_else(|| number::UNKNOWN.to_owned()))
    };
    let average = |head| (head, "active_sessions_mean", "");
    let between = point.notes.iter().find_map(|note| match note {
        Remark::ObservedBetween { low, .. } => Some(number::figure(*low)),
        _ => None,
    });
    let account = point.notes.iter().find_map(|note| match note {
        Remark::ObservedByAccount { .. } => Some("active sessions, mean, by the server's account"),
        Remark::ObservedByKernel { .. } => Some("active sessions, mean, by the kernel's account"),
        _ => None,
    });
    let averages = match account {
        Some(head) => vec![average(head), BY_LOOKS],
        None => vec![average("active sessions, mean, by the looks")],
    };
    let all = averages.into_iter().chain(FACTS);
    let mut facts: Vec<_> = all.map(fact).collect();
    if let Some(low) = between {
        facts[0].1 = format!("{low} to {}", facts[0].1);
    }
    facts
}

fn words(about: About) -> (&'static str, &'static str) {
    match about {
        About::Server => ("Server", ""),
        About::Activity => ("Active sessions", ""),
        About::Load => (
            "Load profile",
            "Differences of counters, in all databases of the server. Transactions and sessions of the observer are left out; the pages that its questions read are in the reads.",
        ),
        About::Statements => (
            "Top statements",
            "By the time that sessions spent in them. Active sessions: that time divided by the time of the observation.",
        ),
        About::Blockers => (
            "Blocked sessions",
            "Who waited for a lock of whom, and for how long while it was seen.",
        ),
        About::Transactions => (
            "Longest transactions",
            "At their oldest. A transaction that is idle keeps its locks, and old rows from being removed.",
        ),
        About::Replication => ("Replication", "At the end of the observation."),
        About::Tables => (
            "Hottest tables",
            "Rows read and changed meanwhile, in the database that was logged on to.",
        ),
        About::Indexes => (
            "Unused indexes",
            "No query has used them since the server's statistics begin; they cost every change of their tables. Replicas have statistics of their own.",
        ),
        About::Cost => ("What observing cost", ""),
        About::Unseen => (
            "What could not be seen",
            "And the right or setting that shows it.",
        ),
    }
}

fn table(observed: &Observed) -> TableView {
    let (title, how) = words(observed.about);
    let source = if observed.source.is_empty() {
        String::new()
    } else {
        format!("Source: {}.", observed.source)
    };
    let remark = observed
        .remark
        .as_deref()
        .map(|text| format!("{}.", number::capital(text)));
    let nothing = (observed.rows.is_empty() && remark.is_none()).then_some("Nothing was seen.");
    let parts = [
        how,
        source.as_str(),
        remark.as_deref().unwrap_or(""),
        nothing.unwrap_or(""),
    ];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let is_empty = observed.rows.is_empty();
    let is_text = |at: usize| {
        let mut cells = observed.rows.iter().filter_map(|row| row.get(at));
        cells.any(|cell| matches!(cell, ObservedCell::Text(_)))
    };
    let heads = observed.columns.iter().filter(|_| !is_empty);
    TableView {
        title,
        how: parts.collect::<Vec<_>>().join(" "),
        heads: heads
            .zip(0..)
            .map(|(c, at)| (c.name.clone(), c.unit.clone(), is_text(at)))
            .collect(),
        rows: observed
            .rows
            .iter()
            .map(|row| row.iter().map(cell).collect())
            .collect(),
    }
}

fn cell(cell: &ObservedCell) -> (String, bool) {
    match cell {
        ObservedCell::Number(number) => (number::figure(*number), false),
        ObservedCell::Text(text) => (text.clone(), true),
        ObservedCell::Unknown(()) => (number::UNKNOWN.to_owned(), false),
    }
}

fn charts(activity: &Observed, cores: Option<u32>) -> Vec<Figure> {
    let rows = thinned(activity);
    if rows.len() < 2 {
        return Vec::new();
    }
    let sessions = sessions(activity, &rows, cores);
    sessions.into_iter().chain(transactions(&rows)).collect()
}

type Row = Vec<Option<f64>>;

/// Rows as numbers; if there are too many, neighbours are joined to their means.
fn thinned(activity: &Observed) -> Vec<Row> {
    let number = |cell: &ObservedCell| match cell {
        ObservedCell::Number(number) => Some(*number),
        _ => None,
    };
    let rows = activity.rows.iter();
    let rows: Vec<Row> = rows.map(|row| row.iter().map(number).collect()).collect();
    let joined = |chunk: &[Row]| -> Row {
        let columns = 0..activity.columns.len();
        let last = chunk.last().and_then(|row| row.first().copied().flatten());
        let mean = |at: usize| {
            let known: Vec<f64> = chunk.iter().filter_map(|row| *row.get(at)?).collect();
            stats::summary::mean(&known)
        };
        columns
            .map(|at| if at == 0 { last } else { mean(at) })
            .collect()
    };
    rows.chunks(rows.len().div_ceil(INTERVALS_MAX).max(1))
        .map(joined)
        .collect()
}

/// Stacked areas; their upper edge is the number of active sessions.
fn sessions(activity: &Observed, rows: &[Row], cores: Option<u32>) -> Option<Figure> {
    let at_s = |row: &Row| row.first().copied().flatten();
    let classes: Vec<usize> = (BEFORE_CLASSES..activity.columns.len())
        .filter(|at| rows.iter().any(|row| row[*at].is_some_and(|n| n > 0.0)))
        .collect();
    let (mut series, mut traces) = (Vec::new(), Vec::new());
    let mut below: Vec<f64> = vec![0.0; rows.len()];
    for (colour, at) in classes.iter().enumerate() {
        let above: Vec<f64> = rows
            .iter()
            .zip(&below)
            .map(|(row, low)| low + row[*at].unwrap_or(0.0))
            .collect();
        let band = rows.iter().zip(below.iter().zip(&above));
        let band: Vec<_> = band
            .filter_map(|(row, (low, high))| Some((at_s(row)?, *low, *high)))
            .collect();
        let points = band.iter().map(|(x, _, high)| (*x, Some(*high))).collect();
        traces.push(Trace {
            colour,
            dash: Dash::Solid,
            points: Vec::new(),
            band,
        });
        series.push(line(
            activity.columns[*at].name.clone(),
            colour,
            Dash::Solid,
            points,
        ));
        below = above;
    }
    let ends = || rows.iter().filter_map(at_s);
    let mut high = below.iter().copied().fold(0.0, f64::max);
    if let Some(cores) = cores {
        high = high.max(f64::from(cores));
        let cores = f64::from(cores);
        let points = ends().map(|x| (x, Some(cores))).collect();
        series.push(line(
            format!("{cores} hardware threads"),
            7,
            Dash::Dashed,
            points,
        ));
    }
    let chart = Chart {
        title: "Active sessions over time".into(),
        x: Axis::linear("seconds", ends().fold(0.0, f64::max), tick),
        y: Axis::linear("", high, tick),
        series,
        marks: Vec::new(),
        traces,
    };
    let heads: Vec<&str> = std::iter::once("until (s)")
        .chain(classes.iter().map(|at| activity.columns[*at].name.as_str()))
        .collect();
    let cells = |row: &Row| {
        let classes = classes.iter().map(|at| row[*at]);
        let all = std::iter::once(at_s(row)).chain(classes);
        (String::new(), all.map(number::figure_or_unknown).collect())
    };
    let how = "Active sessions, by what they did (CPU: on a processor or waiting for one): the areas lie on top of each other, and the upper edge is their number. \
               Above the dashed line more sessions are active than processors can serve.";
    Some(Figure::new(
        "Active sessions by wait class".into(),
        chart.render(),
        how.into(),
        Table::new(&heads, rows.iter().map(cells)),
    ))
}

fn transactions(rows: &[Row]) -> Option<Figure> {
    let points = rows
        .iter()
        .filter_map(|row| Some(((*row.first()?)?, *row.get(1)?)));
    let points: Vec<(f64, Option<f64>)> = points.collect();
    let high = points.iter().filter_map(|(_, n)| *n).fold(0.0, f64::max);
    if high <= 0.0 {
        return None;
    }
    let last = points.last().map_or(0.0, |(x, _)| *x);
    let cells = |(x, n): &(f64, Option<f64>)| {
        let cells = [Some(*x), *n].map(number::figure_or_unknown);
        (String::new(), cells.into())
    };
    let rows: Vec<_> = points.iter().map(cells).collect();
    let chart = Chart {
        title: "Transactions per second over time".into(),
        x: Axis::linear("seconds", last, tick),
        y: Axis::linear("", high, tick),
        series: vec![line(String::new(), 0, Dash::Solid, points)],
        marks: Vec::new(),
        traces: Vec::new(),
    };
    Some(Figure::new(
        "Transactions per second".into(),
        chart.render(),
        "Commits and rollbacks of all databases, without the observer's. A gap is an interval in which counters were reset.".into(),
        Table::new(&["until (s)", "transactions/s"], rows),
    ))
}

fn line(label: String, colour: usize, dash: Dash, points: Vec<(f64, Option<f64>)>) -> Series {
    Series {
        label,
        colour,
        shape: Shape::None,
        dash,
        points,
        ranges: Vec::new(),
        rejected: Vec::new(),
        extras: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use archive::{Component, PointKey};

    use super::*;

    #[test]
    fn accounts_that_differ_are_a_range() {
        let key = PointKey::of(PointKey::OBSERVATION, 1);
        let mut point = Point::blank(key, String::new(), Component::Database);
        point.figures.active_sessions_mean = Some(2.99);
        point.notes = vec![Remark::ObservedByKernel { seen: 0.73 }];
        let head = "active sessions, mean, by the kernel's account";
        assert_eq!(facts(&point)[0], (head, "2.99".to_owned()));
        let (low, high) = (1.35, 2.99);
        point.notes.push(Remark::ObservedBetween { low, high });
        assert_eq!(facts(&point)[0], (head, "1.35 to 2.99".to_owned()));
    }
}
