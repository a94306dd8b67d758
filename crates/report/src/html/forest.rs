//! The forest: this run against each other run that is set beside it, with verdicts.

use archive::Run;
use askama::Template;
use stats::compare::Design;
use verdict::compare::{Comparison, Named, Options, Row, compare, verdict_word};
use verdict::metric;

use super::diagnostics;
use super::metric_name::label;
use crate::comparison::{
    arranged_words, ended, odd_words, pairs_words, plain_ratio, scatter_words, sure,
};
use crate::number;
use crate::scorecard::Against;
use crate::shifted::order_words;
use crate::svg::{Branch, forest};

/// Most rows that are drawn; the rest stands in `dbdyno compare --all`.
const ROWS_MAX: usize = 60;

/// One forest for each other run.
#[derive(Template)]
#[template(path = "forest.html", whitespace = "minimize")]
pub struct View {
    others: Vec<Other>,
}

/// This run against one other.
struct Other {
    label: String,
    /// Why there is no comparison.
    refused: Option<String>,
    design: String,
    named: &'static str,
    /// "95 % interval", or what the intervals of several metrics are so that they hold together.
    sure: String,
    cautions: Vec<String>,
    /// Empty where no row has an interval: the table says it all.
    svg: String,
    rows: Vec<[String; 6]>,
    secondary: String,
    more: usize,
    /// Where the scatter of the pairs of each metric comes from.
    scatter: Vec<String>,
    /// Charts of the pairs of a study.
    diagnostics: Option<String>,
}

/// Builds the view.
pub fn view(run: &Run, against: &[Against<'_>]) -> View {
    let others = against.iter().filter_map(|other| match other {
        Against::Run(other) => Some(other_run(run, other)),
        Against::Reference(_) => None,
    });
    View {
        others: others.collect(),
    }
}

impl View {
    /// True when no run is set beside this one.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }
}

fn other_run(run: &Run, other: &Run) -> Other {
    // Whoever sets runs beside each other sees what was measured differently, with that label.
    let options = Options {
        anyway: true,
        ..Options::default()
    };
    let compared = compare(other, run, &options);
    match compared {
        Ok(compared) => shown(other, &compared),
        Err(reason) => Other {
            label: other.label.clone(),
            refused: Some(reason.to_string()),
            design: String::new(),
            named: "",
            sure: String::new(),
            cautions: Vec::new(),
            svg: String::new(),
            rows: Vec::new(),
            secondary: String::new(),
            more: 0,
            scatter: Vec::new(),
            diagnostics: None,
        },
    }
}

fn shown(other: &Run, compared: &Comparison) -> Other {
    let primary: Vec<&Row> = compared.primary().collect();
    let drawn: Vec<&Row> = primary.iter().take(ROWS_MAX).copied().collect();
    let branches: Vec<Branch> = drawn.iter().map(|row| branch(row)).collect();
    let svg = match branches.iter().any(|branch| branch.ratio.is_some()) {
        true => forest(
            &format!("Ratios of this run to the other, {}", sure(compared)),
            &branches,
        ),
        false => String::new(),
    };
    Other {
        label: other.label.clone(),
        refused: None,
        design: design(compared),
        named: named(compared.named),
        sure: sure(compared),
        cautions: cautions(compared),
        svg,
        rows: drawn.iter().map(|row| cells(row)).collect(),
        secondary: secondary(compared),
        more: primary.len() - drawn.len(),
        scatter: drawn.iter().filter_map(|row| scatter(row)).collect(),
        diagnostics: diagnostics::view(compared).and_then(|view| view.render().ok()),
    }
}

/// What weakens the comparison, and what is odd about the pairs of its primary metrics.
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

fn named(named: Named) -> &'static str {
    match named {
        Named::InPlan => "the primary metrics that the plan named before the run",
        Named::ByRule => "the throughput of every test at its best level",
        Named::Afterwards => "metrics that were named after the run",
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

fn cells(row: &Row) -> [String; 6] {
    let is_time = metric::unit(&row.metric.figure) == Some("µs");
    let median = |side: &[f64]| {
        let median = stats::summary::median(side);
        if is_time {
            number::latency(median)
        } else {
            number::figure_or_unknown(median)
        }
    };
    let (ratio, interval) = match row.result.ratio {
        Some(r) => (
            format!("{:.3}", r.estimate),
            format!("{:.3} … {:.3}", r.low, r.high),
        ),
        None => (plain_ratio(row), number::UNKNOWN.to_owned()),
    };
    let verdict = match row.result.ratio {
        Some(_) => verdict_word(row.result.verdict),
        None => "no verdict",
    };
    [
        label(row),
        median(&row.a),
        median(&row.b),
        ratio,
        interval,
        verdict.to_owned(),
    ]
}

fn secondary(compared: &Comparison) -> String {
    let rows: Vec<&Row> = compared.rows.iter().filter(|r| !r.primary).collect();
    let count = |word: &str| {
        let same = rows
            .iter()
            .filter(|r| verdict_word(r.result.verdict) == word);
        same.count()
    };
    match rows.len() {
        0 => String::new(),
        n => format!(
            "{n} secondary {}: {} better, {} worse, {} equivalent, {} inconclusive; the full comparison of the \
             two runs lists them.",
            if n == 1 { "metric" } else { "metrics" },
            count("better"),
            count("worse"),
            count("equivalent"),
            count("inconclusive")
        ),
    }
}
