//! An observed database: sessions over time, and tables from its statistics views.

use archive::{About, Cell, Observed, Point, Remark, Run, Table};
use chart::{Axis, Chart, Dash, Series, Shape, Trace, tick};

use super::figure::{Figure, grouped};
use super::section::{self, Fragment};
use crate::level;
use crate::number;
use stats::words::date;

/// A longer series is thinned to about this many intervals.
const INTERVALS_MAX: usize = 180;
/// Columns of the activity before its classes.
const BEFORE_CLASSES: usize = 2;

pub fn view(run: &Run) -> Fragment {
    let mut parts = Fragment::default();
    for point in run.points.iter().filter(|point| !point.observed.is_empty()) {
        add(&mut parts, run, point);
    }
    parts.section("observed", "Database activity")
}

fn add(parts: &mut Fragment, run: &Run, point: &Point) {
    let bottleneck = point.held_back.bottleneck.as_ref();
    let target = level::target_name(run, point.key.target);
    let seconds = number::figure_or_unknown(point.figures.elapsed_s);
    parts
        .heading(
            3,
            &format!("{target}, {seconds} s from {}", date(&point.started_at)),
        )
        .element("p", "summary", bottleneck.map_or("", |b| &b.sentence))
        .facts("strip", facts(point));
    let (activity, tables): (Vec<&Observed>, Vec<&Observed>) =
        (point.observed.iter()).partition(|table| table.about == About::Activity);
    for activity in activity {
        parts.figures(&charts(activity, run.platform.threads));
    }
    for observed in tables {
        let (title, how) = words(observed);
        let (columns, rows) = (observed.columns.clone(), observed.rows.clone());
        parts
            .heading(3, title)
            .how(&how)
            .table("seen", title, &Table { columns, rows });
    }
}

/// Sampled counterpart of an average from counters.
const BY_SAMPLING: (&str, &str, &str) = ("… by sampling", "active_sessions_sampled_mean", "");
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

pub(crate) fn facts(point: &Point) -> Vec<(&'static str, String)> {
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
        Some(head) => vec![average(head), BY_SAMPLING],
        None => vec![average("active sessions, mean, by sampling")],
    };
    let all = averages.into_iter().chain(FACTS);
    let mut facts: Vec<_> = all.map(fact).collect();
    if let Some(low) = between {
        facts[0].1 = format!("{low} to {}", facts[0].1);
    }
    facts
}

/// Title of a table, and how to read it.
fn words(observed: &Observed) -> (&'static str, String) {
    let (title, how) = match observed.about {
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
    };
    let source = match observed.source.as_str() {
        "" => String::new(),
        source => format!("Source: {source}."),
    };
    let remark = observed
        .remark
        .iter()
        .map(|text| format!("{}.", number::capital(text)));
    let nothing = (observed.rows.is_empty() && observed.remark.is_none())
        .then(|| "Nothing was seen.".to_owned());
    let parts = [how.to_owned(), source]
        .into_iter()
        .chain(remark)
        .chain(nothing);
    let parts = parts.filter(|part| !part.is_empty());
    (title, parts.collect::<Vec<_>>().join(" "))
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
    let number = |cell: &Cell| match cell {
        Cell::Number(number) => Some(*number),
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
        let name = &activity.columns[*at].name;
        series.push(Series::new(name, colour, Shape::None, Dash::Solid, points));
        below = above;
    }
    let ends = || rows.iter().filter_map(at_s);
    let mut high = below.iter().copied().fold(0.0, f64::max);
    if let Some(cores) = cores {
        high = high.max(f64::from(cores));
        let cores = f64::from(cores);
        let points = ends().map(|x| (x, Some(cores))).collect();
        let name = format!("{cores} hardware threads");
        series.push(Series::new(name, 7, Shape::None, Dash::Dashed, points));
    }
    let chart = Chart {
        traces,
        ..Chart::new(
            "Active sessions over time",
            Axis::linear("seconds", ends().fold(0.0, f64::max), tick),
            Axis::linear("", high, tick),
            series,
        )
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
        grouped(&heads, rows.iter().map(cells)),
    ))
}

fn transactions(rows: &[Row]) -> Option<Figure> {
    let points = rows
        .iter()
        .filter_map(|row| Some(((*row.first()?)?, *row.get(1)?)));
    let points: Vec<(f64, Option<f64>)> = points.collect();
    let is_known = points.iter().any(|(_, n)| n.is_some_and(|n| n > 0.0));
    let chart = archive::Chart {
        title: "Transactions per second".into(),
        note: Some("Commits and rollbacks of all databases, without the observer's. A gap is an interval in which counters were reset.".into()),
        x: archive::Axis::new("until", "s"),
        y: archive::Axis::new("transactions", "/s"),
        series: vec![archive::Series { name: String::new(), points }],
    };
    is_known.then(|| section::figure(&chart))
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
        point.notes = vec![Remark::ObservedByKernel { sampled: 0.73 }];
        let head = "active sessions, mean, by the kernel's account";
        assert_eq!(facts(&point)[0], (head, "2.99".to_owned()));
        let (low, high) = (1.35, 2.99);
        point.notes.push(Remark::ObservedBetween { low, high });
        assert_eq!(facts(&point)[0], (head, "1.35 to 2.99".to_owned()));
    }
}
