//! Column-store results, including those of a failed level.

use archive::{Component, Figures, Point, PointKey, Remark, Run};
use report::{HtmlOptions, html};

use crate::chromium::Chromium;

fn point(test: &str, target: u32, elapsed_s: f64) -> Point {
    let key = PointKey {
        target,
        ..PointKey::of(test, 1)
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
        .extend(reason.map(crate::fixture::remark));
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

/// The page begins with the speed-up of memory and its size.
#[test]
fn memory_against_disk_is_the_first_answer() {
    let mut run = study(None);
    let query = |target, elapsed_s| {
        let mut query = point("Q1", target, elapsed_s);
        query.work.size = "scale 0.1".into();
        query.figures.operations = Some(1.0);
        query
    };
    run.points.extend([query(0, 8.0), query(1, 2.0)]);
    let said = "Scale 0.1, query-high: memory answers 4.00 × as fast as disk (geometric mean of 1 query, 1 user, 1 thread); it needs \
                4.00 MB for tables of 20.0 MB (20.0 %, factor 5.00).";
    let answer = |run: &Run| {
        let lines = report::ending("im", run, &[], &HtmlOptions::default(), usize::MAX, false);
        let mut lines = lines.lines().map(str::trim);
        lines
            .find(|line| line.starts_with("Scale "))
            .unwrap()
            .to_owned()
    };
    assert_eq!(answer(&run), said);
    let page = html(&run, &[], &HtmlOptions::default());
    let place = |text: &str| page.find(text).unwrap();
    assert!(place(said) < place("What to do next"));
    run.points[0]
        .reasons
        .push(crate::fixture::remark("the sums differ"));
    let answer = answer(&run);
    assert!(
        answer.contains("is unknown") && !answer.contains('×'),
        "{answer}"
    );
}

/// Order entry alone, and during queries on its own tables and on a copy that follows them.
fn mixed(reason: Option<&str>) -> Run {
    let mut run = crate::fixture::frame();
    run.targets[1].name = "duckdb+query-high".into();
    let users = |test: &str, target, new_orders_per_min| {
        let mut point = point(test, target, 10.0);
        point.figures.new_orders_per_min = Some(new_orders_per_min);
        point
    };
    let queries = |test: &str, target, queries_per_min| {
        let mut point = point(test, target, 10.0);
        point.figures.queries_per_min = Some(queries_per_min);
        point
    };
    let mut copy = queries("HTAP-OLAP", 1, 600.0);
    copy.figures.copy_age_ms_p50 = Some(612.4);
    copy.figures.copy_age_ms_p95 = Some(1203.0);
    copy.figures.copy_age_ms_max = Some(1407.0);
    copy.figures.copy_lag_transactions_p50 = Some(51.0);
    copy.figures.copy_lag_transactions_p95 = Some(98.0);
    copy.figures.copy_lag_transactions_max = Some(123.0);
    copy.notes.push(Remark::CopyFollowed {
        cycles: 10,
        every_s: 1.0,
        took_ms_p50: 227.0,
        took_ms_max: 301.0,
        rows: 5,
        read_mb: 1.0,
    });
    copy.reasons.extend(reason.map(crate::fixture::remark));
    run.points = vec![
        users("HTAP-OLTP-ALONE", 0, 2000.0),
        queries("HTAP-OLAP-ALONE", 0, 120.0),
        users("HTAP-OLTP", 0, 1000.0),
        queries("HTAP-OLAP", 0, 60.0),
        queries("HTAP-OLAP-ALONE", 1, 1200.0),
        users("HTAP-OLTP", 1, 1500.0),
        copy,
    ];
    run.points_planned = 7;
    run
}

#[test]
fn the_mutual_cost_of_order_entry_and_queries_appears_with_the_age_of_the_copy() {
    let cells = |section: &str, row: &str| -> Vec<String> {
        let begin = section.find(&format!("<th scope=\"row\">{row}")).unwrap();
        let row = section[begin..].split("</tr>").next().unwrap();
        let cells = row.split("<td>").skip(1);
        cells
            .map(|cell| cell.trim_end_matches("</td>").to_owned())
            .collect()
    };
    let page = columnar(&mixed(None));
    assert!(page.contains("Order entry and queries together"));
    let of_rows = cells(&page, "with queries on the rows");
    assert_eq!(of_rows[..2], ["1,000", "50"]);
    assert_eq!(of_rows[4..], ["1.00", "0.500", "2.00"]);
    let of_copy = cells(&page, "with queries on the copy, query-high");
    assert_eq!(of_copy[..2], ["1,500", "75"]);
    assert_eq!(of_copy[4..], ["0.100", "0.050", "2.00"]);
    let fresh = ["612", "1,203", "1,407", "51", "98", "123", "10", "227"];
    assert_eq!(cells(&page, "query-high"), fresh);
    let failed = columnar(&mixed(Some("the copy differs")));
    assert_eq!(cells(&failed, "query-high"), ["–"; 8]);
}

/// The published tables have ten columns with long names.
#[test]
fn its_tables_fit_on_a_page_of_usual_width() {
    let browser = Chromium::new();
    let page = html(&study(None), &[], &HtmlOptions::default());
    let wide_tables = |extra: &str| {
        let script = "<script>onload = () => { const wide = [...document.querySelectorAll('#columnar > .scroll')]\
            .filter(table => table.scrollWidth > table.clientWidth);\
            parent.postMessage(wide.length + ' wide', '*') }</script>";
        browser.file(
            "measured.html",
            &page.replace("</body>", &format!("{extra}{script}</body>")),
        );
        let frame = "<!DOCTYPE html><title>-</title><script>onmessage = e => document.title = e.data</script>\
            <iframe src=\"measured.html\" width=1280 height=3000></iframe>";
        let document = browser.document(&browser.file("frame.html", frame));
        let title = document.split("<title>").nth(1).unwrap().to_owned();
        title.split("</title>").next().unwrap().to_owned()
    };
    assert_eq!(wide_tables(""), "0 wide");
    let unbroken = "<style>#columnar thead th { white-space: nowrap; max-width: none }</style>";
    assert_eq!(wide_tables(unbroken), "2 wide", "the test sees it");
}
