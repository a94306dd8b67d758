//! The scorecard for a terminal: metric, unit, one column per target and per reference.

use super::table::{self, Align};
use super::{Footnotes, Paint, clean};
use crate::number;
use crate::scorecard::{Absence, Cell, Row, Scorecard};

/// Narrowest column of figures.
const CELL_MIN: usize = 13;
/// Widest column of figures.
const CELL_MAX: usize = 26;

/// The whole scorecard with its footnotes.
pub fn render(card: &Scorecard, width: usize, paint: &Paint) -> String {
    let labels = card.rows.iter().map(|r| r.line.label.chars().count() + 2);
    let label_width = labels.max().unwrap_or(0).min(width / 3);
    let unit_width = card
        .rows
        .iter()
        .map(|r| r.line.unit.chars().count())
        .max()
        .unwrap_or(0);
    let left = width.saturating_sub(label_width + unit_width + 1);
    let cell_width = (left / card.columns.len().max(1))
        .saturating_sub(1)
        .clamp(CELL_MIN, CELL_MAX);
    let mut out = format!("{}\n", paint.bold("Scorecard"));
    out.push_str(&head(card, label_width + unit_width + 1, cell_width, paint));
    let mut footnotes = Footnotes::default();
    let mut component = None;
    let mut group = "";
    for row in &card.rows {
        if component != Some(row.line.component) {
            component = Some(row.line.component);
            out.push_str(&paint.bold(&row.line.component.name().to_uppercase()));
            out.push('\n');
        }
        if group != row.line.group {
            group = &row.line.group;
            out.push_str(&format!("{group}\n"));
        }
        out.push_str(&line(row, label_width, unit_width, cell_width, &mut footnotes));
        out.push('\n');
    }
    out.push_str(&paint.dim("@ n: found at this degree of parallelism (jobs × threads); ± half the range over the repetitions"));
    out.push('\n');
    for (number, text) in footnotes.texts.iter().enumerate() {
        let note = table::wrap(&format!("{:>3}  {text}", number + 1), width, 5);
        out.push_str(&paint.dim(&note));
        out.push('\n');
    }
    out
}

fn head(card: &Scorecard, left: usize, cell_width: usize, paint: &Paint) -> String {
    let mut line = " ".repeat(left);
    for column in &card.columns {
        line.push(' ');
        let title = table::cut(&clean(&column.title), cell_width);
        line.push_str(&table::pad(&title, cell_width, Align::Right));
    }
    let rule = "-".repeat(table::length(&line));
    format!("{}\n{}\n", paint.bold(&line), paint.dim(&rule))
}

fn line(
    row: &Row,
    label_width: usize,
    unit_width: usize,
    cell_width: usize,
    footnotes: &mut Footnotes,
) -> String {
    let label = table::cut(&format!("  {}", row.line.label), label_width);
    let mut line = table::pad(&label, label_width, Align::Left);
    line.push(' ');
    line.push_str(&table::pad(&row.line.unit, unit_width, Align::Left));
    for cell in &row.cells {
        line.push(' ');
        let text = text(cell, cell_width, footnotes);
        line.push_str(&table::pad(&text, cell_width, Align::Right));
    }
    line.trim_end().to_owned()
}

/// "26,768 ±3 % @4", or "–" with the number of its reason; the least important part goes first.
fn text(cell: &Cell, width: usize, footnotes: &mut Footnotes) -> String {
    let measured = match cell {
        Cell::Value(measured) => measured,
        Cell::Absent { why, reason } => {
            let word = match why {
                Absence::MissingCapability => "cannot",
                Absence::Invalid => "INVALID",
                _ => "",
            };
            let number = footnotes.number(&clean(reason));
            return format!("{word} {} [{number}]", number::UNKNOWN);
        }
    };
    let at = match measured.dop {
        0 => String::new(),
        dop => format!(" @{dop}"),
    };
    let spread = measured
        .range
        .filter(|_| measured.value > 0.0)
        .map(|(low, high)| {
            let half = (high - low) / 2.0 / measured.value * 100.0;
            format!(" ±{half:.0}%")
        })
        .unwrap_or_default();
    let mut notes = String::new();
    if measured.invalid_left_out > 0 {
        let text = format!("{} invalid points left out", measured.invalid_left_out);
        notes.push_str(&format!(" [{}]", footnotes.number(&text)));
    }
    if let Some(doubt) = &measured.doubt {
        notes.push_str(&format!(" [{}]", footnotes.number(&clean(doubt))));
    }
    let value = number::figure(measured.value);
    let full = format!("{value}{spread}{at}{notes}");
    if table::length(&full) <= width {
        full
    } else {
        format!("{value}{at}{notes}")
    }
}
