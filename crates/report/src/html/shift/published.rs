//! What was published with the parameter file that a run carried out, where it is that of the study.

use std::collections::BTreeSet;

use archive::reference::{self, Cell, Reference, StatedFigure};
use verdict::shift::Shift;

/// The study whose appendix F is a parameter file.
const STUDY: &str = "3par-7450c";
/// The table of its runs.
const RUNS: &str = "Run definitions (rd)";
/// How the names of the figures begin that are of this file.
const OF_THE_FILE: &str = "vdbench 8Kb";

/// Published figures beside those of the run.
pub struct View {
    /// Document, with author and year.
    pub document: String,
    /// Name, value, here, where it stands and what is to be said.
    pub rows: Vec<[String; 4]>,
}

/// The view; `None` where the runs are not those of the study.
pub fn view(shifts: &[Shift]) -> Option<View> {
    let study = reference::load(STUDY).ok()?;
    let published = runs_of(&study);
    let own = |shift: &Shift| {
        let name = shift.test.split_whitespace().next().unwrap_or_default();
        published.contains(name)
    };
    if shifts.is_empty() || !shifts.iter().all(own) {
        return None;
    }
    let of_latency = study.stated.iter().filter(|s| s.kind == "latency");
    Some(View {
        rows: of_latency.map(|stated| row(stated, shifts)).collect(),
        document: study.document,
    })
}

fn runs_of(study: &Reference) -> BTreeSet<String> {
    let tables = study.tables.iter().filter(|t| t.title == RUNS);
    tables
        .flat_map(|table| &table.rows)
        .filter_map(|row| match row.cells.first() {
            Some(Cell::Text(name)) => Some(name.clone()),
            _ => None,
        })
        .collect()
}

fn row(stated: &StatedFigure, shifts: &[Shift]) -> [String; 4] {
    let place = match &stated.note {
        Some(note) => format!("{}. {note}", stated.place),
        None => stated.place.clone(),
    };
    [
        stated.name.clone(),
        match stated.printed.ends_with(&stated.unit) {
            true => stated.printed.clone(),
            false => format!("{} {}", stated.printed, stated.unit),
        },
        here(&stated.name, shifts),
        place,
    ]
}

/// The same figure of this run, where it has one: the other figures are of a database, or of a whole fleet.
fn here(name: &str, shifts: &[Shift]) -> String {
    let mixed = shifts
        .iter()
        .filter(|s| s.observer == "driver" && s.phase == "service" && s.operation == "write")
        // The study tells the reductions of the mixes; the fill before them is none.
        .filter(|s| !s.test.starts_with("rd_fill"))
        .map(Shift::improvement_pct);
    let is_reduction = name.starts_with(OF_THE_FILE) && name.contains("write latency reduction");
    let found = match (is_reduction, name.ends_with("lowest")) {
        (false, _) => None,
        (true, true) => mixed.reduce(f64::min),
        (true, false) => mixed.reduce(f64::max),
    };
    found.map_or_else(
        || crate::number::UNKNOWN.to_owned(),
        |v| format!("{v:.1} %"),
    )
}
