//! A comparison of two runs for a terminal: differences, the forest of ratios, the pairs still needed.

mod alternatives;
mod analyses;
mod chances;
mod forest;
mod pairs;
mod ramps;
mod screening;
mod shifts;

use std::collections::BTreeMap;

use archive::{Block, Column as ArchiveColumn, Section};
use stats::compare::{Band, Design, Verdict};
use stats::forecast::Further;
use stats::{Interval, Warning};
use verdict::compare::{CONFIDENCE, Comparison, EFFECT, Named, Row, verdict_word as word};

use crate::arrangement::arrangement;
use crate::number::{self, percent};
use crate::section::of_texts;
use crate::shifted::order_words;
use crate::terminal::table::{self, Align, Column, Table};
use crate::terminal::{self, Paint, clean};

pub use alternatives::alternatives;
pub(crate) use alternatives::{
    advice as alternatives_advice, figure as alternative_figure, label as alternatives_label,
    listed as alternatives_listed, others as other_alternatives,
    rounds_words as alternatives_rounds, sure as alternatives_sure,
};
pub use analyses::{analyses_words, analysis, ended, length, planned};
pub use chances::chances;
pub(crate) use forest::Scale;
pub(crate) use pairs::{between_words, odd_words, scatter_words, within_words};
pub use ramps::ramps;
pub(crate) use ramps::supported;
pub use screening::{design_words, screening};
pub(crate) use screening::{sections as screening_sections, sure as screening_sure};
pub use shifts::shifts;

#[derive(Debug, Clone, Copy, Default)]
pub struct Shown {
    pub width: usize,
    pub colour: bool,
    pub all: bool,
}

pub(crate) const SIDES: &str = "A, B: medians, moved equally so that B / A is the ratio";

const FOREST_WIDTH: usize = 25;

const DIFFERENCES_MAX: usize = 24;

fn in_terminal(sections: &[Section], shown: Shown) -> String {
    let paint = Paint {
        colour: shown.colour,
    };
    let each = sections
        .iter()
        .map(|section| terminal::section::section(section, shown.width, &paint));
    each.collect::<Vec<_>>().join("\n")
}

/// Adds the ratios of the rows of the section's table as a picture, which only a terminal needs, and its legend, if there is room.
fn draw(
    section: &mut Section,
    shown: Shown,
    head: &str,
    ratios: &[Option<Interval>],
    bands: &[Band],
    (sure, ends): (&str, &str),
) {
    let scale = Scale::of(ratios.iter().flatten().copied(), FOREST_WIDTH);
    for (at, block) in section.blocks.iter_mut().enumerate() {
        let Block::Table(table) = block else {
            continue;
        };
        if terminal::section::width(table) + FOREST_WIDTH > shown.width {
            return;
        }
        (table.columns).push(ArchiveColumn::new(&format!("{head}, log scale"), ""));
        for ((row, ratio), band) in table.rows.iter_mut().zip(ratios).zip(bands.iter().cycle()) {
            row.push(scale.draw(*ratio, *band).into());
        }
        let legend = format!("{}{ends}", scale.legend(sure));
        return section.blocks.insert(at + 1, Block::Sentence(legend));
    }
}

/// "±2 %" in parentheses.
fn of_band(band: Band) -> String {
    format!(" (±{} %)", percent(band.equivalence))
}

/// The subject measured in rounds, without a full stop.
pub fn in_rounds(what: &str, rounds: u32) -> String {
    let rounds = number::counted(u64::from(rounds), "round");
    format!("{what} in {rounds}, each in a random order")
}

pub fn comparison(compared: &Comparison, shown: Shown) -> String {
    let paint = Paint {
        colour: shown.colour,
    };
    let mut out = head(compared, shown.width, &paint);
    if let Some(ended) = ended(compared) {
        out.push_str(&format!("{}\n", table::wrap(&ended, shown.width, 0)));
    }
    out.push_str(&differences(compared, shown, &paint));
    for caution in &compared.cautions {
        let text = table::wrap(&format!("  ! {}", clean(caution)), shown.width, 4);
        out.push_str(&format!("{}\n", paint.red(&text)));
    }
    let primary: Vec<&Row> = compared.primary().collect();
    let secondary: Vec<&Row> = compared.rows.iter().filter(|r| !r.primary).collect();
    let of_primary = forest(named(compared.named), &primary, shown, &sure(compared));
    out.push_str(&format!("\n{}", in_terminal(&[of_primary], shown)));
    out.push_str(&remarks(compared, &primary, shown.width, &paint));
    if !secondary.is_empty() {
        let each = sure_of(compared.confidence_secondary, 1, compared);
        let of_secondary = if shown.all {
            forest(tally(&secondary), &secondary, shown, &each)
        } else {
            Section::new(tally(&secondary))
        };
        out.push_str(&format!("\n{}", in_terminal(&[of_secondary], shown)));
    }
    out
}

fn head(compared: &Comparison, width: usize, paint: &Paint) -> String {
    let title = format!(
        "{} compared with {}",
        clean(&compared.b),
        clean(&compared.a)
    );
    let (a, b) = compared.repetitions;
    let design = match compared.design {
        Design::Paired | Design::PairedInstances => pairs_words(compared),
        Design::Interleaved => format!("{a} and {b} repetitions, interleaved"),
        Design::Sequential { trusted } => format!(
            "{a} and {b} repetitions, one run after the other, not interleaved: {}",
            order_words(trusted)
        ),
    };
    let mut out = format!("{}\n{design}\n", paint.bold(&title));
    if let Some(arranged) = arranged_words(compared) {
        let text = table::wrap(&clean(&arranged), width, 0);
        out.push_str(&format!("{text}\n"));
    }
    if compared.is_one_each() {
        let how = match compared.is_of_parameter_files {
            true => "Repeat each list (-l 6).",
            false => "Measure both in alternating blocks, or repeat each.",
        };
        out.push_str(&paint.red(&format!(
            "No verdict: with one repetition per side, the noise is unknown. {how}\n"
        )));
    }
    out
}

/// The arrangement of the sides and its reason, if the study recorded them.
pub(crate) fn arranged_words(compared: &Comparison) -> Option<String> {
    let settings = compared.settings.each_ref().map(|side| &side[..]);
    Some(arrangement(compared.arranged.as_ref()?, settings))
}

/// The settings of each side.
pub(crate) fn settings_words(compared: &Comparison) -> [String; 2] {
    compared.settings.each_ref().map(|side| match &side[..] {
        [] => "as in the plan".to_owned(),
        settings => settings.join(" "),
    })
}

/// The way to a verdict, if the design carries none.
pub fn toward_a_verdict(compared: &Comparison) -> Option<&'static str> {
    match compared.design {
        Design::Sequential { trusted: false } if compared.is_of_parameter_files => Some(
            "For a verdict, run both lists with -l 6 and pass --trust-sequential if you know that nothing else changed; or measure \
             two targets alternately with `dbdyno ab storage`.",
        ),
        Design::Sequential { trusted: false } => Some(
            "For a verdict, measure both configurations with `dbdyno ab`; or pass --trust-sequential if you know that \
             nothing else changed.",
        ),
        Design::PairedInstances => Some(
            "For a verdict, let dbdyno start the servers (--target postgres+local:, mariadb+local: or mysql+local:, with target.KEY=VALUE): it \
             makes new ones for each pair.",
        ),
        _ => None,
    }
}

/// How the pairs were measured, without a full stop.
pub fn pairs_words(compared: &Comparison) -> String {
    let pairs = compared.repetitions.0;
    let how = match compared.slice_ms {
        Some(ms) => {
            format!("in each of which A and B took turns in slices of {ms} ms, the order random")
        }
        None => "measured alternately, the order within each pair random".to_owned(),
    };
    let whose = match compared.design {
        Design::PairedInstances => {
            ": no verdict, because two servers of one configuration differ as well; the figures are of this pair of servers"
        }
        _ => "",
    };
    let of = compared.analyses.as_ref().map(analyses::at_most);
    format!("{pairs} pairs{}, {how}{whose}", of.unwrap_or_default())
}

/// The source of the choice of primary metrics.
pub(crate) fn metrics_words(named: Named) -> &'static str {
    match named {
        Named::InPlan => "the primary metrics that the plan named before the run",
        Named::ByRule => "the throughput of every test at its best level",
        Named::Afterwards => "metrics that were named after the run",
    }
}

fn named(named: Named) -> String {
    match named {
        Named::InPlan => "Primary metrics, named in the plan before the run",
        Named::ByRule => {
            "Primary metrics (the plan names none): the throughput of every test at its best level"
        }
        Named::Afterwards => "Primary metrics, named AFTER the run: a hint, not a proof",
    }
    .to_owned()
}

fn differences(compared: &Comparison, shown: Shown, paint: &Paint) -> String {
    let rows = &compared.differences;
    let [a, b] = settings_words(compared);
    if rows.is_empty() && a != b {
        let text = clean(&format!(
            "Configuration: A {a}, B {b}; nothing else that is recorded differs."
        ));
        return format!("\n{}\n", table::wrap(&text, shown.width, 0));
    }
    if rows.is_empty() {
        return "\nConfiguration: no recorded difference.\n".to_owned();
    }
    let left = |heads| Column {
        heads,
        align: Align::Left,
        leave: 0,
    };
    let mut text = Table::new(vec![
        left(["differs", "", ""]),
        left(["A", "", ""]),
        left(["B", "", ""]),
    ]);
    let limit = if shown.all {
        rows.len()
    } else {
        DIFFERENCES_MAX
    };
    // A shortened name would identify nothing.
    let subjects = rows.iter().take(limit).map(|row| clean(&row.subject));
    let subjects: Vec<String> = subjects.collect();
    let longest = subjects.iter().map(|s| table::length(s)).max();
    let room = shown.width.saturating_sub(longest.unwrap_or(0) + 2) / 2;
    let cell = |value: &Option<String>| {
        let value = value.as_deref().unwrap_or(number::UNKNOWN);
        table::cut(&clean(value), room.max(12))
    };
    for (row, subject) in rows.iter().zip(subjects) {
        text.row(vec![subject, cell(&row.a), cell(&row.b)], false);
    }
    let mut out = format!(
        "\n{}\n{}",
        paint.bold("Configuration"),
        text.render(shown.width, paint)
    );
    if rows.len() > limit {
        let more = format!("  … and {} more\n", rows.len() - limit);
        out.push_str(&paint.dim(&more));
    }
    out
}

/// Confidence of the intervals of the primary metrics: "95 % interval", or with several metrics the joint level and that of each.
pub(crate) fn sure(compared: &Comparison) -> String {
    let has_both = |row: &&Row| !row.a.is_empty() && !row.b.is_empty();
    sure_of(
        compared.confidence,
        compared.primary().filter(has_both).count(),
        compared,
    )
}

fn sure_of(confidence: f64, metrics: usize, compared: &Comparison) -> String {
    let together = percent(CONFIDENCE);
    let analyses = compared
        .analyses
        .as_ref()
        .filter(|analyses| analyses.planned > 1);
    match (metrics, analyses) {
        (0 | 1, None) => format!("{together} % interval"),
        (n, None) => format!(
            "{} % interval ({n} metrics, together {together} %)",
            percent(confidence)
        ),
        (0 | 1, Some(_)) => format!(
            "{} % interval (all analyses together {together} %)",
            percent(confidence)
        ),
        (n, Some(_)) => format!(
            "{} % interval ({n} metrics, at all analyses together {together} %)",
            percent(confidence)
        ),
    }
}

/// Rows of metrics under the names that the label gives them.
pub(crate) fn rows(rows: &[&Row], label: fn(&Row) -> String) -> archive::Table {
    let heads = ["metric", "A", "B", "B / A", "interval", "verdict"];
    of_texts(&heads, rows.iter().map(|row| cells(row, label(row))))
}

/// A section of metrics with their forest.
fn forest(title: String, rows_of: &[&Row], shown: Shown, sure: &str) -> Section {
    let ratios: Vec<_> = rows_of.iter().map(|row| row.result.ratio).collect();
    let mut ends = band_words(rows_of);
    if ratios.iter().any(Option::is_some) {
        ends += &format!(" · {SIDES}");
    }
    let bands: Vec<Band> = rows_of.iter().map(|row| row.band).collect();
    let table = rows(rows_of, |row| row.metric.to_string());
    let mut section = Section::new(title).table(table);
    draw(&mut section, shown, "B / A", &ratios, &bands, (sure, &ends));
    section
}

/// " (±2 %)", and the learned noise beyond which better and worse must lie.
fn band_words(rows: &[&Row]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let mut text = of_band(first.band);
    let learned = rows.iter().map(|row| row.band.noise);
    let most = learned.clone().fold(0.0, f64::max);
    if most > 0.0 {
        let least = learned.fold(f64::INFINITY, f64::min);
        let (least, most) = (percent(least), percent(most));
        text += &if least == most {
            format!(" · better and worse also beyond the learned noise of ±{most} %")
        } else {
            format!(" · better and worse also beyond the learned noise of ±{least} to ±{most} %")
        };
    }
    text
}

/// The label, both sides, their ratio with its interval, and the verdict.
pub(crate) fn cells(row: &Row, label: String) -> [String; 6] {
    let [a, b] = row.sides().map(|side| number::of_metric(&row.metric, side));
    let [ratio, interval, verdict] = match &row.result.ratio {
        Some(r) => [
            format!("{:.3}", r.estimate),
            number::interval(r),
            word(row.result.verdict).to_owned(),
        ],
        None => [
            plain_ratio(row),
            number::UNKNOWN.to_owned(),
            "no verdict".to_owned(),
        ],
    };
    [label, a, b, ratio, interval, verdict]
}

/// The ratio of the medians, for data that carry no interval.
pub(crate) fn plain_ratio(row: &Row) -> String {
    let ratio = row.ratio();
    ratio.map_or_else(|| number::UNKNOWN.to_owned(), |ratio| format!("{ratio:.3}"))
}

/// The needs of metrics without an interval; in a long list they are the same and share a line.
fn without_interval(compared: &Comparison, rows: &[&Row]) -> Vec<String> {
    let mut needing: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for row in rows {
        if let (Some(Further::More(n)), None) = (row.result.further, row.result.ratio) {
            let name = clean(&row.metric.to_string());
            needing.entry(n).or_default().push(name);
        }
    }
    let line = |(n, names): (usize, Vec<String>)| {
        let who = match names.as_slice() {
            [one] => one.clone(),
            several => format!("{} metrics", several.len()),
        };
        let repeats = repeats(compared.design);
        format!("{who}: no interval yet; at least {n} more {repeats} are needed")
    };
    needing.into_iter().map(line).collect()
}

/// Pairs still needed, and weaknesses of single metrics.
fn remarks(compared: &Comparison, rows: &[&Row], width: usize, paint: &Paint) -> String {
    let mut lines = without_interval(compared, rows);
    for row in rows {
        let name = clean(&row.metric.to_string());
        let excluded = compared.analyses.as_ref();
        let excluded = excluded.and_then(|analyses| analyses::excluded(row, analyses));
        match (excluded, row.result.further, row.result.ratio) {
            (Some(excluded), ..) => lines.push(format!("{name}: {excluded}")),
            (_, Some(Further::More(_)), None) => {}
            (_, Some(further), _) => {
                lines.push(format!("{name}: {}", needed(further, compared.design)))
            }
            (_, None, _) => {}
        }
        lines.extend(
            row.oddities
                .iter()
                .map(|odd| format!("{name}: {}", odd_words(odd, compared.slice_ms.is_some()))),
        );
        lines.extend(
            row.scatter
                .iter()
                .map(|scatter| format!("{name}: {}", scatter_words(scatter))),
        );
        // The lines above already say these.
        let own = |w: &&Warning| !matches!(w, Warning::NotInterleaved | Warning::TooFew { .. });
        lines.extend(
            row.result
                .warnings
                .iter()
                .filter(own)
                .map(|w| format!("{name}: {w}")),
        );
    }
    lines.extend(advice(compared, rows));
    let wrapped = lines
        .iter()
        .map(|line| format!("{}\n", table::wrap(&format!("  {line}"), width, 4)));
    let text: String = wrapped.collect();
    paint.dim(&text)
}

fn repeats(design: Design) -> &'static str {
    match design {
        Design::Paired | Design::PairedInstances => "pairs",
        Design::Interleaved | Design::Sequential { .. } => "repetitions per side",
    }
}

fn needed(further: Further, design: Design) -> String {
    let what = repeats(design);
    match further {
        Further::More(n) => format!(
            "inconclusive; about {n} more {what} would decide it if the measured ratio is the true one. Start a new \
             study of that size; adding {what} until the verdict pleases you invalidates it"
        ),
        Further::Undecidable => format!(
            "inconclusive; no number of {what} up to {} would decide it: the ratio lies at the edge of the band, or \
             the noise is too large",
            stats::forecast::REPETITIONS_MAX
        ),
    }
}

/// The least effect found in all primary metrics, and the pairs that the requested effect needs.
fn advice(compared: &Comparison, rows: &[&Row]) -> Option<String> {
    let what = repeats(compared.design);
    let least = rows.iter().filter_map(|r| r.least_effect);
    let least = least.reduce(f64::max).map(|share| {
        let have = compared.repetitions.0.min(compared.repetitions.1);
        format!(
            "With this noise, {have} {what} detect a true effect of {} % in four of five comparisons",
            percent(share)
        )
    });
    let most = rows.iter().filter_map(|r| r.advised).max().map(|most| {
        let effect = percent(EFFECT);
        format!("{effect} % would take {most}")
    });
    Some(match (least?, most) {
        (least, Some(most)) => format!("{least}; {most}."),
        (least, None) => format!("{least}."),
    })
}

pub(crate) fn tally(rows: &[&Row]) -> String {
    let count = |verdict| rows.iter().filter(|r| r.result.verdict == verdict).count();
    format!(
        "{} secondary {}: {} better, {} worse, {} equivalent, {} inconclusive",
        rows.len(),
        if rows.len() == 1 { "metric" } else { "metrics" },
        count(Verdict::Better),
        count(Verdict::Worse),
        count(Verdict::Equivalent),
        count(Verdict::Inconclusive)
    )
}
