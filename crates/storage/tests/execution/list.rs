use std::time::{Duration, SystemTime};

use storage::execution::{Completion, ExecutionError};
use storage::language::simulation;
use storage::run::{Rate, curve_rate_iops};

use super::{Onlooker, Workspace};
use testing::Says;

const TWO_RUNS: &str =
    "sd=sd1,lun=$dir/f\nwd=wd1,sd=sd1,rdpct=50\nrd=rd1,wd=wd1,iorate=(300,200),elapsed=2\n";

#[test]
fn the_third_example_is_done_as_it_is_listed() {
    let text = include_str!("../vdbench/parm3.txt");
    let text = text
        .replace("/data/", "$dir/")
        .replace("openflags=o_direct,", "")
        .replace("64m", "8m");
    let text = text
        .replace("elapsed=4", "elapsed=2")
        .replace("elapsed=3", "elapsed=2");
    let place = Workspace::new();
    let played = place.play(&text);
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let names: Vec<&str> = played
        .onlooker
        .done
        .iter()
        .map(|done| done.run.name.as_str())
        .collect();
    assert_eq!(names, ["SD_format", "rd1", "rd2_sd1", "rd2_sd2", "rd3"]);
    for name in ["a.dat", "b.dat"] {
        assert_eq!(std::fs::metadata(place.path(name)).unwrap().len(), 8 << 20);
    }
    let listed = simulation(&place.script(&text).runs);
    for line in listed
        .lines()
        .filter_map(|line| line.strip_prefix("Simulating "))
    {
        assert!(
            place.page("summary").contains(&format!("Starting {line}")),
            "{line}"
        );
    }
    assert!(played.onlooker.shown.ends_with(&format!(
        "Vdbench execution completed successfully. Output directory: {}\n",
        place.path("out").display()
    )));
}

#[test]
fn a_curve_goes_on_from_what_its_first_run_reached() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    let text = "sd=sd1,lun=$dir/f,threads=1\nrd=rd1,sd=sd1,iorate=curve,curve=(10),elapsed=2\nrd=rd2,sd=sd1,iorate=50%,elapsed=2\n";
    let done = place.mock(text).onlooker.done;
    let rate = |index: usize| match done[index].run.rate {
        Rate::Fixed { iops } => iops,
        ref other => panic!("{other:?}"),
    };
    assert_eq!(rate(1), curve_rate_iops(done[0].rate, 10.0));
    assert!((rate(2) - (done[1].rate / 2.0).max(1.0)).abs() < 1e-6);
}

#[test]
fn the_list_is_done_as_often_as_requested() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    let played = place.mock(&format!("loop=2\n{TWO_RUNS}"));
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let done: Vec<(u32, &str)> = played
        .onlooker
        .done
        .iter()
        .map(|done| (done.repetition, done.run.loops.as_str()))
        .collect();
    assert_eq!(
        done,
        [
            (1, "iorate=300"),
            (1, "iorate=200"),
            (2, "iorate=300"),
            (2, "iorate=200")
        ]
    );
}

#[test]
fn a_response_time_or_the_monitor_file_ends_the_list() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    let slow = place.mock(&TWO_RUNS.replace("elapsed=2", "elapsed=2,stopcurve=0.0000001"));
    assert_eq!(slow.ended.unwrap(), Completion::ResponseTime);
    assert_eq!(slow.onlooker.done.len(), 1);

    let text = format!(
        "monitor=$dir/m\n{}",
        TWO_RUNS.replace("elapsed=2", "elapsed=60")
    );
    let ended = place.mock_before(
        &text,
        Onlooker {
            monitor: Some((place.path("m"), "end_vdbench")),
            ..Onlooker::default()
        },
    );
    assert_eq!(ended.ended.unwrap(), Completion::Monitor);
    assert_eq!(ended.onlooker.done.len(), 1);
    // After the first interval only its last I/Os complete.
    let summary = place.page("summary");
    assert!(!summary.contains("           3 "), "{summary}");
}

#[test]
fn a_monitor_file_of_before_ends_nothing() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    std::fs::write(place.path("m"), "end_vdbench").unwrap();
    let monitor = std::fs::File::options().write(true).open(place.path("m"));
    let yesterday = SystemTime::now() - Duration::from_secs(86_400);
    monitor.unwrap().set_modified(yesterday).unwrap();
    let played = place.mock(&format!("monitor=$dir/m\n{TWO_RUNS}"));
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    assert_eq!(played.onlooker.done.len(), 2);
}

#[test]
fn failures_are_on_the_pages() {
    let place = Workspace::new();
    let absent = place.play(&format!("formatsds=no\n{TWO_RUNS}"));
    let error = absent.ended.unwrap_err();
    assert!(
        matches!(error, ExecutionError::Engine(_)) && error.to_string().contains("SD sd1"),
        "{error}"
    );
    place
        .page("summary")
        .says("Vdbench execution ended: SD sd1");
    assert!(!place.page("status").contains("Vdbench complete"));
    assert!(!place.path("f").exists(), "nothing is made");
}

#[test]
fn missed_shares_end_the_list_on_request() {
    let place = Workspace::new();
    place.file("f", 1 << 20);
    // Two I/Os per second cannot be shared as 50.5 to 49.5.
    let text = "abort_failed_skew=0.0001\nsd=sd1,lun=$dir/f\nwd=wd1,sd=sd1,skew=50.5\nwd=wd2,sd=sd1\nrd=rd1,wd=*,iorate=30,elapsed=2\n";
    let error = place.mock(text).ended.unwrap_err().to_string();
    error.says_all(&["is off by", "abort_failed_skew="]);
}

/// A corrupted block is reported while the run continues, so that the run can end long before its ten minutes are
/// over.
#[test]
fn a_corrupted_block_is_reported_at_once() {
    let text = "monitor=$dir/m\nvalidate=yes\ndata_errors=1000000\nsd=sd1,lun=$dir/f,size=1m\nwd=fill,sd=sd1,rdpct=0,seekpct=eof\nwd=look,sd=sd1\n\
        rd=rd1,wd=fill,iorate=max,elapsed=20\nrd=rd2,wd=look,iorate=2000,elapsed=600\n";
    let place = Workspace::new();
    place.file("f", 1 << 20);
    let onlooker = Onlooker {
        spoiled: Some(place.path("f")),
        monitor: Some((place.path("m"), "end_vdbench")),
        monitor_at: "found a corrupted block",
        ..Onlooker::default()
    };
    let played = place.play_before(text, onlooker);
    let message = "SD sd1: read of 4096 bytes at offset 20480";
    let shown = &played.onlooker.shown;
    let line = shown.lines().find(|line| line.contains(message)).unwrap();
    assert!(
        line.as_bytes()[2] == b':' && line.contains("byte 100"),
        "{line}"
    );
    let last = shown.rfind("avg_").unwrap();
    assert!(
        shown.find(message).unwrap() < last,
        "before the end of its run"
    );
    let errors = place.page("errorlog");
    assert_eq!(errors.matches(message).count(), 1, "{errors}");
    assert!(errors.contains(line), "{errors}");
    assert!(played.ended.is_err());
}

#[test]
fn a_block_that_a_stranger_wrote_is_found_by_the_next_run() {
    let text = "validate=yes\nsd=sd1,lun=$dir/f,size=1m\nwd=fill,sd=sd1,rdpct=0,seekpct=eof\nwd=look,sd=sd1,seekpct=eof\n\
        rd=rd1,wd=fill,iorate=max,elapsed=20\nrd=rd2,wd=look,iorate=max,elapsed=20\n";
    let place = Workspace::new();
    let whole = place.play(text);
    assert_eq!(whole.ended.unwrap(), Completion::Whole);
    let spoiled = Some(place.path("f"));
    let onlooker = Onlooker {
        spoiled,
        ..Onlooker::default()
    };
    let found = place.play_before(text, onlooker);
    let error = found.ended.unwrap_err().to_string();
    error.says_all(&["the run rd2 failed", "20480"]);
    place.page("errorlog").says("SD sd1");
}
