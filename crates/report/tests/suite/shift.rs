//! Two runs below a database, on terminal and page.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::chromium::Chromium;
use archive::{
    ByOperation, Component, OperationSample, OperationTimes, Point, PointKey, Run, Sample, WorkDone,
};
use report::{Against, HtmlOptions, Shown, html, shifts};
use stats::Histogram;
use verdict::compare::Terms;
use verdict::shift::shifts as find;

/// Runs of a published study's list, with reads of 200 µs and writes of 330 µs on average, `factor` times as fast, with a tail.
fn run(label: &str, factor: f64, tests: &[&str]) -> Run {
    let mut run = crate::fixture::frame();
    run.label = label.to_owned();
    run.id = label.len() as i64;
    run.repetitions = 1;
    run.targets.truncate(1);
    run.missing.clear();
    run.points = (1..)
        .zip(tests)
        .map(|(step, test)| point(step, test, factor))
        .collect();
    run.points_planned = run.points.len() as u32;
    run
}

fn point(step: u32, test: &str, factor: f64) -> Point {
    let key = PointKey {
        step,
        ..PointKey::of(test, 10)
    };
    let mut times = Vec::new();
    for (operation, us) in [("read", 180.0), ("write", 297.0)] {
        let service = spread(us * factor);
        let of = |observer, phase| OperationTimes::of(observer, "", operation, phase);
        times.push(of("driver", "service").with(&service));
        times.push(of("driver", "response").with(&service));
        times.push(
            of("device", "whole")
                .counted(50_000, Some(us * factor))
                .remarked(format!(
                    "mean of /proc/diskstats alone: {}",
                    crate::fixture::HOSTILE
                )),
        );
    }
    let samples = (1..=30).flat_map(|second: u32| {
        [("read", 200.0), ("write", 330.0)].map(|(operation, us)| OperationSample {
            at_s: f64::from(second),
            operation: operation.to_owned(),
            operations: 1_000,
            service_us_mean: Some(us * factor * (1.0 + f64::from(second * 7 % 5) / 100.0)),
            response_us_mean: Some(us * factor),
        })
    });
    Point {
        work: WorkDone {
            below_database: true,
            ..WorkDone::default()
        },
        by_operation: ByOperation {
            times,
            samples: samples.collect(),
            transactions: Vec::new(),
        },
        ..Point::blank(key, "8k reads and writes".to_owned(), Component::Storage)
    }
}

/// A thousand times around `us`, every hundredth ten times as long.
fn spread(us: f64) -> Histogram {
    let mut histogram = Histogram::new();
    for i in 0..1_000_u32 {
        let around = us * (0.6 + f64::from(i * 37 % 80) / 100.0);
        let times = if i % 100 == 99 { 10.0 } else { 1.0 };
        histogram.record_ns((around * times * 1e3) as u64);
    }
    histogram
}

const APPENDIX: [&str; 3] = ["rd_random_5w", "rd_random_10w", "rd_random_15w"];

fn page(after: &Run, before: &Run) -> String {
    html(after, &[Against::Run(before)], &HtmlOptions::default())
}

#[test]
fn the_terminal_has_a_line_for_each_kind_of_time() {
    let (before, after) = (
        run("8gb", 1.0, &APPENDIX[..1]),
        run("16gb", 0.7, &APPENDIX[..1]),
    );
    let shown = Shown {
        width: 150,
        colour: false,
        all: false,
    };
    insta::assert_snapshot!(
        "shifts",
        shifts(&find(&before, &after, Terms::default()), shown)
    );
    assert_eq!(shifts(&[], shown), "");
}

#[test]
fn the_page_has_table_charts_and_published_figures() {
    let (before, after) = (run("8gb", 1.0, &APPENDIX), run("16gb", 0.7, &APPENDIX));
    let text = page(&after, &before);
    let section = &text[text.find("<section id=\"shift\"").unwrap()..];
    let section = &section[..section.find("</section>").unwrap()];
    for part in [
        "From run “8gb” (A) to this run (B)",
        "rd_random_5w, 10 in flight",
        "<td>30.0 %</td>",
        "within these runs",
        "Too few repetitions for a verdict",
        "Mean service time of each run in the list",
        "Mean service time over time",
        "write, service time: distribution, % of I/Os",
        "write, service time: shift by bucket, % points",
    ] {
        assert!(section.contains(part), "{part} is missing in {section}");
    }
    // Means without distributions give a line of the table and no chart; a response time equal to the service time is not drawn again.
    assert!(!section.contains("at the device: distribution"));
    assert!(!section.contains("since the intended start: distribution"));
    assert!(!text.contains("<script>alert"), "hostile text came through");

    assert!(text.contains("Storage, below the database"));
    assert!(!text.contains("Storage, through the database"));
}

/// A database reads little in the first repetition and more in the second: its reads come after the writes of the next level in the
/// archive, and appear with those of their own level.
#[test]
fn each_level_of_users_has_one_title() {
    let ramp = |label: &str, factor: f64| {
        let mut run = run(label, factor, &["OLTP"; 4]);
        run.repetitions = 2;
        let places = [(1, 8), (1, 16), (2, 8), (2, 16)];
        for (point, (repetition, users)) in run.points.iter_mut().zip(places) {
            (point.key.repetition, point.key.step, point.key.jobs) = (repetition, 1, users);
            point.work.below_database = false;
            let of_operation = &mut point.by_operation;
            of_operation.samples.clear();
            of_operation
                .times
                .retain(|times| times.observer == "device");
            of_operation.times[0].count = Some(if repetition == 1 { 99 } else { 5_000 });
        }
        run
    };
    let section = crate::html::section(&page(&ramp("after", 0.7), &ramp("before", 1.0)), "shift");
    for title in ["OLTP, 8 users", "OLTP, 16 users"] {
        let is_head = |line: &&str| line.trim_matches(['|', ' ']) == title;
        assert_eq!(
            section.lines().filter(is_head).count(),
            1,
            "{title}: {section}"
        );
    }
}

/// The study's list, as a run of its parameter file stores it: six mixes of reads and writes, from random to sequential, after a fill.
fn study(label: &str, factor: f64) -> Run {
    let mut defined = vec![("rd_fill".to_owned(), "wd_fill".to_owned(), 0, 0)];
    for (rd, wd, seek) in [
        ("random", "rand", 100),
        ("75per_random", "25perseq", 75),
        ("50per_random", "50perseq", 50),
        ("25per_random", "75perseq", 25),
        ("sequential", "seq", 0),
    ] {
        defined.extend([5, 10, 15, 20, 25, 30].map(|writes| {
            let reads = 100 - writes;
            (
                format!("rd_{rd}_{writes}w"),
                format!("wd_{wd}_read{reads}"),
                seek,
                reads,
            )
        }));
    }
    let tests: Vec<String> = defined
        .iter()
        .map(|d| format!("{} threads=10", d.0))
        .collect();
    let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
    let mut run = run(label, factor, &tests);
    for (point, (rd, wd, seek, reads)) in run.points.iter_mut().zip(&defined) {
        point.definition = format!(
            "RD={rd}; I/O rate: Uncontrolled MAX; elapsed=6 warmup=1; For loops: threads=10; \
             wd={wd},xfersize=8k,seekpct={seek},rdpct={reads}"
        );
    }
    run
}

/// An unrelated list may have a run called `rd_random_5w`.
#[test]
fn published_figures_appear_only_with_the_studys_own_list() {
    const HEADING: &str = "Comparison with the published results";
    let (before, after) = (study("8gb", 1.0), study("16gb", 0.7));
    assert_eq!(after.points.len(), 31);
    let text = page(&after, &before);
    // The study's range, and the value of these runs.
    for part in [HEADING, "<td>35 %</td><td>30.0 %</td>"] {
        assert!(text.contains(part), "{part}");
    }
    let changed = |change: &dyn Fn(&mut Run)| {
        let mut own = after.clone();
        change(&mut own);
        let either = [page(&own, &before), page(&before, &own)];
        either.map(|text| text.contains(HEADING))
    };
    assert_eq!(changed(&|_| ()), [true; 2]);
    for (from, to) in [
        ("xfersize=8k", "xfersize=4k"),
        ("rdpct=95", "rdpct=94"),
        ("seekpct=75", "seekpct=100"),
        ("Uncontrolled MAX", "100"),
        ("threads=10", "threads=1"),
        ("rdpct=70", "rdpct=70,rhpct=5"),
    ] {
        let other = |run: &mut Run| {
            for point in &mut run.points {
                point.definition = point.definition.replace(from, to);
            }
        };
        assert_eq!(changed(&other), [false; 2], "{from} → {to}");
    }
    assert_eq!(
        changed(&|run| drop(run.points.pop())),
        [false; 2],
        "a part of it"
    );
    let names = |label| run(label, 1.0, &["rd_random_5w"]);
    assert!(
        !page(&names("b"), &names("a+")).contains(HEADING),
        "its names alone"
    );
}

/// Means that are many times as long, and operations that only other users of the device issue.
#[test]
fn large_changes_are_factors_and_rows_of_others_are_separate() {
    let beside = |label: &str, factor: f64| {
        let mut run = run(label, factor, &["rd1"]);
        let times = &mut run.points[0].by_operation.times;
        times.retain(|times| times.operation == "read");
        times.push(OperationTimes::of("device", "", "flush", "whole").counted(7, Some(90.0)));
        run
    };
    let (before, after) = (beside("before", 1.0), beside("after", 370.0));
    let shown = Shown {
        width: 170,
        colour: false,
        all: true,
    };
    let text = shifts(&find(&before, &after, Terms::default()), shown);
    let (own, apart) = text
        .split_once("Operations that these tests do not issue")
        .unwrap();
    assert!(
        own.contains("rd1, 10 in flight") && own.contains("× 370"),
        "{text}"
    );
    assert!(own.contains("N times as long in B as in A"), "{text}");
    assert!(!text.contains("-36"), "{text}");
    // A row that hardly changed has the scale of its column.
    let mixed = |label: &str, factor: f64| {
        let mut run = beside(label, factor);
        run.points.push(point(2, "rd2", 1.0));
        run
    };
    let mixed = find(
        &mixed("before", 1.0),
        &mixed("after", 370.0),
        Terms::default(),
    );
    let mixed = shifts(&mixed, shown);
    let of_rd2 = mixed.split("rd2, 10 in flight").nth(1).unwrap();
    let row = of_rd2
        .lines()
        .find(|line| line.contains("read, service time"));
    assert!(row.unwrap().contains("× 1.00"), "{mixed}");
    assert!(
        apart.contains("flush, at the device") && apart.contains("7 → 7"),
        "{text}"
    );
    assert!(apart.contains("too few I/Os"), "{text}");
    let section = crate::html::section(&page(&after, &before), "shift");
    for part in ["× 370", "Operations that these tests do not issue", "7 → 7"] {
        assert!(section.contains(part), "{part}: {section}");
    }
}

/// A study of six pairs whose last three had hardly any reads: there are enough pairs, but not enough reads.
#[test]
fn rows_that_too_few_repetitions_have_say_so() {
    let ramp = |label: &str, factor: f64| {
        let mut run = run(label, factor, &["OLTP"; 6]);
        run.repetitions = 6;
        for (point, repetition) in run.points.iter_mut().zip(1..) {
            (point.key.repetition, point.key.step) = (repetition, 1);
            point.work.below_database = false;
            let times = &mut point.by_operation.times;
            times.retain(|times| times.observer == "device");
            times[0].count = Some(if repetition > 3 { 9 } else { 5_000 });
        }
        run
    };
    let found = find(
        &ramp("a", 1.0),
        &ramp("b", 0.7),
        Terms {
            trust_sequential: true,
            ..Terms::default()
        },
    );
    let shown = Shown {
        width: 170,
        colour: false,
        all: true,
    };
    let text = shifts(&found, shown);
    assert!(!text.contains("Too few repetitions"), "{text}");
    assert!(
        text.contains("fewer than 4 of the 6 repetitions, in one row in 3."),
        "{text}"
    );
}

/// A device without a queue has 0.00 µs before and after.
#[test]
fn nothing_before_is_no_improvement() {
    let idle = |label: &str| {
        let mut run = run(label, 1.0, &["rd1"]);
        let queue = OperationTimes::of("device", "", "write", "queue").counted(50_000, Some(0.0));
        run.points[0].by_operation.times.push(queue);
        run
    };
    let (before, after) = (idle("before"), idle("after"));
    let shown = Shown {
        width: 190,
        colour: false,
        all: true,
    };
    let text = shifts(&find(&before, &after, Terms::default()), shown);
    let line = text.lines().find(|line| line.contains("device's queue"));
    let cells: Vec<&str> = line.unwrap().split_whitespace().collect();
    assert!(
        cells.ends_with(&[
            "→", "50,000", "0.00", "µs", "→", "0.00", "µs", "–", "–", "no", "verdict", "–", "→",
            "–", "–", "→", "–", "–", "→", "–", "–", "→", "–"
        ]),
        "{cells:?}"
    );
    let page = page(&after, &before);
    assert!(!text.contains("NaN") && !page.contains("NaN"));
}

#[test]
fn runs_of_a_list_stand_in_its_order() {
    let own = run("own", 1.0, &["rd_random_5w", "rd_random_10w", "rd_fill"]);
    let text = report::terminal(&own, &[], 150, false);
    let at = ["rd_random_5w", "rd_random_10w", "rd_fill"].map(|name| text.find(name).unwrap());
    assert!(at.is_sorted(), "{text}");
}

/// A random read through a database and below it, each with this many samples of a tenth of a second.
fn delivering(samples: [u32; 2]) -> Run {
    let mut own = run("own", 1.0, &["D121", "T626", "D111"]);
    let figures = [40_000.0, 10_000.0, 0.0];
    let counts = samples.into_iter().chain([0]);
    for ((point, iops), count) in own.points.iter_mut().zip(figures).zip(counts) {
        point.figures.read_iops = Some(iops).filter(|v| *v > 0.0);
        point.figures.elapsed_s = Some(f64::from(count) / 10.0);
        point.work.below_database = point.key.test.starts_with('D');
        let sample = |at: u32| Sample {
            at_s: f64::from(at) / 10.0,
            read_iops: Some(iops * (1.0 + (f64::from(at % 3) - 1.0) / 10.0)),
            ..Sample::default()
        };
        point.samples = (1..=count).map(sample).collect();
    }
    own
}

#[test]
fn the_database_is_held_against_the_device() {
    let mut own = delivering([30, 24]);
    let text = report::terminal(&own, &[], 190, false);
    let row = "sqlite Random read 40,000 IOPS (D121 @10) 10,000 IOPS (T626 @10) 25 % [24, 26] 24 and 30 samples";
    assert!(in_one_space(&text).contains(row), "{text}");
    assert!(!text.contains("Sequential read"), "the device told nothing");
    let page = html(&own, &[], &HtmlOptions::default());
    let below = page.find("<h2 id=\"below-title\">").unwrap();
    let through = page.find("<h2 id=\"storage-title\">").unwrap();
    assert!(below < through, "the device comes first");
    let part = "<td>25 % [24, 26]</td><td>24 and 30 samples</td>";
    assert!(page[below..through].contains(part));
    own.points.remove(1);
    let text = report::terminal(&own, &[], 150, false);
    let row = "Random read 40,000 IOPS (D121 @10) – – ";
    assert!(in_one_space(&text).contains(row), "{text}");
}

/// The text with its columns one space apart.
fn in_one_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A quarter of a second is too short to characterise a database.
#[test]
fn a_share_of_too_short_a_measurement_is_none() {
    for (samples, said) in [
        (
            [30, 2],
            "Random read 40,000 IOPS (D121 @10) 10,000 IOPS (T626 @10) – T626 was measured for 0.200 s, which gave 2 samples, and 16 are needed: measure longer",
        ),
        (
            [15, 24],
            "D121 was measured for 1.50 s, which gave 15 samples, and 16 are needed",
        ),
    ] {
        let own = delivering(samples);
        let text = report::terminal(&own, &[], 300, false);
        assert!(in_one_space(&text).contains(said), "{text}");
        let page = html(&own, &[], &HtmlOptions::default());
        assert!(page.contains("and 16 are needed") && !page.contains("<td>25 %"));
    }
}

#[test]
fn a_browser_draws_both_sides() {
    let browser = Chromium::new();
    let (before, after) = (run("8gb", 1.0, &APPENDIX), run("16gb", 0.7, &APPENDIX));
    let file = browser.file("shift.html", &page(&after, &before));
    let picture = browser.picture(&file, (1280, 3600), &[]);
    // Blue is before, vermilion after.
    for colour in [[0x00, 0x72, 0xb2], [0xd5, 0x5e, 0x00]] {
        assert!(
            picture.count(colour) > 500,
            "a side is not drawn: {colour:?}"
        );
    }
}

/// Runs that differ in their threads alone are one curve, and a driver that was late is no property of the storage.
#[test]
fn runs_of_a_parameter_file_share_a_curve_and_are_marked_as_late() {
    let mut own = run("own", 1.0, &["rd1 threads=1", "rd1 threads=8", "rd2"]);
    own.plan_name = archive::OF_PARAMETER_FILES.into();
    own.targets[0].engine = archive::OF_PARAMETER_FILES.into();
    for (point, rate) in own.points.iter_mut().zip([1_000.0, 4_000.0, 500.0]) {
        point.figures.operations_per_s = Some(rate);
        point.histograms = archive::Histograms::of(&spread(200.0), &spread(400.0));
    }
    own.points[2].notes.push(archive::Remark::LateStarts {
        late: 9,
        operations: 100,
        allowed: false,
    });
    let text = html(&own, &[], &HtmlOptions::default());
    let has = |part: &str| text.contains(part);
    assert!(has("rd1: response time over the I/O rate") && !has("rd2: response time over"));
    assert!(has("✓ valid, started late") && !has("Only one level was measured"));
    let text = report::terminal(&own, &[], 190, false);
    assert_eq!(text.matches("yes, late").count(), 1, "{text}");
    assert!(text.contains("service"), "{text}");
}
