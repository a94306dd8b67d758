//! The page of a real run in a real browser: wide, narrow, dark, printed, and without a network.
//!
//! With `REPORT_PICTURES=FOLDER` the pictures are stored there.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(dead_code, reason = "the report's own tests use the rest")]
#[path = "../../report/tests/suite/chromium/mod.rs"]
mod chromium;
mod common;

use chromium::Chromium;
use common::{TINY, Workspace, need_duckdb, points};

/// One test of every component, so that the page has a chart of each.
const PLAN_TESTS: &str = "[\"T132\", \"T421\", \"T426\", \"T331\"]";

/// Measures three repetitions on both engines and returns the page.
fn page() -> String {
    need_duckdb();
    let workspace = Workspace::new();
    let plan = TINY
        .replace("[\"T132\"]", PLAN_TESTS)
        .replace("jobs = [1]", "jobs = [1, 2]");
    let duckdb = workspace.url("duckdb", "bench.duckdb");
    workspace.measure(&plan, &["--target", &duckdb, "--repeat", "3"]);
    let exported = workspace.export("last");
    let repetitions = points(&exported)
        .iter()
        .map(|p| p["repetition"].as_u64().unwrap());
    assert_eq!(repetitions.max(), Some(3));
    workspace.fine("report last -o r.html");
    workspace.text("r.html")
}

#[test]
fn the_page_of_a_run_can_be_read_everywhere() {
    let browser = Chromium::new();
    let page = page();
    let file = browser.file("run.html", &page);

    let light = browser.picture(&file, (1280, 5000), &[]);
    assert_eq!((light.width, light.height), (1280, 5000));
    assert!(light.inked() > 0.03, "blank: {}", light.inked());
    let paper = light.pixels[0];
    assert!(paper.iter().all(|c| *c > 0xe0), "not light: {paper:?}");

    let dark = browser.picture(
        &file,
        (1280, 5000),
        &["--blink-settings=preferredColorScheme=0"],
    );
    let paper = dark.pixels[0];
    assert!(paper.iter().all(|c| *c < 0x30), "not dark: {paper:?}");
    assert!(dark.inked() > 0.03, "blank: {}", dark.inked());
    assert_eq!(dark.count([255, 255, 255]), 0, "something stayed white");

    let pdf = browser.pdf(&file);
    assert!(pdf.starts_with(b"%PDF"));
    let pages = String::from_utf8_lossy(&pdf)
        .matches("/Type /Page\n")
        .count();
    assert!((3..=40).contains(&pages), "{pages} pages");

    assert_eq!(browser.requests(&file), Vec::<String>::new());
    narrow(&browser, &page);
}

/// At 400 px nothing scrolls sideways. A window cannot be narrower than 500 px, a frame can.
fn narrow(browser: &Chromium, page: &str) {
    let tell = "<script>const e = document.documentElement;\
        parent.postMessage(innerWidth + ' ' + (e.scrollWidth - e.clientWidth), '*')</script>";
    browser.file(
        "telling.html",
        &page.replace("</body>", &format!("{tell}</body>")),
    );
    let frame = browser.file(
        "narrow.html",
        "<!DOCTYPE html><title>-</title><body style=\"margin:0;background:#fff\">\
         <script>onmessage = e => document.title = e.data</script>\
         <iframe src=\"telling.html\" width=400 height=6000 style=\"border:0\"></iframe>",
    );
    let document = browser.document(&frame);
    let title = document.split("<title>").nth(1).unwrap();
    assert_eq!(
        title.split("</title>").next(),
        Some("400 0"),
        "width and what is cut off"
    );
    let picture = browser.picture(&frame, (500, 6000), &[]);
    assert!(picture.inked() > 0.03, "blank: {}", picture.inked());
}
