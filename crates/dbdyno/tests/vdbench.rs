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

#[test]
fn a_file_is_carried_out_into_pages_and_the_archive() {
    let place = Place::new();
    let text = "sd=sd1,lun=\"$dir/f.dat\",size=4m,threads=2\nwd=wd1,sd=sd1,rdpct=70\n\
        rd=rd1,wd=wd1,iorate=(200,max),elapsed=2\n";
    let file = place.file("parm.txt", text);
    let directory = format!("dir={}", place.path("").display());
    let ended = place.fine(&["vdbench", "-f", &file, &directory, "-o", "out.d+"]);
    let last = ended.stdout.lines().last().unwrap();
    assert!(
        last.contains("Vdbench execution completed successfully. Output directory: /")
            && last.ends_with("/out.d"),
        "{last}"
    );
    assert!(ended.stdout.contains("Starting RD=SD_format"));
    assert!(
        ended.stderr.contains("out.d/summary.html"),
        "{}",
        ended.stderr
    );
    assert_eq!(
        std::fs::metadata(place.path("f.dat")).unwrap().len(),
        4 << 20
    );
    let parameters = std::fs::read_to_string(place.path("out.d/parmfile.html")).unwrap();
    assert!(parameters.contains("iorate=(200,max)"));

    let exported = place.export("last");
    assert_eq!(exported["run"]["valid"], true, "{exported}");
    let points = common::points(&exported);
    let codes: Vec<&str> = points.iter().filter_map(|p| p["test"].as_str()).collect();
    assert_eq!(codes, ["rd1 iorate=200", "rd1 iorate=max"]);
    let rate = points[0]["operations_per_s"].as_f64().unwrap();
    assert!((100.0..300.0).contains(&rate), "asked for 200, done {rate}");
    let page = place.path("page.html").display().to_string();
    place.fine(&["report", "last", "-o", &page]);
    assert!(std::fs::read_to_string(page).unwrap().contains("rd1"));

    // What was there stays, and the second run gets a folder of its own.
    place.fine(&["vdbench", "-f", &file, &directory, "-o", "out.d+", "-e2"]);
    assert!(place.path("out.d001/totals.html").exists());
}

#[test]
fn a_run_that_fails_is_told_and_kept_as_far_as_it_came() {
    let place = Place::new();
    let text = "formatsds=no\nsd=sd1,lun=a.dat,size=1m\nsd=sd2,lun=none/b.dat,size=1m\n\
        rd=rd1,sd=sd1,iorate=100,elapsed=2\nrd=rd2,sd=sd2,iorate=100,elapsed=2\n";
    let file = place.file("parm.txt", text);
    std::fs::write(place.path("a.dat"), vec![0_u8; 1 << 20]).unwrap();
    let ended = place.dbdyno(&["vdbench", "-f", &file]);
    assert_eq!(ended.status, FAILED, "{}", ended.stderr);
    assert!(ended.sentence().contains("SD sd2"), "{}", ended.stderr);
    let runs = place.fine(&["list", "runs"]).stdout;
    assert!(
        runs.contains("interrupted") && runs.contains("1/2"),
        "{runs}"
    );
}
