//! A screening for a terminal: the configurations, and the effect of each setting with its interval.

use archive::Factor;
use stats::compare::Verdict;
use verdict::compare::{CONFIDENCE, verdict_word as word};
use verdict::contrasts::{Contrasts, Judged, OfMetric};

use super::{FOREST_WIDTH, Scale, Shown, in_rounds, named};
use crate::number::{self, counted, percent};
use crate::terminal::table::{self, Align, Column, Table};
use crate::terminal::{Paint, clean};

/// Letters of the settings in column heads; I is left out because it looks like a number.
const HEADS: [&str; 15] = [
    "A", "B", "C", "D", "E", "F", "G", "H", "J", "K", "L", "M", "N", "O", "P",
];

pub fn screening(screened: &Contrasts, shown: Shown) -> String {
    let paint = Paint {
        colour: shown.colour,
    };
    let wrapped = |text: &str, indent| format!("{}\n", table::wrap(text, shown.width, indent));
    let title = format!("Screening {}", clean(&screened.study));
    let mut out = format!("{}\n", paint.bold(&title));
    out.push_str(&wrapped(&format!("{}.", rounds_words(screened)), 0));
    for caution in &screened.cautions {
        let text = table::wrap(&format!("  ! {}", clean(caution)), shown.width, 4);
        out.push_str(&format!("{}\n", paint.red(&text)));
    }
    out.push_str(&format!("\n{}\n", paint.bold("Configurations")));
    out.push_str(&configurations(screened, shown.width, &paint));
    out.push_str(&format!("\n{}\n", paint.bold(&named(screened.named))));
    for of_metric in &screened.metrics {
        let metric = clean(&of_metric.metric.to_string());
        out.push_str(&format!("Effects on {metric}\n"));
        match &of_metric.contrasts {
            Ok(effects) => out.push_str(&effects_table(screened, effects, shown.width, &paint)),
            Err(why) => out.push_str(&wrapped(&format!("  no effects: {why}"), 4)),
        }
        let own = advice(of_metric)
            .into_iter()
            .chain(warnings(of_metric, &screened.factors));
        for line in own {
            out.push_str(&paint.dim(&wrapped(&format!("  {line}"), 4)));
        }
    }
    for remark in &screened.remarks {
        out.push_str(&paint.dim(&wrapped(&format!("  {}.", clean(&remark.to_string())), 4)));
    }
    out
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

fn column(head: &'static str, align: Align, leave: u8) -> Column {
    Column {
        heads: [head, "", ""],
        align,
        leave,
    }
}

fn configurations(screened: &Contrasts, width: usize, paint: &Paint) -> String {
    let factors = screened.factors.len().min(HEADS.len());
    let mut columns = vec![column("", Align::Left, 0)];
    columns.extend(
        HEADS[..factors]
            .iter()
            .map(|head| column(head, Align::Left, 0)),
    );
    columns.extend(
        screened
            .metrics
            .iter()
            .map(|_| column("median", Align::Right, 0)),
    );
    let mut text = Table::new(columns);
    for row in &screened.sides {
        let levels = screened.factors.iter().zip(&row.high);
        let levels = levels.map(|(factor, high)| clean(value(factor, *high)));
        let medians = screened.metrics.iter().zip(&row.medians);
        let medians =
            medians.map(|(of_metric, median)| number::of_metric(&of_metric.metric, *median));
        let cells = std::iter::once(row.side.clone())
            .chain(levels)
            .chain(medians);
        text.row(cells.collect(), false);
    }
    let keys = screened.factors.iter().zip(HEADS);
    let keys: Vec<String> = keys
        .map(|(factor, head)| format!("{head}: {}", clean(&factor.key)))
        .collect();
    let metrics = screened
        .metrics
        .iter()
        .map(|of_metric| of_metric.metric.to_string());
    let medians = format!("median: {}", clean(&metrics.collect::<Vec<_>>().join(", ")));
    let legend = format!("  {} · {medians}", keys.join(" · "));
    format!(
        "{}{}\n",
        text.render(width, paint),
        paint.dim(&table::wrap(&legend, width, 2))
    )
}

fn value(factor: &Factor, high: bool) -> &str {
    if high { &factor.high } else { &factor.low }
}

fn effects_table(screened: &Contrasts, effects: &[Judged], width: usize, paint: &Paint) -> String {
    let ratios = effects.iter().map(|effect| effect.contrast.ratio);
    let scale = Scale::of(ratios, FOREST_WIDTH);
    let mut text = Table::new(vec![
        column("setting", Align::Left, 0),
        column("low", Align::Left, 2),
        column("high", Align::Left, 2),
        column("high / low", Align::Right, 0),
        column("interval", Align::Left, 0),
        column("high / low, log scale", Align::Left, 1),
        column("high is", Align::Left, 0),
    ]);
    for (factor, effect) in screened.factors.iter().zip(effects) {
        let ratio = effect.contrast.ratio;
        let cells = vec![
            clean(&factor.key),
            clean(&factor.low),
            clean(&factor.high),
            format!("{:.3}", ratio.estimate),
            number::interval(&ratio),
            scale.draw(Some(ratio), screened.band),
            word(effect.verdict).to_owned(),
        ];
        text.row(cells, effect.verdict == Verdict::Worse);
    }
    let legend = format!(
        "{} (±{} %)",
        scale.legend(&sure(screened)),
        percent(screened.band.equivalence)
    );
    let legend = table::wrap(&legend, width, 2);
    format!("{}{}\n", text.render(width, paint), paint.dim(&legend))
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
        lines.extend(own.map(|warning| format!("{}: {warning}", clean(&factor.key))));
    }
    lines
}
