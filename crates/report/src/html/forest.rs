//! The forest: ratios of this run to each compared run, with verdicts.

use archive::Run;
use stats::compare::{Design, Verdict};
use verdict::compare::{Comparison, Row, compare, differ_in_size, verdict_word};
use verdict::ramps::Ramps;

use super::diagnostics;
use super::inventory::known;
use super::options::HtmlOptions;
use super::section::Fragment;
use crate::comparison::{
    SIDES, arranged_words, cells, ended, metrics_words as named, odd_words, pairs_words,
    plain_ratio, rows, scatter_words, settings_words, supported, sure, tally as secondary_tally,
    toward_a_verdict,
};
use crate::metric_name::label;
use crate::number;
use crate::scorecard::Against;
use crate::shifted::order_words;
use chart::{Branch, forest};

/// Most rows drawn; `dbdyno compare --full` prints the rest.
const ROWS_MAX: usize = 60;
/// Most differences of configuration on the first screen.
const CHANGED_MAX: usize = 6;

/// The reason why rates for different data are not compared.
const OTHER_SIZE: &str = "all that both measured was measured on data of another size, so that their rates say nothing of each other";
/// Most metrics described on the first screen.
const SAID_MAX: usize = 4;

/// The section, and the comparisons in short.
#[derive(Default)]
pub struct View {
    pub section: Fragment,
    pub outcomes: Vec<Outcome>,
}

/// A comparison with one other run in short.
#[derive(Clone)]
pub struct Outcome {
    pub other: String,
    /// The question of the study, or the compared run.
    pub question: String,
    /// Values of the first primary metrics on both sides.
    pub said: Vec<String>,
    /// "2 better, 1 worse of 4 primary metrics".
    pub tally: String,
    /// The way to a verdict, if the design carries none.
    pub advice: Option<&'static str>,
    /// Primary metrics, and the undecided ones among them.
    pub primary: usize,
    pub undecided: usize,
    /// Differences of configuration: subject, there, here.
    pub changed: Vec<[String; 3]>,
    pub changed_more: usize,
    /// True if `changed` holds the settings of the sides.
    pub is_of_settings: bool,
    /// The forest; empty if no row has an interval.
    pub svg: String,
    /// "95 % interval", or the joint and single levels of several metrics.
    pub sure: String,
}

pub fn view(run: &Run, against: &[Against<'_>], options: &HtmlOptions) -> View {
    let mut view = View::default();
    let mut parts = Fragment::default();
    for other in against {
        let Against::Run(other) = other else {
            continue;
        };
        let compared = if differ_in_size(other, run) {
            Err(OTHER_SIZE.to_owned())
        } else {
            compare(other, run, &options.of_two()).map_err(|why| why.to_string())
        };
        match compared {
            Ok(compared) => {
                let ramps = verdict::ramps::ramps(other, run, options.terms);
                view.outcomes
                    .push(add(&mut parts, run, other, &compared, &ramps));
            }
            Err(reason) => {
                parts.sentence(&format!(
                    "Not compared with run “{}”: {reason}",
                    other.label
                ));
            }
        }
    }
    view.section = parts.section("forest", "Performance comparison");
    view
}

fn add(
    parts: &mut Fragment,
    run: &Run,
    other: &Run,
    compared: &Comparison,
    ramps: &[Ramps],
) -> Outcome {
    let primary: Vec<&Row> = compared.primary().collect();
    let drawn: Vec<&Row> = primary.iter().take(ROWS_MAX).copied().collect();
    let branches: Vec<Branch> = drawn.iter().map(|row| branch(row)).collect();
    let has_forest = branches.iter().any(|branch| branch.ratio.is_some());
    let (svg, how) = if has_forest {
        let title = format!("Ratios of this run to the other, {}", sure(compared));
        (
            forest(&title, "ratio B / A", &branches),
            format!("{SIDES}."),
        )
    } else {
        let how =
            "Only the ratio of medians is shown: there are too few repetitions for an interval.";
        (String::new(), how.to_owned())
    };
    let name = &other.label;
    parts
        .heading(3, &format!("This run (B) compared with run “{name}” (A)"))
        .sentence(&design(compared));
    cautions(compared)
        .iter()
        .for_each(|caution| _ = parts.caution(caution));
    parts
        .how(&format!("Rows: {}. {how}", named(compared.named)))
        .table("", &format!("Ratios to {name}"), &rows(&drawn, label));
    drawn
        .iter()
        .filter_map(|row| scatter(row))
        .for_each(|scatter| _ = parts.sentence(&scatter));
    parts
        .add(&diagnostics::view(compared))
        .more(primary.len() - drawn.len(), " primary metrics")
        .how(&secondary(compared));
    outcome(run, other, compared, &primary, ramps, svg)
}

fn outcome(
    run: &Run,
    other: &Run,
    compared: &Comparison,
    primary: &[&Row],
    ramps: &[Ramps],
    svg: String,
) -> Outcome {
    let differ = &compared.differences;
    let is_of_settings = compared.settings.iter().any(|side| !side.is_empty());
    // A study's own settings are its only differences, unless the machine changed too.
    let (changed, changed_more) = match is_of_settings {
        false => (
            (differ.iter().take(CHANGED_MAX))
                .map(|d| {
                    [
                        d.subject.clone(),
                        known(&d.subject, &d.a),
                        known(&d.subject, &d.b),
                    ]
                })
                .collect(),
            differ.len().saturating_sub(CHANGED_MAX),
        ),
        true => {
            let [a, b] = settings_words(compared);
            (vec![["set for one side".to_owned(), a, b]], 0)
        }
    };
    Outcome {
        other: other.label.clone(),
        question: question(run, other),
        said: (ramps.iter().filter_map(supported))
            .chain(said(primary))
            .collect(),
        tally: tally(primary),
        advice: toward_a_verdict(compared),
        primary: primary.len(),
        undecided: primary.iter().filter(|row| is_undecided(row)).count(),
        changed,
        changed_more,
        is_of_settings,
        svg,
        sure: sure(compared),
    }
}

/// "Half of the memory (A, run mem-a) against all of it (B, run mem-b)".
fn question(run: &Run, other: &Run) -> String {
    let [a, b] = match run.plan_name.as_str() {
        "memory" | "memory-queries" => ["Half of the memory", "all of it"],
        "storage-update" => ["Before", "after"],
        _ => return format!("Compared with run “{}”", other.label),
    };
    format!(
        "{a} (A, run {}) against {b} (B, run {})",
        other.label, run.label
    )
}

/// "OLTP new orders/min: A 45,206, B 46,562, B / A 1.030 (0.980 … 1.080), inconclusive."
fn said(primary: &[&Row]) -> Vec<String> {
    let tallied = primary
        .iter()
        .filter(|row| !row.a.is_empty() && !row.b.is_empty());
    let words = |row: &&&Row| {
        let [label, a, b, ratio, interval, verdict] = cells(row, label(row));
        let interval = match row.result.ratio {
            Some(_) => format!(" ({interval})"),
            None => String::new(),
        };
        format!("{label}: A {a}, B {b}, B / A {ratio}{interval}, {verdict}.")
    };
    tallied.take(SAID_MAX).map(|row| words(&row)).collect()
}

/// True if more pairs would help: the interval is too wide or missing.
fn is_undecided(row: &Row) -> bool {
    row.result.ratio.is_none() || row.result.verdict == Verdict::Inconclusive
}

/// "2 better, 1 equivalent of 3 primary metrics".
fn tally(primary: &[&Row]) -> String {
    let decided = || primary.iter().filter(|row| row.result.ratio.is_some());
    let count = |word: &&str| {
        let same = decided().filter(|row| verdict_word(row.result.verdict) == *word);
        same.count()
    };
    let words = ["better", "worse", "equivalent", "inconclusive"];
    let tallied: Vec<String> = (words.iter())
        .map(|word| (count(word), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if tallied.is_empty() {
        "no verdict".to_owned()
    } else {
        format!(
            "{} of {}",
            tallied.join(", "),
            number::counted(primary.len() as u64, "primary metric")
        )
    }
}

/// Cautions about the comparison, and oddities of the pairs of its primary metrics.
fn cautions(compared: &Comparison) -> Vec<String> {
    let odd = compared.primary().flat_map(|row| {
        let oddities = row.oddities.iter();
        oddities.map(|oddity| {
            format!(
                "{}: {}",
                label(row),
                odd_words(oddity, compared.slice_ms.is_some())
            )
        })
    });
    compared.cautions.iter().cloned().chain(odd).collect()
}

/// "postgres S-selects ops/s: of the scatter …".
fn scatter(row: &Row) -> Option<String> {
    let words = scatter_words(row.scatter.as_ref()?);
    Some(format!("{}: {words}.", label(row)))
}

fn design(compared: &Comparison) -> String {
    let (a, b) = compared.repetitions;
    match compared.design {
        _ if compared.is_one_each() => {
            "One repetition of each: no verdict is possible, because the noise is unknown."
                .to_owned()
        }
        Design::Paired | Design::PairedInstances => {
            let further = [arranged_words(compared), ended(compared)];
            let further: Vec<String> = further.into_iter().flatten().collect();
            format!("{}. {}", pairs_words(compared), further.join(" "))
        }
        Design::Interleaved => format!("{a} and {b} repetitions, interleaved."),
        Design::Sequential { trusted } => format!(
            "{a} and {b} repetitions, one run after the other, not interleaved: {}.",
            order_words(trusted)
        ),
    }
}

fn branch(row: &Row) -> Branch {
    let ratio = row.result.ratio;
    let text = match ratio {
        Some(r) => format!("{:.3}  {}", r.estimate, verdict_word(row.result.verdict)),
        None => format!("{}  no interval", plain_ratio(row)),
    };
    Branch {
        label: label(row),
        ratio: ratio.map(|r| [r.estimate, r.low, r.high]),
        band: row.band.equivalence,
        text,
        class: verdict_word(row.result.verdict),
    }
}

fn secondary(compared: &Comparison) -> String {
    let rows: Vec<&Row> = compared.rows.iter().filter(|r| !r.primary).collect();
    match rows.len() {
        0 => String::new(),
        _ => format!(
            "{}; the full comparison of the two runs lists them.",
            secondary_tally(&rows)
        ),
    }
}
