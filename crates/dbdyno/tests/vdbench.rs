//! Parameter files of vdbench, from the command line.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Place, repository};

/// Whatever fails.
const FAILED: i32 = 157;

#[test]
fn the_list_of_the_published_appendix_is_printed() {
    let place = Place::new();
    let data = repository("crates/storage/tests/vdbench");
    let file = data.join("appendix_f.txt").display().to_string();
    let listed = place
        .fine(&["vdbench", "-f", &file, "-s", "dir=/d", "size=1g"])
        .stdout;
    let expected = std::fs::read_to_string(data.join("appendix_f.runs")).unwrap();
    assert_eq!(expected.lines().count(), 31);
    let lines: Vec<&str> = listed.lines().collect();
    for (line, expected) in lines.iter().zip(expected.lines()) {
        assert_eq!(line.strip_prefix("Simulating "), Some(expected));
    }
    assert_eq!(lines[31], "Vdbench simulation completed successfully");
    assert_eq!(lines.len(), 32);
}

#[test]
fn what_is_wrong_ends_with_the_status_that_wrappers_know() {
    let place = Place::new();
    let file = place.file("p.txt", "sd=sd1,lun=f\nwd=wd1,sd=sd1,xf=(4k,50)\n");
    let right = place.file("r.txt", "sd=sd1,lun=f\nrd=rd1,sd=sd1,iorate=max\n");
    for (arguments, said) in [
        (
            vec!["-f", &file, "-s"],
            "p.txt:2: xf=(4k,50): the percentages of sizes add up to 50; they must add up to 100",
        ),
        (vec!["-f", "none.txt"], "none.txt cannot be read"),
        (vec!["-f", &right, "-e", "3", "-i", "2"], "elapsed=3"),
        (vec!["-f", &right, "-q"], "the option -q is not known"),
        (vec![], "no parameter file is named"),
    ] {
        let ended = place.dbdyno(&[&["vdbench"], arguments.as_slice()].concat());
        assert_eq!(ended.status, FAILED, "{arguments:?}: {}", ended.stderr);
        assert!(ended.sentence().contains(said), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
    assert!(!place.path("f").exists(), "nothing was made");
}
