//! A screening on the terminal and on the page.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use archive::{Factor, Run, Screened, SideLabel, StudyPart};
use report::{Against, HtmlOptions, Shown, html};
use stats::factorial::TwoLevel;
use verdict::contrasts::{Kind, Options, contrasts};

const KEYS: [&str; 4] = [
    "target.shared_buffers",
    "target.synchronous_commit",
    "step.oltp.users",
    "host.scheduler",
];

/// Eight configurations of four settings in four rounds: the second makes it 1.5 times as fast, the fourth a twentieth slower.
fn runs() -> Vec<Run> {
    let design = TwoLevel::of(4, None).unwrap();
    let pattern = crate::fixture::single().points.swap_remove(0);
    let of_row = |(number, high): (usize, &Vec<bool>)| {
        let mut run = crate::fixture::frame();
        run.label = SideLabel::new("try", number).to_string();
        run.id = number as i64 + 1;
        run.repetitions = 4;
        run.targets.truncate(1);
        run.study = Some(StudyPart {
            name: "try".into(),
            side: StudyPart::letter(number).into(),
            sides: 8,
            order: "abcdefghhgfedcbaabcdefghhgfedcba".into(),
            screened: Some(Screened {
                factors: KEYS
                    .map(|key| Factor {
                        key: key.into(),
                        low: "1".into(),
                        high: "<2>".into(),
                    })
                    .into(),
                high: high.clone(),
            }),
            ..StudyPart::default()
        });
        for round in 1..=4_u32 {
            let wobble = 1.0 + 0.002 * ((number as u32 * 7 + round * 5) % 11) as f64;
            let rate = if high[1] { 1500.0 } else { 1000.0 };
            let rate = if high[3] { rate * 0.95 } else { rate };
            let mut point = pattern.clone();
            point.key.target = 0;
            point.key.repetition = round;
            point.key.test = "T611".into();
            point.reasons.clear();
            point.figures.rows_per_s = None;
            point.figures.operations_per_s = Some(rate * wobble);
            run.points.push(point);
        }
        run.points_planned = 4;
        run
    };
    design.rows().iter().enumerate().map(of_row).collect()
}

#[test]
fn a_screening_reads_from_configurations_to_verdicts() {
    let runs = runs();
    let runs: Vec<&Run> = runs.iter().collect();
    let found = contrasts(Kind::Screening, &runs, &Options::default()).unwrap();
    let shown = Shown {
        width: 110,
        ..Shown::default()
    };
    insta::assert_snapshot!("screening", report::screening(&found, shown));
}

#[test]
fn a_page_of_a_screening_is_of_the_study() {
    let runs = runs();
    let against: Vec<Against<'_>> = runs[1..].iter().map(Against::Run).collect();
    let page = html(&runs[0], &against, &HtmlOptions::default());
    let section = page.split("<section id=\"screening\"").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    insta::assert_snapshot!("screening_section", section.replace("</tr>", "</tr>\n"));
    for said in [
        "<title>dbdyno · try</title>",
        "target.synchronous_commit: &#60;2&#62; is better than 1",
        "ratio second / first value",
        "The rest of this page shows the run “try-a”",
    ] {
        assert!(page.contains(said), "{said}");
    }
    // No side appears as a separate comparison.
    assert!(!page.contains("Compared with run") && !page.contains("id=\"differences\""));
    // By a band within which everything lies.
    let wide = HtmlOptions {
        terms: verdict::compare::Terms {
            band: stats::compare::Band::of(9.0),
            ..verdict::compare::Terms::default()
        },
        ..HtmlOptions::default()
    };
    let equivalent = html(&runs[0], &against, &wide);
    assert!(page.contains(" is better than ") && !equivalent.contains(" is better than "));
    let some = html(&runs[0], &against[..3], &HtmlOptions::default());
    assert!(some.contains("No screening: the runs try-a, try-b, try-c, try-d are not all"));
}

#[test]
fn the_grade_is_that_of_all_configurations() {
    let mut runs = runs();
    let page = |runs: &[Run]| {
        let against: Vec<Against<'_>> = runs[1..].iter().map(Against::Run).collect();
        html(&runs[0], &against, &HtmlOptions::default())
    };
    assert!(!page(&runs).contains("Do not use the figures"));
    runs[7].points[0].reasons.push(archive::Remark::NoIo);
    let failed = page(&runs);
    assert!(failed.contains("Do not use the figures: run try-h: 1 of 4 points failed a check"));
    runs[7].points.remove(0);
    runs[7].state = archive::RunState::Interrupted;
    let expected = "run try-h: the run is incomplete (3 of 4 points)";
    assert!(page(&runs).contains(expected));
}
