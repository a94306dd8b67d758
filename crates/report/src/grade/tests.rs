//! A run for each reason of a grade.

use super::*;
use archive::{Bottleneck, Component, PointKey, RightsMissing, StudyPart, TargetRecord, Unseen};

/// Three repetitions of a test on a quiet machine, within 2 %.
fn quiet() -> Run {
    let target = TargetRecord {
        name: "pg".into(),
        url: "postgres://me@db/test".into(),
        ..TargetRecord::default()
    };
    let points = (1..).zip([100.0, 101.0, 98.5]).map(|(repetition, rate)| {
        let key = PointKey {
            repetition,
            ..PointKey::of("T611", 4)
        };
        let mut point = Point::blank(key, "Primary-key access".into(), Component::Server);
        point.figures.operations_per_s = Some(rate);
        point.figures.elapsed_s = Some(2.0);
        point.figures.cpu_by_others_pct = Some(1.0);
        point.steady = Some(Steady::Yes);
        point
    });
    Run {
        state: RunState::Complete,
        targets: vec![target],
        points: points.collect(),
        points_planned: 3,
        ..Run::default()
    }
}

fn graded(change: impl Fn(&mut Run)) -> (Grade, String) {
    let mut run = quiet();
    change(&mut run);
    let graded = grade(&run, &[]);
    assert_eq!(graded.reasons.is_empty(), graded.value == Grade::GoodToUse);
    (graded.value, graded.sentence)
}

fn of_each(change: impl Fn(&mut Point)) -> (Grade, String) {
    graded(|run| run.points.iter_mut().for_each(&change))
}

fn indicative(said: (Grade, String), why: &str) {
    assert_eq!(
        said,
        (
            Grade::Indicative,
            format!("The figures are indicative, an order of magnitude: {why}.")
        )
    );
}

fn unusable(said: (Grade, String), why: &str) {
    assert_eq!(
        said,
        (Grade::DoNotUse, format!("Do not use the figures: {why}."))
    );
}

#[test]
fn a_quiet_repeated_run_is_good_to_use() {
    let good = "The figures are good to use: repeated three times, within 2 %.";
    assert_eq!(graded(|_| ()), (Grade::GoodToUse, good.to_owned()));
}

#[test]
fn figures_of_a_run_that_is_not_whole_are_not_used() {
    let gone = Remark::Text {
        text: "12 points are gone".into(),
    };
    let altered = graded(|run| run.reasons = vec![gone.clone()]);
    unusable(
        altered,
        "the record of the run cannot be trusted (12 points are gone)",
    );
    let stopped = graded(|run| {
        (run.state, run.points_planned) = (RunState::Interrupted, 9);
    });
    unusable(stopped, "the run is incomplete (3 of 9 points)");
    unusable(graded(|run| run.points.clear()), "nothing was measured");
    let failed = graded(|run| {
        run.points[1].reasons = vec![Remark::Text {
            text: "lost rows".into(),
        }]
    });
    unusable(failed, "1 of 3 points failed a check (T611: lost rows)");
}

#[test]
fn a_saturated_driver_measures_itself() {
    let driver = |point: &mut Point| {
        point.held_back.bottleneck = Some(Bottleneck {
            resource: Resource::Driver,
            sentence: String::new(),
        });
    };
    let why = "the driver was the limit of Primary-key access (T611)";
    unusable(of_each(driver), why);
    let allowed = |point: &mut Point| {
        point.notes = vec![Remark::DriverTooSlow {
            own_pct: 40.0,
            allowed: true,
        }];
    };
    unusable(of_each(allowed), why);
}

#[test]
fn other_programs_spoil_the_figures_or_cast_doubt() {
    let others = |pct: f64| of_each(move |point| point.figures.cpu_by_others_pct = Some(pct));
    unusable(
        others(26.0),
        "other programs used 26 % of the CPU in all 3 points",
    );
    indicative(
        others(24.0),
        "other programs used the machine during the only main figure",
    );
    assert_eq!(others(4.9).0, Grade::GoodToUse);
    let io = |mb_per_s: f64| {
        of_each(move |point| {
            let figures = &mut point.figures;
            (figures.read_mb_per_s, figures.write_mb_per_s) = (Some(100.0), Some(0.0));
            (
                figures.read_by_others_mb_per_s,
                figures.write_by_others_mb_per_s,
            ) = (Some(mb_per_s), Some(0.0));
        })
    };
    unusable(
        io(51.0),
        "other programs used 51 % of the disk's bandwidth in all 3 points",
    );
    assert_eq!(io(11.0).0, Grade::Indicative);
    assert_eq!(io(9.0).0, Grade::GoodToUse);
    // The median of three withstands one disturbed repetition.
    let one = graded(|run| run.points[0].figures.cpu_by_others_pct = Some(90.0));
    assert_eq!(one.0, Grade::GoodToUse);
}

#[test]
fn figures_are_repeated_and_close_together() {
    let keep = |n: usize| graded(move |run| run.points.truncate(n));
    indicative(keep(1), "measured once");
    indicative(keep(2), "measured only twice");
    let apart = |rate| graded(move |run| run.points[0].figures.operations_per_s = Some(rate));
    let far = "the only main figure varied by more than 5 % between repetitions (most: Primary-key access (T611), 5.10 %)";
    indicative(
        graded(|run| {
            for (point, rate) in run.points.iter_mut().zip([100.0, 105.1, 100.0]) {
                point.figures.operations_per_s = Some(rate);
            }
        }),
        far,
    );
    assert_eq!(apart(103.0).0, Grade::GoodToUse);
    // The interval of a study says what its repetitions are worth.
    let of_study = graded(|run| {
        run.points.truncate(1);
        run.study = Some(StudyPart::default());
    });
    assert_eq!(of_study.0, Grade::GoodToUse);
    let unseen = graded(|run| {
        run.study = Some(StudyPart::default());
        run.points
            .iter_mut()
            .for_each(|point| point.figures.cpu_by_others_pct = None);
    });
    indicative(
        unseen,
        "nothing shows how much of the machine other programs used",
    );
}

/// Ten repeated tests of one target, of which so many vary.
fn of_ten(varying: usize) -> (Grade, String) {
    graded(|run| {
        let points = (0..10).flat_map(|number| {
            run.points.iter().cloned().map(move |mut point| {
                point.key.test = format!("T90{number}");
                if number < varying && point.key.repetition == 1 {
                    point.figures.operations_per_s = Some(150.0);
                }
                point
            })
        });
        run.points = points.collect();
        run.points_planned = run.points.len() as u32;
    })
}

#[test]
fn one_figure_in_ten_may_vary_and_is_named() {
    let (one, two) = (of_ten(1), of_ten(2));
    assert_eq!(one.0, Grade::GoodToUse);
    assert!(
        one.1.contains("within 2 %, except ") && one.1.contains("T900"),
        "{}",
        one.1
    );
    assert_eq!(two.0, Grade::Indicative);
    assert!(
        two.1
            .contains("2 of 10 main figures varied by more than 5 %"),
        "{}",
        two.1
    );
}

#[test]
fn figures_are_steady_and_long_enough() {
    let steady = |found| of_each(move |point| point.steady = Some(found));
    indicative(
        steady(Steady::Trend),
        "throughput rose or fell in the only main figure",
    );
    // The repetitions agree, so that the scatter within them has no weight.
    assert_eq!(steady(Steady::No).0, Grade::GoodToUse);
    let once = graded(|run| {
        run.points.truncate(1);
        run.points[0].steady = Some(Steady::No);
    });
    let why = "measured once; throughput was not steady in the only main figure";
    indicative(once, why);
    let short = |seconds: Option<f64>| {
        of_each(move |point| {
            point.figures.elapsed_s = Some(0.9);
            point.work.seconds = seconds;
        })
    };
    indicative(
        short(Some(0.9)),
        "the only main figure measured for less than a second",
    );
    assert_eq!(short(None).0, Grade::GoodToUse, "a fixed amount of work");
}

#[test]
fn reads_that_a_cache_answered_are_no_figure_of_the_device() {
    let of_storage = |cached: usize| {
        let mut run = quiet();
        for (at, point) in run.points.iter_mut().enumerate() {
            (point.key.test, point.component) = ("T426".into(), Component::Storage);
            point.figures.read_mb_per_s = Some(100.0);
            if at < cached {
                point.notes = vec![Remark::ServedFromCache {
                    read_mb: 1.0,
                    expected_mb: 100.0,
                }];
            }
        }
        let groups = level::tests(&run, scorecard::rank);
        let has_peak = groups[0].curves[0].peak("read_mb_per_s").is_some();
        (main_figures(&run, &groups).len(), has_peak)
    };
    assert_eq!(of_storage(1), (1, true));
    assert_eq!(of_storage(2), (0, false));
}

#[test]
fn a_temporary_server_has_the_settings_of_its_user_or_is_indicative() {
    let url = |url: &'static str| graded(move |run| run.targets[0].url = url.into());
    indicative(
        url("postgres+local:"),
        "pg is a temporary server with dbdyno's settings, not yours",
    );
    assert_eq!(
        url("postgres+local:?shared_buffers=8GB").0,
        Grade::GoodToUse
    );
}

#[test]
fn an_observation_and_a_parameter_file_are_measured_once() {
    let observed = |seconds: f64, hides: bool| {
        graded(move |run| {
            run.points.truncate(1);
            let point = &mut run.points[0];
            point.key.test = PointKey::OBSERVATION.into();
            point.figures.elapsed_s = Some(seconds);
            // Its own clients are other programs.
            point.figures.cpu_by_others_pct = Some(90.0);
            run.targets[0].rights_missing = hides.then(|| RightsMissing {
                unseen: vec![Unseen::OthersAtWork],
                grant: String::new(),
            });
        })
    };
    assert_eq!(observed(600.0, false).0, Grade::GoodToUse);
    indicative(
        observed(10.0, false),
        "it lasted 10.0 s, less than a minute",
    );
    indicative(
        observed(600.0, true),
        "other sessions on pg are hidden from its user",
    );
    let file = |seconds: f64| {
        graded(move |run| {
            run.points.truncate(1);
            run.points[0].figures.elapsed_s = Some(seconds);
            run.plan_name = archive::OF_PARAMETER_FILES.into();
            run.targets[0].engine = archive::OF_PARAMETER_FILES.into();
        })
    };
    assert_eq!(file(60.0).0, Grade::GoodToUse);
    assert_eq!(file(10.0).0, Grade::Indicative);
}

#[test]
fn a_study_is_as_good_as_its_worst_side() {
    let mut other = quiet();
    other.label = "before".into();
    other.state = RunState::Interrupted;
    other.points_planned = 6;
    let graded = grade(&quiet(), &[&other]);
    let why = "Do not use the figures: run before: the run is incomplete (3 of 6 points).";
    assert_eq!(
        (graded.value, graded.sentence.as_str()),
        (Grade::DoNotUse, why)
    );
}
