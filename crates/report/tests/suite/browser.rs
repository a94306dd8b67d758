//! The page in a real browser: wide, narrow, dark, printed, and alone in the world.
//!
//! With `REPORT_PICTURES=FOLDER` the pictures stay there, to be looked at.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::chromium::Chromium;
use report::{Against, HtmlOptions, html};

/// Blue of the first target, in light and in dark.
const BLUE_LIGHT: [u8; 3] = [0x00, 0x72, 0xb2];
const BLUE_DARK: [u8; 3] = [0x56, 0xb4, 0xe9];

fn page() -> String {
    let run = crate::fixture::with_devices(crate::fixture::run());
    let reference = archive::reference::load("dl980-violin").unwrap();
    html(
        &run,
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
    // Right of the side bar.
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
        let told = title.split("</title>").next().unwrap();
        let missing = told.strip_prefix("400 ").expect("the frame is 400 px wide");
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
    let page = page();
    let pdf = browser.pdf(&browser.file("print.html", &page));
    assert!(pdf.starts_with(b"%PDF"));
    let text = String::from_utf8_lossy(&pdf);
    // A4 is 595 × 842 points; the browser rounds in its own way.
    let a4 = [
        "/MediaBox [0 0 594.95996 841.91998]",
        "/MediaBox [0 0 595",
        "/MediaBox [0 0 596",
    ];
    assert!(a4.iter().any(|size| text.contains(size)), "not A4");
    // Most sections begin on a sheet of their own; long tables go on to a second one.
    let sections = page.matches("<section ").count();
    let sheets = text.matches("/Type /Page\n").count();
    assert!(
        (sections / 2..=sections * 3 / 2).contains(&sheets),
        "{sheets} sheets of {sections} sections"
    );
}

#[test]
fn nothing_leaves_the_page() {
    let browser = Chromium::new();
    let page = page();
    let requests = browser.requests(&browser.file("page.html", &page));
    assert!(requests.is_empty(), "{requests:?}");

    // The test must be able to fail: the same page with one picture from elsewhere is caught.
    let image = "<img src=\"http://127.0.0.1:9/spy.png\"></body>";
    let leaking = browser.file("leaking.html", &page.replace("</body>", image));
    assert_eq!(browser.requests(&leaking), ["http://127.0.0.1:9/spy.png"]);
}
