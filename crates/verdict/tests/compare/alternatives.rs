//! Every pair of alternatives is judged, all of them together, and other runs are refused.

use archive::{Alternative, Remark, Run, RunState, SideLabel, StudyPart};
use stats::Warning;
use stats::compare::Verdict;
use stats::random::Random;
use verdict::contrasts::{Contrasts, Kind, Options, belong_together, contrasts, json};

use crate::runs::{frame, point};
use testing::Says;

/// Alternatives with these rates, with a spread of one percent.
fn runs(rates: &[f64], rounds: u32) -> Vec<Run> {
    let mut random = Random::new(3);
    let of_side = |(number, rate): (usize, &f64)| {
        let mut run = frame(rounds);
        run.targets.truncate(1);
        run.id = number as i64 + 1;
        run.label = SideLabel::new("s", number).to_string();
        run.study = Some(StudyPart {
            name: "s".into(),
            side: StudyPart::letter(number).into(),
            sides: rates.len() as u32,
            alternative: Some(Alternative {
                name: format!("layout-{number}"),
                ..Alternative::default()
            }),
            ..StudyPart::default()
        });
        for round in 1..=rounds {
            // The machine is slower in every round.
            let level = 1000.0 / f64::from(round) * (0.01 * random.normal()).exp();
            run.points.push(point(round, 0, "T611", 4, level * rate));
        }
        run.points_planned = rounds;
        run
    };
    rates.iter().enumerate().map(of_side).collect()
}

fn found(runs: &[Run]) -> Contrasts {
    // The order of the runs does not matter.
    let runs: Vec<&Run> = runs.iter().rev().collect();
    contrasts(Kind::Alternatives, &runs, &Options::default()).unwrap()
}

#[test]
fn every_pair_is_judged_and_all_hold_together() {
    let found = found(&runs(&[1.0, 1.3, 0.7, 1.3], 8));
    let [of_metric] = &found.metrics[..] else {
        panic!("{found:?}");
    };
    assert_eq!(found.sides[1].alternative.name, "layout-1");
    assert_eq!(of_metric.contrasts.as_ref().unwrap().len(), 6);
    assert_eq!(found.family, 6);
    assert!((found.confidence - (1.0 - 0.05 / 6.0)).abs() < 1e-12);
    assert_eq!((of_metric.order[2], of_metric.order[3]), (0, 2));
    let verdict = |one, other| of_metric.between(one, other).unwrap().0;
    assert_eq!(verdict(1, 0), Verdict::Better);
    assert_eq!(verdict(0, 1), Verdict::Worse);
    assert_eq!(verdict(2, 0), Verdict::Worse);
    assert_ne!(verdict(1, 3), Verdict::Better);
    assert_ne!(verdict(1, 3), Verdict::Worse);
    // The opposite direction is the inverse.
    let (there, back) = (of_metric.between(1, 0), of_metric.between(0, 1));
    let (there, back) = (there.unwrap().1, back.unwrap().1);
    assert!((there.low * back.high - 1.0).abs() < 1e-12);
    assert!(there.covers(1.3) && there.low > 1.2, "{there:?}");
    assert!(of_metric.between(1, 1).is_none());
    let json = json(&found);
    assert_eq!(json["metrics"][0]["pairs"][0]["verdict"], "better");
    assert_eq!(json["metrics"][0]["pairs"][0]["b"], "layout-1");
    assert_eq!(json["alternatives"][3]["run"], "s-d");
    assert_eq!(json["metrics"][0]["order"][3], "layout-2");
}

#[test]
fn equal_alternatives_are_equivalent_with_enough_rounds() {
    let found = found(&runs(&[1.0, 1.0, 1.0], 20));
    let pairs = found.metrics[0].contrasts.iter().flatten();
    let pairs: Vec<Verdict> = pairs.map(|pair| pair.verdict).collect();
    assert_eq!(pairs, [Verdict::Equivalent; 3]);
    assert!(found.any(Verdict::Equivalent) && !found.any(Verdict::Worse));
}

#[test]
fn rounds_that_are_not_whole_are_left_out() {
    let mut runs = runs(&[1.0, 1.2, 1.0], 4);
    runs[2].points[1].reasons.push(Remark::PointAltered);
    runs[0].state = RunState::Interrupted;
    let partly = found(&runs);
    assert_eq!((partly.rounds, partly.metrics[0].rounds), (4, 3));
    let said = partly.cautions.join("\n");
    said.says_all(&["not complete", "1 of 4 rounds left out"]);
    runs[1].points.truncate(2);
    runs[1].points_planned = 2;
    let few = found(&runs);
    let why = few.metrics[0].contrasts.as_ref().unwrap_err();
    assert_eq!(*why, Warning::TooFew { have: 1, need: 3 });
    assert!(few.lacks_verdicts() && few.metrics[0].between(0, 1).is_none());
}

#[test]
fn what_is_no_study_of_alternatives_is_refused() {
    let runs = runs(&[1.0; 4], 3);
    assert_eq!(Kind::of(&runs[0]), Some(Kind::Alternatives));
    assert!(belong_together(&runs[0], &runs[3]));
    assert!(!belong_together(&runs[0], &runs[0]));
    let refusal = |runs: &[&Run]| {
        contrasts(Kind::Alternatives, runs, &Options::default())
            .unwrap_err()
            .to_string()
    };
    let some: Vec<&Run> = runs[..3].iter().collect();
    assert!(refusal(&some).contains("not all alternatives of one study"));
    assert!(refusal(&[]).contains("not all alternatives"));
    let mut other = runs.clone();
    other[3].study.as_mut().unwrap().alternative = None;
    let other: Vec<&Run> = other.iter().collect();
    assert!(refusal(&other).contains("not all alternatives"));
}

/// The quotient of two means is the ratio, however the rounds scatter, and the first alternative is no worse than any
/// other.
#[test]
fn the_means_of_alternatives_agree_with_their_ratios() {
    let mut random = Random::new(5);
    for _ in 0..100 {
        let mut runs = runs(&[1.0, 1.0, 1.0], 8);
        for point in runs.iter_mut().flat_map(|run| &mut run.points) {
            let rate = &mut point.figures.operations_per_s;
            *rate = rate.map(|rate| rate * (random.normal() / random.unit().max(0.1)).exp());
        }
        let found = found(&runs);
        let of_metric = &found.metrics[0];
        let mean = |side: usize| found.sides[side].means[0].unwrap();
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let ratio = of_metric.between(one, other).unwrap().1.estimate;
            assert!((mean(one) / mean(other) / ratio - 1.0).abs() < 1e-9);
        }
        let first = of_metric.order[0];
        assert!((0..3).all(|side| mean(side) <= mean(first)));
    }
}
