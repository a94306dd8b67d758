//! Published timed events next to ours at the best level.

use archive::reference::{Cell, Reference};
use archive::{Section, TimedEvent};

use crate::html::sweep::Rate;
use crate::level::TestGroup;
use crate::number;
use crate::section::of_texts;

/// Number of events that documents print.
const EVENTS_MAX: usize = 5;
const HEADS: [&str; 6] = [
    "Event",
    "Waits",
    "Time (s)",
    "Avg wait (ms)",
    "% of time",
    "Wait class",
];

pub fn of_reference(reference: &Reference, test: &str) -> Vec<Section> {
    let tables = reference.tables.iter();
    let tables = tables.filter(|t| t.kind == "events" && t.test.as_deref() == Some(test));
    let cell = |cell: &Cell| match cell {
        Cell::Empty => String::new(),
        Cell::Number(value) if value.fract() == 0.0 && *value >= 0.0 => {
            number::count(*value as u64)
        }
        Cell::Number(value) => value.to_string(),
        Cell::Text(text) => text.clone(),
    };
    let events = tables.map(|table| {
        let heads: Vec<&str> = table.columns.iter().map(String::as_str).collect();
        let rows = table.rows.iter().map(|row| row.cells.iter().map(cell));
        let notes = std::iter::once(format!("Published: {}.", table.place))
            .chain(table.note.clone())
            .chain(table.rows.iter().filter_map(|row| row.note.clone()));
        let section = Section::new(format!("{}: {}", reference.title, table.title));
        notes.fold(section.table(of_texts(&heads, rows)), Section::sentence)
    });
    events.collect()
}

/// Our events at the best level of each curve, in the document's columns.
pub fn of_run(group: &TestGroup<'_>, rate: Rate) -> Vec<Section> {
    let curves = group.curves.iter().filter_map(|curve| {
        let level = curve.peak(rate.name)?;
        let events = &level.first().timed_events;
        let title = format!("{} @{}, top {EVENTS_MAX}", curve.label, level.dop());
        let table = of_texts(&HEADS, events.iter().take(EVENTS_MAX).map(row));
        (!events.is_empty()).then(|| Section::new(title).table(table))
    });
    curves.collect()
}

fn row(event: &TimedEvent) -> Vec<String> {
    let waits = event.waits.filter(|waits| *waits > 0);
    let mean_ms = waits.map(|waits| event.time_s * 1e3 / waits as f64);
    vec![
        event.event.clone(),
        event
            .waits
            .map_or_else(|| number::UNKNOWN.to_owned(), number::count),
        number::figure(event.time_s),
        number::figure_or_unknown(mean_ms),
        number::figure(event.share_pct),
        event.class.name().to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use archive::{Block, reference};

    use super::*;

    #[test]
    fn published_events_appear_with_their_doubts() {
        let reference = reference::load("dl980-violin").unwrap();
        let tables = of_reference(&reference, "T611");
        let [events] = &tables[..] else {
            panic!("one table of events");
        };
        let [
            Block::Table(table),
            Block::Sentence(_),
            Block::Sentence(doubt),
            ..,
        ] = &events.blocks[..]
        else {
            panic!("{events:?}");
        };
        assert_eq!(table.columns[0].name, "Event");
        let row = [
            "cursor: pin S",
            "9,470,955",
            "576",
            "0",
            "15.6",
            "Concurrenc",
        ];
        assert_eq!(table.rows[1], row.map(archive::Cell::from));
        assert!(doubt.contains("probably lost in extraction"));
        assert_eq!(of_reference(&reference, "T721").len(), 2);
        assert!(of_reference(&reference, "T141").is_empty());
    }
}
