//! The scorecard as a section: values side by side, reasons as numbered notes below.

use archive::{Column, Section, Table};

use super::{Absence, Cell, Scorecard};
use crate::number;
use crate::section::FAILED;

const NOTE: &str = "One row per metric, always in the same order. @N: measured at degree of parallelism (DOP) N. 372–375: lowest and highest \
     repetition; ±1%: half of that range. A “–” alone: not measured or unknown; the number in brackets leads to the reason below. Columns of other platforms carry \
     no verdict.";

/// Numbered notes; the same text keeps its number.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    /// " [1]".
    fn mark(&mut self, text: &str) -> String {
        let known = self.0.iter().position(|note| note == text);
        let at = known.unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        });
        format!(" [{}]", at + 1)
    }
}

/// "372–375": the lowest and the highest repetition.
pub fn ends(_: f64, (low, high): (f64, f64)) -> String {
    format!("{}–{}", number::plain(low), number::plain(high))
}

/// "±1%": half of the range, where there is less room.
pub fn half(value: f64, (low, high): (f64, f64)) -> String {
    format!("±{:.0}%", (high - low) / 2.0 / value * 100.0)
}

/// The table with its notes, and the ranges over the repetitions in this form; without blocks if there is nothing to say.
pub fn section(card: &Scorecard, range: fn(f64, (f64, f64)) -> String) -> Section {
    let mut notes = Notes::default();
    let mut table = Table::new("metric | test | unit");
    let columns = card.columns.iter();
    table
        .columns
        .extend(columns.map(|column| Column::new(&column.title, &column.source)));
    let mut last = None;
    for row in &card.rows {
        let line = row.line;
        if last.replace((line.component, &line.group)) != Some((line.component, &line.group)) {
            let caution = row
                .caution
                .map_or_else(String::new, |caution| notes.mark(caution));
            table.heading(format!(
                "{} · {}{caution}",
                line.component.name(),
                line.group
            ));
        }
        let first = [&line.label, &line.test, &line.unit].map(String::clone);
        let cells = row
            .cells
            .iter()
            .map(|own| cell(own, range, &mut notes))
            .collect::<Vec<_>>();
        table.row(first.into_iter().chain(cells));
    }
    let sentences = card.left_out.iter().chain(&card.silent).cloned();
    let mut section = Section::new("Scorecard");
    if !table.rows.is_empty() {
        section = section.note(NOTE).table(table);
    }
    let numbered = notes
        .0
        .iter()
        .zip(1..)
        .map(|(note, number)| format!("[{number}] {note}"));
    sentences.chain(numbered).fold(section, Section::sentence)
}

/// "26,768" and "@4 · 26,100–27,000", or "–" and the number of its reason.
fn cell(cell: &Cell, range: fn(f64, (f64, f64)) -> String, notes: &mut Notes) -> String {
    let measured = match cell {
        Cell::Value(measured) => measured,
        Cell::Absent { why, reason } => {
            let value = match why {
                Absence::Invalid => format!("{FAILED} invalid"),
                _ => number::UNKNOWN.to_owned(),
            };
            return format!("{value}\n{}", notes.mark(reason).trim());
        }
    };
    let at = (measured.dop > 0).then(|| format!("@{}", measured.dop));
    let ends = measured.range.filter(|_| measured.value > 0.0);
    let range = ends.map(|ends| range(measured.value, ends));
    let detail: Vec<String> = at.into_iter().chain(range).collect();
    let left_out = match measured.invalid_left_out {
        0 => None,
        1 => Some("One invalid point of this test is left out.".to_owned()),
        n => Some(format!("{n} invalid points of this test are left out.")),
    };
    let notes = left_out
        .iter()
        .chain(&measured.doubt)
        .map(|note| notes.mark(note));
    let detail = detail.join(" · ") + &notes.collect::<String>();
    let text = format!("{}\n{}", number::plain(measured.value), detail.trim_start());
    text.trim_end().to_owned()
}
