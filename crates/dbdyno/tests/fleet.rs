//! Many systems before and after an update: imported, judged, drawn, exported.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write;

use archive::{
    Archive, Component, NewRun, OperationTimes, Point, PointKey, RunState, TargetRecord,
};
use common::{Workspace, need_duckdb, repository};
use stats::Histogram;
use testing::Says;

const HEAD: &str = "system,time,side,operation,read_pct,low_us,high_us,count\n";

/// A fleet of this many systems with only writes, of which `within` of 1,000 are below 120 µs before; after, `more`.
fn fleet(systems: u32, more: u32) -> String {
    let mut text = HEAD.to_owned();
    for system in 0..systems {
        let within = 100 + 7 * (system % 30);
        for (side, month, more) in [("before", 2, 0), ("after", 3, more + 5 * (system % 4))] {
            let within = within + more;
            let key = format!("array-{system:03},2026-0{month}-01T00:00:00Z,{side},write,40");
            writeln!(text, "{key},0,120,{within}").unwrap();
            writeln!(text, "{key},120,1000,{}", 900 - within).unwrap();
            writeln!(text, "{key},1000,,100").unwrap();
        }
    }
    text
}

#[test]
fn a_fleet_is_imported_judged_drawn_and_exported() {
    need_duckdb();
    let workspace = Workspace::new();
    workspace.file("a.csv", &fleet(40, 200));
    let imported = workspace.fine("storage fleet import a.csv").stdout;
    assert!(
        imported.ends_with("80 histograms of 1 file added to fleet.duckdb\n"),
        "{imported}"
    );
    let ended = workspace.fine("storage fleet report");
    assert_eq!(ended.stderr, "dbdyno-fleet.html written\n");
    let text = ended.stdout;
    assert!(
        text.starts_with("The fleet is better after: writes ≤ 0.12 ms +20.8 points"),
        "{text}"
    );
    text.says_all(&["observational", "seed 1"]);
    let page = workspace.text("dbdyno-fleet.html");
    assert!(page.contains("observational") && page.contains("regression to the mean"));
    assert!(page.ends_with("</html>") || page.ends_with("</html>\n"));

    let found = workspace.json("storage fleet report --format json -o p.html");
    assert_eq!(found["call"].as_str(), Some("higher"));
    assert_eq!(found["kind"].as_str(), Some("observational"));
    assert_eq!(found["primary"], "write.within_120us");
    let primary = &found["shifts"][0];
    let shift = primary["shift"].as_f64().unwrap();
    assert!((shift - 0.2075).abs() < 1e-12, "{shift}");
    assert!(primary["shift_low"].as_f64().unwrap() < shift);

    let before = workspace.bytes("fleet.duckdb");
    workspace.fine("storage fleet export -o all.parquet");
    assert!(workspace.bytes("all.parquet").starts_with(b"PAR1"));
    let again = workspace.ends(2, "storage fleet export -o all.parquet");
    again.stderr.says("exists; choose another file");
    assert_eq!(
        workspace.bytes("fleet.duckdb"),
        before,
        "looking changes nothing"
    );
}

#[test]
fn the_same_content_is_imported_once_and_the_same_histogram_never_twice() {
    need_duckdb();
    let workspace = Workspace::new();
    workspace.file("a.csv", &fleet(3, 10));
    workspace.file("b.csv", &fleet(3, 10));
    workspace.file("c.csv", &fleet(3, 11));
    let said = workspace.fine("storage fleet import a.csv b.csv").stdout;
    said.says("b.csv: imported before; nothing was added");
    let said = workspace.fine("storage fleet import a.csv").stdout;
    assert!(said.contains("0 histograms of 1 file added"), "{said}");
    let refused = workspace.ends(2, "storage fleet import c.csv");
    let why = "c.csv: line 2: the writes of array-000 before at 2026-02-01T00:00:00Z are already there, from a.csv line 2";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    assert_eq!(
        workspace.fine("storage fleet report --format json").status,
        0
    );
}

#[test]
fn a_wrong_line_leaves_the_fleet_as_it_was() {
    need_duckdb();
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.path("telemetry")).unwrap();
    workspace.file("telemetry/1.csv", &fleet(3, 10));
    let wrong = fleet(3, 10)
        .replace("array-", "other-")
        .replacen(",0,120,", ",0,0.12,", 1);
    workspace.file(
        "telemetry/2.csv",
        &wrong.replacen("other-001,2026-02-01T00:00:00Z", "other-001,1.2.2026", 1),
    );
    let refused = workspace.ends(2, "storage fleet import telemetry");
    refused
        .stderr
        .says("2.csv: line 8: the time \"1.2.2026\" is not of the form");
    assert!(
        !workspace.path("fleet.duckdb").exists(),
        "nothing was begun"
    );
    workspace.fine("storage fleet import telemetry/1.csv");
    let report = ["storage", "fleet", "report", "--format", "json"];
    let before = workspace.fine(&report).stdout;
    assert_eq!(workspace.dbdyno("storage fleet import telemetry").status, 2);
    assert_eq!(workspace.fine(&report).stdout, before);
}

#[test]
fn limits_at_which_no_bucket_ends_are_refused_with_better_ones() {
    need_duckdb();
    let workspace = Workspace::new();
    workspace.file("a.csv", &fleet(25, 50).replace(",120,", ",128,"));
    workspace.fine("storage fleet import a.csv");
    let refused = workspace.ends(2, "storage fleet report");
    refused.stderr.says("both sides of 120 µs");
    refused.stderr.says("--set limits=128,1000");
    let text = workspace
        .fine("storage fleet report --set limits=128,1000")
        .stdout;
    assert!(text.contains("writes ≤ 0.128 ms"), "{text}");
    let refused = workspace.dbdyno("storage fleet report --primary read.mean");
    refused.stderr.says("no system has reads before and after");
}

#[test]
fn a_file_that_is_not_a_fleet_is_left_as_it_was() {
    need_duckdb();
    let workspace = Workspace::new();
    workspace.file("a.csv", &fleet(3, 10));
    let theirs = rusqlite::Connection::open(workspace.path("theirs.db")).unwrap();
    theirs
        .execute_batch("CREATE TABLE customer (name)")
        .unwrap();
    drop(theirs);
    workspace.run(
        common::TINY,
        &["--target", &workspace.url("duckdb", "bench.duckdb")],
    );
    for (file, why) in [
        ("theirs.db", "theirs.db is not a DuckDB database"),
        ("a.csv", "a.csv is not a DuckDB database"),
        (
            "bench.duckdb",
            "is not a file of dbdyno fleet; choose another file",
        ),
    ] {
        let before = std::fs::read(workspace.path(file)).unwrap();
        for verb in ["import a.csv -o", "report", "export -o x.parquet"] {
            let refused = workspace.dbdyno(format!("storage fleet {verb} {file}").as_str());
            assert_ne!(refused.status, 0, "{file}");
            refused.stderr.says(why);
        }
        assert!(
            std::fs::read(workspace.path(file)).unwrap() == before,
            "{file} changed"
        );
    }
    let absent = workspace.ends(2, "storage fleet report");
    absent.stderr.says("dbdyno storage fleet import");
    assert!(!workspace.path("fleet.duckdb").exists());
}

#[test]
fn without_its_engine_a_fleet_says_how_to_get_it() {
    let workspace = Workspace::new();
    workspace.file("a.csv", &fleet(3, 10));
    let mut command = workspace.command("storage fleet import a.csv");
    let ended = command
        .env("DBDYNO_DUCKDB_LIB", "/nowhere/lib.so")
        .output()
        .unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("DBDYNO_DUCKDB_LIB"), "{stderr}");
}

#[test]
fn runs_of_an_archive_are_the_sides_of_a_system() {
    need_duckdb();
    let workspace = Workspace::new();
    let lun = workspace.path("f.dat");
    let text = format!(
        "sd=sd1,lun=\"{}\",size=4m\nwd=wd1,sd=sd1,rdpct=50\nrd=rd1,wd=wd1,iorate=300,elapsed=2\n",
        lun.display()
    );
    let file = workspace.file("parm.txt", &text);
    for _ in 0..2 {
        workspace.fine(&["vdbench", "-f", &file, "-o", "out.d+"]);
    }
    let import = "storage fleet import archive.dbdyno?system=array-1";
    let of_runs = format!("{import}&before=1&after=2&observer=driver");
    let said = workspace.fine(of_runs.as_str()).stdout;
    assert!(said.contains("archive.dbdyno: 4 histograms"), "{said}");
    let found = workspace.json("storage fleet report --format json");
    assert_eq!(found["systems"], 1);
    assert_eq!(found["call"], "refused: too few systems");
    let again = workspace.fine(of_runs.as_str()).stdout;
    assert!(again.contains("imported before"), "{again}");
    let refused = workspace.ends(2, import);
    assert!(refused.stderr.contains("?before="), "{}", refused.stderr);
}

/// A run of one point whose device served a thousand reads and as many writes in 100 µs each, except for `slow` writes in 2 ms.
fn device_run(archive: &mut Archive, label: &str, started_at: &str, slow: u64) {
    let key = PointKey::of("T611", 1);
    let times = |operation: &str, phase: &str, slow: u64| {
        let mut histogram = Histogram::new();
        histogram.record_many_ns(100_000, 1_000 - slow);
        histogram.record_many_ns(2_000_000, slow);
        OperationTimes::of("device", "vda", operation, phase).with(&histogram)
    };
    let mut point = Point::blank(key.clone(), "one row".into(), Component::Database);
    point.started_at = started_at.into();
    point.by_operation.times = vec![
        times("read", "whole", 0),
        times("write", "whole", slow),
        // Another part of the request time, and another kind of request.
        times("write", "queue", 1_000),
        times("flush", "whole", 1_000),
    ];
    let new = NewRun {
        label: Some(label.into()),
        plan_name: "made".into(),
        repetitions: 1,
        targets: vec![TargetRecord::default()],
        started_at: started_at.into(),
        planned: vec![key],
        ..NewRun::default()
    };
    let id = archive.create_run(&new).unwrap();
    archive.append_point(id, &point).unwrap();
    archive
        .finish_run(id, RunState::Complete, Some(started_at))
        .unwrap();
}

/// Archives made by root, imported without rights to measure: the kernel's request times of each device.
#[test]
fn device_times_of_archives_are_a_fleet() {
    need_duckdb();
    let workspace = Workspace::new();
    let systems = 25;
    let mut sources = Vec::new();
    for system in 0..systems {
        let file = format!("archive-{system}.dbdyno");
        let mut archive = Archive::open(workspace.path(&file)).unwrap();
        let slow = 300 + 5 * system;
        device_run(&mut archive, "before", "2026-02-01T00:00:00Z", slow);
        let fewer = slow - 150 - 4 * system;
        device_run(&mut archive, "after", "2026-03-01T00:00:00Z", fewer);
        drop(archive);
        sources.push(format!("{file}?system=array-{system:02}&observer=device"));
    }
    let import = format!("storage fleet import {}", sources.join(" "));
    // Only the device has times, and one wrong file refuses all.
    let refused = workspace.ends(2, import.replacen("=device", "=driver", 1).as_str());
    refused.stderr.says("?observer=device");
    assert!(!workspace.path("fleet.duckdb").exists());
    let said = workspace.fine(import.as_str()).stdout;
    said.says("100 histograms of 25 files added");
    let found = workspace.json("storage fleet report --format json");
    assert_eq!(found["systems"], systems);
    assert_eq!(found["call"], "higher", "{found}");
    assert_eq!(found["primary"], "write.within_120us");
    let shift = |measure: &str, field: &str| {
        let mut shifts = found["shifts"].as_array().unwrap().iter();
        let own = shifts.find(|s| s["measure"] == measure);
        own.unwrap_or_else(|| panic!("{found}"))[field]
            .as_f64()
            .unwrap()
    };
    // Only whole writes count: 15 to 24.6 % more of them are fast after; the reads stay the same.
    assert!((shift("write.within_120us", "before") - 0.64).abs() < 1e-9);
    assert!((shift("write.within_120us", "shift") - 0.198).abs() < 1e-9);
    assert_eq!(shift("read.within_120us", "after"), 1.0);
    assert!((shift("read.mean", "shift") - 1.0).abs() < 1e-9);
}

#[test]
fn the_example_of_the_documents_is_read() {
    need_duckdb();
    let workspace = Workspace::new();
    let example = repository("docs/examples/fleet.csv").display().to_string();
    let said = workspace
        .fine(&["storage", "fleet", "import", &example])
        .stdout;
    assert!(said.contains("8 histograms"), "{said}");
    let text = workspace.fine("storage fleet report").stdout;
    assert!(text.starts_with("No call: too few systems"), "{text}");
}
