//! Alternatives for a terminal: a list of them, and for each metric their order, with the ratio to the best and the others that each beats.

use archive::{Column, Section, Table};
use stats::compare::Verdict;
use verdict::compare::{CONFIDENCE, verdict_word as word};
use verdict::contrasts::{Contrasts, OfMetric};
use verdict::metric::Metric;

use super::{Shown, draw, in_rounds, in_terminal, metrics_words as named, of_band};
use crate::number::{self, counted, percent};

/// Differences (as shares) beyond which their exact size no longer matters.
const LEAST_MAX: f64 = 1.0;

/// The alternatives and their order by each metric, for a terminal.
pub fn alternatives(found: &Contrasts, shown: Shown) -> String {
    let head = Section::new(format!("Alternatives of {}", found.study));
    let head = head.sentence(format!("{}.", rounds_words(found)));
    let head = found.cautions.iter().fold(head, Section::caution);
    let orders = (0..found.metrics.len()).map(|at| order(found, at, shown));
    let sections: Vec<Section> = [head, listed(found)].into_iter().chain(orders).collect();
    in_terminal(&sections, shown)
}

/// The alternatives with their means.
pub(crate) fn listed(found: &Contrasts) -> Section {
    let mut table = Table::new("alternative | what it is");
    let means = found
        .metrics
        .iter()
        .map(|of| Column::new(&label(of), "mean"));
    table.columns.extend(means);
    for (at, side) in found.sides.iter().enumerate() {
        let own = &side.alternative;
        let name = format!("{}\nrun {}", own.name, side.label);
        let means = found.metrics.iter().enumerate().map(|(metric, of_metric)| {
            let mark = if of_metric.order.first() == Some(&at) {
                "\nbest"
            } else {
                ""
            };
            figure(found, metric, at) + mark
        });
        table.row([name, own.about.clone()].into_iter().chain(means));
    }
    let note = "Mean: geometric, over the rounds in which every alternative has a figure. Metrics:";
    let section = Section::new("Alternatives").note(format!("{note} {}.", named(found.named)));
    let remarks = found.sides.iter().flat_map(|side| {
        let own = &side.alternative;
        own.remarks
            .iter()
            .map(|remark| format!("{}: {remark}", own.name))
    });
    remarks.fold(section.table(table), Section::caution)
}

/// "T626 Random read, rows_per_s"; no target is named because all alternatives use one kind of target.
pub(crate) fn label(of_metric: &OfMetric) -> String {
    let own = Metric {
        target: None,
        ..of_metric.metric.clone()
    };
    let own = own.to_string();
    let (place, figure) = own.split_once('.').unwrap_or((&own, ""));
    format!("{place} {}, {}", of_metric.title, figure_words(figure))
}

fn figure_words(figure: &str) -> String {
    match figure {
        "operations_per_s" => "operations/s".to_owned(),
        "rows_per_s" => "rows/s".to_owned(),
        other => other
            .replace("_us", "")
            .replace("_per_", "/")
            .replace('_', " "),
    }
}

/// Rounds and points of the study, without a full stop.
pub(crate) fn rounds_words(found: &Contrasts) -> String {
    let alternatives = counted(found.sides.len() as u64, "alternative");
    in_rounds(&alternatives, found.rounds)
}

pub(crate) fn sure(found: &Contrasts) -> String {
    let together = percent(CONFIDENCE);
    match found.family {
        0 | 1 => format!("{together} % interval"),
        pairs => format!(
            "{} % interval ({pairs} pairs, together {together} %)",
            percent(found.confidence)
        ),
    }
}

/// The least effect that this number of rounds finds, for every pair.
pub(crate) fn advice(of_metric: &OfMetric) -> Option<String> {
    let pairs = of_metric.contrasts.as_ref().ok()?;
    let least = pairs.iter().filter_map(|pair| pair.least_effect);
    let least = least.reduce(f64::max)?;
    let rounds = counted(of_metric.rounds as u64, "round");
    Some(if least > LEAST_MAX {
        format!(
            "With this noise, {rounds} detect no difference of less than {} %; use more (--repeat).",
            percent(LEAST_MAX)
        )
    } else {
        format!(
            "With this noise, {rounds} detect a true difference of {} % between any two in four of five studies.",
            percent(least)
        )
    })
}

/// The geometric mean of a side; quotients of these means are the ratios of the pairs.
pub(crate) fn figure(found: &Contrasts, at: usize, side: usize) -> String {
    let mean = found.sides[side].means[at];
    number::of_metric(&found.metrics[at].metric, mean)
}

/// Names of the other sides against which a side has this verdict.
pub(crate) fn others(
    found: &Contrasts,
    of_metric: &OfMetric,
    side: usize,
    verdict: Verdict,
) -> Vec<String> {
    let is = |other: &&usize| {
        let between = of_metric.between(side, **other);
        between.is_some_and(|(found, _)| found == verdict)
    };
    let others = of_metric.order.iter().filter(is);
    let name = |other: &usize| found.sides[*other].alternative.name.clone();
    others.map(name).collect()
}

/// The alternatives, best mean first, each relative to the first and with the others that it beats.
fn order(found: &Contrasts, at: usize, shown: Shown) -> Section {
    let of_metric = &found.metrics[at];
    let section = Section::new(label(of_metric));
    if let Err(why) = &of_metric.contrasts {
        return section.sentence(format!("No verdicts: {why}."));
    }
    let best = of_metric.order.first().copied();
    let against = |side: &usize| of_metric.between(*side, best?);
    let mut table =
        Table::new("alternative | mean | / first | interval | than first | better than");
    for side in &of_metric.order {
        let between = against(side);
        let cells = between.map(|(verdict, ratio)| {
            [
                number::ratio(ratio.estimate),
                number::interval(&ratio),
                word(verdict).to_owned(),
            ]
        });
        let first = [
            found.sides[*side].alternative.name.clone(),
            figure(found, at, *side),
        ];
        let beaten = others(found, of_metric, *side, Verdict::Better).join(", ");
        table.row(
            first
                .into_iter()
                .chain(cells.unwrap_or_default())
                .chain([beaten]),
        );
    }
    let ratios: Vec<_> = of_metric
        .order
        .iter()
        .map(|side| Some(against(side)?.1))
        .collect();
    let mut section = advice(of_metric)
        .into_iter()
        .fold(section.table(table), Section::sentence);
    let words = (&*sure(found), &*of_band(found.band));
    draw(
        &mut section,
        shown,
        "/ first",
        &ratios,
        &[found.band],
        words,
    );
    section
}
