//! The page in a real browser: wide, narrow, dark, printed, and without a network.
//!
//! With `REPORT_PICTURES=FOLDER` the pictures are stored there.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::chromium::Chromium;
use report::{Against, HtmlOptions, html};

/// Blue of the first target, in light and in dark.
const BLUE_LIGHT: [u8; 3] = [0x00, 0x72, 0xb2];
const BLUE_DARK: [u8; 3] = [0x56, 0xb4, 0xe9];

fn page() -> String {
    beside_published(&crate::fixture::with_devices(crate::fixture::run()))
}

fn beside_published(run: &archive::Run) -> String {
    let reference = archive::reference::load("dl980-violin").unwrap();
    html(
        run,
        &[Against::Reference(&reference)],
        &HtmlOptions::default(),
    )
}

#[test]
fn wide_and_dark_pages_show_their_charts() {
    let browser = Chromium::new();
    let page = browser.file("wide.html", &page());

    let light = browser.picture(&page, (1280, 12_000), &[]);
    assert_eq!((light.width, light.height), (1280, 12_000));
    // A pixel to the right of the side bar.
    let paper = light.width - 1;
    assert_eq!(light.pixels[paper], [255, 255, 255], "white paper");
    assert!(light.inked() > 0.03, "blank: {}", light.inked());
    assert!(
        light.count(BLUE_LIGHT) > 500,
        "no chart of the first target"
    );

    let dark = browser.picture(
        &page,
        (1280, 12_000),
        &["--blink-settings=preferredColorScheme=0"],
    );
    let paper = dark.pixels[paper];
    assert!(paper.iter().all(|c| *c < 0x30), "not dark: {paper:?}");
    assert!(dark.count(BLUE_DARK) > 500, "no chart of the first target");
    assert_eq!(dark.count([255, 255, 255]), 0, "something stayed white");
}

#[test]
fn a_narrow_page_needs_no_sideways_scrolling() {
    let browser = Chromium::new();
    let page = page();
    // A window cannot be narrower than 500 px, a frame can.
    let frame = |name: &str| {
        format!(
            "<!DOCTYPE html><title>-</title><body style=\"margin:0;background:#fff\">\
             <script>onmessage = e => document.title = e.data</script>\
             <iframe src=\"{name}\" width=400 height=9000 style=\"border:0\"></iframe>"
        )
    };
    let missing_px = |extra: &str| -> i64 {
        let tell = "<script>const e = document.documentElement;\
            parent.postMessage(innerWidth + ' ' + (e.scrollWidth - e.clientWidth), '*')</script>";
        let copy = page.replace("</body>", &format!("{extra}{tell}</body>"));
        browser.file("telling.html", &copy);
        let document = browser.document(&browser.file("frame.html", &frame("telling.html")));
        let title = document.split("<title>").nth(1).unwrap();
        let frame_title = title.split("</title>").next().unwrap();
        let missing = frame_title
            .strip_prefix("400 ")
            .expect("the frame is 400 px wide");
        missing.parse().unwrap()
    };
    assert_eq!(missing_px(""), 0, "the page is wider than 400 px");
    assert!(
        missing_px("<p style=\"width:450px\">x</p>") > 0,
        "the test sees it"
    );

    browser.file("page.html", &page);
    let narrow = browser.file("narrow.html", &frame("page.html"));
    let narrow = browser.picture(&narrow, (500, 9000), &[]);
    assert!(narrow.inked() > 0.03 && narrow.count(BLUE_LIGHT) > 100);
}

#[test]
fn it_prints_on_a4() {
    let browser = Chromium::new();
    let pdf = browser.pdf(&browser.file("print.html", &page()));
    assert!(pdf.starts_with(b"%PDF"));
    let text = String::from_utf8_lossy(&pdf);
    // A4 is 595 × 842 points; the browser's rounding differs.
    let a4 = [
        "/MediaBox [0 0 594.95996 841.91998]",
        "/MediaBox [0 0 595",
        "/MediaBox [0 0 596",
    ];
    assert!(a4.iter().any(|size| text.contains(size)), "not A4");
}

#[test]
fn each_section_of_one_database_is_printed_on_one_sheet() {
    let browser = Chromium::new();
    let mut run = crate::fixture::with_devices(crate::fixture::once());
    run.targets.truncate(1);
    run.points.retain(|point| point.key.target == 0);
    run.points_planned = run.points.len() as u32;
    let page = beside_published(&run);
    let pdf = browser.pdf(&browser.file("print.html", &page));
    let sheets = String::from_utf8_lossy(&pdf)
        .matches("/Type /Page\n")
        .count();
    assert_eq!(sheets, sections_of_a_sheet(&page));
}

/// Sections of the page that begin a new sheet: the parts of the first screen share one, and a component shares it with its first test.
fn sections_of_a_sheet(page: &str) -> usize {
    let starts = page.split("<section ").skip(1);
    let starts: Vec<&str> = starts
        .map(|rest| &rest[..rest.find('>').unwrap()])
        .collect();
    let shares = |id: &str| {
        ["\"answer\"", "\"sure\""]
            .iter()
            .any(|part| id.contains(part))
    };
    let is_test = |start: &str| start.contains("class=\"test\"");
    let of_first = starts.iter().filter(|start| shares(start)).count();
    let first_tests = starts
        .windows(2)
        .filter(|w| !is_test(w[0]) && is_test(w[1]));
    starts.len() - of_first - first_tests.count()
}

#[test]
fn nothing_leaves_the_page() {
    let browser = Chromium::new();
    let page = page();
    let requests = browser.requests(&browser.file("page.html", &page));
    assert!(requests.is_empty(), "{requests:?}");

    // The test can fail: it catches the same page with one external picture.
    let image = "<img src=\"http://127.0.0.1:9/spy.png\"></body>";
    let leaking = browser.file("leaking.html", &page.replace("</body>", image));
    assert_eq!(browser.requests(&leaking), ["http://127.0.0.1:9/spy.png"]);
}
