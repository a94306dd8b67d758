//! The first screen: validity, main results, limits, confidence, next steps.

mod delivers;
pub(crate) mod limits;
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

#[derive(Template)]
#[template(path = "first.html", whitespace = "minimize")]
pub struct View {
    verdict: verdict::View,
    screening: Option<screening::Outcome>,
    alternatives: Option<alternatives::Outcome>,
    /// Speed-up of memory over disk, and its cost in memory.
    columnar: Vec<String>,
    outcomes: Vec<Outcome>,
    /// Supported users of each target: its name and the sentences.
    ramps: Vec<(String, Vec<String>)>,
    charts: Vec<Figure>,
    /// The best figures by component; `None` if another answer takes their place.
    delivers: Option<Delivers>,
    limits: Vec<LimitView>,
    next: Vec<Next>,
    /// Spare cores of each target, and the cautions about them.
    cores: Vec<(String, String)>,
}

struct LimitView {
    resource: &'static str,
    /// "limits 5 of 8 tests".
    share: String,
    /// Codes of the tests with links to their sections.
    tests: Vec<(String, String)>,
    more: usize,
    sentence: String,
}

struct Next {
    what: String,
    evidence: String,
    id: String,
}

/// Most measures: a page that advises everything advises nothing.
const MEASURES_MAX: usize = 3;
/// Most resources, and most tests of each.
const LIMITS_MAX: usize = 3;
const TESTS_MAX: usize = 6;

pub struct Answers<'a> {
    /// The other sides of the run's study, if it has more than two.
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
    users: &[Summary],
    charts: Vec<Figure>,
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
        id: measure.section_id(),
    }
}
