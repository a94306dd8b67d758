//! A comparison on the terminal and on the page.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use archive::{Arranged, Arrangement, Ended, PlannedAnalysis, Run, Sample, StudyPart, Until};
use report::{Against, HtmlOptions, Shown, chances, comparison, html};
use verdict::compare::{Options, compare};

/// Ten repetitions of two tests with the given rates.
fn run(side: &str, rates: [f64; 2], wobble: &[f64; 10]) -> Run {
    let mut run = crate::fixture::frame();
    run.label = format!("tuning-{side}");
    run.id = i64::from(side.as_bytes()[0]);
    run.repetitions = 10;
    run.targets.truncate(1);
    run.study = Some(StudyPart {
        name: "tuning".into(),
        side: side.into(),
        order: "abbaabbabaabababbaab".into(),
        settings: Vec::new(),
        slice_ms: None,
        ..StudyPart::default()
    });
    if side == "b" {
        run.targets[0]
            .settings
            .insert("cache_size".into(), "-2000".into());
    }
    let pattern = crate::fixture::single().points.swap_remove(0);
    for (at, factor) in wobble.iter().enumerate() {
        for (test, rate) in ["T611", "T421"].into_iter().zip(rates) {
            let mut point = pattern.clone();
            point.key.target = 0;
            point.key.repetition = at as u32 + 1;
            point.key.test = test.into();
            point.reasons.clear();
            point.figures.rows_per_s = None;
            point.figures.operations_per_s = Some(rate * factor);
            run.points.push(point);
        }
    }
    run
}

const CALM: [f64; 10] = [
    1.0, 1.004, 0.997, 1.001, 0.999, 1.002, 0.996, 1.003, 1.0, 0.998,
];
const WILD: [f64; 10] = [1.0, 1.05, 0.92, 1.03, 0.95, 1.08, 0.97, 1.04, 0.9, 1.02];

fn text(a: &Run, b: &Run, all: bool) -> String {
    let compared = compare(a, b, &Options::default()).unwrap();
    comparison(
        &compared,
        Shown {
            width: 110,
            colour: false,
            all,
        },
    )
}

#[test]
fn a_study_reads_from_configuration_to_verdict() {
    let (a, b) = (
        run("a", [26_768.0, 512.0], &CALM),
        run("b", [24_100.0, 513.0], &WILD),
    );
    insta::assert_snapshot!("study", text(&a, &b, true));
}

fn until() -> Until {
    let analysis = |(pairs, spent)| PlannedAnalysis { pairs, spent };
    Until {
        effect_pct: 3.0,
        band_pct: 2.0,
        within_s: Some(600.0),
        elapsed_s: 312.5,
        analyses: [(7, 0.48), (10, 0.64), (14, 1.0)].map(analysis).to_vec(),
        ..Until::default()
    }
}

/// The text before a study, at an analysis, and after each kind of end.
#[test]
fn a_study_with_looks_reports_its_end_and_its_intervals() {
    let of = |side: &str, rates, wobble, ended| {
        let mut run = run(side, rates, wobble);
        run.study.as_mut().unwrap().until = Some(Until {
            taken: 2,
            ended,
            ..until()
        });
        run
    };
    let least = [("sqlite:T611.operations_per_s".to_owned(), 0.0234)];
    let mut sentences = report::planned(&until(), &least, 2);
    sentences += &report::planned(&until(), &[], 0);
    for ended in [Ended::Answered, Ended::Pairs, Ended::Time]
        .map(Some)
        .into_iter()
        .chain([None])
    {
        let (a, b) = (
            of("a", [26_768.0, 512.0], &CALM, ended),
            of("b", [24_100.0, 513.0], &CALM, ended),
        );
        let compared = compare(&a, &b, &Options::default()).unwrap();
        sentences += &format!("\n{ended:?}\n{}\n", report::ended(&compared).unwrap());
    }
    let (a, b) = (
        of("a", [26_768.0, 512.0], &CALM, None),
        of("b", [24_100.0, 513.0], &WILD, None),
    );
    let compared = compare(&a, &b, &Options::default()).unwrap();
    sentences += &format!("\n{}\n{}", report::analysis(&compared), text(&a, &b, false));
    insta::assert_snapshot!("analyses", sentences);
    // A study with a fixed number of pairs has none of these sentences.
    let fixed = compare(
        &run("a", [1.0, 1.0], &CALM),
        &run("b", [1.0, 1.0], &WILD),
        &Options::default(),
    )
    .unwrap();
    assert_eq!(report::ended(&fixed), None);
}

/// The block measured second is a tenth slower on either side; terminal and page report it.
#[test]
fn an_effect_of_one_block_on_the_next_is_reported() {
    let order = run("a", [1.0, 1.0], &CALM).study.unwrap().order;
    let of = |side: &str| {
        let mut factors = CALM;
        for (pair, factor) in order.as_bytes().chunks(2).zip(&mut factors) {
            *factor *= if pair[0] == side.as_bytes()[0] {
                1.0
            } else {
                0.9
            };
        }
        run(side, [26_768.0, 512.0], &factors)
    };
    let (a, b) = (of("a"), of("b"));
    let said = "came out -10.0 % against the first";
    let text = text(&a, &b, false)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(text.contains(said), "{text}");
    let page = html(&b, &[Against::Run(&a)], &HtmlOptions::default());
    assert!(page.contains(said));
}

#[test]
fn one_run_each_says_that_it_carries_no_verdict() {
    let cut = |mut run: Run| {
        run.repetitions = 1;
        run.study = None;
        run.points.truncate(2);
        run
    };
    let (a, b) = (
        run("a", [26_768.0, 512.0], &CALM),
        run("b", [24_100.0, 513.0], &WILD),
    );
    insta::assert_snapshot!("one_each", text(&cut(a), &cut(b), false));
}

#[test]
fn the_page_draws_the_forest_and_says_why_there_is_none() {
    let (a, b) = (
        run("a", [26_768.0, 512.0], &CALM),
        run("b", [24_100.0, 513.0], &WILD),
    );
    let page = |b: &Run, a: &Run| {
        let against = [Against::Run(a)];
        html(b, &against, &HtmlOptions::default())
    };
    let drawn = page(&b, &a);
    assert!(drawn.contains("Performance comparison"));
    insta::assert_snapshot!("first_study", crate::html::section(&drawn, "answer"));
    assert!(drawn.contains("class=\"worse\"") && drawn.contains("class=\"inconclusive\""));
    assert!(drawn.contains("0.843 … 0.942"));
    let mut altered = a.clone();
    altered
        .reasons
        .push(crate::fixture::remark("its record was changed"));
    let refused = page(&b, &altered);
    assert!(
        refused.contains("Not compared with run") && refused.contains("its record was changed")
    );
    let alone = html(&b, &[], &HtmlOptions::default());
    assert!(!alone.contains("Performance comparison"));
}

#[test]
fn chances_are_printed_before_the_run() {
    insta::assert_snapshot!("chances_assumed", chances(10, 1, 0.02, None));
    insta::assert_snapshot!("chances_of_many", chances(12, 8, 0.02, None));
    insta::assert_snapshot!("chances_known", chances(6, 1, 0.02, Some((0.03, 2))));
}

/// The same in slices of 100 ms, of which the second of two neighbours does a twentieth less.
fn in_slices(side: &str, rates: [f64; 2], wobble: &[f64; 10]) -> Run {
    let mut run = run(side, rates, wobble);
    if let Some(study) = &mut run.study {
        study.slice_ms = Some(100);
        study.arranged = Some(Arranged {
            how: Arrangement::TwoInstances,
            in_slices: None,
            obstacle: None,
        });
        if side == "b" {
            study.settings = vec!["target.cache_size=-2000".into()];
        }
    }
    for (number, point) in run.points.iter_mut().enumerate() {
        let rate = point.figures.operations_per_s.unwrap();
        point.started_at = format!("2026-11-20T10:{number:02}:00Z");
        let slice = |pair: usize| {
            let is_second = (pair * 7 % 5 < 2) == (side == "a");
            // The slices of the two sides scatter independently.
            let own = (pair * 3 + number * 5 + usize::from(side == "a") * 4) % 7;
            Sample {
                at_s: (2 * pair + 1 + usize::from(is_second)) as f64 * 0.1,
                operations_per_s: Some(
                    rate * if is_second { 0.95 } else { 1.0 } * (1.0 + own as f64 / 100.0),
                ),
                ..Sample::default()
            }
        };
        point.samples = (0..30).map(slice).collect();
    }
    run
}

/// The text of a page's part without its drawings, a line per element.
fn words(part: &str) -> String {
    let mut words = String::new();
    for piece in part.split("<svg").enumerate() {
        let drawn = match piece {
            (0, text) => text,
            (_, text) => text.split_once("</svg>").unwrap().1,
        };
        for text in drawn.split('<') {
            let text = text.split_once('>').map_or(text, |(_, text)| text).trim();
            if !text.is_empty() {
                words += &format!("{text}\n");
            }
        }
    }
    words
}

#[test]
fn a_study_in_slices_explains_its_scatter_and_oddities() {
    let (a, b) = (
        in_slices("a", [26_768.0, 512.0], &CALM),
        in_slices("b", [24_100.0, 513.0], &WILD),
    );
    insta::assert_snapshot!("study_in_slices", text(&a, &b, false));
    let page = html(&b, &[Against::Run(&a)], &HtmlOptions::default());
    let diagnostics = page
        .split("<summary>Diagnostics of the study")
        .nth(1)
        .unwrap();
    // The part of the first of two metrics.
    let first = diagnostics.split("<h4>").nth(1).unwrap();
    assert_eq!(first.matches("<svg").count(), 5);
    insta::assert_snapshot!("diagnostics", words(first));
    assert!(page.contains("Two instances at once: B differs in target.cache_size=-2000"));
}

/// Without series in the archive the pairs are shown, but the source of their scatter is not.
#[test]
fn a_study_without_a_series_has_charts_of_its_pairs_alone() {
    let mut sides = [
        run("a", [26_768.0, 512.0], &CALM),
        run("b", [24_100.0, 513.0], &WILD),
    ];
    for side in &mut sides {
        side.points
            .iter_mut()
            .for_each(|point| point.samples.clear());
    }
    let [a, b] = sides;
    let page = html(&b, &[Against::Run(&a)], &HtmlOptions::default());
    let diagnostics = page
        .split("<summary>Diagnostics of the study")
        .nth(1)
        .unwrap();
    let first = diagnostics.split("<h4>").nth(1).unwrap();
    assert_eq!(first.matches("<svg").count(), 4);
    assert!(!page.contains("of the scatter of a pair") && page.contains("Residuals"));
}
