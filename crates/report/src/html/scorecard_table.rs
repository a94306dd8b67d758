//! The scorecard as a view: values side by side, reasons as numbered notes below.

use archive::Run;

use crate::number;
use crate::scorecard::{self, Absence, Against, Cell, Column};

pub struct CellView {
    pub value: String,
    /// Parallelism and range, in small letters.
    pub detail: String,
    /// Number of its note; 0 if there is none.
    pub note: usize,
    pub class: &'static str,
}

/// One row; component and group are present only where they change.
pub struct RowView {
    pub component: Option<&'static str>,
    pub group: Option<&'static str>,
    /// Number of the note against comparing the cells; 0 if there is none.
    pub caution: usize,
    pub label: &'static str,
    pub unit: &'static str,
    pub test: &'static str,
    pub cells: Vec<CellView>,
}

pub struct View {
    pub columns: Vec<Column>,
    pub rows: Vec<RowView>,
    pub notes: Vec<String>,
    /// Sentences naming the tests without a column and the references without any of the tests.
    pub left_out: Vec<String>,
}

impl View {
    /// True if no metric of a scorecard was measured and there is no sentence about it.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.left_out.is_empty()
    }
}

pub fn view(run: &Run, against: &[Against<'_>]) -> View {
    let card = scorecard::scorecard(run, against);
    let mut notes = Vec::new();
    let (mut component, mut group) = (None, "");
    let rows = card
        .rows
        .iter()
        .map(|row| {
            let line = row.line;
            let new_component = component.replace(line.component) != Some(line.component);
            let caution = row.caution.map_or(0, |c| numbered(&mut notes, c));
            let new_group = std::mem::replace(&mut group, &line.group) != line.group;
            RowView {
                component: new_component.then(|| line.component.name()),
                group: (new_component || new_group).then_some(line.group.as_str()),
                caution,
                label: &line.label,
                unit: &line.unit,
                test: &line.test,
                cells: row.cells.iter().map(|c| cell(c, &mut notes)).collect(),
            }
        })
        .collect();
    View {
        columns: card.columns,
        rows,
        notes,
        left_out: card.left_out.into_iter().chain(card.silent).collect(),
    }
}

fn cell(cell: &Cell, notes: &mut Vec<String>) -> CellView {
    match cell {
        Cell::Value(m) => {
            let mut detail = Vec::new();
            if m.dop > 0 {
                detail.push(format!("@{}", m.dop));
            }
            if let Some((low, high)) = m.range {
                detail.push(format!("{}–{}", number::full(low), number::full(high)));
            }
            let note = match (m.invalid_left_out, &m.doubt) {
                (0, None) => 0,
                (0, Some(doubt)) => numbered(notes, doubt),
                (1, _) => numbered(notes, "One invalid point of this test is left out."),
                (n, _) => numbered(
                    notes,
                    &format!("{n} invalid points of this test are left out."),
                ),
            };
            CellView {
                value: number::full(m.value),
                detail: detail.join(" · "),
                note,
                class: "",
            }
        }
        Cell::Absent { why, reason } => CellView {
            value: match why {
                Absence::Invalid => "invalid".to_owned(),
                _ => number::UNKNOWN.to_owned(),
            },
            detail: String::new(),
            note: numbered(notes, reason),
            class: match why {
                Absence::Invalid => "invalid",
                _ => "absent",
            },
        },
    }
}

/// Number of a note; the same text keeps its number.
fn numbered(notes: &mut Vec<String>, text: &str) -> usize {
    if let Some(at) = notes.iter().position(|n| n == text) {
        return at + 1;
    }
    notes.push(text.to_owned());
    notes.len()
}
