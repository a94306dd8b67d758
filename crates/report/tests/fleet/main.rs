//! The page of a fleet: its content, its size, and its layout in a real browser.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../suite/chromium/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod chromium;
#[path = "../../../verdict/tests/fleet/simulated.rs"]
#[allow(dead_code, reason = "the tests of the verdict use all of it")]
mod simulated;

use chromium::Chromium;
use report::{HtmlOptions, fleet_page, fleet_text};
use simulated::Plan;
use verdict::fleet::{
    Figure, Fleet, LIMITS_US_DEFAULT, Measure, Operation, Question, Window, judge,
};

const BLUE_LIGHT: [u8; 3] = [0x00, 0x72, 0xb2];

fn judged(windows: &[Window]) -> Fleet {
    let question = Question {
        limits_us: LIMITS_US_DEFAULT,
        primary: Measure {
            operation: Operation::Write,
            figure: Figure::Within(0),
        },
        seed: 1,
    };
    judge(windows, question).unwrap()
}

fn fleet(systems: usize, windows: usize) -> Fleet {
    let plan = Plan {
        systems,
        windows,
        shift_ln: -0.5,
        responding: 0.8,
    };
    judged(&simulated::fleet(&plan, 5).windows)
}

fn page(fleet: &Fleet) -> String {
    fleet_page(fleet, &HtmlOptions::default())
}

#[test]
fn two_thousand_systems_are_a_page_of_some_hundred_kilobytes() {
    let fleet = fleet(2_000, 1);
    let page = page(&fleet);
    assert!(page.len() < 400_000, "{} bytes", page.len());
    for part in [
        "The fleet is better after: writes ≤ 0.12 ms",
        "observational",
        "regression to the mean",
        "Theil–Sen",
        "Workload mix of the same systems",
        "secondary, without a call",
        "every 4th is drawn",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let text = fleet_text(&fleet, 100, false);
    assert!(
        text.contains("observational") && text.contains("99 % interval"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn names_from_files_stay_text() {
    let mut windows = simulated::fleet(
        &Plan {
            systems: 30,
            windows: 4,
            shift_ln: 1.5,
            responding: 1.0,
        },
        1,
    )
    .windows;
    for window in &mut windows {
        window.system = format!("<script>{}", window.system);
    }
    let fleet = judged(&windows);
    assert!(!fleet.which.worse.is_empty());
    let page = page(&fleet);
    assert!(page.contains("Became worse") && page.contains("The fleet is worse after"));
    assert!(!page.contains("<script>"), "a name became an element");
}

#[test]
fn the_page_fits_wide_and_narrow_windows_and_fetches_nothing() {
    let browser = Chromium::new();
    let page = page(&fleet(300, 4));
    let file = browser.file("fleet.html", &page);
    let wide = browser.picture(&file, (1400, 3000), &[]);
    assert!(wide.inked() > 0.02 && wide.count(BLUE_LIGHT) > 100);
    assert!(browser.requests(&file).is_empty());
    let tell = "<script>const e = document.documentElement;\
        parent.postMessage(innerWidth + ' ' + (e.scrollWidth - e.clientWidth), '*')</script></body>";
    browser.file("telling.html", &page.replace("</body>", tell));
    let frame = "<!DOCTYPE html><title>-</title><script>onmessage = e => document.title = e.data</script>\
        <iframe src=\"telling.html\" width=400 height=7000 style=\"border:0\"></iframe>";
    let document = browser.document(&browser.file("frame.html", frame));
    assert!(
        document.contains("<title>400 0</title>"),
        "the page is wider than 400 px"
    );
}
