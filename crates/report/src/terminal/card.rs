//! The scorecard for a terminal: metric, unit, one column per target and per reference.

use std::ops::Range;

use super::table::{self, Align};
use super::text::{Footnotes, Paint, clean};
use crate::number;
use crate::scorecard::{Absence, Cell, Column, Row, Scorecard};

const CELL_MIN: usize = 14;
const CELL_MAX: usize = 28;
const LEGEND: &str = "@n: degree of parallelism (jobs × threads) of the figure · ± half the range over the repetitions \
                      · [n] see below";

struct Widths {
    label: usize,
    unit: usize,
    cell: usize,
    columns_per_block: usize,
}

pub fn render(card: &Scorecard, width: usize, paint: &Paint) -> String {
    let mut footnotes = Footnotes::default();
    let mut cautions = Vec::new();
    let mut cells: Vec<Vec<Parts>> = Vec::new();
    for row in &card.rows {
        cautions.push(
            row.caution
                .map_or_else(String::new, |c| format!(" [{}]", footnotes.number(c))),
        );
        cells.push(row.cells.iter().map(|c| parts(c, &mut footnotes)).collect());
    }
    if card.rows.is_empty() {
        // Without columns there is no small print to explain.
        let sentences = card.left_out.iter().chain(&card.silent);
        let lines = sentences.map(|s| format!("{}\n", table::wrap(&clean(s), width, 2)));
        return lines.collect();
    }
    let widths = widths(card, &cells, width);
    let mut out = format!("{}\n", paint.bold("Scorecard"));
    // Columns that do not fit side by side go into a block below.
    let last = card.columns.len().saturating_sub(1);
    for first in (0..=last).step_by(widths.columns_per_block) {
        let end = (first + widths.columns_per_block).min(card.columns.len());
        out.push_str(&block(card, &cells, &cautions, first..end, &widths, paint));
    }
    for sentence in card.left_out.iter().chain(&card.silent) {
        out.push_str(&format!("{}\n", table::wrap(&clean(sentence), width, 2)));
    }
    out.push_str(&format!("{}\n", paint.dim(&table::wrap(LEGEND, width, 2))));
    for (number, text) in footnotes.texts.iter().enumerate() {
        let note = table::wrap(&format!("{:>3}  {text}", number + 1), width, 5);
        out.push_str(&format!("{}\n", paint.dim(&note)));
    }
    out
}

fn widths(card: &Scorecard, cells: &[Vec<Parts>], width: usize) -> Widths {
    let longest = |text: fn(&Row) -> usize| card.rows.iter().map(text).max().unwrap_or(0);
    let label = longest(|r| table::length(&r.line.label) + 2).min(width / 3);
    let unit = longest(|r| table::length(&r.line.unit));
    let left = width.saturating_sub(label + unit + 1);
    let columns = card.columns.len().max(1);
    let cells: Vec<&[Parts]> = cells.iter().map(Vec::as_slice).collect();
    let needed = longest_part(&cells, |p| &p.value) + longest_part(&cells, |p| &p.short);
    let least = needed.clamp(CELL_MIN, CELL_MAX);
    let columns_per_block = (left / (least + 1)).clamp(1, columns);
    Widths {
        label,
        unit,
        cell: (left / columns_per_block)
            .saturating_sub(1)
            .clamp(least, CELL_MAX),
        columns_per_block,
    }
}

fn block(
    card: &Scorecard,
    cells: &[Vec<Parts>],
    cautions: &[String],
    columns: Range<usize>,
    widths: &Widths,
    paint: &Paint,
) -> String {
    let cells: Vec<&[Parts]> = cells.iter().map(|row| &row[columns.clone()]).collect();
    let suffix_width = suffix_width(&cells, widths);
    let mut out = head(&card.columns[columns], widths, paint);
    let (mut component, mut group) = (None, "");
    for ((row, cells), caution) in card.rows.iter().zip(&cells).zip(cautions) {
        let line = row.line;
        if component.replace(line.component) != Some(line.component) {
            let name = line.component.name().to_uppercase();
            out.push_str(&format!("{}\n", paint.bold(&name)));
            group = "";
        }
        if std::mem::replace(&mut group, &line.group) != line.group {
            out.push_str(&format!("{group}{}\n", paint.dim(caution)));
        }
        let label = table::cut(&format!("  {}", line.label), widths.label);
        let mut text = table::pad(&label, widths.label, Align::Left);
        text.push(' ');
        text.push_str(&table::pad(&line.unit, widths.unit, Align::Left));
        for parts in *cells {
            text.push(' ');
            text.push_str(&parts.print(widths.cell, suffix_width));
        }
        out.push_str(&format!("{}\n", text.trim_end()));
    }
    out
}

/// Room after the values; without the ranges if they do not fit.
fn suffix_width(cells: &[&[Parts]], widths: &Widths) -> usize {
    let room = widths
        .cell
        .saturating_sub(longest_part(cells, |p| &p.value));
    match longest_part(cells, |p| &p.full) {
        full if full <= room => full,
        _ => longest_part(cells, |p| &p.short),
    }
}

fn longest_part(cells: &[&[Parts]], text: fn(&Parts) -> &str) -> usize {
    let lengths = cells.iter().copied().flatten();
    lengths.map(|p| table::length(text(p))).max().unwrap_or(0)
}

/// Titles above their columns, broken into as many lines as needed.
fn head(columns: &[Column], widths: &Widths, paint: &Paint) -> String {
    let titles: Vec<Vec<String>> = columns
        .iter()
        .map(|c| {
            table::wrap(&clean(&c.title), widths.cell, 0)
                .lines()
                .map(|line| table::cut(line, widths.cell))
                .collect()
        })
        .collect();
    let lines = titles.iter().map(Vec::len).max().unwrap_or(0);
    let left = widths.label + widths.unit + 1;
    let mut out = String::new();
    for at in 0..lines {
        let mut line = " ".repeat(left);
        for title in &titles {
            // Short titles are aligned at the bottom, just above their figures.
            let part = (at + title.len())
                .checked_sub(lines)
                .and_then(|i| title.get(i));
            line.push(' ');
            let part = part.map_or("", String::as_str);
            line.push_str(&table::pad(part, widths.cell, Align::Right));
        }
        out.push_str(&format!("{}\n", paint.bold(&line)));
    }
    let rule = "-".repeat(left + columns.len() * (widths.cell + 1));
    format!("{out}{}\n", paint.dim(&rule))
}

/// A cell: the value, and its suffix with and without the range.
struct Parts {
    value: String,
    full: String,
    short: String,
}

impl Parts {
    /// Pads a cell so that values end, and suffixes begin, in the same column.
    fn print(&self, width: usize, suffix_width: usize) -> String {
        let suffix = if table::length(&self.full) <= suffix_width {
            &self.full
        } else {
            &self.short
        };
        let value_width = width.saturating_sub(suffix_width);
        format!(
            "{}{}",
            table::pad(&self.value, value_width, Align::Right),
            table::pad(suffix, suffix_width, Align::Left)
        )
    }
}

/// "26,768" and " @4 ±3%", or "–" and the number of its reason.
fn parts(cell: &Cell, footnotes: &mut Footnotes) -> Parts {
    let measured = match cell {
        Cell::Value(measured) => measured,
        Cell::Absent { why, reason } => {
            let note = format!(" [{}]", footnotes.number(&clean(reason)));
            return Parts {
                value: match why {
                    Absence::Invalid => "INVALID".to_owned(),
                    _ => number::UNKNOWN.to_owned(),
                },
                full: note.clone(),
                short: note,
            };
        }
    };
    let at = match measured.dop {
        0 => String::new(),
        dop => format!(" @{dop}"),
    };
    let range = measured.range.filter(|_| measured.value > 0.0);
    let spread = range.map_or_else(String::new, |(low, high)| {
        format!(" ±{:.0}%", (high - low) / 2.0 / measured.value * 100.0)
    });
    let left_out = match measured.invalid_left_out {
        0 => None,
        1 => Some("One invalid point of this test is left out.".to_owned()),
        n => Some(format!("{n} invalid points of this test are left out.")),
    };
    let notes: String = left_out
        .into_iter()
        .chain(measured.doubt.as_deref().map(clean))
        .map(|text| format!(" [{}]", footnotes.number(&text)))
        .collect();
    Parts {
        value: number::full(measured.value),
        full: format!("{at}{spread}{notes}"),
        short: format!("{at}{notes}"),
    }
}
