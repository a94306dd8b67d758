//! Alternatives for a terminal: a list of them, and for each metric their order, with the ratio to the best and the others that each beats.

use stats::compare::Verdict;
use verdict::compare::{CONFIDENCE, verdict_word as word};
use verdict::contrasts::{Contrasts, OfMetric, Side};
use verdict::metric::Metric;

use super::{FOREST_WIDTH, Scale, Shown, in_rounds, named};
use crate::number::{self, counted, percent};
use crate::terminal::table::{self, Align, Column, Table};
use crate::terminal::{Paint, clean};

/// Differences (as shares) beyond which their exact size no longer matters.
const LEAST_MAX: f64 = 1.0;

pub fn alternatives(found: &Contrasts, shown: Shown) -> String {
    let paint = Paint {
        colour: shown.colour,
    };
    let wrapped = |text: &str, indent| format!("{}\n", table::wrap(text, shown.width, indent));
    let title = format!("Alternatives of {}", clean(&found.study));
    let mut out = format!("{}\n", paint.bold(&title));
    out.push_str(&wrapped(&format!("{}.", rounds_words(found)), 0));
    for caution in &found.cautions {
        let text = table::wrap(&format!("  ! {}", clean(caution)), shown.width, 4);
        out.push_str(&format!("{}\n", paint.red(&text)));
    }
    for side in &found.sides {
        out.push_str(&wrapped(&format!("  {}", about(side)), 6));
        for remark in &side.alternative.remarks {
            let text = table::wrap(
                &format!("    ! {}", clean(&remark.to_string())),
                shown.width,
                6,
            );
            out.push_str(&format!("{}\n", paint.red(&text)));
        }
    }
    out.push_str(&format!("\n{}\n", paint.bold(&named(found.named))));
    for of_metric in &found.metrics {
        out.push_str(&format!("{}\n", paint.bold(&clean(&label(of_metric)))));
        match &of_metric.contrasts {
            Ok(_) => out.push_str(&order(found, of_metric, shown.width, &paint)),
            Err(why) => out.push_str(&wrapped(&format!("  no verdicts: {why}"), 4)),
        }
        if let Some(line) = advice(of_metric) {
            out.push_str(&paint.dim(&wrapped(&format!("  {line}"), 4)));
        }
    }
    out
}

/// "a log-apart: the log on a device of its own".
fn about(side: &Side) -> String {
    let own = &side.alternative;
    format!("{} {}: {}", side.side, clean(&own.name), clean(&own.about))
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
            "With this noise, {rounds} detect no difference of less than {} %; take more (--rounds).",
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
fn order(found: &Contrasts, of_metric: &OfMetric, width: usize, paint: &Paint) -> String {
    let column = |head: &'static str, align, leave| Column {
        heads: [head, "", ""],
        align,
        leave,
    };
    let best = of_metric.order.first().copied();
    let against = |side: usize| of_metric.between(side, best?);
    let ratios = of_metric
        .order
        .iter()
        .filter_map(|side| Some(against(*side)?.1));
    let scale = Scale::of(ratios, FOREST_WIDTH);
    let mut text = Table::new(vec![
        column("", Align::Left, 0),
        column("mean", Align::Right, 0),
        column("/ first", Align::Right, 0),
        column("interval", Align::Left, 0),
        column("/ first, log scale", Align::Left, 1),
        column("than first", Align::Left, 0),
        column("better than", Align::Left, 2),
    ]);
    let at = found
        .metrics
        .iter()
        .position(|it| it.metric == of_metric.metric);
    for side in &of_metric.order {
        let between = against(*side);
        let beaten = others(found, of_metric, *side, Verdict::Better);
        let cells = vec![
            clean(&found.sides[*side].alternative.name),
            at.map_or_else(String::new, |at| figure(found, at, *side)),
            between.map_or_else(String::new, |(_, ratio)| number::ratio(ratio.estimate)),
            between.map_or_else(String::new, |(_, ratio)| number::interval(&ratio)),
            between.map_or_else(String::new, |(_, ratio)| {
                scale.draw(Some(ratio), found.band)
            }),
            between.map_or_else(String::new, |(verdict, _)| word(verdict).to_owned()),
            clean(&beaten.join(", ")),
        ];
        let is_worse = between.is_some_and(|(verdict, _)| verdict == Verdict::Worse);
        text.row(cells, is_worse);
    }
    let legend = format!(
        "{} (±{} %) · mean: geometric, over the rounds",
        scale.legend(&sure(found)),
        percent(found.band.equivalence)
    );
    let legend = table::wrap(&legend, width, 2);
    format!("{}{}\n", text.render(width, paint), paint.dim(&legend))
}
