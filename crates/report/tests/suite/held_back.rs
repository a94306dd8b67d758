//! Limits of a test, on page and terminal.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use archive::{BackgroundEvent, Bottleneck, HeldBack, Resource, Run, WaitHistogram};

fn judged() -> Run {
    let mut run = crate::fixture::run();
    for point in &mut run.points {
        let (resource, sentence) = match point.key.jobs {
            1 => (
                Resource::None,
                "Nothing is saturated: processors 31 % busy.",
            ),
            _ => (Resource::Cpu, "CPU-bound: processors 99 % busy."),
        };
        point.held_back = HeldBack {
            bottleneck: Some(Bottleneck {
                resource,
                sentence: format!("{sentence} <{}>", point.key.jobs),
            }),
            background_events: vec![BackgroundEvent {
                process: "log".into(),
                event: "log syncs".into(),
                count: Some(400),
                time_s: Some(0.5),
                ..BackgroundEvent::default()
            }],
            wait_histograms: vec![WaitHistogram::unknown("log sync", "nobody tells")],
        };
    }
    run
}

#[test]
fn neighbours_with_the_same_limit_share_a_sentence() {
    let text = report::terminal(&judged(), &[], 120, false);
    let lines: Vec<&str> = text
        .lines()
        .filter(|l| l.contains("Nothing is saturated"))
        .collect();
    assert!(!lines.is_empty());
    assert!(
        (lines.iter()).any(|line| line.starts_with("1 session: Nothing is saturated")),
        "{lines:?}"
    );
    let stretch = text
        .lines()
        .find(|l| l.starts_with("2 sessions to "))
        .unwrap();
    assert!(stretch.contains("CPU-bound"), "{stretch}");
}

#[test]
fn the_page_has_sentences_background_events_and_reasons() {
    let run = judged();
    let page = report::html(&run, &[], &report::HtmlOptions::default());
    for part in [
        "Bottleneck",
        "Nothing is saturated: processors 31 % busy. &lt;1&gt;",
        "Background events",
        "log syncs</td><td>400</td><td>0.500</td><td>1.25</td>",
        "– (nobody tells)",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
}

#[test]
fn a_run_without_judgement_has_no_sentences() {
    let page = report::html(&crate::fixture::run(), &[], &report::HtmlOptions::default());
    assert!(!page.contains("<h4>Bottleneck"));
}
