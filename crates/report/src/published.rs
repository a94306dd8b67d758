//! The full content of a reference as text: for reading, and for comparison with the document.

use std::fmt::Write;

use archive::reference::{Cell, FactKind, PublishedTable, Reference, ReferencePoint, ResultTable};

use crate::terminal::table::{Align, length, pad};

const INDENT: &str = "  ";

/// Platform, settings, result rows, single figures, tables, charts without numbers and remarks, each with its location in the document and
/// its notes. Rows are as printed, in the document's own columns and units.
pub fn published(reference: &Reference) -> String {
    let mut text = format!(
        "ref:{} · {}\n{}\n",
        reference.name, reference.title, reference.document
    );
    sections(&mut text, reference);
    for table in &reference.result_tables {
        results(&mut text, reference, table);
    }
    stated(&mut text, reference);
    for table in &reference.tables {
        other_table(&mut text, table);
    }
    if !reference.charts.is_empty() {
        text.push_str("\nCharts without numbers\n");
        for chart in &reference.charts {
            let _ = writeln!(text, "{INDENT}{} ({})", chart.title, chart.place);
            note(&mut text, chart.note.as_deref());
        }
    }
    if !reference.remarks.is_empty() {
        text.push_str("\nContradictions and doubts\n");
        for remark in &reference.remarks {
            let _ = writeln!(text, "{INDENT}{} ({})", remark.note, remark.place);
        }
    }
    text
}

fn sections(text: &mut String, reference: &Reference) {
    for section in &reference.sections {
        let kind = match section.kind {
            FactKind::Platform => "Platform",
            FactKind::Settings => "Settings",
        };
        let _ = writeln!(text, "\n{kind}: {} ({})", section.title, section.place);
        note(text, section.note.as_deref());
        let facts = section.facts.iter().map(|fact| Row {
            cells: vec![fact.name.clone(), fact.value.clone()],
            notes: fact.note.clone().into_iter().collect(),
        });
        aligned(text, &facts.collect::<Vec<_>>(), &[]);
    }
}

fn results(text: &mut String, reference: &Reference, table: &ResultTable) {
    let _ = writeln!(text, "\n{} · {} ({})", table.test, table.title, table.place);
    note(text, table.note.as_deref());
    let is_of = |point: &&ReferencePoint| point.test == table.test && point.place == table.place;
    let mut rows = vec![Row {
        cells: reference.columns.clone(),
        notes: Vec::new(),
    }];
    rows.extend(reference.points.iter().filter(is_of).map(|point| {
        let printed = |column: &String| point.printed.get(column);
        let cells = reference.columns.iter();
        let labels = point.service_labels.iter();
        let labels = labels.map(|label| format!("service time {}", label.printed));
        Row {
            cells: cells
                .map(|column| printed(column).map_or_else(String::new, f64::to_string))
                .collect(),
            notes: labels.chain(point.note.clone()).collect(),
        }
    }));
    aligned(text, &rows, &vec![Align::Right; reference.columns.len()]);
    for (column, meaning) in &table.zero_means {
        let _ = writeln!(text, "{INDENT}0 under {column}: {meaning}");
    }
}

/// Single figures, grouped by kind and location.
fn stated(text: &mut String, reference: &Reference) {
    for group in (reference.stated).chunk_by(|a, b| (&a.kind, &a.place) == (&b.kind, &b.place)) {
        let Some(first) = group.first() else {
            continue;
        };
        let _ = writeln!(text, "\nStated, {} ({})", first.kind, first.place);
        let rows = group.iter().map(|figure| Row {
            cells: vec![
                figure.test.clone().unwrap_or_default(),
                figure.name.clone(),
                format!("{} {}", figure.printed, figure.unit),
            ],
            notes: figure.note.clone().into_iter().collect(),
        });
        aligned(text, &rows.collect::<Vec<_>>(), &[]);
    }
}

fn other_table(text: &mut String, table: &PublishedTable) {
    let test = table.test.as_ref().map(|test| format!("{test} · "));
    let _ = writeln!(
        text,
        "\n{}{}, {} ({})",
        test.unwrap_or_default(),
        table.title,
        table.kind,
        table.place
    );
    note(text, table.note.as_deref());
    let mut rows = vec![Row {
        cells: table.columns.clone(),
        notes: Vec::new(),
    }];
    rows.extend(table.rows.iter().map(|row| Row {
        cells: row.cells.iter().map(cell).collect(),
        notes: row.note.clone().into_iter().collect(),
    }));
    let is_number = |at: usize| {
        let mut cells = table.rows.iter().map(|row| &row.cells[at]);
        cells.all(|cell| matches!(cell, Cell::Number(_) | Cell::Empty))
    };
    let aligns = (0..table.columns.len()).map(|at| {
        if is_number(at) {
            Align::Right
        } else {
            Align::Left
        }
    });
    aligned(text, &rows, &aligns.collect::<Vec<_>>());
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Number(value) => value.to_string(),
        Cell::Text(text) => text.clone(),
    }
}

struct Row {
    cells: Vec<String>,
    notes: Vec<String>,
}

/// Columns two spaces apart, left-aligned by default.
fn aligned(text: &mut String, rows: &[Row], aligns: &[Align]) {
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.cells.get(at));
        cells.map(|cell| length(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.cells.iter().zip(&widths).enumerate();
        let cells = cells.map(|(at, (cell, width))| {
            pad(cell, *width, aligns.get(at).copied().unwrap_or(Align::Left))
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "{INDENT}{}", line.trim_end());
        for noted in &row.notes {
            note(text, Some(noted));
        }
    }
}

fn note(text: &mut String, note: Option<&str>) {
    if let Some(note) = note {
        let _ = writeln!(text, "{INDENT}{INDENT}* {note}");
    }
}

#[cfg(test)]
mod tests {
    use archive::reference;

    use super::*;

    #[test]
    fn every_word_of_a_reference_is_printed() {
        for name in reference::list() {
            let reference = reference::load(name).unwrap();
            let text = published(&reference);
            let mut words = vec![&reference.title, &reference.document];
            for section in &reference.sections {
                words.extend([&section.title, &section.place]);
                words.extend(&section.note);
                for fact in &section.facts {
                    words.extend([&fact.name, &fact.value]);
                    words.extend(&fact.note);
                }
            }
            for figure in &reference.stated {
                words.extend([&figure.kind, &figure.place, &figure.name, &figure.printed]);
                words.extend([&figure.unit].into_iter().chain(&figure.note));
            }
            for table in &reference.tables {
                words.extend([&table.kind, &table.title, &table.place]);
                words.extend(table.columns.iter().chain(&table.note));
                words.extend(table.rows.iter().filter_map(|row| row.note.as_ref()));
            }
            for table in &reference.result_tables {
                words.extend([&table.test, &table.title, &table.place]);
                words.extend(table.zero_means.values().chain(&table.note));
            }
            for point in &reference.points {
                words.extend(point.service_labels.iter().map(|label| &label.printed));
                words.extend(&point.note);
            }
            words.extend(reference.charts.iter().map(|chart| &chart.title));
            words.extend(reference.remarks.iter().map(|remark| &remark.note));
            for word in words {
                assert!(
                    text.contains(word.as_str()),
                    "{name} does not tell {word:?}"
                );
            }
        }
    }

    #[test]
    fn every_row_stands_under_its_columns_as_printed() {
        let reference = reference::load("dl980-violin").unwrap();
        let text = published(&reference);
        let rows = text.lines().filter(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            cells.len() == reference.columns.len() && cells.iter().all(|c| c.parse::<f64>().is_ok())
        });
        assert_eq!(rows.count(), reference.points.len());
        let begins = text.find("T141 · PL/SQL string processing").unwrap();
        let lines: Vec<&str> = text[begins..].lines().skip(1).take(2).collect();
        assert_eq!(
            lines[0].split("  ").filter(|c| !c.is_empty()).count(),
            reference.columns.len()
        );
        let cells: Vec<&str> = lines[1].split_whitespace().collect();
        assert_eq!(cells[..7], ["1", "9", "1", "1", "1", "0", "2308000"]);
    }
}
