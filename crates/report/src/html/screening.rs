//! A screening: effects of the settings with their intervals, the measured configurations, and confounded effects.

use archive::{Factor, Run};
use askama::Template;
use stats::compare::Verdict;
use verdict::compare::verdict_word;
use verdict::contrasts::{Contrasts, Judged, Kind, OfMetric, contrasts};

use super::options::HtmlOptions;
use super::section::Fragment;
use super::sides::judge_sides;
use crate::comparison::{screening_sections, screening_sure};
use crate::metric_name::name;
use chart::{Branch, forest};

#[derive(Template)]
#[template(path = "screening_first.html", whitespace = "minimize")]
pub struct Outcome {
    study: String,
    /// Label of the run on the rest of the page.
    shown: String,
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
    /// The forest; empty without effects.
    svg: String,
    sure: String,
}

/// The section and its part of the first screen, if other sides are present.
pub fn view(run: &Run, others: &[&Run], options: &HtmlOptions) -> (Fragment, Option<Outcome>) {
    let judge = |sides: &[&Run]| contrasts(Kind::Screening, sides, &options.of_rounds());
    let add = |parts: &mut Fragment, _: &[&Run], screened: &Contrasts| {
        let [head, rest @ ..] = &screening_sections(screened)[..] else {
            return;
        };
        parts.blocks(head);
        rest.iter()
            .for_each(|section| _ = parts.results(3, section));
    };
    let (parts, outcome) = judge_sides(run, others, "No screening", judge, add, outcome);
    (parts.section("screening", "Screening"), outcome)
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
