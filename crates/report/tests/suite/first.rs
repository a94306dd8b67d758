//! The first screen: its statements on a run, a ramp and a comparison, and the measures that the figures support.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use archive::{Bottleneck, DeviceUse, PointKey, Purpose, Resource, Run};
use report::{Against, HtmlOptions, html};

use crate::html::section;

fn answer(run: &Run, against: &[Against<'_>]) -> String {
    let page = html(run, against, &HtmlOptions::default());
    ["verdict", "answer"]
        .map(|id| section(&page, id))
        .join("\n")
}

/// A run of valid points in which one resource limits every level.
fn held_back(mut run: Run, resource: Resource) -> Run {
    run.points.retain(archive::Point::valid);
    for point in &mut run.points {
        point.held_back.bottleneck = Some(Bottleneck {
            resource,
            sentence: format!("{} at its end", resource.name()),
        });
    }
    run
}

#[test]
fn a_run_shows_its_best_figures_next_to_a_reference() {
    let reference = crate::fixture::reference();
    let mut run = held_back(crate::fixture::few(), Resource::LogSync);
    run.targets.truncate(1);
    run.points.retain(|point| point.key.target == 0);
    insta::assert_snapshot!("first_run", answer(&run, &[Against::Reference(&reference)]));
}

/// Every resource has separate advice; one that is not known to be exhausted has none.
#[test]
fn the_advice_follows_the_resource() {
    let mut seen: Vec<String> = Vec::new();
    for resource in Resource::ALL {
        let text = answer(&held_back(crate::fixture::single(), resource), &[]);
        let next = text.split("What to do next\n").nth(1).unwrap();
        let first = next.lines().next().unwrap().to_owned();
        let is_limit = first.contains("at the best level");
        let is_known = !matches!(resource, Resource::None | Resource::Unknown);
        // A driver at its limit measures itself, which is mended first.
        let is_first = is_known && resource != Resource::Driver;
        assert_eq!(is_limit, is_first, "{resource:?}: {first}");
        assert!(!seen.contains(&first) || !is_known, "{resource:?}: {first}");
        seen.push(first);
    }
}

/// CPU used by other programs is no limit of the platform.
#[test]
fn a_crowded_machine_is_to_be_quieted_before_it_is_enlarged() {
    let mut run = held_back(crate::fixture::single(), Resource::Cpu);
    assert!(answer(&run, &[]).contains("Add CPU cores"));
    for point in &mut run.points {
        point.figures.cpu_by_others_pct = Some(80.0);
    }
    let text = answer(&run, &[]);
    assert!(!text.contains("Add CPU cores"), "{text}");
    let first = "What to do next\nMeasure again: stop other programs first";
    assert!(text.contains(first), "{text}");
    // A lock belongs to the database, even with other active programs.
    let mut run = held_back(crate::fixture::single(), Resource::Lock);
    for point in &mut run.points {
        point.figures.cpu_by_others_pct = Some(80.0);
    }
    assert!(answer(&run, &[]).contains("Locks: the limit of"));
}

/// The options of the command that ran it are its own.
#[test]
fn a_parameter_file_is_measured_again_with_its_options() {
    let mut run = held_back(crate::fixture::once(), Resource::None);
    run.targets.truncate(1);
    run.points.retain(|point| point.key.target == 0);
    for point in &mut run.points {
        point.steady = Some(archive::Steady::Trend);
    }
    assert!(answer(&run, &[]).contains("longer (--time)"));
    run.plan_name = archive::OF_PARAMETER_FILES.into();
    run.targets[0].engine = archive::OF_PARAMETER_FILES.into();
    let text = answer(&run, &[]);
    assert!(
        text.contains("longer (-e, or elapsed= in the file)"),
        "{text}"
    );
    let of_plans = ["--time", "--repeat"];
    assert!(
        !of_plans.iter().any(|option| text.contains(option)),
        "{text}"
    );
    let sure = section(&html(&run, &[], &HtmlOptions::default()), "sure");
    assert!(sure.contains("measured once (-l 3 shows it)"), "{sure}");
}

/// An observed server has active clients, and the number of samples is no setting.
#[test]
fn an_observation_is_not_measured_again() {
    let mut run = held_back(crate::fixture::single(), Resource::None);
    for point in &mut run.points {
        point.figures.cpu_by_others_pct = Some(80.0);
    }
    let of_load = ["stop other programs first", "three times (--repeat 3)"];
    let text = answer(&run, &[]);
    assert!(of_load.iter().all(|advice| text.contains(advice)), "{text}");
    for point in &mut run.points {
        point.key.test = PointKey::OBSERVATION.into();
    }
    let text = answer(&run, &[]);
    assert!(
        !of_load.iter().any(|advice| text.contains(advice)),
        "{text}"
    );
    assert!(text.contains("What to do next"), "{text}");
}

/// The location of log and data, and the load of each device, are measured facts.
#[test]
fn devices_that_are_shared_or_hot_are_named() {
    let device = |name: &str, holds: &[Purpose], busy_pct| DeviceUse {
        name: name.to_owned(),
        holds: holds.to_vec(),
        busy_pct: Some(busy_pct),
        ..DeviceUse::default()
    };
    let text = |resource, devices: Vec<DeviceUse>| {
        let mut run = held_back(crate::fixture::single(), resource);
        for point in &mut run.points {
            point.devices = devices.clone();
        }
        answer(&run, &[])
    };
    let (data, log) = (Purpose::Data, Purpose::Log);
    let shared = text(Resource::LogSync, vec![device("sda", &[data, log], 50.0)]);
    assert!(
        shared.contains("Put the WAL on a separate device: it shares sda with the data"),
        "{shared}"
    );
    let apart = vec![device("sda", &[data], 50.0), device("sdb", &[log], 50.0)];
    assert!(text(Resource::LogSync, apart).contains("Put the WAL on a device with faster syncs"));
    let hot = |pct| {
        let devices = [("sda", pct), ("sdb", 20.0), ("sdc", 40.0)];
        let devices = devices.map(|(name, pct)| device(name, &[data], pct));
        text(Resource::Device, devices.to_vec())
    };
    let found = hot(90.0);
    assert!(
        found.contains("sda was busy for 90.0 % of the time and the others for 30.0 %"),
        "{found}"
    );
    assert!(!hot(55.0).contains("Spread the data"));
    // A single device has no others to compare.
    let alone = text(Resource::Device, vec![device("sda", &[data], 99.0)]);
    assert!(!alone.contains("Spread the data"), "{alone}");
}

#[test]
fn a_ramp_says_the_users_that_it_supports_and_draws_both_sides() {
    let mut run = crate::fixture::ramp();
    for point in &mut run.points {
        (point.work.limit_percentile, point.work.limit_response_us) = (Some(95.0), Some(5_000.0));
        point.figures.cpu_pct_avg = Some(10.0 * f64::from(point.key.jobs));
    }
    let mut before = run.clone();
    before.label = "before".to_owned();
    insta::assert_snapshot!("first_ramp", answer(&run, &[]));
    let page = html(&run, &[Against::Run(&before)], &HtmlOptions::default());
    let start = page.find("<section id=\"answer\"").unwrap();
    let answer = &page[start..start + page[start..].find("</section>").unwrap()];
    let charts: Vec<&str> = answer.split("<svg").skip(1).collect();
    assert_eq!(charts.len(), 3, "throughput, response time, processors");
    for chart in charts {
        let chart = &chart[..chart.find("</svg>").unwrap()];
        assert!(
            chart.contains("before · ") && chart.contains(">users</text>"),
            "{chart}"
        );
        // 4 of 8 users are in the middle: an axis of users is linear.
        assert!(
            chart.contains(">217<") || chart.contains("\"217\""),
            "{chart}"
        );
    }
}

/// A setting chosen for a side of a study, or in the URL, needs no advice against it.
#[test]
fn deliberate_settings_get_no_advice() {
    let mut run = held_back(crate::fixture::single(), Resource::None);
    run.inventory.advice = vec![archive::Advice {
        severity: "important".into(),
        decision: "advised_otherwise".into(),
        what: "synchronous_commit".into(),
        found: "off".into(),
        advised: "on".into(),
        ..archive::Advice::default()
    }];
    let is_advised = |run: &Run| answer(run, &[]).contains("Try synchronous_commit: on");
    assert!(is_advised(&run));
    run.targets[0].url = "postgres://h/d?synchronous_commit=off&others=allow".into();
    assert!(!is_advised(&run));
    run.targets[0].url = "postgres://h/d?synchronous_commit_of=off".into();
    assert!(is_advised(&run));
    run.study = Some(archive::StudyPart {
        settings: vec!["target.synchronous_commit=off".into()],
        ..archive::StudyPart::default()
    });
    assert!(!is_advised(&run));
}

fn beside(run: &Run, label: &str) -> Run {
    let mut other = run.clone();
    other.id += 1;
    other.label = label.into();
    other
}

#[test]
fn a_study_of_two_sides_answers_its_question() {
    let mut run = held_back(crate::fixture::few(), Resource::None);
    run.label = "mem-b".into();
    let page_of = |plan: &str, run: &mut Run| {
        run.plan_name = plan.into();
        answer(run, &[Against::Run(&beside(run, "mem-a"))])
    };
    let text = page_of("memory", &mut run);
    let question = "Half of the memory (A, run mem-a) against all of it (B, run mem-b): ";
    assert!(text.contains(question), "{text}");
    assert!(
        text.contains(": A ") && text.contains(", B / A 1.000"),
        "{text}"
    );
    let text = page_of("storage-update", &mut run);
    assert!(text.contains("Before (A, run mem-a) against after (B, run mem-b): "));
    let text = page_of("quick", &mut run);
    assert!(text.contains("Compared with run “mem-a”: "));
}

/// Two sizes of a study are no two sides: rates for other data decide nothing, even with more pairs.
#[test]
fn runs_of_other_sizes_are_not_set_against_each_other() {
    let sized = |run: &mut Run, size: &str| {
        for point in &mut run.points {
            point.work.size = size.into();
        }
    };
    let mut large = held_back(crate::fixture::few(), Resource::None);
    sized(&mut large, "scale 0.1");
    let mut small = beside(&large, "small");
    sized(&mut small, "scale 0.02");
    let text = answer(&large, &[Against::Run(&small)]);
    assert!(
        !text.contains("small") && !text.contains("Measure more pairs"),
        "{text}"
    );
    let page = html(&large, &[Against::Run(&small)], &HtmlOptions::default());
    assert!(page.contains("was measured on data of another size"));
    sized(&mut small, "scale 0.1");
    assert!(answer(&large, &[Against::Run(&small)]).contains("Compared with run “small”"));
}

/// The page of an observation mentions no plan, no load, and no document that the reader lacks.
#[test]
fn an_observation_is_not_spoken_of_as_a_load() {
    let mut run = held_back(crate::fixture::single(), Resource::None);
    for point in &mut run.points {
        point.key.test = PointKey::OBSERVATION.to_owned();
        point.figures.cpu_pct_avg = Some(20.0);
        point.figures.elapsed_s = Some(10.0);
    }
    let page = html(&run, &[], &HtmlOptions::default());
    let screen = answer(&run, &[]);
    assert!(screen.contains(", as observed: "), "{screen}");
    for words in ["at DOP", "measured at degree"] {
        assert!(!screen.contains(words), "{screen}");
    }
    for words in ["set repeat in the plan", "document 00"] {
        assert!(!page.contains(words), "{words}");
    }
}
