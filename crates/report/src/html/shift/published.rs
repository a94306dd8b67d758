//! What was published with the parameter file that a run carried out, where it is that of the study.

use archive::Run;
use archive::reference::{self, Cell, PublishedRow, Reference, StatedFigure};
use verdict::shift::Shift;

/// The study whose appendix F is a parameter file.
const STUDY: &str = "3par-7450c";
/// The tables of its workloads and of its runs.
const WORKLOADS: &str = "Workload definitions (wd)";
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

/// The view; `None` where the lists that both runs carried out are not that of the study.
pub fn view(before: &Run, run: &Run, shifts: &[Shift]) -> Option<View> {
    let study = reference::load(STUDY).ok()?;
    let defined = definitions(&study)?;
    if !is_of_study(before, &defined) || !is_of_study(run, &defined) {
        return None;
    }
    let of_latency = study.stated.iter().filter(|s| s.kind == "latency");
    Some(View {
        rows: of_latency.map(|stated| row(stated, shifts)).collect(),
        document: study.document,
    })
}

/// How the definition of a run of the study begins and ends in an archive. The times between are free: the list may be
/// carried out in less.
struct Definition {
    begin: String,
    end: String,
}

/// Whether the points of a run are all runs of the study, and nothing else.
fn is_of_study(run: &Run, defined: &[Definition]) -> bool {
    let texts = || run.points.iter().map(|point| point.definition.as_str());
    let is = |text: &str, of: &Definition| text.starts_with(&of.begin) && text.ends_with(&of.end);
    texts().all(|text| defined.iter().any(|of| is(text, of)))
        && defined.iter().all(|of| texts().any(|text| is(text, of)))
}

/// The definitions of all runs, as the archive has them.
fn definitions(study: &Reference) -> Option<Vec<Definition>> {
    let rows = |title: &str| {
        let mut tables = study.tables.iter();
        tables.find(|table| table.title == title)
    };
    let (workloads, runs) = (rows(WORKLOADS)?, rows(RUNS)?);
    let defined = runs.rows.iter().map(|run| {
        let run = texts(run);
        let [name, workload, .., threads] = run.as_slice() else {
            return None;
        };
        let mut named = workloads.rows.iter().map(texts);
        let of_workload = named.find(|cells| cells.first() == Some(workload))?;
        let [_, size, _, seek, read] = of_workload.as_slice() else {
            return None;
        };
        // The archive has one form for one meaning.
        let seek = if seek == "rand" { "100" } else { seek };
        Some(Definition {
            begin: format!("RD={name}; I/O rate: Uncontrolled MAX; "),
            end: format!(
                "; For loops: threads={threads}; wd={workload},xfersize={size},seekpct={seek},rdpct={read}"
            ),
        })
    });
    defined.collect()
}

fn texts(row: &PublishedRow) -> Vec<String> {
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(number) => number.to_string(),
        Cell::Empty => String::new(),
    };
    row.cells.iter().map(text).collect()
}

fn row(stated: &StatedFigure, shifts: &[Shift]) -> [String; 4] {
    let place = match &stated.note {
        Some(note) => format!("{}. {note}", stated.place),
        None => stated.place.clone(),
    };
    [
        stated.name.clone(),
        if stated.printed.ends_with(&stated.unit) {
            stated.printed.clone()
        } else {
            format!("{} {}", stated.printed, stated.unit)
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
        .filter_map(Shift::improvement_pct);
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
