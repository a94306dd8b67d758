//! Screenings with planted effects, without effects, and with aliases.

use archive::{Factor, Remark, Run, RunState, Screened, SideLabel, StudyPart};
use stats::Warning;
use stats::compare::Verdict;
use stats::factorial::TwoLevel;
use stats::random::Random;
use verdict::contrasts::{Contrasts, Kind, Options, belong_together, contrasts, json};

use crate::runs::{frame, point};
use testing::Says;

/// A screening of `factors` settings whose first ones change the rate by these ratios, with a spread of one percent.
fn runs(factors: usize, effects: &[f64], rounds: u32) -> Vec<Run> {
    let design = TwoLevel::of(factors, None).unwrap();
    let mut random = Random::new(3);
    let factor = |n: usize| Factor {
        key: format!("k{n}"),
        low: "off".into(),
        high: "on".into(),
    };
    let of_row = |(number, high): (usize, &Vec<bool>)| {
        let mut run = frame(rounds);
        run.targets.truncate(1);
        run.id = number as i64 + 1;
        run.label = SideLabel::new("s", number).to_string();
        run.study = Some(StudyPart {
            name: "s".into(),
            side: StudyPart::letter(number).into(),
            sides: design.rows().len() as u32,
            screened: Some(Screened {
                factors: (0..factors).map(factor).collect(),
                high: high.clone(),
            }),
            ..StudyPart::default()
        });
        let planted = effects.iter().zip(high).filter(|(_, high)| **high);
        let ratio: f64 = planted.map(|(ratio, _)| ratio).product();
        for round in 1..=rounds {
            // The machine is slower in every round.
            let level = 1000.0 / f64::from(round) * (0.01 * random.normal()).exp();
            run.points.push(point(round, 0, "T611", 4, level * ratio));
        }
        run.points_planned = rounds;
        run
    };
    design.rows().iter().enumerate().map(of_row).collect()
}

fn screened(runs: &[Run]) -> Contrasts {
    let runs: Vec<&Run> = runs.iter().collect();
    contrasts(Kind::Screening, &runs, &Options::default()).unwrap()
}

fn verdicts(screened: &Contrasts) -> Vec<Verdict> {
    let effects = screened.metrics[0].contrasts.iter().flatten();
    effects.map(|effect| effect.verdict).collect()
}

#[test]
fn planted_effects_come_out_and_others_do_not() {
    // Of eleven settings in twelve configurations two matter.
    let found = screened(&runs(11, &[1.3, 0.8], 5));
    let verdicts = verdicts(&found);
    assert_eq!(verdicts[..2], [Verdict::Better, Verdict::Worse]);
    let moved = |v: &&Verdict| matches!(v, Verdict::Better | Verdict::Worse);
    assert_eq!(verdicts.iter().filter(moved).count(), 2, "{verdicts:?}");
    assert_eq!(found.factors[0].key, "k0");
    let effect = &found.metrics[0].contrasts.as_ref().unwrap()[0];
    assert!(effect.contrast.ratio.covers(1.3) && effect.contrast.ratio.low > 1.2);
    assert!((0.01..0.2).contains(&effect.least_effect.unwrap()));
    assert_eq!(found.family, 11);
    assert!((found.confidence - (1.0 - 0.05 / 11.0)).abs() < 1e-12);
    assert_eq!(
        found.remarks,
        [Remark::EffectsPartlyAliased { share: 1.0 / 3.0 }]
    );
    assert!(found.any(Verdict::Worse) && !found.lacks_verdicts());
    let json = json(&found);
    assert_eq!(json["metrics"][0]["effects"][0]["verdict"], "better");
    assert_eq!(json["remarks"][0]["code"], "effects_partly_aliased");
    assert_eq!(json["configurations"][11]["run"], "s-l");
}

#[test]
fn what_a_design_cannot_tell_apart_is_said() {
    let remarks = |factors| screened(&runs(factors, &[], 3)).remarks;
    assert_eq!(remarks(3), []);
    assert_eq!(remarks(4), [Remark::InteractionsAliased { resolution: 4 }]);
    let of_five = remarks(5);
    assert_eq!(
        of_five[0],
        Remark::EffectAliased {
            factor: "k0".into(),
            with: vec!["k1 and k3".into(), "k2 and k4".into()],
        }
    );
    assert_eq!(of_five.len(), 5);
    assert_eq!(
        of_five[1].to_string(),
        "the effect of k1 cannot be distinguished from the interaction of k0 and k3: if two settings act on each other, the other effect is in it"
    );
}

#[test]
fn rounds_that_are_not_whole_are_left_out() {
    let mut runs = runs(2, &[1.2], 4);
    runs[2].points[1].reasons.push(Remark::PointAltered);
    runs[0].state = RunState::Interrupted;
    let found = screened(&runs);
    assert_eq!((found.rounds, found.metrics[0].rounds), (4, 3));
    let said = found.cautions.join("\n");
    said.says_all(&["not complete", "1 of 4 rounds left out"]);
    assert!(!said.contains("of run s-"), "told twice: {said}");
    let effects = found.metrics[0].contrasts.as_ref().unwrap();
    assert_eq!(
        effects[1].contrast.warnings,
        [Warning::NotFinite { dropped: 1 }]
    );
    runs[1].points.truncate(2);
    runs[1].points_planned = 2;
    let few = screened(&runs);
    let why = few.metrics[0].contrasts.as_ref().unwrap_err();
    assert_eq!(*why, Warning::TooFew { have: 1, need: 3 });
    assert!(few.lacks_verdicts());
}

/// The best of several levels is the figure. If one is invalid, the best of the others does not replace it.
#[test]
fn a_round_with_an_invalid_level_is_left_out() {
    let mut runs = runs(2, &[1.2], 4);
    for run in &mut runs {
        for round in 1..=4 {
            // The second level has one more job and half the rate.
            let whole = run.points[round as usize - 1].figures.operations_per_s;
            let half = whole.unwrap() / 2.0;
            run.points.push(point(round, 0, "T611", 8, half));
        }
    }
    let best = |points: &[archive::Point], round: u32| {
        let of_round = |p: &&archive::Point| p.key.repetition == round && p.key.jobs != 8;
        points.iter().position(|p| of_round(&p)).unwrap()
    };
    let whole = screened(&runs);
    let at = best(&runs[2].points, 2);
    runs[2].points[at].reasons.push(Remark::PointAltered);
    let found = screened(&runs);
    assert_eq!((whole.metrics[0].rounds, found.metrics[0].rounds), (4, 3));
    let ratio = |found: &Contrasts| {
        let effects = found.metrics[0].contrasts.as_ref().unwrap();
        effects[0].contrast.ratio.estimate
    };
    assert!((ratio(&found) / ratio(&whole) - 1.0).abs() < 0.05);
}

#[test]
fn what_is_no_screening_is_refused() {
    let runs = runs(3, &[], 3);
    assert!(belong_together(&runs[0], &runs[7]) && !belong_together(&runs[0], &runs[0]));
    let refusal = |runs: &[&Run]| {
        contrasts(Kind::Screening, runs, &Options::default())
            .unwrap_err()
            .to_string()
    };
    let some: Vec<&Run> = runs[..7].iter().collect();
    assert!(refusal(&some).contains("not all configurations of one screening"));
    assert!(refusal(&[]).contains("not all configurations"));
    let mut twice = runs.clone();
    let study = twice[3].study.as_mut().unwrap();
    study.screened.as_mut().unwrap().high = vec![false; 3];
    let twice: Vec<&Run> = twice.iter().collect();
    assert!(refusal(&twice).contains("independently of each other"));
}
