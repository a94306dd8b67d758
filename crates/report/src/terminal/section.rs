//! Sections of results for a terminal; charts are tables of their values.

use archive::{Block, Section, Table as Values};

use super::table::{Align, Column, Table, cut, length, pad, wrap};
use super::text::{Paint, clean};
use crate::section::{is_failed, is_words, text, unit};

/// Longest head of a column (characters).
const HEAD_MAX: usize = 40;

pub fn section(section: &Section, width: usize, paint: &Paint) -> String {
    let mut out = format!("{}\n", paint.bold(&clean(&section.title)));
    let line = |text: &str| format!("{}\n", wrap(&clean(text), width, 2));
    if let Some(note) = &section.note {
        out += &paint.dim(&line(note));
    }
    for block in &section.blocks {
        out += &match block {
            Block::Sentence(text) => line(text),
            Block::Caution(text) => paint.red(&line(&format!("! {text}"))),
            Block::Table(values) => table(values, width, paint),
            Block::Chart(chart) => {
                let title = paint.bold(&clean(&chart.title));
                let note: String = chart
                    .note
                    .iter()
                    .map(|note| paint.dim(&line(note)))
                    .collect();
                format!("{title}\n{note}{}", table(&chart.table(), width, paint))
            }
        };
    }
    out
}

/// Room that a table needs.
pub fn width(values: &Values) -> usize {
    let columns = (0..values.columns.len()).map(|at| Drawn::of(values, at).width + 1);
    columns.sum()
}

/// A column with its cells as they are drawn: values end, and their details begin, in the same place.
struct Drawn {
    heads: [String; 2],
    cells: Vec<String>,
    align: Align,
    width: usize,
}

impl Drawn {
    fn of(values: &Values, at: usize) -> Self {
        let column = &values.columns[at];
        let cells = values.rows.iter().map(|row| match row.get(at) {
            Some(cell) if row.len() > 1 => text(cell, &column.unit),
            _ => String::new(),
        });
        let parts = |cell: String| match cell.split_once('\n') {
            Some((value, detail)) => (clean(value), format!(" {}", clean(detail))),
            None => (clean(&cell), String::new()),
        };
        let parts: Vec<(String, String)> = cells.map(parts).collect();
        let detail = parts
            .iter()
            .map(|(_, detail)| length(detail))
            .max()
            .unwrap_or(0);
        let cells = parts
            .into_iter()
            .map(|(value, own)| value + &pad(&own, detail, Align::Left));
        let heads = [&column.name, unit(column)].map(|head| cut(&clean(head), HEAD_MAX));
        let cells: Vec<String> = cells.collect();
        let width = heads
            .iter()
            .chain(&cells)
            .map(|text| length(text))
            .max()
            .unwrap_or(0);
        let align = if is_words(values, at) {
            Align::Left
        } else {
            Align::Right
        };
        Self {
            heads,
            cells,
            align,
            width,
        }
    }
}

/// Columns that do not fit next to the others stand in a block below with the first column again; words of the last column
/// stand below their rows then.
pub fn table(values: &Values, width: usize, paint: &Paint) -> String {
    let mut columns: Vec<Drawn> = (0..values.columns.len())
        .map(|at| Drawn::of(values, at))
        .collect();
    let room = |columns: &[Drawn]| columns.iter().map(|column| column.width + 1).sum::<usize>();
    let is_last_of_words = columns.len() > 1 && is_words(values, columns.len() - 1);
    let below = if room(&columns) > width + 1 && is_last_of_words {
        columns.pop()
    } else {
        None
    };
    let (first, mut rest) = match columns.split_first() {
        Some((first, rest)) => (first, rest),
        None => return String::new(),
    };
    let mut out = String::new();
    loop {
        let fits = |count: &usize| first.width + room(&rest[..*count]) <= width;
        let count = (1..=rest.len())
            .take_while(fits)
            .last()
            .unwrap_or(rest.len().min(1));
        let (now, later) = rest.split_at(count);
        let below = below.as_ref().filter(|_| later.is_empty());
        let drawn: Vec<&Drawn> = std::iter::once(first).chain(now).collect();
        out += &block(values, &drawn, below, width).render(width, paint);
        if later.is_empty() {
            return out;
        }
        rest = later;
    }
}

fn block<'d>(
    values: &Values,
    columns: &[&'d Drawn],
    below: Option<&Drawn>,
    width: usize,
) -> Table<'d> {
    let heads = columns.iter().map(|column| Column {
        heads: [&column.heads[0], &column.heads[1], ""],
        align: column.align,
        leave: 0,
    });
    let mut table = Table::new(heads.collect());
    for (at, row) in values.rows.iter().enumerate() {
        if let [heading] = &row[..]
            && values.columns.len() > 1
        {
            table.row(vec![wrap(&clean(&text(heading, "")), width, 2)], false);
            continue;
        }
        let cells: Vec<String> = columns
            .iter()
            .map(|column| column.cells[at].clone())
            .collect();
        let is_alarming = is_failed(row) || cells.iter().any(|cell| cell == "worse");
        table.row(cells, is_alarming);
        if let Some(words) = below {
            table.row(
                vec![wrap(&format!("    {}", words.cells[at]), width, 4)],
                false,
            );
        }
    }
    table
}
