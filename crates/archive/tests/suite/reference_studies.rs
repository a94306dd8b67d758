//! Documents 000, 002, 003 and 004: the checklist is complete, stated factors follow.

use archive::reference::{self, Cell, FactKind, PublishedTable, Reference};

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

fn facts(r: &Reference, place: &str) -> Vec<usize> {
    let at = r.sections.iter().filter(|s| s.place == place);
    at.map(|s| s.facts.len()).collect()
}

fn stated(r: &Reference, kind: &str) -> usize {
    r.stated.iter().filter(|s| s.kind == kind).count()
}

fn value(r: &Reference, name: &str) -> f64 {
    let figure = r.stated.iter().find(|s| s.name == name);
    figure.unwrap_or_else(|| panic!("no \"{name}\"")).value
}

fn chart_places(r: &Reference) -> Vec<&str> {
    r.charts.iter().map(|c| c.place.as_str()).collect()
}

#[test]
fn document_000_is_complete() {
    let r = load("dl580-inmemory");
    for place in ["Table 1", "Table 2"] {
        let sizes = table(&r, place);
        assert_eq!(
            (sizes.columns.len(), sizes.rows.len()),
            (10, 7),
            "name + 9 columns"
        );
    }
    for (place, rows) in [("A-1", 15), ("A-2", 14), ("A-3", 3)] {
        let parts = table(&r, &format!("Appendix A, table {place}"));
        assert_eq!((parts.columns.len(), parts.rows.len()), (3, rows));
    }
    let appendices = [
        "Appendix B",
        "Appendix C",
        "Appendix D",
        "Appendix E",
        "Appendix F",
    ];
    let counts = appendices.map(|place| facts(&r, place));
    assert_eq!(
        counts,
        [vec![3, 15, 1, 16], vec![16], vec![8], vec![15], vec![38]]
    );
    assert_eq!(
        chart_places(&r),
        (6..=14).map(|n| format!("Figure {n}")).collect::<Vec<_>>()
    );
    assert_eq!((stated(&r, "claim"), r.points.len()), (13, 0));
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
fn document_002_is_complete() {
    let r = load("3par-7450c");
    let parameters: Vec<usize> = r.tables.iter().map(|t| t.rows.len()).collect();
    assert_eq!(parameters, [10, 32, 31], "sd, wd, rd");
    assert_eq!(
        chart_places(&r),
        (1..=10).map(|n| format!("Figure {n}")).collect::<Vec<_>>()
    );
    let write = ["8Gb", "16Gb"]
        .map(|fc| value(&r, &format!("Oracle OLTP, write latency average, {fc} FC")));
    let read =
        ["8Gb", "16Gb"].map(|fc| value(&r, &format!("Oracle OLTP, read latency average, {fc} FC")));
    assert_eq!((write, read), ([330.0, 260.0], [200.0, 169.0]));
    assert!(((1.0 - write[1] / write[0]) * 100.0 - 21.0).abs() < 0.5);
    assert!(((1.0 - read[1] / read[0]) * 100.0 - 15.0).abs() <= 0.51);
    let values: Vec<f64> = r
        .stated
        .iter()
        .filter(|s| s.kind == "latency")
        .map(|s| s.value)
        .collect();
    for checklist in [10.0, 30.0, 35.0, 30.0, 200.0, 40.0, 10.0] {
        assert!(values.contains(&checklist), "{checklist}");
    }
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
fn document_003_is_complete() {
    let r = load("r810-flexmem");
    assert_eq!(facts(&r, "Table 1"), [12]);
    assert_eq!(table(&r, "Table 2").rows.len(), 3);
    let claims: Vec<f64> = r
        .stated
        .iter()
        .filter(|s| s.kind == "claim")
        .map(|s| s.value)
        .collect();
    assert_eq!(
        claims,
        [100.0, 90.0, 55.0, 60.0, 2100.0, 25.0, 30.0, 60.0, 100.0]
    );
    assert_eq!(
        chart_places(&r),
        ["Figure 2", "Figure 3", "Figure 4", "Figure 5"]
    );
    let configuration = r
        .sections
        .iter()
        .find(|s| s.kind == FactKind::Platform)
        .unwrap();
    let doubted = configuration
        .facts
        .iter()
        .filter(|f| f.note.is_some())
        .map(|f| f.name.as_str());
    let expected = ["Memory", "Storage", "Database Software", "Test Workload"];
    assert_eq!(doubted.collect::<Vec<_>>(), expected);
}

#[test]
fn document_004_is_complete() {
    let asm = load("rp7410-va7410");
    assert_eq!(stated(&asm, "layout"), 2 * 4 * 2);
    let backup = load("superdome-xp1024");
    let rates = |kind: &str, slide: &str| {
        let at = backup
            .stated
            .iter()
            .filter(|s| s.kind == kind && s.place.contains(slide));
        at.filter(|s| s.unit == "TB/hr")
            .map(|s| s.value)
            .collect::<Vec<_>>()
    };
    assert_eq!(rates("backup", "3TB/hr"), [3.16, 3.62]);
    assert_eq!(rates("backup", "16 way"), [2.87]);
    assert_eq!(rates("restore", "Results: restore\", table"), [1.23, 1.29]);
    let schema = &backup.tables[0];
    assert_eq!(schema.rows.len(), 8);
    let tablespaces: f64 = schema.rows.iter().map(|row| number(&row.cells[2])).sum();
    assert_eq!(
        (tablespaces, value(&backup, "Tablespaces, total")),
        (142.0, 146.0)
    );
    assert_eq!(
        chart_places(&backup),
        ["slide \"Average I/O Response Times - 125 Client Run\""]
    );
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
    assert_eq!(
        (channels.as_str(), place.as_str()),
        ("1", "slide \"Lessons Learnt\", second")
    );
    let study = reference::load("dl580-inmemory").unwrap();
    let changes = study.charts.iter().find(|c| c.place == "Figure 9").unwrap();
    assert!(
        changes
            .note
            .as_ref()
            .unwrap()
            .contains("except in the test with 2 threads")
    );
}
