//! Published results for the parameter file of a run, if it is that of the study.

use archive::reference::{self, Cell, PublishedRow, Reference, StatedFigure};
use archive::{Run, Section, Table};
use verdict::shift::Shift;

/// The study whose appendix F is a parameter file.
const STUDY: &str = "3par-7450c";
/// Its tables of workloads and of runs.
const WORKLOADS: &str = "Workload definitions (wd)";
const RUNS: &str = "Run definitions (rd)";
/// Prefix of the figures of this file.
const OF_THE_FILE: &str = "vdbench 8Kb";

/// Published figures next to those of the run; `None` unless both runs executed the study's list.
pub fn section(before: &Run, run: &Run, shifts: &[Shift]) -> Option<Section> {
    let study = reference::load(STUDY).ok()?;
    let defined = definitions(&study)?;
    if !is_of_study(before, &defined) || !is_of_study(run, &defined) {
        return None;
    }
    let mut table = Table::new("published figure | value | this run | source and remarks");
    let of_latency = study.stated.iter().filter(|s| s.kind == "latency");
    of_latency.for_each(|stated| table.row(row(stated, shifts)));
    let note = "A different array and a different change: the figures carry no verdict.";
    let section = Section::new("Comparison with the published results of this parameter file");
    Some(
        section
            .note(format!("{}. {note}", study.document))
            .table(table),
    )
}

/// Beginning and end of a study run's definition in an archive; times in between are free, because a list may be run shorter.
struct Definition {
    begin: String,
    end: String,
}

/// True if the points are exactly the runs of the study.
fn is_of_study(run: &Run, defined: &[Definition]) -> bool {
    let texts = || run.points.iter().map(|point| point.definition.as_str());
    let is = |text: &str, of: &Definition| text.starts_with(&of.begin) && text.ends_with(&of.end);
    texts().all(|text| defined.iter().any(|of| is(text, of)))
        && defined.iter().all(|of| texts().any(|text| is(text, of)))
}

/// Definitions of all runs in the archive's form.
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
        // The archive has a single form for equivalent parameters.
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

/// This run's value for a figure of the file; others belong to a database or a fleet.
fn here(name: &str, shifts: &[Shift]) -> String {
    let mixed = shifts
        .iter()
        .filter(|s| s.observer == "driver" && s.phase == "service" && s.operation == "write")
        // The study publishes reductions only for the mixes, not for the fill before them.
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
