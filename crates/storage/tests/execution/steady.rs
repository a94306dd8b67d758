use storage::execution::{Completion, Decides};

use super::{Onlooker, Workspace};
use testing::Says;

/// A rate far below any limit, evenly spaced, so that the response time is judged.
const RD: &str = "rd=rd1,sd=sd1,iorate=300,distribution=deterministic,elapsed=2";

#[test]
fn everything_is_written_over_before_the_first_run() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    let text = format!("precondition=2\nsd=sd1,lun=$dir/f,size=1m\n{RD}\n");
    let played = place.play(&text);
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let done = &played.onlooker.done;
    let message: Vec<(&str, &str)> = done
        .iter()
        .map(|done| (done.run.name.as_str(), done.run.loops.as_str()))
        .collect();
    assert_eq!(
        message,
        [
            ("SD_precondition", "time=1"),
            ("SD_precondition", "time=2"),
            ("rd1", "")
        ]
    );
    let bytes = std::fs::read(place.path("f")).unwrap();
    assert_eq!(bytes.len(), 1 << 20);
    let holes = bytes
        .chunks(4096)
        .filter(|block| block.iter().all(|b| *b == 0));
    assert_eq!(holes.count(), 0, "no block is left as it was");
    place.page("summary").says("Starting RD=SD_precondition");
}

#[test]
fn rounds_end_with_a_verdict_and_the_last_of_them_count() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    let played = place.mock(&format!("sd=sd1,lun=$dir/f\n{RD},steady=6\n"));
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let [done] = played.onlooker.done.as_slice() else {
        panic!("one run of the list")
    };
    let steadiness = done.steadiness.as_ref().unwrap();
    assert_eq!(steadiness.values.len(), 5, "{steadiness:?}");
    assert!(steadiness.is_steady(), "{steadiness:?}");
    assert_eq!(steadiness.unit, "ms per I/O");
    // The second of each of five rounds has 300 I/Os.
    assert_eq!((done.operations, done.rate), (1500, 300.0));
    let summary = place.page("summary");
    assert!(summary.contains("For loops: round=5"), "{summary}");
    assert!(summary.contains(&done.findings[0]), "{summary}");
}

/// Both runs take turns, the one with the smaller writes is judged, and the last five rounds of each count.
#[test]
fn a_matrix_is_gone_through_in_rounds_and_judged_by_one_run() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    let text = format!("wd=wd1,sd=sd1,rdpct=0\n{RD},xf=(8k,4k),steady=(matrix,5)\n");
    let text = text.replace("rd1,sd=sd1", "rd1,wd=wd1");
    let played = place.mock(&format!("sd=sd1,lun=$dir/f\n{text}"));
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let [large, small] = played.onlooker.done.as_slice() else {
        panic!("two runs of the list")
    };
    for (done, loops, decides) in [
        (large, "xfersize=8k", Decides::Not),
        (small, "xfersize=4k", Decides::ForAll),
    ] {
        let steadiness = done.steadiness.as_ref().unwrap();
        assert_eq!(done.run.loops.as_str(), loops);
        assert_eq!(steadiness.decides, decides);
        assert_eq!(steadiness.values.len(), 5);
        assert!(
            done.findings[0].starts_with(&format!("rd1 {loops}")),
            "{:?}",
            done.findings
        );
        // The second of each of five rounds has 300 I/Os.
        assert_eq!(done.operations, 1500);
    }
    let summary = place.page("summary");
    let begun: Vec<&str> = summary
        .lines()
        .filter(|line| line.contains("Starting RD="))
        .filter_map(|line| line.split_once("For loops: ")?.1.split_once(';'))
        .map(|(loops, _)| loops)
        .collect();
    let expected =
        (1..=5).flat_map(|round| ["8k", "4k"].map(|size| format!("xfersize={size} round={round}")));
    let expected: Vec<String> = expected.collect();
    assert_eq!(begun, expected, "{summary}");
    summary.says("which decides for the matrix");
}

/// Runs that began are stored, the others have no figures, and the list continues.
#[test]
fn an_interruption_in_a_matrix_keeps_what_was_measured() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    let text = format!(
        "monitor=$dir/m\nsd=sd1,lun=$dir/f\n{RD},xf=(8k,4k),steady=matrix\nrd=rd2,sd=sd1,iorate=100,elapsed=2\n"
    );
    let onlooker = Onlooker {
        monitor: Some((place.path("m"), "end_rd")),
        ..Onlooker::default()
    };
    let played = place.mock_before(&text, onlooker);
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let done = &played.onlooker.done;
    let codes: Vec<(&str, &str)> = done
        .iter()
        .map(|done| (done.run.name.as_str(), done.run.loops.as_str()))
        .collect();
    assert_eq!(codes, [("rd1", "xfersize=8k"), ("rd2", "")]);
}

#[test]
fn an_interruption_ends_the_rounds_without_a_verdict() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    let text = format!("monitor=$dir/m\nsd=sd1,lun=$dir/f\n{RD},steady=yes\n");
    let onlooker = Onlooker {
        monitor: Some((place.path("m"), "end_rd")),
        ..Onlooker::default()
    };
    let played = place.mock_before(&text, onlooker);
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let done = &played.onlooker.done[0];
    let steadiness = done.steadiness.as_ref().unwrap();
    assert!(!steadiness.is_steady() && steadiness.window.is_none());
    assert!(steadiness.values.len() < 5, "{steadiness:?}");
}
