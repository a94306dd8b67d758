//! Time of the jobs by wait: the top timed events of each sweep at its best level, and their shares by level. The limiting wait shows
//! itself beyond the best level.

use archive::TimedEvent;
use chart::{Axis, Bar, Chart, Dash, Series, Shape, bars, tick};

use super::figure::{Figure, grouped};
use super::load::Load;
use super::sweep::{Rate, Sweep};
use crate::number;

const EVENTS_MAX: usize = 5;
/// Fewest levels for a chart of shares by level.
const LEVELS_MIN: usize = 2;
const HEADS: [&str; 7] = [
    "event",
    "class",
    "waits",
    "mean wait (ms)",
    "time (s)",
    "share (%)",
    "source",
];
const SHAPES: [Shape; EVENTS_MAX] = [
    Shape::Circle,
    Shape::Square,
    Shape::Triangle,
    Shape::Diamond,
    Shape::Down,
];

/// Time of the jobs by event at each sweep's best level.
pub fn at_best(sweeps: &[Sweep<'_>], rate: Rate) -> Option<Figure> {
    let mut shown = Vec::new();
    let mut rows = Vec::new();
    for sweep in sweeps {
        let Some(peak) = sweep.curve.as_ref().and_then(|c| c.peak(rate.name)) else {
            continue;
        };
        for (at, event) in peak.first().timed_events.iter().enumerate() {
            let level = format!("{} @{}", sweep.label, peak.dop());
            if at < EVENTS_MAX {
                shown.push(Bar {
                    label: format!("{} · {}", sweep.label, event.event),
                    value: Some(event.share_pct),
                    text: format!(
                        "{} % · {} s",
                        number::figure(event.share_pct),
                        number::figure(event.time_s)
                    ),
                    colour: sweep.colour,
                    hollow: !sweep.own,
                });
            }
            rows.push((level, event_row(event)));
        }
    }
    if shown.is_empty() {
        return None;
    }
    let caption = "Top timed events at the best level".to_owned();
    let svg = bars(&caption, &shown);
    let how = "Where the sessions' time went, in percent of their total time. Start with the longest bar.";
    Some(Figure::new(
        caption,
        svg,
        how.to_owned(),
        grouped(&HEADS, rows),
    ))
}

fn event_row(event: &TimedEvent) -> Vec<String> {
    let waits = event.waits.map(number::count);
    let unknown = || number::UNKNOWN.to_owned();
    vec![
        event.event.clone(),
        event.class.name().to_owned(),
        waits.unwrap_or_else(unknown),
        mean_wait_ms(event).map_or_else(unknown, number::figure),
        number::figure(event.time_s),
        number::figure(event.share_pct),
        event.source.name().to_owned(),
    ]
}

/// Mean duration of a wait; `None` if waits were not counted.
fn mean_wait_ms(event: &TimedEvent) -> Option<f64> {
    let waits = event.waits.filter(|waits| *waits > 0)?;
    Some(event.time_s * 1e3 / waits as f64)
}

/// Shares of the sessions' time by level for each sweep of the run, with those of compared runs dashed.
pub fn by_level(sweeps: &[Sweep<'_>], load: Load) -> Vec<Figure> {
    let own: Vec<&Sweep<'_>> = sweeps.iter().filter(|sweep| sweep.own).collect();
    let figures = own.iter().filter_map(|sweep| {
        let of = match own.len() {
            1 => String::new(),
            _ => format!(", {}", sweep.label),
        };
        let others = |other: &&Sweep<'_>| !other.own && other.label.ends_with(&sweep.label);
        over_levels(sweep, sweeps.iter().filter(others), &of, load)
    });
    figures.collect()
}

type Levels<'a> = Vec<(u32, &'a [TimedEvent])>;

fn levels_of<'a>(sweep: &'a Sweep<'_>) -> Levels<'a> {
    let levels = sweep.curve.iter().flat_map(|curve| &curve.levels);
    levels
        .map(|level| (level.dop(), level.first().timed_events.as_slice()))
        .filter(|(_, events)| !events.is_empty())
        .collect()
}

fn over_levels<'s>(
    own: &Sweep<'_>,
    others: impl Iterator<Item = &'s Sweep<'s>>,
    of: &str,
    load: Load,
) -> Option<Figure> {
    let levels = levels_of(own);
    if levels.len() < LEVELS_MIN {
        return None;
    }
    let names = largest(&levels);
    let mut series = lines(&levels, &names, "", Dash::Solid);
    let mut rows = rows_of("", &levels);
    for other in others {
        let levels = levels_of(other);
        let prefix = format!("{}: ", other.label);
        series.extend(lines(&levels, &names, &prefix, Dash::Dashed));
        rows.extend(rows_of(&format!("{} ", other.label), &levels));
    }
    let caption = format!("Timed events by level, % of the sessions' time{of}");
    let dops: Vec<u32> = levels.iter().map(|(dop, _)| *dop).collect();
    let chart = Chart::new(
        &caption,
        load.axis(&dops),
        Axis::linear("", 100.0, tick),
        series,
    );
    let how = "What the sessions' time went to at each level (first repetition). A wait whose share rises with the level is what \
               more sessions queue for.";
    Some(Figure::new(
        caption,
        chart.render(),
        how.to_owned(),
        grouped(&HEADS, rows),
    ))
}

fn lines(levels: &Levels<'_>, names: &[&str], prefix: &str, dash: Dash) -> Vec<Series> {
    let named = names.iter().zip(SHAPES).enumerate();
    let line = named.map(|(colour, (name, shape))| {
        Series::new(
            format!("{prefix}{name}"),
            colour,
            shape,
            dash,
            (levels.iter())
                .map(|(dop, events)| {
                    let event = events.iter().find(|event| event.event == *name);
                    (f64::from(*dop), Some(event.map_or(0.0, |e| e.share_pct)))
                })
                .collect(),
        )
    });
    line.collect()
}

fn rows_of(prefix: &str, levels: &Levels<'_>) -> Vec<(String, Vec<String>)> {
    let rows = levels.iter().flat_map(|(dop, events)| {
        let row = move |event| (format!("{prefix}@{dop}"), event_row(event));
        events.iter().map(row)
    });
    rows.collect()
}

/// Names of the events with the largest shares at any level, largest first.
fn largest<'e>(levels: &[(u32, &'e [TimedEvent])]) -> Vec<&'e str> {
    let mut names: Vec<(&str, f64)> = Vec::new();
    for event in levels.iter().flat_map(|(_, events)| *events) {
        match names.iter_mut().find(|(name, _)| *name == event.event) {
            Some((_, share_pct)) => *share_pct = share_pct.max(event.share_pct),
            None => names.push((&event.event, event.share_pct)),
        }
    }
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    names.truncate(EVENTS_MAX);
    names.into_iter().map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use archive::{EventClass, EventSource};

    use super::*;

    fn event(name: &str, waits: Option<u64>, time_s: f64, share_pct: f64) -> TimedEvent {
        TimedEvent {
            event: name.to_owned(),
            class: EventClass::Cpu,
            waits,
            time_s,
            share_pct,
            source: EventSource::Counted,
        }
    }

    #[test]
    fn events_are_chosen_by_their_largest_share_at_any_level() {
        let first: Vec<_> = (0..6)
            .map(|n| event(&format!("e{n}"), None, 1.0, 10.0 + f64::from(n)))
            .collect();
        let second = [event("pin", None, 9.0, 90.0)];
        let levels = [(1, first.as_slice()), (8, second.as_slice())];
        assert_eq!(largest(&levels), ["pin", "e5", "e4", "e3", "e2"]);
    }

    #[test]
    fn a_wait_has_a_mean_where_it_was_counted() {
        assert_eq!(mean_wait_ms(&event("e", Some(500), 2.0, 1.0)), Some(4.0));
        assert_eq!(mean_wait_ms(&event("e", Some(0), 2.0, 1.0)), None);
        assert_eq!(mean_wait_ms(&event("e", None, 2.0, 1.0)), None);
    }
}
