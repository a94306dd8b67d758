//! Studies with interim analyses are judged by the interval of the one at which they stopped.

use archive::{Ended, PlannedAnalysis, Run, Until};
use stats::compare::{Band, Verdict};
use verdict::compare::{Comparison, Options, Terms, compare, json};

use super::study;

/// The two sides of a study of ten pairs, planned with analyses after 7, 10 and 14, of which `taken` were made.
fn with_analyses(rate_b: f64, taken: u32, ended: Option<Ended>) -> (Run, Run) {
    let (mut a, mut b) = study(rate_b);
    let analysis = |(pairs, spent)| PlannedAnalysis { pairs, spent };
    for run in [&mut a, &mut b] {
        run.study.as_mut().unwrap().until = Some(Until {
            effect_pct: 3.0,
            band_pct: 2.0,
            analyses: [(7, 0.48), (10, 0.64), (14, 1.0)].map(analysis).to_vec(),
            taken,
            ended,
            ..Until::default()
        });
    }
    (a, b)
}

fn judged(a: &Run, b: &Run, band: f64) -> Comparison {
    let terms = Terms {
        band: Band::of(band),
        ..Terms::default()
    };
    let options = Options {
        terms,
        ..Options::default()
    };
    compare(a, b, &options).unwrap()
}

#[test]
fn the_interval_allows_for_all_analyses() {
    let (a, b) = with_analyses(1050.0, 2, Some(Ended::Answered));
    let found = judged(&a, &b, 0.02);
    let analyses = found.analyses.unwrap();
    assert_eq!(
        (
            analyses.taken,
            analyses.planned,
            analyses.pairs,
            analyses.pairs_max
        ),
        (2, 3, 10, 14)
    );
    assert!(found.cautions.is_empty(), "{:?}", found.cautions);
    // Three analyses have 95 % in total.
    assert!(
        (0.97..0.99).contains(&found.confidence),
        "{}",
        found.confidence
    );
    assert_eq!(found.confidence, found.confidence_secondary);
    let row = &found.rows[0];
    assert_eq!((row.result.verdict, row.a.len()), (Verdict::Better, 10));
    assert!(row.result.ratio.unwrap().confidence >= found.confidence);
    assert!(found.is_answered(0.03) && row.least_effect_at_end < row.least_effect);
    // Rank tests are only valid for a single analysis.
    assert_eq!((row.result.rank_p, row.holm_p), (None, None));

    let mut fixed = (a, b);
    for run in [&mut fixed.0, &mut fixed.1] {
        run.study.as_mut().unwrap().until = None;
    }
    let naive = judged(&fixed.0, &fixed.1, 0.02);
    let width = |found: &Comparison| {
        let ratio = found.rows[0].result.ratio.unwrap();
        ratio.high / ratio.low
    };
    assert!(naive.analyses.is_none() && naive.confidence == 0.95);
    assert!(
        width(&naive) < width(&found),
        "{} {}",
        width(&naive),
        width(&found)
    );
    assert!(json(&naive, &[], &[])["analyses"].is_null());
}

#[test]
fn an_effect_that_is_excluded_answers_without_a_verdict() {
    let (a, b) = with_analyses(1000.0, 2, Some(Ended::Answered));
    let found = judged(&a, &b, 0.0);
    let row = &found.rows[0];
    assert_eq!(row.result.verdict, Verdict::Inconclusive);
    assert!(row.excludes(0.03) && found.is_answered(0.03), "{row:?}");
    assert!(
        !row.excludes(0.0005) && !found.is_answered(0.0005),
        "{row:?}"
    );
    let message = &json(&found, &[], &[])["analyses"];
    assert_eq!(message["ended"], "answered");
    assert_eq!(message["answered"], true);
    assert_eq!(message["effect_pct"], 3.0);
}

/// Pairs after the last analysis have not spent any error rate.
#[test]
fn a_study_between_two_looks_counts_to_the_last_one() {
    let (a, b) = with_analyses(1050.0, 1, None);
    let found = judged(&a, &b, 0.02);
    assert_eq!((found.repetitions, found.rows[0].a.len()), ((7, 7), 7));
    let said = |what: &str| found.cautions.iter().any(|caution| caution.contains(what));
    assert!(
        said("after analysis 1: only its first 7 pairs count"),
        "{:?}",
        found.cautions
    );
    let (a, b) = with_analyses(1050.0, 0, None);
    let found = judged(&a, &b, 0.02);
    assert!(
        found
            .rows
            .iter()
            .all(|row| row.result.ratio.is_none() && row.a.is_empty())
    );
    assert!(
        found
            .cautions
            .iter()
            .any(|caution| caution.contains("before its first analysis"))
    );
    assert!(!found.is_answered(0.03));
}

#[test]
fn looks_belong_to_both_sides() {
    let (a, mut b) = with_analyses(1050.0, 1, None);
    b.study.as_mut().unwrap().name = "other".into();
    let found = judged(&a, &b, 0.02);
    assert_eq!((found.analyses, found.repetitions), (None, (10, 10)));
}
