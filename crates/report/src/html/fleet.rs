//! Many systems before and after an update as one self-contained page.

mod charts;

use askama::Template;
use verdict::fleet::Fleet;

use super::options::HtmlOptions;
use super::section::Fragment;
use crate::fleet::{NAMED_MAX, OBSERVATIONAL, called, measure, measures, named, system};
use crate::number::count;
use crate::section::of_texts;

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
struct Page {
    title: String,
    version: &'static str,
    generated_at: Option<String>,
    tone: &'static str,
    headline: String,
    answer: Fragment,
    systems: Fragment,
    measures: Fragment,
    which: Fragment,
    method: Fragment,
}

pub fn fleet(fleet: &Fleet, options: &HtmlOptions) -> String {
    let (tone, headline, sentence) = called(fleet);
    let unchanged = fleet.systems.len() - fleet.changed.any;
    let left_out = fleet.left_out.one_sided.len() + fleet.left_out.misordered.len();
    let mut answer = Fragment::default();
    answer.sentence(&sentence).facts(
        "strip",
        [
            ("Systems with both sides", count(fleet.systems.len() as u64)),
            ("With the same mix", count(unchanged as u64)),
            ("Left out", count(left_out as u64)),
            (
                "Primary measure",
                measure(fleet.question.primary, fleet.question.limits_us),
            ),
        ],
    );
    OBSERVATIONAL
        .iter()
        .for_each(|sentence| _ = answer.caution(sentence));
    let mut systems = Fragment::default();
    for (title, figures) in charts::figures(fleet) {
        systems.heading(3, title).figures(&figures);
    }
    let mut method = Fragment::default();
    method.facts("method", METHOD);
    let page = Page {
        title: options
            .title
            .clone()
            .unwrap_or_else(|| "dbdyno · fleet".to_owned()),
        version: env!("CARGO_PKG_VERSION"),
        generated_at: options.generated_at.clone(),
        tone,
        headline,
        answer,
        systems: systems.section("systems", "All systems before and after"),
        measures: Fragment::of_blocks(&measures(fleet)).section("measures", "Measures"),
        which: which(fleet).section("which", "Which systems"),
        method: method.section("method", "How the figures are made"),
    };
    page.render()
        .expect("the template writes plain values into a String, which cannot fail")
}

/// Systems that shifted most.
fn which(fleet: &Fleet) -> Fragment {
    let which = &fleet.which;
    let mut parts = Fragment::default();
    parts.sentence(&named(fleet));
    for (title, systems) in [
        ("Became worse", &which.worse),
        ("Became better", &which.better),
        (
            "Largest shifts to the worse, without a claim",
            &which.lowest,
        ),
    ] {
        if !systems.is_empty() {
            let rows = systems
                .iter()
                .take(NAMED_MAX)
                .map(|named| system(fleet, named));
            let table = of_texts(&["system", "before", "after", "shift", "adjusted p"], rows);
            let more = systems.len().saturating_sub(NAMED_MAX);
            parts
                .heading(3, title)
                .table("", title, &table)
                .more(more, "; JSON lists all");
        }
    }
    parts
}
