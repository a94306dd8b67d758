//! Many systems before and after an update as one self-contained page.

mod charts;

use askama::Template;
use verdict::fleet::{
    Fleet, Measure, Named, RATE_FACTOR_MAX, READ_PCT_CHANGE_MAX, SIZE_FACTOR_MAX,
};

use super::figure::Figure;
use super::options::HtmlOptions;
use crate::fleet::{
    HEADS, NAMED_MAX, OBSERVATIONAL, called, cautions, cells, how, measure, named, system,
};
use crate::number::count;

const METHOD: [(&str, &str); 4] = [
    (
        "Shift",
        "Of each system the figure after less the figure before (of mean times their ratio), both over all its windows: \
         histograms are merged, percentiles and shares are not averaged. The fleet's shift is the mean over systems, each counted \
         once (of ratios the geometric mean); the median is beside it.",
    ),
    (
        "Interval and call",
        "99 % interval by bootstrap that draws whole systems. A shift is called when the whole interval of the primary measure \
         lies on one side of no shift. The interval takes systems as independent; systems of one owner may not be.",
    ),
    (
        "Same mix",
        "Measures are of systems that do about the same before and after. A changed rate may be an effect of the update: the \
         stratum “mix changed” shows what those systems did.",
    ),
    (
        "Mean times",
        "As exact as the buckets: an I/O counts as the geometric middle of its bucket, and one beyond the last as its lower end.",
    ),
];

#[derive(Template)]
#[template(path = "fleet.html", whitespace = "minimize")]
struct Page<'a> {
    title: String,
    version: &'static str,
    generated_at: Option<String>,
    tone: &'static str,
    headline: String,
    sentence: String,
    items: Vec<(&'static str, String)>,
    observational: [&'static str; 2],
    cautions: Vec<String>,
    heads: [&'static str; 7],
    measures: Vec<[String; 7]>,
    strata: Vec<[String; 7]>,
    strata_how: String,
    how: String,
    figures: Vec<(&'static str, Vec<Figure>)>,
    named: String,
    lists: Vec<List>,
    method: &'a [(&'static str, &'static str)],
}

struct List {
    title: &'static str,
    rows: Vec<[String; 5]>,
    more: usize,
}

pub fn fleet(fleet: &Fleet, options: &HtmlOptions) -> String {
    let (tone, headline, sentence) = called(fleet);
    let limits_us = fleet.question.limits_us;
    let name = |of: Measure| measure(of, limits_us);
    let unchanged = fleet.systems.len() - fleet.changed.any;
    let left_out = fleet.left_out.one_sided.len() + fleet.left_out.misordered.len();
    let page = Page {
        title: options
            .title
            .clone()
            .unwrap_or_else(|| "dbdyno · fleet".to_owned()),
        version: env!("CARGO_PKG_VERSION"),
        generated_at: options.generated_at.clone(),
        tone,
        headline,
        sentence,
        items: vec![
            ("Systems with both sides", count(fleet.systems.len() as u64)),
            ("With the same mix", count(unchanged as u64)),
            ("Left out", count(left_out as u64)),
            ("Primary measure", name(fleet.question.primary)),
        ],
        observational: OBSERVATIONAL,
        cautions: cautions(fleet),
        heads: HEADS,
        measures: (fleet.shifts.iter())
            .map(|shift| cells(name(shift.measure), shift))
            .collect(),
        strata: (fleet.strata.iter())
            .map(|(class, shift)| cells(class.name().to_owned(), shift))
            .collect(),
        strata_how: format!(
            "The primary measure by kind of work. Same mix: the share of reads differs by at most {READ_PCT_CHANGE_MAX} points, the \
             size of an I/O by {SIZE_FACTOR_MAX} times and the rate by {RATE_FACTOR_MAX} times, as far as they are known."
        ),
        how: how(fleet),
        figures: charts::figures(fleet),
        named: named(fleet),
        lists: lists(fleet),
        method: &METHOD,
    };
    page.render()
        .expect("the template writes plain values into a String, which cannot fail")
}

fn lists(fleet: &Fleet) -> Vec<List> {
    let which = &fleet.which;
    let lists: [(&'static str, &[Named]); 3] = [
        ("Became worse", &which.worse),
        ("Became better", &which.better),
        (
            "Largest shifts to the worse, without a claim",
            &which.lowest,
        ),
    ];
    let filled = lists.into_iter().filter(|(_, named)| !named.is_empty());
    let list = |(title, named): (&'static str, &[Named])| List {
        title,
        rows: (named.iter().take(NAMED_MAX))
            .map(|named| system(fleet, named))
            .collect(),
        more: named.len().saturating_sub(NAMED_MAX),
    };
    filled.map(list).collect()
}
