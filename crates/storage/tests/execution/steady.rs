//! Preconditioning and rounds until steady, on real files.

use storage::execution::Completion;

use super::{Onlooker, Place};

/// A rate far below what any path gives, and evenly spaced: its time is judged, not its rate.
const RD: &str = "rd=rd1,sd=sd1,iorate=300,distribution=deterministic,elapsed=2";

#[test]
fn everything_is_written_over_before_the_first_run() {
    let place = Place::new();
    place.file("f", 1 << 20);
    let text = format!("precondition=2\nsd=sd1,lun=$dir/f,size=1m\n{RD}\n");
    let played = place.play(&text);
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let done = &played.onlooker.done;
    let told: Vec<(&str, &str)> = done
        .iter()
        .map(|done| (done.run.name.as_str(), done.run.loops.as_str()))
        .collect();
    assert_eq!(
        told,
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
    assert!(
        place
            .page("summary")
            .contains("Starting RD=SD_precondition")
    );
}

#[test]
fn rounds_end_with_a_verdict_and_the_last_of_them_count() {
    let place = Place::new();
    place.file("f", 1 << 20);
    let played = place.play(&format!("sd=sd1,lun=$dir/f\n{RD},steady=6\n"));
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let [done] = played.onlooker.done.as_slice() else {
        panic!("one run of the list")
    };
    let steadiness = done.steadiness.as_ref().unwrap();
    let rounds = steadiness.values.len();
    assert!((5..=6).contains(&rounds), "{steadiness}");
    assert!(steadiness.is_steady() || rounds == 6, "{steadiness}");
    assert_eq!(steadiness.unit, "ms an I/O");
    // The second of each of five rounds, 300 I/Os each, whatever came before.
    assert!(
        (1200..=1800).contains(&done.operations),
        "{}",
        done.operations
    );
    assert!((240.0..360.0).contains(&done.rate), "{}", done.rate);
    let summary = place.page("summary");
    assert!(summary.contains("For loops: round=5"), "{summary}");
    assert!(summary.contains(&steadiness.to_string()), "{summary}");
}

#[test]
fn an_interruption_ends_the_rounds_without_a_verdict() {
    let place = Place::new();
    place.file("f", 1 << 20);
    let text = format!("monitor=$dir/m\nsd=sd1,lun=$dir/f\n{RD},steady=yes\n");
    let onlooker = Onlooker {
        monitor: Some((place.path("m"), "end_rd")),
        ..Onlooker::default()
    };
    let played = place.play_before(&text, onlooker);
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let done = &played.onlooker.done[0];
    let steadiness = done.steadiness.as_ref().unwrap();
    assert!(!steadiness.is_steady() && steadiness.window.is_none());
    assert!(steadiness.values.len() < 5, "{steadiness}");
}
