//! The lines at the end of a measurement.

use archive::{PointKey, Run, StudyPart};
use report::{Against, HtmlOptions, ending};

fn text(name: &str, run: &Run, against: &[Against<'_>], width: usize) -> String {
    ending(name, run, against, &HtmlOptions::default(), width, false)
}

fn alone() -> Run {
    let mut run = crate::fixture::few();
    run.targets.truncate(1);
    run.points.retain(|point| point.key.target == 0);
    run
}

/// The sides of a study of settings; B has half as much again.
fn sides() -> [Run; 2] {
    let side = |letter: &str, factor: f64| {
        let mut run = alone();
        run.label = format!("cache-{letter}");
        run.study = Some(StudyPart {
            name: "cache".into(),
            side: letter.into(),
            settings: vec![format!("target.cache_mb={}", 8.0 * factor)],
            ..StudyPart::default()
        });
        for point in &mut run.points {
            let rate = &mut point.figures.operations_per_s;
            *rate = rate.map(|rate| rate * factor);
        }
        run
    };
    [side("a", 1.0), side("b", 1.5)]
}

fn observation() -> Run {
    let mut run = crate::fixture::single();
    run.plan_name = "observe".into();
    for point in &mut run.points {
        point.key.test = PointKey::OBSERVATION.into();
        let figures = [
            ("active_sessions_mean", 3.25),
            ("waiting_sessions_mean", 1.5),
            ("operations_per_s", 1234.5),
        ];
        for (name, value) in figures {
            assert!(point.figures.set(name, Some(value)), "{name}");
        }
    }
    run
}

#[test]
fn of_one_database() {
    insta::assert_snapshot!(text("few", &alone(), &[], 80));
}

#[test]
fn of_two_databases() {
    insta::assert_snapshot!(text("few", &crate::fixture::few(), &[], 80));
}

#[test]
fn of_users() {
    insta::assert_snapshot!(text("ramp", &crate::fixture::ramp(), &[], 80));
}

#[test]
fn of_two_sides() {
    let [a, b] = sides();
    insta::assert_snapshot!(text("cache", &b, &[Against::Run(&a)], 80));
}

#[test]
fn of_an_observation() {
    insta::assert_snapshot!(text("monday", &observation(), &[], 80));
}

#[test]
fn it_fits_a_screen() {
    let [a, b] = sides();
    let (few, ramp, observed) = (crate::fixture::few(), crate::fixture::ramp(), observation());
    let against = [Against::Run(&a)];
    let all: [(&Run, &[Against<'_>]); 6] = [
        (&few, &[]),
        (&ramp, &[]),
        (&observed, &[]),
        (&b, &against),
        (&crate::fixture::run(), &[]),
        (&crate::fixture::interrupted(), &[]),
    ];
    for (run, against) in all {
        for (width, lines_max) in [(40, 40), (80, 15), (usize::MAX, 13)] {
            let text = text("a name", run, against, width);
            assert!(text.lines().count() <= lines_max, "{width}: {text}");
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}
