//! A screening: effects of the settings with their intervals, the measured configurations, and confounded effects.

use archive::{Factor, Run};
use askama::Template;
use stats::compare::Verdict;
use verdict::compare::verdict_word;
use verdict::contrasts::{Contrasts, Judged, Kind, OfMetric, Side, contrasts};

use super::forest::named;
use super::metric_name::name;
use super::options::HtmlOptions;
use super::sides::judge_sides;
use crate::comparison::{rounds_words, screening_advice, screening_sure};
use crate::number;
use crate::svg::{Branch, forest};

#[derive(Template)]
#[template(path = "screening.html", whitespace = "minimize")]
pub struct View {
    found: Option<Found>,
    /// The reason for a missing analysis although sides of a screening are present.
    refused: Option<String>,
}

#[derive(Template)]
#[template(path = "screening_first.html", whitespace = "minimize")]
pub struct Outcome {
    study: String,
    /// Label of the run on the rest of the page.
    shown: String,
    metrics: Vec<OutcomeOfMetric>,
}

struct OutcomeOfMetric {
    metric: String,
    sentence: String,
    /// The forest; empty without effects.
    svg: String,
    sure: String,
}

struct Found {
    study: String,
    design: String,
    cautions: Vec<String>,
    remarks: Vec<String>,
    factors: Vec<Factor>,
    heads: Vec<String>,
    rows: Vec<Row>,
    metrics: Vec<MetricView>,
    named: &'static str,
    sure: String,
}

struct Row {
    label: String,
    /// Values of the settings; true marks the second one.
    levels: Vec<(String, bool)>,
    medians: Vec<String>,
}

struct MetricView {
    metric: String,
    refused: Option<String>,
    /// Setting, low, high, ratio, interval, verdict, weakness.
    rows: Vec<[String; 7]>,
    advice: Option<String>,
}

/// The section and its part of the first screen, if other sides are present.
pub fn view(run: &Run, others: &[&Run], options: &HtmlOptions) -> (View, Option<Outcome>) {
    let judge = |sides: &[&Run]| contrasts(Kind::Screening, sides, &options.of_rounds());
    let judged = judge_sides(run, others, judge, |_, screened| found(screened), outcome);
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

fn outcome(run: &Run, screened: &Contrasts) -> Outcome {
    let of = |of_metric: &OfMetric| OutcomeOfMetric {
        metric: name(&of_metric.metric),
        sentence: sentence(&screened.factors, of_metric),
        svg: svg(screened, of_metric),
        sure: screening_sure(screened),
    };
    Outcome {
        study: screened.study.clone(),
        shown: run.label.clone(),
        metrics: screened.metrics.iter().map(of).collect(),
    }
}

/// "fsync: off is better than on (1.83). No verdict on work_mem."
fn sentence(factors: &[Factor], of_metric: &OfMetric) -> String {
    let effects = match &of_metric.contrasts {
        Ok(effects) => effects,
        Err(why) => return format!("No effects: {why}."),
    };
    let with = |verdict| {
        let pairs = factors.iter().zip(effects);
        pairs.filter(move |(_, effect)| effect.verdict == verdict)
    };
    let keys = |verdict| -> Vec<&str> { with(verdict).map(|(f, _)| f.key.as_str()).collect() };
    let decided = [Verdict::Better, Verdict::Worse].into_iter().flat_map(with);
    let mut sentences: Vec<String> = decided
        .map(|(factor, effect)| {
            format!(
                "{}: {} is {} than {} (ratio {:.3}).",
                factor.key,
                factor.high,
                verdict_word(effect.verdict),
                factor.low,
                effect.contrast.ratio.estimate
            )
        })
        .collect();
    for (verdict, words) in [
        (Verdict::Equivalent, "Both values are equivalent"),
        (Verdict::Inconclusive, "Inconclusive"),
    ] {
        let keys = keys(verdict);
        if !keys.is_empty() {
            sentences.push(format!("{words}: {}.", keys.join(", ")));
        }
    }
    sentences.join(" ")
}

fn svg(screened: &Contrasts, of_metric: &OfMetric) -> String {
    let Ok(effects) = &of_metric.contrasts else {
        return String::new();
    };
    let branch = |(factor, effect): (&Factor, &Judged)| {
        let ratio = effect.contrast.ratio;
        Branch {
            label: factor.key.clone(),
            ratio: Some([ratio.estimate, ratio.low, ratio.high]),
            band: screened.band.equivalence,
            text: format!("{:.3}  {}", ratio.estimate, verdict_word(effect.verdict)),
            class: verdict_word(effect.verdict),
        }
    };
    let branches: Vec<Branch> = screened.factors.iter().zip(effects).map(branch).collect();
    let title = format!(
        "Effects on {}, {}",
        name(&of_metric.metric),
        screening_sure(screened)
    );
    forest(&title, "ratio second / first value", &branches)
}

fn found(screened: &Contrasts) -> Found {
    let row = |row: &Side| Row {
        label: row.label.clone(),
        levels: (screened.factors.iter().zip(&row.high))
            .map(|(factor, high)| {
                if *high {
                    (factor.high.clone(), true)
                } else {
                    (factor.low.clone(), false)
                }
            })
            .collect(),
        medians: (screened.metrics.iter().zip(&row.medians))
            .map(|(of_metric, median)| number::of_metric(&of_metric.metric, *median))
            .collect(),
    };
    let remarks = screened.remarks.iter();
    Found {
        study: screened.study.clone(),
        design: rounds_words(screened),
        cautions: screened.cautions.clone(),
        remarks: remarks
            .map(|remark| number::capital(&format!("{remark}.")))
            .collect(),
        factors: screened.factors.clone(),
        heads: screened.metrics.iter().map(|m| name(&m.metric)).collect(),
        rows: screened.sides.iter().map(row).collect(),
        metrics: (screened.metrics.iter())
            .map(|of_metric| metric_view(screened, of_metric))
            .collect(),
        named: named(screened.named),
        sure: screening_sure(screened),
    }
}

fn metric_view(screened: &Contrasts, of_metric: &OfMetric) -> MetricView {
    let row = |(factor, effect): (&Factor, &Judged)| {
        let Judged {
            contrast, verdict, ..
        } = effect;
        let warnings = contrast.warnings.iter().map(ToString::to_string);
        [
            factor.key.clone(),
            factor.low.clone(),
            factor.high.clone(),
            format!("{:.3}", contrast.ratio.estimate),
            number::interval(&contrast.ratio),
            verdict_word(*verdict).to_owned(),
            warnings.collect::<Vec<_>>().join("; "),
        ]
    };
    let effects = of_metric.contrasts.iter().flatten();
    MetricView {
        metric: name(&of_metric.metric),
        refused: of_metric.contrasts.as_ref().err().map(ToString::to_string),
        rows: screened.factors.iter().zip(effects).map(row).collect(),
        advice: screening_advice(of_metric),
    }
}
