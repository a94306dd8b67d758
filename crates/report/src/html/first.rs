//! The first screen: the answer and its grade, best figures, limits, confidence, next steps.

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
use crate::main_figures::main_figures;
use crate::number;
use crate::scorecard::Against;
use crate::summary;
use crate::users::Summary;
use ::verdict::cores::spare_cores;
use delivers::Delivers;
use limits::Limit;

#[derive(Template)]
#[template(path = "first.html", whitespace = "minimize")]
pub struct View {
    verdict: verdict::View,
    /// The answer in sentences: of a study its result, else the best figures.
    lead: Vec<String>,
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
    /// The sentence in place of an empty list.
    no_limits: &'static str,
    next: Vec<Next>,
    /// Spare cores of each target, and the cautions about them.
    cores: Vec<(String, String)>,
}

struct LimitView {
    resource: &'static str,
    /// "limits 5 of 8 tests".
    share: String,
    /// Names of the tests with links to their sections.
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
const TESTS_MAX: usize = 3;

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
    let pair = against.iter().filter_map(|other| match other {
        Against::Run(other) => Some(*other).filter(|other| is_of_study(run, other)),
        Against::Reference(_) => None,
    });
    let of_study: Vec<&Run> = sides.iter().copied().chain(pair).collect();
    let lead = match &outcomes[..] {
        [] => summary::measured(run, groups),
        outcomes => (outcomes.iter())
            .map(|outcome| format!("{}: {}.", outcome.question, outcome.tally))
            .collect(),
    };
    let is_study_without_table =
        screening.is_some() || alternatives.is_some() || !columnar.is_empty();
    let has_answer =
        is_study_without_table || !outcomes.is_empty() || !ramps.is_empty() || !charts.is_empty();
    let of = found.iter().map(|limit| limit.tests.len()).sum();
    View {
        verdict: verdict::view(run, groups, &of_study),
        lead,
        screening,
        alternatives,
        columnar,
        delivers: (!has_answer).then(|| delivers::view(run, &main_figures(run, groups), against)),
        outcomes,
        ramps,
        charts,
        limits: (found.iter().take(LIMITS_MAX))
            .map(|limit| limit_view(limit, of))
            .collect(),
        no_limits: no_limits(run),
        next: measures.iter().map(next).collect(),
        cores: (spare_cores(run).iter())
            .map(|left| (cores::left(left), cores::cautions(left).join(" ")))
            .collect(),
    }
}

fn no_limits(run: &Run) -> &'static str {
    let arranged = run.study.as_ref().and_then(|study| study.arranged.as_ref());
    if arranged.is_some_and(|arranged| arranged.in_slices.is_some()) {
        return "Not measured in slices; a run of the plan on one side determines it.";
    }
    match run.points.iter().all(|point| point.work.below_database) {
        true => "Not determined for storage without a database; see the times at the device.",
        false => "Not determined.",
    }
}

fn is_of_study(run: &Run, other: &Run) -> bool {
    let name = |run: &Run| run.study.as_ref().map(|study| study.name.clone());
    name(run).is_some() && name(run) == name(other)
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
            .map(|(code, title)| (format!("{title} ({code})"), super::figure::id_of(code)))
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
