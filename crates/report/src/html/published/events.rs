//! Published timed events next to ours at the best level.

use archive::TimedEvent;
use archive::reference::{Cell, Reference};

use crate::html::sweep::Rate;
use crate::level::TestGroup;
use crate::number;

/// Number of events that documents print.
const EVENTS_MAX: usize = 5;

pub struct Events {
    pub caption: String,
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub notes: Vec<String>,
}

pub fn of_reference(reference: &Reference, test: &str) -> Vec<Events> {
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
    let events = tables.map(|table| Events {
        caption: format!("{}: {}", reference.title, table.title),
        heads: table.columns.clone(),
        rows: (table.rows.iter())
            .map(|row| row.cells.iter().map(cell).collect())
            .collect(),
        notes: std::iter::once(format!("Published: {}.", table.place))
            .chain(table.note.clone())
            .chain(table.rows.iter().filter_map(|row| row.note.clone()))
            .collect(),
    });
    events.collect()
}

/// Our events at the best level of each curve, in the document's columns.
pub fn of_run(group: &TestGroup<'_>, rate: Rate) -> Vec<Events> {
    let heads = [
        "Event",
        "Waits",
        "Time (s)",
        "Avg wait (ms)",
        "% of time",
        "Wait class",
    ];
    let curves = group.curves.iter().filter_map(|curve| {
        let level = curve.peak(rate.name)?;
        let events = &level.first().timed_events;
        let shown = events.iter().take(EVENTS_MAX);
        (!events.is_empty()).then(|| Events {
            caption: format!("{} @{}, top {EVENTS_MAX}", curve.label, level.dop()),
            heads: heads.map(str::to_owned).to_vec(),
            rows: shown.map(row).collect(),
            notes: Vec::new(),
        })
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
    use archive::reference;

    use super::*;

    #[test]
    fn published_events_appear_with_their_doubts() {
        let reference = reference::load("dl980-violin").unwrap();
        let tables = of_reference(&reference, "T611");
        let [events] = &tables[..] else {
            panic!("one table of events");
        };
        assert_eq!(events.heads[0], "Event");
        assert_eq!(
            events.rows[1],
            [
                "cursor: pin S",
                "9,470,955",
                "576",
                "0",
                "15.6",
                "Concurrenc"
            ]
        );
        assert!(events.notes[1].contains("probably lost in extraction"));
        assert_eq!(of_reference(&reference, "T721").len(), 2);
        assert!(of_reference(&reference, "T141").is_empty());
    }
}
