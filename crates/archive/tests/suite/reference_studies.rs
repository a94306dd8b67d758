//! Documents 000, 002, 003 and 004: the checklist is complete, stated factors follow.

use std::collections::BTreeMap;
use std::fmt::Write;

use archive::reference::{self, Cell, PublishedTable, Reference};
use testing::Says;

fn load(name: &str) -> Reference {
    reference::load(name).expect("the embedded file loads")
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Number(value) => *value,
        other => panic!("{other:?} is not a number"),
    }
}

fn table<'a>(r: &'a Reference, place: &str) -> &'a PublishedTable {
    let found = r.tables.iter().find(|t| t.place == place);
    found.unwrap_or_else(|| panic!("no table at {place}"))
}

fn value(r: &Reference, name: &str) -> f64 {
    let figure = r.stated.iter().find(|s| s.name == name);
    figure.unwrap_or_else(|| panic!("no \"{name}\"")).value
}

/// Tests with their rows, sections with their facts, tables with their rows and columns, charts and statements.
fn contents(r: &Reference) -> String {
    let mut text = format!("{}\n", r.name);
    let mut add = |line: String| writeln!(text, "  {line}").unwrap();
    let mut points: BTreeMap<_, usize> = BTreeMap::new();
    for p in &r.points {
        *points.entry((&p.test, p.printed.len())).or_default() += 1;
    }
    for ((test, columns), rows) in points {
        add(format!("test {test}: {rows} rows of {columns} columns"));
    }
    for s in &r.sections {
        let doubted = s.facts.iter().filter(|f| f.note.is_some());
        let doubted: Vec<&str> = doubted.map(|f| f.name.as_str()).collect();
        let (kind, count) = (s.kind, s.facts.len());
        add(format!(
            "{kind:?}, {}: {count} facts, notes on {doubted:?}",
            s.place
        ));
    }
    for t in &r.tables {
        let (rows, columns) = (t.rows.len(), t.columns.len());
        let test = t.test.as_deref().unwrap_or("no test");
        add(format!(
            "table, {}, {}: {rows} × {columns}, {test}",
            t.kind, t.place
        ));
    }
    for chart in &r.charts {
        add(format!("chart, {}", chart.place));
    }
    let mut stated: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for s in &r.stated {
        stated.entry((&s.kind, &s.place)).or_default().push(s.value);
    }
    for ((kind, place), values) in stated {
        add(format!("{kind}, {place}: {values:?}"));
    }
    text
}

#[test]
fn the_documents_are_complete() {
    let names = reference::list();
    let all: String = names.iter().map(|name| contents(&load(name))).collect();
    insta::assert_snapshot!(all);
}

#[test]
fn the_factors_of_document_000_follow_from_its_sizes() {
    let r = load("dl580-inmemory");
    // Table 1 divides by 1.024 in every row but the total; table 2 nowhere. Small sizes round coarsely.
    for (place, unit) in [("Table 1", 1.024), ("Table 2", 1.0)] {
        for row in &table(&r, place).rows {
            let cells: Vec<f64> = row.cells[1..].iter().map(number).collect();
            let unit = if row.cells[0] == Cell::Text("Total".to_owned()) {
                1.0
            } else {
                unit
            };
            for pair in cells[1..].chunks(2) {
                let factor = cells[0] / unit / pair[0];
                let rounding = 0.01 + factor * (0.005 / cells[0] + 0.005 / pair[0]);
                assert!(
                    (factor - pair[1]).abs() <= rounding,
                    "{:?}: {factor}",
                    row.cells
                );
            }
        }
    }
}

#[test]
fn the_totals_of_document_000_are_the_sums_but_where_a_note_says_so() {
    let r = load("dl580-inmemory");
    for place in ["Table 1", "Table 2"] {
        let rows = &table(&r, place).rows;
        let differing = [1, 2, 4, 6, 8].into_iter().filter(|&column| {
            let sum: f64 = rows[..6].iter().map(|row| number(&row.cells[column])).sum();
            (sum - number(&rows[6].cells[column])).abs() > 0.006
        });
        let expected: &[usize] = if place == "Table 1" { &[4, 6, 8] } else { &[] };
        assert_eq!(differing.collect::<Vec<_>>(), expected, "{place}");
        assert!(rows[6].note.is_some());
    }
}

#[test]
fn the_savings_of_document_002_follow_from_its_latencies() {
    let r = load("3par-7450c");
    let latencies = |what: &str| {
        ["8Gb", "16Gb"]
            .map(|fc| value(&r, &format!("Oracle OLTP, {what} latency average, {fc} FC")))
    };
    let saved_pct = |of: [f64; 2]| (1.0 - of[1] / of[0]) * 100.0;
    let (write, read) = (latencies("write"), latencies("read"));
    assert_eq!((write, read), ([330.0, 260.0], [200.0, 169.0]));
    assert!((saved_pct(write) - 21.0).abs() < 0.5);
    assert!((saved_pct(read) - 15.0).abs() <= 0.51);
    let fleet = r.stated.iter().find(|s| s.printed == "3X").unwrap();
    assert!(fleet.note.as_ref().unwrap().contains("4 times"));
}

#[test]
fn every_run_of_appendix_f_names_a_workload_of_it() {
    let r = load("3par-7450c");
    let workloads: Vec<&Cell> = r.tables[1].rows.iter().map(|row| &row.cells[0]).collect();
    for run in &r.tables[2].rows {
        assert!(workloads.contains(&&run.cells[1]), "{:?}", run.cells);
    }
}

#[test]
fn the_sum_of_document_004_is_not_the_printed_one() {
    let backup = load("superdome-xp1024");
    let schema = backup.tables[0].rows.iter();
    let sum: f64 = schema.map(|row| number(&row.cells[2])).sum();
    assert_eq!((sum, value(&backup, "Tablespaces, total")), (142.0, 146.0));
}

#[test]
fn times_of_document_004_are_the_printed_minutes_and_seconds() {
    let r = load("rp7410-va7410");
    let mut scanned_gb = Vec::new();
    for layout in ["RAW", "FILE default", "FILE opt", "ASM"] {
        for query in ["Select full scan", "Create table full scan"] {
            let name = format!("{query}, {layout}: time");
            let figure = r.stated.iter().find(|s| s.name == name).unwrap();
            let (minutes, seconds) = figure.printed.split_once(':').unwrap();
            let total = 60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap();
            assert_eq!(figure.value, total, "{name}");
        }
        let peak = value(&r, &format!("Select full scan, {layout}: peak"));
        let time = value(&r, &format!("Select full scan, {layout}: time"));
        scanned_gb.push((peak * time / 100.0).round() / 10.0);
    }
    assert_eq!(scanned_gb, [49.9, 37.4, 40.9, 49.3], "as the notes say");
}

/// The value of a fact, and where its section stands.
fn fact(reference: &Reference, section: &str, name: &str) -> (String, String) {
    let mut sections = reference.sections.iter();
    let section = sections.find(|s| s.title == section).unwrap();
    let fact = section.facts.iter().find(|f| f.name == name).unwrap();
    (fact.value.clone(), section.place.clone())
}

/// Facts that stand in running text, with their places.
#[test]
fn facts_of_running_text_are_there() {
    let of = |name: &str, section: &str, fact_name: &str| {
        fact(&reference::load(name).unwrap(), section, fact_name)
    };
    let between = "Contributors to latency between server and array";
    let (switch, place) = of(
        "3par-7450c",
        between,
        "Each switch between server and array",
    );
    assert!(switch.contains("low tens of microseconds") && place.contains("figure 12"));
    let (fibre, _) = of("3par-7450c", between, "Fibre optic cable");
    assert_eq!(fibre, "a few microseconds per kilometre");
    let by_role = "Best practices: RAID level by role";
    let (redo, place) = of("dl580-inmemory", by_role, "Redo log and undo");
    assert_eq!(redo, "RAID-5 performed better than RAID-10");
    assert!(place.contains("space allocation"));
    let (channels, place) = of(
        "superdome-xp1024",
        "Recovery Manager and tapes",
        "RMAN channels per tape drive",
    );
    assert_eq!(channels.as_str(), "1");
    assert_eq!(place.as_str(), "slide \"Lessons Learnt\", second");
    let study = reference::load("dl580-inmemory").unwrap();
    let changes = study.charts.iter().find(|c| c.place == "Figure 9").unwrap();
    changes
        .note
        .as_ref()
        .unwrap()
        .says("except in the test with 2 threads");
}
