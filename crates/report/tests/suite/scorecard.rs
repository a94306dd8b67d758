//! Values of the scorecard, and omitted rows.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use archive::reference::{self, Reference};
use archive::{Point, Remark, Run};
use report::scorecard::{Absence, Cell, Measured, Scorecard, scorecard};
use report::{Against, HtmlOptions, html, terminal};
use stats::Histogram;

fn points_of(run: &mut Run, test: &str, target: u32, change: impl FnMut(&mut Point)) {
    let points = run.points.iter_mut();
    points
        .filter(|p| p.key.test == test && p.key.target == target)
        .for_each(change);
}

fn cell<'c>(card: &'c Scorecard, test: &str, label: &str, column: usize) -> &'c Cell {
    let row = card
        .rows
        .iter()
        .find(|r| r.line.test == test && r.line.label == label);
    &row.unwrap_or_else(|| panic!("{test} {label}")).cells[column]
}

fn value<'c>(card: &'c Scorecard, test: &str, label: &str, column: usize) -> &'c Measured {
    match cell(card, test, label, column) {
        Cell::Value(measured) => measured,
        Cell::Absent { reason, .. } => panic!("{test} {label}: {reason}"),
    }
}

fn page(run: &Run, against: &[Against<'_>]) -> String {
    html(run, against, &HtmlOptions::default())
}

#[test]
fn a_random_read_is_a_row_and_not_the_batch_that_read_it() {
    let mut run = crate::fixture::run();
    points_of(&mut run, "T626", 0, |p| {
        p.figures.operations = Some(16.0);
        p.figures.rows = Some(1024.0);
        p.figures.read_iops = Some(f64::from(p.key.jobs) * 1000.0);
        let mut service = Histogram::new();
        // 64 rows in 3.2 ms per job: 50 µs per read and job; only the batch exceeds the limit of 1 ms.
        let batch_ns = 3_200_000 * u64::from(p.key.jobs);
        (0..16).for_each(|_| service.record_ns(batch_ns));
        p.histograms.service = (&service).into();
    });
    let card = scorecard(&run, &[]);
    let within = value(&card, "T626", "throughput, mean ≤ 1 ms", 0);
    assert_eq!((within.value, within.dop), (8000.0, 8));
    let time = value(&card, "T626", "mean time per read", 0);
    assert!((time.value - 0.4).abs() < 0.001, "{}", time.value);
    let (low, high) = time.range.unwrap();
    assert!((low - 0.4).abs() < 0.001 && (high - 0.4).abs() < 0.001);

    points_of(&mut run, "T626", 0, |p| p.figures.rows = Some(16.0));
    let card = scorecard(&run, &[]);
    assert!(matches!(
        cell(&card, "T626", "throughput, mean ≤ 1 ms", 0),
        Cell::Absent {
            why: Absence::OutOfLimit,
            ..
        }
    ));
}

#[test]
fn a_published_time_of_a_read_is_taken_as_it_is() {
    let card = scorecard(
        &crate::fixture::few(),
        &[Against::Reference(&crate::fixture::reference())],
    );
    let published = value(&card, "T626", "mean time per read", 2);
    assert_eq!((published.value, published.dop), (4.0, 128));
}

#[test]
fn contention_extras_win_nothing_and_are_marked() {
    let mut run = crate::fixture::run();
    let all = scorecard(&run, &[]);
    assert_ne!(value(&all, "T311", "throughput", 1).dop, 1);
    points_of(&mut run, "T311", 1, |p| {
        if p.key.jobs > 1 {
            let why = "one writer".to_owned();
            p.notes.push(Remark::ContentionExtra { why });
        }
    });
    let card = scorecard(&run, &[]);
    assert_eq!(value(&card, "T311", "throughput", 1).dop, 1);
    assert_eq!(value(&card, "T311", "best mean service time", 1).dop, 1);

    let page = page(&run, &[]);
    let section = &page[page.find("<section id=\"T311\"").unwrap()..];
    let section = &section[..section[1..].find("<section").unwrap()];
    // Each level appears in the table of its own figures and in that of the machine's.
    assert_eq!(section.matches("✓ extra").count(), 6);
    assert_eq!(
        section.matches("(extra)").count(),
        3,
        "in the table of the chart"
    );
    assert!(section.contains("class=\"e\"") && section.contains("A hollow diamond"));
    assert!(!page[..page.find("<section id=\"T311\"").unwrap()].contains("hollow diamond"));
    assert!(section.contains("at DOP 1"), "the summary counts no extra");
    let text = terminal(&run, &[], 120, false);
    assert_eq!(text.matches(" extra 1").count(), 3, "{text}");

    run.points
        .retain(|p| p.key.test != "T311" || p.key.jobs > 1);
    let card = scorecard(&run, &[]);
    assert!(matches!(
        cell(&card, "T311", "throughput", 1),
        Cell::Absent {
            why: Absence::OnlyExtras,
            ..
        }
    ));
}

#[test]
fn unmeasured_tests_share_one_line() {
    let run = crate::fixture::few();
    let card = scorecard(&run, &[]);
    let left_out = card.left_out.clone().unwrap();
    assert!(
        left_out.starts_with("Not in this plan: T141, T132, T133,"),
        "{left_out}"
    );
    assert!(card.rows.iter().all(|r| r.line.test != "T132"));
    assert!(terminal(&run, &[], 200, false).contains(&left_out));
    assert!(page(&run, &[]).contains(&left_out));

    // T332 appears although the first target cannot run it, T141 because it was published.
    assert!(matches!(
        cell(&card, "T332", "one session", 0),
        Cell::Absent {
            why: Absence::MissingCapability,
            ..
        }
    ));
    let reference = crate::fixture::reference();
    let card = scorecard(&run, &[Against::Reference(&reference)]);
    assert_eq!(value(&card, "T141", "speed, one session", 2).value, 2308.0);
    let left_out = card.left_out.unwrap();
    assert!(
        left_out.starts_with("In none of these plans and references: T132,"),
        "{left_out}"
    );
    let stopped = scorecard(&crate::fixture::interrupted(), &[])
        .left_out
        .unwrap();
    assert!(
        stopped.starts_with("Not reached, or in no plan: "),
        "{stopped}"
    );
    // The component tests are one plan; users and queries, which it does not contain, are not missing in it.
    assert_eq!(scorecard(&crate::fixture::run(), &[]).left_out, None);
}

#[test]
fn references_that_publish_none_of_the_metrics_take_no_column() {
    let run = crate::fixture::few();
    let studies: Vec<Reference> = ["r810-flexmem", "dl980-violin", "3par-7450c"]
        .map(|name| reference::load(name).unwrap())
        .into();
    let against: Vec<Against<'_>> = studies.iter().map(Against::Reference).collect();
    let card = scorecard(&run, &against);
    let heads: Vec<&str> = card.columns.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(heads, ["sqlite", "duckdb", &studies[1].title]);
    assert!(card.rows.iter().all(|r| r.cells.len() == 3));
    let silent = card.silent.unwrap();
    let both = format!("metrics: {}; {}.", studies[0].title, studies[2].title);
    assert!(silent.ends_with(&both), "{silent}");
    assert!(page(&run, &against).contains("Not shown, because they publish none of these"));
    assert!(terminal(&run, &studies, 300, false).contains(&silent));
    assert_eq!(scorecard(&run, &against[1..2]).silent, None);
}

#[test]
fn another_language_runtime_is_said_to_be_one() {
    let mut run = crate::fixture::run();
    let dl980: Reference = reference::load("dl980-violin").unwrap();
    assert!(
        scorecard(&run, &[Against::Reference(&dl980)]).rows[0]
            .caution
            .is_none()
    );
    for target in 0..2 {
        points_of(&mut run, "T132", target, |p| {
            p.notes = vec![Remark::EngineSpecific];
        });
    }
    let caution = |run: &Run, against: &[Against<'_>]| {
        let card = scorecard(run, against);
        let of = |test: &str| {
            let row = card.rows.iter().find(|r| r.line.test == test);
            row.unwrap().caution
        };
        assert_eq!(of("T611"), None);
        of("T132")
    };
    assert!(caution(&run, &[]).unwrap().ends_with("executor."));
    let against = [Against::Reference(&dl980)];
    assert!(
        caution(&run, &against)
            .unwrap()
            .contains("another language runtime")
    );
    let page = page(&run, &against);
    assert_eq!(
        page.matches(" * Published for another language runtime")
            .count(),
        1
    );
    assert!(page.contains(">HP ProLiant DL980 + Violin VMA 3205*<") || page.contains("3205*"));

    run.points.retain(|p| p.key.target == 0);
    run.targets.truncate(1);
    assert_eq!(
        caution(&run, &[]),
        None,
        "one engine is comparable with itself"
    );
    run.targets[0].engine = "Oracle".to_owned();
    assert_eq!(caution(&run, &against), None);
}

#[test]
fn a_published_time_is_named_where_there_is_no_rate() {
    let reference = crate::fixture::reference();
    let card = scorecard(&crate::fixture::run(), &[Against::Reference(&reference)]);
    match cell(&card, "T151", "Fibonacci", 2) {
        Cell::Absent { reason, .. } => assert!(reason.contains("states 15 s"), "{reason}"),
        Cell::Value(_) => panic!("a time is no rate"),
    }
}
