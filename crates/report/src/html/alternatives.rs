//! Alternatives against each other: their order by each metric, all pairs with intervals, and the activity of the devices below each.

mod throughput;

use archive::{Column, Run, Section, Table};
use askama::Template;
use stats::compare::Verdict;
use verdict::compare::verdict_word;
use verdict::contrasts::{Contrasts, Kind, OfMetric, Side, contrasts};

use super::options::HtmlOptions;
use super::section::Fragment;
use super::sides::judge_sides;
use crate::comparison::{
    alternative_figure, alternatives_advice, alternatives_label, alternatives_listed,
    alternatives_rounds, alternatives_sure, other_alternatives,
};
use crate::number;
use chart::{Branch, forest};

/// More cautions are folded.
const CAUTIONS_MAX: usize = 3;

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

impl Outcome {
    pub fn sentences(&self) -> Vec<String> {
        let words = |of: &OutcomeOfMetric| format!("{}: {}", of.metric, of.sentence);
        self.metrics.iter().map(words).collect()
    }
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

/// The section and its part of the first screen, if other sides are present.
pub fn view(run: &Run, others: &[&Run], options: &HtmlOptions) -> (Fragment, Option<Outcome>) {
    let judge = |sides: &[&Run]| contrasts(Kind::Alternatives, sides, &options.of_rounds());
    let (parts, outcome) = judge_sides(run, others, "No verdicts", judge, add, outcome);
    (parts.section("alternatives", "Alternatives"), outcome)
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

fn add(parts: &mut Fragment, sides: &[&Run], found: &Contrasts) {
    let run_of = |side: &Side| sides.iter().find(|run| run.label == side.label).copied();
    let runs: Vec<(&str, &Run)> = (found.sides.iter())
        .filter_map(|side| Some((side.alternative.name.as_str(), run_of(side)?)))
        .collect();
    let mut cautions = Fragment::default();
    found
        .cautions
        .iter()
        .for_each(|caution| _ = cautions.caution(caution));
    if found.cautions.len() > CAUTIONS_MAX {
        cautions = cautions.folded(&format!("{} cautions", found.cautions.len()), false);
    }
    parts
        .sentence(&format!("{}.", alternatives_rounds(found)))
        .add(&cautions)
        .blocks(&alternatives_listed(found));
    for at in 0..found.metrics.len() {
        parts.results(3, &pairs(found, at));
    }
    let sure = alternatives_sure(found);
    parts
        .how(&format!(
            "Order: by mean. Cell: mean of the row divided by that of the column, whether the row is better, and the {sure} (Bonferroni)."
        ))
        .add(&throughput::of_tests(&runs, &found.metrics));
}

/// All pairs of a metric: row compared with column, empty on the diagonal.
fn pairs(found: &Contrasts, at: usize) -> Section {
    let of_metric = &found.metrics[at];
    let section = Section::new(format!("All pairs: {}", alternatives_label(of_metric)));
    if let Err(why) = &of_metric.contrasts {
        return section.sentence(format!("No verdicts: {why}"));
    }
    let name = |side: &usize| found.sides[*side].alternative.name.as_str();
    let mut table = Table::new("row / column | mean");
    (table.columns).extend(
        of_metric
            .order
            .iter()
            .map(|side| Column::new(name(side), "")),
    );
    for row in &of_metric.order {
        let cell = |column: &usize| match of_metric.between(*row, *column) {
            Some((verdict, ratio)) => format!(
                "{} {}\n{}",
                number::ratio(ratio.estimate),
                verdict_word(verdict),
                number::interval(&ratio)
            ),
            None => String::new(),
        };
        let first = [name(row).to_owned(), alternative_figure(found, at, *row)];
        table.row(first.into_iter().chain(of_metric.order.iter().map(cell)));
    }
    let section = warnings(found, of_metric)
        .into_iter()
        .fold(section.table(table), Section::caution);
    alternatives_advice(of_metric)
        .into_iter()
        .fold(section, Section::sentence)
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
