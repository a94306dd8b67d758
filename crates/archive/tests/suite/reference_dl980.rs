//! Document 001: its rows agree with themselves and with its scorecards.

use archive::reference::{self, Reference, ReferencePoint};

fn dl980() -> Reference {
    reference::load("dl980-violin").expect("the embedded file loads")
}

fn test<'a>(r: &'a Reference, code: &str) -> Vec<&'a ReferencePoint> {
    r.points.iter().filter(|p| p.test == code).collect()
}

const RPS: &str = "Rows/sec [rps]";
const OPS: &str = "Ops/sec [ops]";
const WRITE_MIB: &str = "Physical write [MBps]";

#[test]
fn reads_and_writes_add_up_in_every_row() {
    for p in &dl980().points {
        let at = |name: &str| p.printed[name];
        let context = format!("{} #J {} #T {}", p.test, p.jobs, p.threads);
        let iops = at("Physical read [iops]") + at("Physical write [iops]");
        assert_eq!(iops, at("Total [iops]"), "{context}");
        let mib = at("Physical read [MBps]") + at(WRITE_MIB);
        assert!((mib - at("Total [MBps]")).abs() <= 1.0, "{context}");
    }
}

#[test]
fn sweeps_rise_and_repeat_only_where_a_note_says_so() {
    let r = dl980();
    for table in &r.result_tables {
        for pair in test(&r, &table.test).windows(2) {
            let dop = |p: &ReferencePoint| p.jobs * p.threads;
            if dop(pair[0]) == dop(pair[1]) {
                let noted =
                    |p: &ReferencePoint| p.note.as_ref().is_some_and(|n| n.contains("two rows"));
                assert!(noted(pair[0]) && noted(pair[1]), "{}", table.test);
                assert_eq!(dop(pair[0]), 1);
            } else {
                assert_eq!(dop(pair[0]) * 2, dop(pair[1]), "{}", table.test);
            }
        }
    }
    let twice = |code: &str| {
        test(&r, code)
            .iter()
            .filter(|p| p.jobs * p.threads == 1)
            .count()
    };
    assert_eq!(
        ["T211", "T311", "T331", "T332", "T141"].map(twice),
        [2, 2, 2, 2, 1]
    );
}

/// Rate × time ÷ jobs is the fixed work per job; the rates have four digits, the clock has seconds.
/// Throughput in whole MiB is the device's, not the test's own count, hence "about": 0.3 % more.
fn assert_work(r: &Reference, code: &str, column: &str, work: f64) {
    for p in test(r, code) {
        let seconds = p.printed["Time [sec]"];
        let per_job = p.printed[column] * seconds / f64::from(p.jobs);
        let rounding = if column == WRITE_MIB {
            0.5 / p.printed[column] + 3e-3
        } else {
            5e-4
        };
        let tolerance = 0.5 / seconds + rounding;
        let error = (per_job / work - 1.0).abs();
        assert!(
            error <= tolerance,
            "{code} #J {}: {per_job} is not {work}",
            p.jobs
        );
    }
}

#[test]
fn the_work_per_job_is_fixed_within_a_test() {
    let r = dl980();
    for (code, operations) in [
        ("T132", 1.25e7),
        ("T133", 1.25e8),
        ("T141", 3e7),
        ("T611", 524_288.0),
        ("T621", 131_072.0),
        ("T721", 16_384.0),
        ("T616", 1_024.0),
        ("T716", 1_024.0),
        ("T311", 62_500.0),
    ] {
        assert_work(&r, code, OPS, operations);
    }
    for (code, rows) in [
        ("T421", 3.2e7),
        ("T611", 524_288.0),
        ("T621", 131_072.0 * 320.0),
        ("T626", 256.0 * 10_240.0),
        ("T721", 16_384.0 * 320.0),
        ("T616", 1_024.0 * 32.0),
        ("T716", 1_024.0 * 32.0),
        ("T311", 125_000.0),
        ("T331", 3.2e7),
        ("T332", 3.2e7),
        ("T426", 1.024e9),
    ] {
        assert_work(&r, code, RPS, rows);
    }
    assert_work(&r, "T211", WRITE_MIB, 5_208.0);
}

#[test]
fn units_and_zeros_are_converted() {
    let r = dl980();
    let last = *test(&r, "T626").last().unwrap();
    assert_eq!(last.printed["Physical read [MBps]"], 2320.0);
    let read = last.figures.read_mb_per_s.unwrap();
    assert!((read - 2432.696).abs() < 0.001);
    // The reason to read MBps as MiB/s: a read of a block of 8 KiB cannot be smaller than the block.
    let reads = last.figures.read_iops.unwrap();
    assert!(2320e6 / reads < 8192.0 && read * 1e6 / reads >= 8192.0);
    assert_eq!(last.figures.cpu_pct_avg, Some(25.0));
    assert_eq!(last.figures.elapsed_s, Some(989.0));
    for p in &r.points {
        let none_for_zero = |column: &str, figure: Option<f64>| {
            assert_eq!(
                p.printed[column] == 0.0,
                figure.is_none(),
                "{} {column}",
                p.test
            );
        };
        none_for_zero(RPS, p.figures.rows_per_s);
        none_for_zero(OPS, p.figures.operations_per_s);
        assert!(p.figures.total_iops.is_some() && p.figures.redo_mb_per_s.is_some());
    }
    let explained = r.result_tables.iter().filter(|t| !t.zero_means.is_empty());
    assert_eq!(explained.count(), 9);
}

#[test]
fn chart_labels_stand_at_their_points() {
    let r = dl980();
    let labelled = |code: &str| {
        let points = test(&r, code);
        let dops = points
            .iter()
            .filter(|p| !p.service_labels.is_empty())
            .map(|p| p.jobs * p.threads);
        let mut dops: Vec<u32> = dops.collect();
        dops.dedup();
        dops.len()
    };
    assert_eq!(
        ["T426", "T211", "T626", "T721", "T611"].map(labelled),
        [6, 7, 8, 4, 0]
    );
    let random_read = test(&r, "T626");
    let within_1_ms = random_read.iter().filter(|p| p.service_labels[0].ms <= 1.0);
    let best = within_1_ms.map(|p| p.printed["Total [iops]"] as u32).max();
    assert_eq!(
        best,
        Some(291_820),
        "32 jobs, the scorecard's 290’000 reads"
    );
    assert_eq!(random_read[5].service_ms_mean, Some(1.0));
    assert_eq!(random_read[0].service_ms_mean, None, "< 500 µs is no mean");
    assert_eq!(test(&r, "T721")[2].service_labels[1].ms, 1.0);
}

fn scorecard(r: &Reference, name: &str) -> f64 {
    let figure = r
        .stated
        .iter()
        .find(|s| s.kind == "scorecard" && s.name == name);
    figure.unwrap_or_else(|| panic!("no \"{name}\"")).value
}

#[test]
fn scorecards_are_the_points_they_name() {
    let r = dl980();
    let max = |code: &str, column: &str| {
        test(&r, code)
            .iter()
            .map(|p| p.printed[column])
            .fold(0.0, f64::max)
    };
    let first = |code: &str, column: &str| test(&r, code)[0].printed[column];
    let kilo = [
        first("T141", OPS),
        max("T141", OPS),
        max("T132", OPS),
        max("T133", OPS),
    ];
    let [text, texts, numbers, floats] = kilo.map(|ops| ops / 1e3);
    let printed = "Physical read [MBps]";
    let writes = "Physical write [iops]";
    for (name, value) in [
        ("String processing: speed (single thread)", text),
        ("String processing: throughput", texts),
        ("NUMBER processing: throughput", numbers),
        ("Floating point processing: throughput", floats),
        ("Full table scan: throughput", max("T421", RPS)),
        (
            "Primary key table access: throughput, rows",
            max("T611", RPS),
        ),
        (
            "Secondary key table access: throughput, rows",
            max("T621", RPS),
        ),
        (
            "Secondary key table access: throughput, transactions",
            max("T621", OPS),
        ),
        ("Sequential I/O: read", max("T426", printed)),
        ("Sequential I/O: write", max("T211", WRITE_MIB)),
        ("Random I/O write: throughput", max("T721", writes)),
        (
            "Data load bulk, compressed: throughput best case (DOP = 1)",
            first("T332", RPS),
        ),
        (
            "Data load bulk, un-compressed: throughput max.",
            max("T331", RPS),
        ),
        ("Max REDO rate (bulk load)", max("T331", "REDO [MBps]")),
        (
            "OLTP select tx, 32 rows/tx: throughput, transactions",
            max("T616", OPS),
        ),
        (
            "OLTP insert tx, 2 rows/tx: throughput, rows",
            max("T311", RPS),
        ),
        (
            "OLTP update tx, 32 rows/tx: throughput, rows",
            max("T716", RPS),
        ),
    ] {
        let found = scorecard(&r, name);
        assert!(
            (found / value - 1.0).abs() < 3e-4,
            "{name}: {found} is not {value}"
        );
    }
    let build = scorecard(&r, "Data aggregation: create b-tree index, throughput");
    assert!((build - 1.024e9 / 226.0).abs() < 1.0);
}

#[test]
fn the_factors_named_as_contradictions_follow_from_the_rows() {
    let r = dl980();
    let at = |code: &str, jobs: u32, column: &str| {
        let points = test(&r, code);
        points.iter().find(|p| p.jobs == jobs).unwrap().printed[column]
    };
    let rate = |code: &str, jobs: u32| at(code, jobs, OPS);
    for (name, value, printed, digits) in [
        ("T132", rate("T132", 128) / rate("T132", 32), 1.205, 0.001),
        ("T133", rate("T133", 128) / rate("T133", 32), 1.067, 0.001),
        ("T141", rate("T141", 128) / rate("T141", 32), 1.143, 0.001),
        ("T621", rate("T621", 128) / rate("T621", 1), 21.8, 0.05),
        ("T621 ms", 128e3 / rate("T621", 128), 7.56, 0.01),
        ("T616 s", 512.0 / rate("T616", 512), 0.1113, 0.0001),
        ("T716 s", 256.0 / rate("T716", 256), 0.0977, 0.0001),
    ] {
        assert!((value - printed).abs() < digits, "{name}: {value}");
    }
    let scaling = at("T421", 32, RPS) / at("T421", 1, RPS) / 32.0;
    assert!((scaling - 0.76).abs() < 0.005, "{scaling}");
    for p in test(&r, "T211") {
        let kib = p.printed[WRITE_MIB] * 1024.0 / p.printed["Physical write [iops]"];
        assert!(
            (245.0..331.0).contains(&kib),
            "writes called 1 MByte average {kib} KiB"
        );
    }
}

#[test]
fn printed_oddities_are_kept_with_their_notes() {
    let r = dl980();
    let random_read = r.stated.iter().find(|s| s.printed == "290’00").unwrap();
    assert!(random_read.note.as_ref().unwrap().contains("290’000"));
    let fibonacci = r.stated.iter().filter(|s| s.name.contains("n=39"));
    assert!(fibonacci.clone().all(|s| s.note.is_some()));
    assert_eq!(fibonacci.map(|s| s.value).collect::<Vec<_>>(), [15.0, 12.0]);
}
