//! The best figures with their latency, one row for each target, next to the first compared platform.

use archive::Run;

use crate::html::figure::id_of;
use crate::main_figures::MainFigure;
use crate::number;
use crate::remarks;
use crate::scorecard::{self, Against, Cell, Measured};
use crate::users;

/// Later rows are folded.
const ROWS_MAX: usize = 16;

pub struct Delivers {
    pub has_targets: bool,
    pub has_curves: bool,
    pub has_latencies: bool,
    pub has_spread: bool,
    /// Head of the degrees of parallelism.
    pub at: &'static str,
    /// Subject of the latencies.
    pub latency_of: &'static str,
    /// Title of the compared platform.
    pub other: Option<String>,
    pub rows: Vec<RowView>,
    /// Rows of no room, folded.
    pub more: Vec<RowView>,
}

pub struct RowView {
    /// Set in the first row of a component.
    pub component: Option<&'static str>,
    pub what: String,
    /// Link to the test's section.
    pub id: String,
    pub target: String,
    pub value: String,
    /// "2 %"; empty if it was measured once.
    pub spread: String,
    pub unit: &'static str,
    /// "8", with threads "8 × 2".
    pub at: String,
    /// p50, p95 and p99.
    pub latencies: [String; 3],
    pub curve: String,
    /// The compared value, and the ratio to it.
    pub other: [String; 2],
}

impl Delivers {
    pub fn columns(&self) -> usize {
        let optional = [
            (self.has_targets, 1),
            (self.has_curves, 1),
            (self.has_spread, 1),
            (self.has_latencies, 3),
            (self.other.is_some(), 2),
        ];
        let shown = optional.iter().filter(|(is_shown, _)| *is_shown);
        4 + shown.map(|(_, columns)| columns).sum::<usize>()
    }
}

pub fn view(run: &Run, main: &[MainFigure<'_>], against: &[Against<'_>]) -> Delivers {
    let card = scorecard::scorecard(run, against);
    let other = card.columns.iter().position(|column| !column.own);
    let mut component = None;
    let rows = main.iter().map(|main| {
        let is_new = component.replace(main.component) != Some(main.component);
        let theirs = other.and_then(|at| {
            let line = main.line?;
            let row = card.rows.iter().find(|row| std::ptr::eq(row.line, line))?;
            let comparable = row.caution.is_none();
            match &row.cells[at] {
                Cell::Value(measured) => Some((measured, comparable)),
                Cell::Absent { .. } => None,
            }
        });
        RowView {
            component: is_new.then(|| main.component.name()),
            ..row(run, main, theirs)
        }
    });
    let mut rows: Vec<RowView> = rows.collect();
    let more = rows.split_off(rows.len().min(ROWS_MAX));
    let any = |is_so: fn(&RowView) -> bool| rows.iter().chain(&more).any(is_so);
    let is_below = main
        .iter()
        .all(|main| main.level.first().work.below_database);
    Delivers {
        has_targets: run.targets.len() > 1,
        has_curves: any(|row| !row.curve.is_empty()),
        has_latencies: any(|row| row.latencies.iter().any(|text| text != number::UNKNOWN)),
        has_spread: any(|row| !row.spread.is_empty()),
        at: match is_below {
            true => "in flight",
            false if main.iter().all(|main| users::is_of_users(main.test)) => "users",
            false => "sessions",
        },
        latency_of: match is_below {
            true => "one I/O",
            false => "one transaction or statement",
        },
        other: other.map(|at| card.columns[at].title.clone()),
        rows,
        more,
    }
}

fn row(run: &Run, main: &MainFigure<'_>, theirs: Option<(&Measured, bool)>) -> RowView {
    let unknown = || number::UNKNOWN.to_owned();
    let latency = |percentile| number::latency(main.latency(percentile));
    let ratio = theirs.filter(|(_, is_comparable)| *is_comparable);
    let ratio = ratio.and_then(|(theirs, _)| stats::ratio::quotient(theirs.value, main.value()));
    // The number of other users' sessions is not a setting of the run.
    let key = &main.level.first().key;
    let at = match key.threads {
        _ if main.is_observation() => String::new(),
        0 | 1 => key.jobs.to_string(),
        threads => format!("{} × {threads}", key.jobs),
    };
    RowView {
        component: None,
        what: match remarks::is_late(&main.level) {
            true => format!("{}, started late", main.title()),
            false => main.title(),
        },
        id: id_of(main.test),
        target: crate::level::target_name(run, main.target),
        value: number::three_digits(main.value()),
        spread: main
            .spread_pct()
            .map_or_else(String::new, |pct| format!("{} %", pct.ceil())),
        unit: main.unit,
        at,
        latencies: ["p50", "p95", "p99"].map(latency),
        curve: curve(main, main.level.dop()),
        other: [
            theirs.map_or_else(unknown, |(theirs, _)| number::three_digits(theirs.value)),
            ratio.map_or_else(unknown, |ratio| format!("{} ×", number::figure(ratio))),
        ],
    }
}

fn curve(main: &MainFigure<'_>, best: u32) -> String {
    let ends = main.by_degree.first().zip(main.by_degree.last());
    let label = ends.map(|(first, last)| {
        let end = |(degree, value): &(u32, f64)| {
            format!("{} at {degree}", number::three_digits(*value * main.scale))
        };
        format!("{} to {}", end(first), end(last))
    });
    chart::spark(&main.by_degree, best, &label.unwrap_or_default())
}
