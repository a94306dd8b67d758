//! A screening: the effect of each setting with its interval, and the configurations.

use archive::{Column, Factor, Section, Table};
use verdict::compare::{CONFIDENCE, verdict_word as word};
use verdict::contrasts::{Contrasts, OfMetric};

use super::{Shown, draw, in_rounds, in_terminal, metrics_words as named, of_band};
use crate::metric_name::name;
use crate::number::{self, counted, percent};

/// The sections of a screening with its forests, for a terminal.
pub fn screening(screened: &Contrasts, shown: Shown) -> String {
    let mut sections = sections(screened);
    for (section, of_metric) in sections.iter_mut().skip(1).zip(&screened.metrics) {
        let effects = of_metric.contrasts.iter().flatten();
        let ratios: Vec<_> = effects.map(|effect| Some(effect.contrast.ratio)).collect();
        let words = (&*sure(screened), &*of_band(screened.band));
        draw(
            section,
            shown,
            "second / first",
            &ratios,
            &[screened.band],
            words,
        );
    }
    in_terminal(&sections, shown)
}

/// Design and cautions, the effects on each metric, and the configurations.
pub(crate) fn sections(screened: &Contrasts) -> Vec<Section> {
    let head = Section::new(format!("Screening {}", screened.study));
    let head = head.sentence(format!("{}.", rounds_words(screened)));
    let head = screened.cautions.iter().fold(head, Section::caution);
    let head = head.sentence(format!(
        "Metrics: {}. Ratio: mean logarithm of all configurations with the second value minus that of those with the first, per round; \
         {} from the rounds.",
        named(screened.named),
        sure(screened)
    ));
    let remarks = screened.remarks.iter();
    let head = remarks.fold(head, |head, remark| {
        head.sentence(number::capital(&format!("{remark}.")))
    });
    let metrics = screened
        .metrics
        .iter()
        .map(|of_metric| effects(screened, of_metric));
    std::iter::once(head)
        .chain(metrics)
        .chain([configurations(screened)])
        .collect()
}

/// "8 configurations of 3 settings (all combinations)".
pub fn design_words(rows: usize, factors: usize, resolution: Option<u32>) -> String {
    let how = match resolution {
        None => "all combinations".to_owned(),
        Some(resolution) => format!("a fraction of all, resolution {}", roman(resolution)),
    };
    format!("{rows} configurations of {factors} settings ({how})")
}

fn roman(resolution: u32) -> String {
    match resolution {
        3 => "III".to_owned(),
        4 => "IV".to_owned(),
        5 => "V".to_owned(),
        other => other.to_string(),
    }
}

/// Rounds and configurations of the study, without a full stop.
pub(crate) fn rounds_words(screened: &Contrasts) -> String {
    let (rows, factors) = (screened.sides.len(), screened.factors.len());
    let design = design_words(rows, factors, screened.resolution);
    in_rounds(&design, screened.rounds)
}

pub(crate) fn sure(screened: &Contrasts) -> String {
    let together = percent(CONFIDENCE);
    match screened.family {
        0 | 1 => format!("{together} % interval"),
        effects => format!(
            "{} % interval ({effects} effects, together {together} %)",
            percent(screened.confidence)
        ),
    }
}

/// The least effect that this number of rounds finds, for every setting.
pub(crate) fn advice(of_metric: &OfMetric) -> Option<String> {
    let effects = of_metric.contrasts.as_ref().ok()?;
    let least = effects.iter().filter_map(|effect| effect.least_effect);
    let least = percent(least.reduce(f64::max)?);
    let rounds = counted(of_metric.rounds as u64, "round");
    Some(format!(
        "With this noise, {rounds} detect a true effect of {least} % in four of five screenings."
    ))
}

fn configurations(screened: &Contrasts) -> Section {
    let mut table = Table::new("run");
    (table.columns).extend(
        screened
            .factors
            .iter()
            .map(|factor| Column::new(&factor.key, "")),
    );
    (table.columns).extend(
        screened
            .metrics
            .iter()
            .map(|of| Column::new(&name(&of.metric), "median")),
    );
    for row in &screened.sides {
        let values = screened.factors.iter().zip(&row.high);
        let values = values.map(|(factor, high)| if *high { &factor.high } else { &factor.low });
        let medians = screened.metrics.iter().zip(&row.medians);
        let medians = medians.map(|(of, median)| number::of_metric(&of.metric, *median));
        table.row(
            std::iter::once(row.label.clone())
                .chain(values.cloned())
                .chain(medians),
        );
    }
    Section::new("Configurations").table(table)
}

fn effects(screened: &Contrasts, of_metric: &OfMetric) -> Section {
    let section = Section::new(format!("Effects on {}", name(&of_metric.metric)));
    let effects = match &of_metric.contrasts {
        Ok(effects) => effects,
        Err(why) => return section.sentence(format!("No effects: {why}.")),
    };
    let mut table = Table::new(
        "setting | first value | second value | second / first | interval | the second is",
    );
    for (factor, effect) in screened.factors.iter().zip(effects) {
        let ratio = effect.contrast.ratio;
        table.row([
            factor.key.clone(),
            factor.low.clone(),
            factor.high.clone(),
            format!("{:.3}", ratio.estimate),
            number::interval(&ratio),
            word(effect.verdict).to_owned(),
        ]);
    }
    let warnings = warnings(of_metric, &screened.factors);
    advice(of_metric)
        .into_iter()
        .chain(warnings)
        .fold(section.table(table), Section::sentence)
}

/// Oddities of single effects; those that all effects share appear once.
fn warnings(of_metric: &OfMetric, factors: &[Factor]) -> Vec<String> {
    let effects = of_metric.contrasts.iter().flatten();
    let of_each: Vec<Vec<String>> = effects
        .map(|effect| {
            effect
                .contrast
                .warnings
                .iter()
                .map(ToString::to_string)
                .collect()
        })
        .collect();
    let Some(first) = of_each.first() else {
        return Vec::new();
    };
    let of_all = first.iter();
    let of_all: Vec<&String> = of_all
        .filter(|warning| of_each.iter().all(|all| all.contains(warning)))
        .collect();
    let mut lines: Vec<String> = of_all.iter().map(|warning| (*warning).clone()).collect();
    for (factor, warnings) in factors.iter().zip(&of_each) {
        let own = warnings.iter().filter(|warning| !of_all.contains(warning));
        lines.extend(own.map(|warning| format!("{}: {warning}", factor.key)));
    }
    lines
}
