//! Interim analyses of a study: the text before it, after each analysis, and at its end.

use archive::{Ended, Until};
use verdict::analyses::Analyses;
use verdict::compare::{Comparison, Row, verdict_word as word};

use crate::number::percent;
use crate::terminal::clean;

const NAMED_MAX: usize = 5;

/// Introduction to a study that stops once it is decided: its analyses, and the effects that it can find. `least`: the least effects (shares)
/// that all its pairs would find, by metric, from the scatter of this many earlier studies.
pub fn planned(until: &Until, least: &[(String, f64)], studies: usize) -> String {
    let effect = effect_words(until.effect_pct / 100.0);
    let mut out = format!(
        "until {effect} %: stops at the first analysis where every primary metric is better, worse or equivalent (band ±{} %), or an \
         effect of {effect} % is excluded\n",
        percent(until.band_pct / 100.0)
    );
    let within = until
        .within_s
        .map(|s| format!("; no new pair after {}", length(s)));
    out += &format!(
        "  {}{}\n",
        analyses_words(until),
        within.unwrap_or_default()
    );
    if least.is_empty() {
        out += "  (no earlier study of this plan: the first analysis shows which effect these pairs find)\n";
        return out;
    }
    let pairs = until.pairs();
    for (metric, share) in least.iter().take(NAMED_MAX) {
        let share = percent(*share);
        out += &format!(
            "  {}: {pairs} pairs detect {share} % in four of five studies\n",
            clean(metric)
        );
    }
    if least.len() > NAMED_MAX {
        out += &format!("  … and less of {} more metrics\n", least.len() - NAMED_MAX);
    }
    out += &match studies {
        1 => "  (scatter of one earlier study of this plan in the archive)\n".to_owned(),
        n => format!("  (scatter of {n} earlier studies of this plan in the archive)\n"),
    };
    out
}

/// "interim analyses after 8, 12 and 20 pairs, whose intervals hold together".
pub fn analyses_words(until: &Until) -> String {
    let pairs: Vec<String> = until
        .analyses
        .iter()
        .map(|analysis| analysis.pairs.to_string())
        .collect();
    match pairs.as_slice() {
        [] => "no analysis".to_owned(),
        [one] => format!("one analysis, after {one} pairs"),
        [most @ .., last] => format!(
            "interim analyses after {} and {last} pairs",
            most.join(", ")
        ),
    }
}

/// An effect as the user wrote it: "3", "0.05".
fn effect_words(share: f64) -> String {
    format!("{}", (share * 1e6).round() / 1e4)
}

/// A duration: "40 s", "25 min", "1.5 h".
pub fn length(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Result of an analysis: the number of decided metrics, and the needs of the others.
pub fn analysis(compared: &Comparison) -> String {
    let Some(analyses) = &compared.analyses else {
        return String::new();
    };
    let rows: Vec<&Row> = compared.primary().collect();
    let (done, open): (Vec<&Row>, Vec<&Row>) = rows
        .iter()
        .partition(|row| row.is_answered(analyses.effect));
    let mut out = format!(
        "analysis {} of {}, after {} pairs: {} of {} primary metrics answered\n",
        analyses.taken,
        analyses.planned,
        analyses.pairs,
        done.len(),
        rows.len()
    );
    for row in done.iter().chain(&open).take(NAMED_MAX) {
        out += &format!("  {}\n", of_metric(row, analyses));
    }
    out
}

fn of_metric(row: &Row, analyses: &Analyses) -> String {
    let name = clean(&row.metric.to_string());
    let Some(ratio) = &row.result.ratio else {
        return format!("{name}: no interval");
    };
    let interval = format!("{name}: {:.3} … {:.3}", ratio.low, ratio.high);
    if row.is_answered(analyses.effect) {
        return format!("{interval}, {}", answer(row, analyses.effect));
    }
    match row.least_effect_at_end {
        Some(share) => format!(
            "{interval}; {} pairs would detect {} %",
            analyses.pairs_max,
            percent(share)
        ),
        None => interval,
    }
}

/// A verdict, or the effects that the interval excludes.
fn answer(row: &Row, effect: f64) -> String {
    let verdict = word(row.result.verdict);
    if row.has_verdict() {
        verdict.to_owned()
    } else {
        format!(
            "{verdict}, but an effect of {} % is excluded",
            effect_words(effect)
        )
    }
}

/// "of at most 40", for a study with analyses.
pub(super) fn at_most(analyses: &Analyses) -> String {
    if analyses.pairs == analyses.pairs_max {
        String::new()
    } else {
        format!(" of at most {}", analyses.pairs_max)
    }
}

/// The reason why a study stopped, and the limits of its intervals; `None` for a fixed number of pairs.
pub fn ended(compared: &Comparison) -> Option<String> {
    let analyses = compared.analyses.as_ref()?;
    let Analyses { taken, planned, .. } = analyses;
    let effect = effect_words(analyses.effect);
    let why = match analyses.ended {
        Some(Ended::Answered) => format!(
            "Stopped at analysis {taken} of {planned}: every primary metric has a verdict, or excludes an effect of {effect} %"
        ),
        Some(Ended::Pairs) => format!(
            "Ended at the last of {planned} analyses: an effect of {effect} % is neither found nor excluded everywhere"
        ),
        Some(Ended::Time) => format!(
            "Ended at analysis {taken} of {planned}, when the time was over: an effect of {effect} % is neither found nor excluded \
             everywhere"
        ),
        None => format!("{taken} of {planned} analyses were made"),
    };
    Some(format!(
        "{why}. The intervals hold at all analyses together."
    ))
}

/// The effects that are excluded for metrics without a verdict.
pub(super) fn excluded(row: &Row, analyses: &Analyses) -> Option<String> {
    let is_excluded = !row.has_verdict() && row.excludes(analyses.effect);
    is_excluded.then(|| answer(row, analyses.effect))
}
