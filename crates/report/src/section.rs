//! Cells of sections as text, for pages and terminals.

use archive::{Cell, Column, Table};

use crate::number;

/// Mark of a value or row that failed a check.
pub const FAILED: &str = "✗";

/// A table of texts without units.
pub fn of_texts<R: IntoIterator<Item: Into<Cell>>>(
    heads: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> Table {
    let mut table = Table {
        columns: heads.iter().map(|head| Column::new(head, "")).collect(),
        rows: Vec::new(),
    };
    rows.into_iter().for_each(|row| table.row(row));
    table
}

/// The text of a cell in a column of this unit; times choose the unit that reads best.
pub fn text(cell: &Cell, unit: &str) -> String {
    match cell {
        Cell::Number(us) if unit == "µs" => number::latency(Some(*us)),
        // A count.
        Cell::Number(value) if unit.is_empty() && value.fract() == 0.0 => {
            number::whole(Some(*value))
        }
        Cell::Number(value) => number::figure(*value),
        Cell::Text(text) => text.clone(),
        Cell::Unknown(()) => number::UNKNOWN.to_owned(),
    }
}

/// The unit of a column above its cells; times name their own.
pub fn unit(column: &Column) -> &str {
    match column.unit.as_str() {
        "µs" => "",
        unit => unit,
    }
}

/// True for a column of words, which stand on the left.
pub fn is_words(table: &Table, at: usize) -> bool {
    let mut cells = table
        .rows
        .iter()
        .filter(|row| row.len() > 1)
        .filter_map(|row| row.get(at));
    cells.any(|cell| matches!(cell, Cell::Text(text) if text.starts_with(char::is_alphabetic)))
}

/// True if some cell of the row says so.
pub fn is_failed(row: &[Cell]) -> bool {
    let is_mark = |cell: &Cell| matches!(cell, Cell::Text(text) if text.starts_with(FAILED));
    row.iter().any(is_mark)
}
