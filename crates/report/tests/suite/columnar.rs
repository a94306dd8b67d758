//! Tables in memory: what is shown of a level that failed.

use archive::{Component, Figures, Point, PointKey, Run};
use report::{HtmlOptions, html};

use crate::chromium::Chromium;

fn point(test: &str, target: u32, elapsed_s: f64) -> Point {
    let key = PointKey {
        repetition: 1,
        step: 1,
        target,
        test: test.to_owned(),
        nodes: 1,
        jobs: 1,
        threads: 1,
    };
    Point {
        figures: Figures {
            elapsed_s: Some(elapsed_s),
            table_disk_mb: Some(20.0),
            table_memory_mb: Some(4.0),
            ..Figures::default()
        },
        ..Point::blank(key, test.to_owned(), Component::Database)
    }
}

/// The disk and one level, whose queries took a fifth of the time.
fn study(reason: Option<&str>) -> Run {
    let mut run = crate::fixture::frame();
    run.targets[1].name = "duckdb+query-high".into();
    run.points = vec![
        point("LIFT-ALL", 1, 1.0),
        point("OLAP-POWER", 0, 10.0),
        point("OLAP-POWER", 1, 2.0),
        point("COLUMNAR-INSERT", 0, 1.0),
        point("COLUMNAR-INSERT", 1, 1.25),
    ];
    run.points[0]
        .reasons
        .extend(reason.map(crate::fixture::told));
    run.points_planned = 5;
    run
}

fn columnar(run: &Run) -> String {
    let page = html(run, &[], &HtmlOptions::default());
    let begin = page.find("<section id=\"columnar\"").unwrap();
    let section = &page[begin..];
    section[..section.find("</section>").unwrap()].to_owned()
}

#[test]
fn of_a_level_that_failed_no_speed_is_drawn() {
    let drawn = columnar(&study(None));
    assert!(drawn.contains("speed relative to disk") && drawn.contains(">500"));
    let failed = columnar(&study(Some("the sums differ")));
    assert!(failed.contains("speed relative to disk"), "the disk stays");
    assert!(!failed.contains(">500"), "{failed}");
}

/// The published tables have ten columns with long names.
#[test]
fn its_tables_fit_on_a_page_of_usual_width() {
    let browser = Chromium::new();
    let page = html(&study(None), &[], &HtmlOptions::default());
    let told = |extra: &str| {
        let tell = "<script>onload = () => { const wide = [...document.querySelectorAll('#columnar > .scroll')]\
            .filter(table => table.scrollWidth > table.clientWidth);\
            parent.postMessage(wide.length + ' wide', '*') }</script>";
        browser.file(
            "telling.html",
            &page.replace("</body>", &format!("{extra}{tell}</body>")),
        );
        let frame = "<!DOCTYPE html><title>-</title><script>onmessage = e => document.title = e.data</script>\
            <iframe src=\"telling.html\" width=1280 height=3000></iframe>";
        let document = browser.document(&browser.file("frame.html", frame));
        let title = document.split("<title>").nth(1).unwrap().to_owned();
        title.split("</title>").next().unwrap().to_owned()
    };
    assert_eq!(told(""), "0 wide");
    let unbroken = "<style>#columnar thead th { white-space: nowrap; max-width: none }</style>";
    assert_eq!(told(unbroken), "2 wide", "the test sees it");
}
