//! The first screen: is this a result, what does it say, what holds the platform back, how sure is that, what next.

mod delivers;
mod limits;
mod measure;

use archive::Run;
use askama::Template;

use super::figure::Figure;
use super::forest::Outcome;
use super::{alternatives, screening, verdict};
use crate::cores;
use crate::level::TestGroup;
use crate::number;
use crate::scorecard::Against;
use crate::users::Summary;
use ::verdict::cores::spare_cores;
use delivers::Delivers;
use limits::Limit;

/// What is read before anything is scrolled.
#[derive(Template)]
#[template(path = "first.html", whitespace = "minimize")]
pub struct View {
    verdict: verdict::View,
    screening: Option<screening::Outcome>,
    /// What a study of alternatives says.
    alternatives: Option<alternatives::Outcome>,
    /// How much faster memory is than disk, and what it needs.
    columnar: Vec<String>,
    /// How this run compares with each other run.
    outcomes: Vec<Outcome>,
    /// The supported users of each target: its name and the sentences.
    ramps: Vec<(String, Vec<String>)>,
    charts: Vec<Figure>,
    /// The best figures by component; none where another answer stands in their place.
    delivers: Option<Delivers>,
    limits: Vec<LimitView>,
    next: Vec<Next>,
    /// Spare cores of each target, and what weakens that.
    cores: Vec<(String, String)>,
}

/// A resource that held tests back.
struct LimitView {
    resource: &'static str,
    /// "limits 5 of 8 tests".
    share: String,
    /// Codes of the tests with the fragments of their sections.
    tests: Vec<(String, String)>,
    more: usize,
    /// The sentence of the first of them.
    sentence: String,
}

struct Next {
    what: String,
    evidence: String,
    /// Fragment of the section with the evidence.
    id: String,
}

/// Most measures: a page that advises everything advises nothing.
const MEASURES_MAX: usize = 3;
/// Most resources, and tests of each.
const LIMITS_MAX: usize = 3;
const TESTS_MAX: usize = 6;

/// What studies and comparisons say.
pub struct Answers<'a> {
    /// The other sides of the study of more than two that the run belongs to.
    pub sides: &'a [&'a Run],
    pub screening: Option<screening::Outcome>,
    pub alternatives: Option<alternatives::Outcome>,
    pub columnar: Vec<String>,
    pub outcomes: Vec<Outcome>,
}

pub fn view(
    run: &Run,
    groups: &[TestGroup<'_>],
    against: &[Against<'_>],
    (users, charts): (&[Summary], Vec<Figure>),
    answers: Answers<'_>,
) -> View {
    let Answers {
        sides,
        screening,
        alternatives,
        columnar,
        outcomes,
    } = answers;
    let found = limits::limits(groups);
    let mut measures = measure::measures(run, groups, &found, &outcomes);
    measures.truncate(MEASURES_MAX);
    let ramps = users.iter().filter(|summary| !summary.sentences.is_empty());
    let ramps: Vec<_> = ramps
        .map(|summary| (summary.target.clone(), summary.sentences.clone()))
        .collect();
    let of_study = screening.is_some() || alternatives.is_some() || !columnar.is_empty();
    let has_answer = of_study || !outcomes.is_empty() || !ramps.is_empty() || !charts.is_empty();
    let of = found.iter().map(|limit| limit.tests.len()).sum();
    View {
        verdict: verdict::view(run, groups, sides),
        screening,
        alternatives,
        columnar,
        delivers: (!has_answer).then(|| delivers::view(run, groups, against)),
        outcomes,
        ramps,
        charts,
        limits: (found.iter().take(LIMITS_MAX))
            .map(|limit| limit_view(limit, of))
            .collect(),
        next: measures.iter().map(next).collect(),
        cores: (spare_cores(run).iter())
            .map(|left| (cores::left(left), cores::cautions(left).join(" ")))
            .collect(),
    }
}

fn limit_view(limit: &Limit<'_>, of: usize) -> LimitView {
    let tests = limit.tests.iter().take(TESTS_MAX);
    LimitView {
        resource: limits::name(limit.resource),
        share: format!(
            "{} of {}",
            limit.tests.len(),
            number::counted(of as u64, "test")
        ),
        tests: tests
            .map(|test| ((*test).to_owned(), super::figure::id_of(test)))
            .collect(),
        more: limit.tests.len().saturating_sub(TESTS_MAX),
        sentence: limit.sentence.to_owned(),
    }
}

fn next(measure: &measure::Measure<'_>) -> Next {
    Next {
        what: measure.what(),
        evidence: measure.evidence(),
        id: measure.place(),
    }
}
