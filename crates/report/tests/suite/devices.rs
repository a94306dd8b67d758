//! Devices and the machine over time, on page and terminal.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use archive::{DeviceSample, DeviceUse, OperationTimes, Requests, Run, Sample};
use report::HtmlOptions;
use stats::Histogram;

use crate::fixture::{few, with_devices};
use crate::html::{balanced, section};

fn page(run: &Run) -> String {
    report::html(run, &[], &HtmlOptions::default())
}

fn of_test<'a>(page: &'a str, test: &str) -> &'a str {
    let start = page.find(&format!("<section id=\"{test}\"")).unwrap();
    let end = page[start..].find("</section>").unwrap();
    &page[start..start + end]
}

#[test]
fn each_level_has_a_row_for_each_device() {
    let page = page(&with_devices(few()));
    let text = section(&page, "T626");
    let start = text.find("Devices\n").unwrap();
    let end = text.find("sqlite @4 · dm-0: ").unwrap();
    insta::assert_snapshot!("devices", &text[start..end]);
}

#[test]
fn devices_with_files_come_first_followed_by_those_below() {
    let text = section(&page(&with_devices(few())), "T611");
    let places = ["dm-0 data", "vda below dm-0", "vdb log", "loop0 temporary"];
    let places = places.map(|name| text.find(name).unwrap_or_else(|| panic!("{name}: {text}")));
    assert!(places.is_sorted(), "{places:?}");
    let loop0 = text
        .lines()
        .find(|l| l.contains("loop0 temporary"))
        .unwrap();
    assert_eq!(loop0.matches(" – ").count(), 15, "{loop0}");
    let volume = text.lines().find(|l| l.contains("dm-0 data")).unwrap();
    assert!(volume.contains("180 µs | – |"), "no p99: {volume}");
}

#[test]
fn request_times_over_time_are_folded_unless_the_test_loads_storage() {
    let page = page(&with_devices(few()));
    let folded = "<summary>Requests at the devices over time</summary>";
    assert!(of_test(&page, "T611").contains(folded));
    let storage = of_test(&page, "T626");
    assert!(!storage.contains(folded));
    for caption in [
        "sqlite @4 · dm-0: request times over time",
        "sqlite @4 · vda: request times over time",
        "sqlite @4 · vdb: request times over time",
        "sqlite @4 · vdb: flush times over time",
    ] {
        let caption = format!("<figcaption>{caption}</figcaption>");
        assert!(storage.contains(&caption), "{caption}");
    }
    assert!(!storage.contains("loop0: request times"), "nobody counted");
    // A volume has only the mean.
    let volume = &storage[storage.find("dm-0: request times").unwrap()..];
    let volume = &volume[..volume.find("</figure>").unwrap()];
    assert!(volume.contains("read mean") && volume.contains("write mean"));
    assert!(!volume.contains("p99"));
}

#[test]
fn known_quantities_of_the_machine_have_charts_with_peak_and_p95() {
    let page = page(&with_devices(few()));
    let test = of_test(&page, "T611");
    let machine = &test[test.find("<summary>Machine over time</summary>").unwrap()..];
    for caption in [
        "Processors over time, %",
        "Network over time, MB/s",
        "Memory over time, MB",
        "Major page faults over time, per second",
        "Pressure over time, %",
    ] {
        let figure = machine.find(&format!("<figcaption>{caption}</figcaption>"));
        let figure = &machine[figure.unwrap_or_else(|| panic!("{caption}"))..];
        let figure = &figure[..figure.find("</figure>").unwrap()];
        assert!(
            figure.contains("p95 ") && figure.contains(", peak "),
            "{caption}"
        );
    }
    assert!(!machine.contains("Swapping over time"), "there was none");
    assert!(machine.contains("TCP segments retransmitted: "));
    assert!(machine.contains("open TCP sockets: at most 40."));
    // Faults are reported per second, from the half-second that had them.
    assert!(machine.contains("peak 24.0 /s"), "{machine}");
    assert!(!machine.contains("memory p95"), "nobody told that pressure");
}

#[test]
fn each_interface_has_a_row_at_the_best_level() {
    let text = section(&page(&with_devices(few())), "T611");
    let machine = &text[text.find("Machine over time").unwrap()..];
    let start = machine.find("Network by interface").unwrap();
    let end = machine.find("What the host's interfaces").unwrap();
    insta::assert_snapshot!("interfaces", &machine[start..end]);
}

#[test]
fn unsampled_quantities_have_no_chart() {
    let mut run = few();
    for mark in [
        "<h4>Devices",
        "Machine over time",
        "over time</summary>",
        "Network by interface",
    ] {
        assert!(!page(&run).contains(mark), "{mark}");
    }
    // I/O wait and used memory appear in other charts, and do not justify these.
    for sample in run.points.iter_mut().flat_map(|p| &mut p.samples) {
        (sample.cpu_iowait_pct, sample.memory_used_mb) = (Some(5.0), Some(100.0));
    }
    assert!(!page(&run).contains("Machine over time"));
}

#[test]
fn repetitions_are_summed_up() {
    let mut run = with_devices(few());
    run.points
        .retain(|p| p.key.test == "T611" && p.key.target == 0 && p.key.jobs == 1);
    assert_eq!(run.points.len(), 2);
    for (point, (count, elapsed_s)) in run.points.iter_mut().zip([(100, 1.0), (500, 2.0)]) {
        let reads = Requests {
            count,
            mb: count as f64 / 100.0,
            await_ms: Some(elapsed_s),
        };
        point.devices = vec![DeviceUse {
            name: "sda".into(),
            elapsed_s: Some(elapsed_s),
            reads: Some(reads),
            busy_pct: Some(30.0 * elapsed_s),
            ..DeviceUse::default()
        }];
        point.by_operation.times.clear();
    }
    let text = section(&page(&run), "T611");
    let row = text.lines().find(|l| l.starts_with("sda")).unwrap();
    // 600 reads in 3 s, and a mean of 1100 ms over 600.
    assert!(
        row.starts_with("sda | 200 | 2.00 | 10.0 | 1.83 ms | – |"),
        "{row}"
    );
    assert!(row.ends_with("| – | 50.0 |"), "{row}");
}

#[test]
fn odd_devices_stay_text_and_within_bounds() {
    let mut run = with_devices(few());
    let odd = |name: &str, carries: &[&str]| DeviceUse {
        name: name.into(),
        carries: carries.iter().map(|name| (*name).to_owned()).collect(),
        elapsed_s: Some(f64::INFINITY),
        reads: Some(Requests {
            count: u64::MAX,
            mb: f64::NAN,
            await_ms: Some(-1.0),
        }),
        busy_pct: Some(f64::NAN),
        samples: (0..40)
            .map(|at| DeviceSample {
                at_s: [f64::NAN, -1.0, f64::INFINITY, 1e300][at % 4],
                operation: ["read", "flush"][at % 2].into(),
                requests: u64::MAX,
                service_us_mean: Some([f64::NAN, -5.0, 1e300, 3.0][at % 4]),
                ..DeviceSample::default()
            })
            .collect(),
        ..DeviceUse::default()
    };
    for point in &mut run.points {
        // Each device is below the other, and below itself.
        point.devices = vec![
            odd("a", &["a", "b"]),
            odd("b", &["a", crate::fixture::HOSTILE]),
        ];
        point.devices.push(odd(crate::fixture::HOSTILE, &[]));
        point
            .devices
            .extend((0..1_000).map(|at| odd(&format!("d{at}"), &[])));
        for interface in &mut point.interfaces {
            interface.name = crate::fixture::HOSTILE.into();
            interface.elapsed_s = Some(f64::NAN);
            interface.received.bytes = u64::MAX;
        }
        point.samples = (0..20)
            .map(|at| Sample {
                at_s: f64::from(at % 3),
                swap_mb: Some([f64::NAN, f64::INFINITY, -3.0][at as usize % 3]),
                major_faults: Some(1.0),
                pressure_cpu_pct: Some(f64::INFINITY),
                ..Sample::default()
            })
            .collect();
    }
    let page = page(&run);
    balanced(&page);
    let (shown, _) = page.split_once("<script type").unwrap();
    assert!(!shown.contains("<script>") && !shown.contains("NaN"));
    let text = section(&page, "T611");
    assert!(text.contains("and 979 more"), "{text}");
    assert_eq!(text.matches("\nd7 ").count(), 8, "once for each level");
    let (_, foot) = page.split_once("<footer>").unwrap();
    assert!(foot.contains("too many samples of devices to embed"));
    let terminal = report::terminal(&run, &[], 120, false);
    assert!(terminal.contains("995 more devices") && !terminal.contains('\u{1b}'));
}

#[test]
fn the_terminal_has_a_line_for_each_device_at_the_best_level() {
    let text = report::terminal(&with_devices(few()), &[], 200, false);
    let start = text.find("T611 ").unwrap();
    let block = &text[start..];
    let block = &block[..block.find("\n\n").unwrap()];
    let lines: Vec<&str> = block
        .lines()
        .filter(|line| line.contains(" (") && line.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    insta::assert_snapshot!("devices_terminal", lines.join("\n"));
}

#[test]
fn each_purpose_has_the_engines_account_next_to_its_device() {
    let text = section(&page(&with_devices(few())), "T626");
    let start = text.find("Whose I/O\n").unwrap();
    let rest = &text[start..];
    let end = rest
        .find("Whose I/O at the other levels")
        .unwrap_or(rest.len());
    insta::assert_snapshot!("io_by_purpose", &rest[..end]);
    let mut bare = with_devices(few());
    bare.points
        .iter_mut()
        .for_each(|point| point.engine_io.clear());
    assert!(!page(&bare).contains("Whose I/O"));
}

#[test]
fn the_terminal_reports_only_large_differences() {
    let text = report::terminal(&with_devices(few()), &[], 200, false);
    let block = &text[text.find("T611 ").unwrap()..];
    let block = &block[..block.find("\n\n").unwrap()];
    let line = |name: &str| block.lines().find(|line| line.contains(name));
    let data = line("dm-0 (data): read ").unwrap();
    assert!(
        data.contains("the engine") && data.contains("(page cache)"),
        "{data}"
    );
    assert!(!data.contains("wrote"), "the writes agree: {data}");
    assert!(line("vdb (log): wrote").is_some(), "{block}");
    assert!(line("loop0 (temporary): wrote").is_none(), "{block}");
}

/// A run of one level of T626 with a histogram of its array.
fn with_array(is_timed: bool) -> Run {
    let mut run = with_devices(few());
    run.points
        .retain(|p| p.key.test == "T626" && p.key.target == 0 && p.key.jobs == 4);
    run.points.truncate(1);
    let phases = [("whole", 260.0), ("queue", 20.0), ("device", 240.0)];
    let phases = phases
        .into_iter()
        .filter(|(phase, _)| is_timed || *phase == "whole");
    let times = phases.map(|(phase, us)| {
        let mut histogram = Histogram::new();
        histogram.record_many_ns((us * 1e3) as u64, 4_000);
        let times = OperationTimes::of("device", "vda", "read", phase).counted(4_000, Some(us));
        if is_timed {
            times.with(&histogram)
        } else {
            times
        }
    });
    run.points[0].by_operation.times = times.collect();
    let csv = "run,operation,up_to_us,count\nT626,read,100,0\nT626,read,200,3900\n";
    archive::array::attach(&mut run, "array.csv", csv).unwrap();
    run
}

/// The rows of the only table, without their last cells.
fn places(run: &Run) -> Vec<String> {
    let text = section(&page(run), "T626");
    let start = text.find("Latency by place").unwrap();
    let rows = text[start..].lines().skip(3).take(5);
    rows.map(|row| row.rsplit_once(" | ").unwrap().0.to_owned())
        .collect()
}

#[test]
fn the_way_to_the_array_is_a_difference_of_means() {
    insta::assert_snapshot!("places", places(&with_array(true)).join("\n"));
    // Queue and device are not distinguished, so that the difference includes the queue.
    insta::assert_snapshot!("places_untimed", places(&with_array(false)).join("\n"));
    let mut odd = with_array(true);
    odd.points[0]
        .by_operation
        .times
        .retain(|t| t.observer == "array");
    insta::assert_snapshot!("places_unmeasured", places(&odd).join("\n"));
    let without = page(&with_devices(few()));
    assert!(!without.contains("Latency by place"));
}

#[test]
fn an_array_slower_than_the_device_counted_something_else() {
    let mut run = with_array(true);
    for times in &mut run.points[0].by_operation.times {
        if times.observer == "device" {
            times.mean_us = times.mean_us.map(|us| us / 4.0);
        }
    }
    let text = section(&page(&run), "T626");
    assert!(text.contains("| −81.4 µs | – | – |"), "{text}");
    assert!(
        text.contains("below 0, so the array counted other I/Os"),
        "{text}"
    );
}

/// A test that reads in batches has the time of a batch as its result, and the time of one request next to it.
#[test]
fn rows_of_storage_tests_have_the_time_of_a_request() {
    let mut run = few();
    for point in &mut run.points {
        point.figures.read_await_ms = Some(0.125);
        point.figures.read_await_ms_p99 = Some(0.412);
    }
    let page = page(&run);
    for head in [
        "<th scope=\"col\">read ms<small>mean</small></th>",
        "<small>p99</small>",
    ] {
        assert!(of_test(&page, "T626").contains(head), "{head}");
    }
    assert!(of_test(&page, "T626").contains("<td>0.412</td>"));
    assert!(!of_test(&page, "T611").contains("read ms"));
    for width in [100, 200] {
        let text = report::terminal(&run, &[], width, false);
        let block = |test: &str| {
            let block = &text[text.find(&format!("{test} · ")).unwrap()..];
            block[..block.find("\n\n").unwrap()].to_owned()
        };
        assert!(block("T626").contains("0.412"), "{}", block("T626"));
        assert!(!block("T611").contains("0.412"));
        let longest = block("T626").lines().map(|line| line.chars().count()).max();
        assert!(longest.unwrap() <= width, "{}", block("T626"));
    }
    let markdown = archive::export::markdown(&run, &[]);
    let (storage, rest) = (
        markdown.find("## T626").unwrap(),
        markdown.find("## T611").unwrap(),
    );
    let table = |start: usize| {
        let end = markdown[start..].find("\n\n|").unwrap();
        markdown[start + end..].lines().nth(2).unwrap()
    };
    assert!(table(storage).contains("read p99 [ms]") && !table(rest).contains("read p99"));
}
