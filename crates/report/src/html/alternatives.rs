//! Alternatives against each other: their order by each metric, all pairs with intervals, and the activity of the devices below each.

mod throughput;

use archive::Run;
use askama::Template;
use stats::compare::Verdict;
use verdict::compare::verdict_word;
use verdict::contrasts::{Contrasts, Kind, OfMetric, Side, contrasts};

use super::forest::named;
use super::options::HtmlOptions;
use super::sides::judge_sides;
use crate::comparison::{
    alternative_figure, alternatives_advice, alternatives_label, alternatives_rounds,
    alternatives_sure, other_alternatives,
};
use crate::number;
use crate::svg::{Branch, forest};
use throughput::OfTest;

#[derive(Template)]
#[template(path = "alternatives.html", whitespace = "minimize")]
pub struct View {
    found: Option<Found>,
    /// The reason for a missing analysis although sides of a study are present.
    refused: Option<String>,
}

#[derive(Template)]
#[template(path = "alternatives_first.html", whitespace = "minimize")]
pub struct Outcome {
    study: String,
    /// Label of the run on the rest of the page, and its alternative.
    shown: [String; 2],
    /// Remarks that readers of the results must not miss.
    remarks: Vec<String>,
    metrics: Vec<OutcomeOfMetric>,
}

struct OutcomeOfMetric {
    metric: String,
    sentence: String,
    /// Name of the first alternative, the reference of the forest.
    first: String,
    /// The forest; empty without verdicts.
    svg: String,
    sure: String,
}

struct Found {
    study: String,
    design: String,
    cautions: Vec<String>,
    heads: Vec<String>,
    rows: Vec<Row>,
    metrics: Vec<MetricView>,
    tests: Vec<OfTest>,
    named: &'static str,
    sure: String,
}

struct Row {
    name: String,
    about: String,
    label: String,
    remarks: Vec<String>,
    /// Means, and a mark for the best.
    means: Vec<(String, bool)>,
}

struct MetricView {
    metric: String,
    refused: Option<String>,
    names: Vec<String>,
    /// Name, mean, and a cell for each name.
    rows: Vec<(String, String, Vec<Cell>)>,
    warnings: Vec<String>,
    advice: Option<String>,
}

/// Row compared with column; empty on the diagonal.
struct Cell {
    ratio: String,
    interval: String,
    verdict: &'static str,
}

/// The section and its part of the first screen, if other sides are present.
pub fn view(run: &Run, others: &[&Run], options: &HtmlOptions) -> (View, Option<Outcome>) {
    let judge = |sides: &[&Run]| contrasts(Kind::Alternatives, sides, &options.of_rounds());
    let judged = judge_sides(run, others, judge, section, outcome);
    let view = View {
        found: judged.section,
        refused: judged.refused,
    };
    (view, judged.outcome)
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.found.is_none() && self.refused.is_none()
    }
}

fn outcome(run: &Run, found: &Contrasts) -> Outcome {
    let of = |(at, of_metric): (usize, &OfMetric)| OutcomeOfMetric {
        metric: alternatives_label(of_metric),
        sentence: sentence(found, at, of_metric),
        first: first(found, of_metric).map_or_else(String::new, own_name),
        svg: svg(found, of_metric),
        sure: alternatives_sure(found),
    };
    let own = found.sides.iter().find(|side| side.label == run.label);
    let remarks = found.sides.iter().flat_map(|side| {
        let remarks = side.alternative.remarks.iter();
        remarks.map(|remark| format!("{}: {remark}", side.alternative.name))
    });
    Outcome {
        study: found.study.clone(),
        shown: [run.label.clone(), own.map_or_else(String::new, own_name)],
        remarks: remarks.collect(),
        metrics: found.metrics.iter().enumerate().map(of).collect(),
    }
}

fn own_name(side: &Side) -> String {
    side.alternative.name.clone()
}

fn first<'f>(found: &'f Contrasts, of_metric: &OfMetric) -> Option<&'f Side> {
    found.sides.get(*of_metric.order.first()?)
}

/// "xfs has the best mean (5,120). It is better than shared, pool. No verdict against log-apart."
fn sentence(found: &Contrasts, at: usize, of_metric: &OfMetric) -> String {
    let Some(best) = of_metric.order.first().copied() else {
        return "No alternative has a figure.".to_owned();
    };
    if let Err(why) = &of_metric.contrasts {
        return format!("No verdicts: {why}.");
    }
    let name = &found.sides[best].alternative.name;
    let mut sentences = vec![format!(
        "{name} has the best mean ({}).",
        alternative_figure(found, at, best)
    )];
    for (verdict, words) in [
        (Verdict::Better, "It is better than"),
        (Verdict::Equivalent, "It is equivalent to"),
        (Verdict::Inconclusive, "Inconclusive against"),
    ] {
        let others = other_alternatives(found, of_metric, best, verdict);
        if !others.is_empty() {
            sentences.push(format!("{words} {}.", others.join(", ")));
        }
    }
    sentences.join(" ")
}

/// The other alternatives relative to the first.
fn svg(found: &Contrasts, of_metric: &OfMetric) -> String {
    let Some((best, others)) = of_metric.order.split_first() else {
        return String::new();
    };
    let branch = |side: &usize| {
        let (verdict, ratio) = of_metric.between(*side, *best)?;
        Some(Branch {
            label: found.sides[*side].alternative.name.clone(),
            ratio: Some([ratio.estimate, ratio.low, ratio.high]),
            band: found.band.equivalence,
            text: format!(
                "{}  {}",
                number::ratio(ratio.estimate),
                verdict_word(verdict)
            ),
            class: verdict_word(verdict),
        })
    };
    let branches: Vec<Branch> = others.iter().filter_map(branch).collect();
    if branches.is_empty() {
        return String::new();
    }
    let name = &found.sides[*best].alternative.name;
    let title = format!(
        "Alternatives against {name} on {}, {}",
        alternatives_label(of_metric),
        alternatives_sure(found)
    );
    forest(&title, &format!("ratio to {name}"), &branches)
}

fn section(sides: &[&Run], found: &Contrasts) -> Found {
    let run_of = |side: &Side| sides.iter().find(|run| run.label == side.label).copied();
    let runs: Vec<(&str, &Run)> = (found.sides.iter())
        .filter_map(|side| Some((side.alternative.name.as_str(), run_of(side)?)))
        .collect();
    Found {
        study: found.study.clone(),
        design: alternatives_rounds(found),
        cautions: found.cautions.clone(),
        heads: found.metrics.iter().map(alternatives_label).collect(),
        rows: (0..found.sides.len())
            .map(|side| row(found, side))
            .collect(),
        metrics: (0..found.metrics.len())
            .map(|at| metric_view(found, at))
            .collect(),
        tests: throughput::of_tests(&runs, &found.metrics),
        named: named(found.named),
        sure: alternatives_sure(found),
    }
}

fn row(found: &Contrasts, number: usize) -> Row {
    let side = &found.sides[number];
    let means = found.metrics.iter().enumerate().map(|(at, of_metric)| {
        let is_best = of_metric.order.first() == Some(&number);
        (alternative_figure(found, at, number), is_best)
    });
    Row {
        name: own_name(side),
        about: side.alternative.about.clone(),
        label: side.label.clone(),
        remarks: side
            .alternative
            .remarks
            .iter()
            .map(ToString::to_string)
            .collect(),
        means: means.collect(),
    }
}

fn metric_view(found: &Contrasts, at: usize) -> MetricView {
    let of_metric = &found.metrics[at];
    let name_of = |side: &usize| found.sides[*side].alternative.name.clone();
    let cell = |row: usize, column: usize| match of_metric.between(row, column) {
        Some((verdict, ratio)) => Cell {
            ratio: number::ratio(ratio.estimate),
            interval: number::interval(&ratio),
            verdict: verdict_word(verdict),
        },
        None => Cell {
            ratio: String::new(),
            interval: String::new(),
            verdict: "",
        },
    };
    let row = |side: &usize| {
        let cells = of_metric.order.iter().map(|column| cell(*side, *column));
        (
            name_of(side),
            alternative_figure(found, at, *side),
            cells.collect(),
        )
    };
    MetricView {
        metric: alternatives_label(of_metric),
        refused: of_metric.contrasts.as_ref().err().map(ToString::to_string),
        names: of_metric.order.iter().map(name_of).collect(),
        rows: of_metric.order.iter().map(row).collect(),
        warnings: warnings(found, of_metric),
        advice: alternatives_advice(of_metric),
    }
}

fn warnings(found: &Contrasts, of_metric: &OfMetric) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for pair in of_metric.contrasts.iter().flatten() {
        for warning in &pair.contrast.warnings {
            let all = of_metric.contrasts.iter().flatten();
            let of_all = { all }.all(|other| other.contrast.warnings.contains(warning));
            let line = match pair.pair {
                Some(sides) if !of_all => {
                    let [a, b] = sides.map(|side| &found.sides[side].alternative.name);
                    format!("{b} against {a}: {warning}")
                }
                _ => warning.to_string(),
            };
            if !sentences.contains(&line) {
                sentences.push(line);
            }
        }
    }
    sentences
}
