//! End-to-end tests of the plans by which dbdyno itself is measured.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use crate::common::words;
use std::process::{Child, Command};

use common::{TINY, Workspace, faults, points, repository};
use testing::Says;

fn of_the_repository(name: &str) -> String {
    repository(name).to_str().unwrap().to_owned()
}

#[test]
fn the_mock_is_measured_at_the_speed_that_it_states() {
    let workspace = Workspace::new();
    let (plan, library) = (
        of_the_repository("bench/aa/mock.toml"),
        format!("library={}", of_the_repository("bench/aa/library")),
    );
    let url = "mock:?service_us=100&noise_pct=0&session_noise_pct=0&slow_down_pct=25";
    workspace.fine(&["run", &plan, "--set", &library, "--target", url]);
    let run = workspace.export("last");
    let settings = &run["targets"][0]["settings"];
    assert_eq!(settings["slow_down_pct"], "25");
    assert_eq!(settings["noise_pct"], "0");
    let point = &points(&run)[0];
    assert_eq!(point["valid"], true);
    // 125 µs per statement bound the rate at 8000 per second on any machine.
    let rate = point["operations_per_s"].as_f64().unwrap();
    assert!(rate > 100.0 && rate <= 8000.0, "{rate}");
}

#[test]
fn a_driver_that_is_held_up_makes_a_point_invalid() {
    let workspace = Workspace::new();
    let (plan, library) = (
        of_the_repository("bench/aa/mock.toml"),
        format!("library={}", of_the_repository("bench/aa/library")),
    );
    let run = |name: &str, command: fn(&Workspace, &[&str]) -> std::process::Command| {
        let arguments = words(
            "run {} --set {} --target mock:?service_us=100 --name {} --set \
            step.rate_per_s=100.0 --set step.seconds=1.0",
            &[&plan, &library, name],
        );
        let mut child = command(&workspace, &arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let pid = libc::pid_t::try_from(child.id()).unwrap();
        let pause = std::time::Duration::from_millis(25);
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            for signal in [libc::SIGSTOP, libc::SIGCONT] {
                // SAFETY: the child has not been waited for, so its number is still its own.
                assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
                std::thread::sleep(pause);
            }
        };
        (status.code(), points(&workspace.export(name))[0].clone())
    };
    let (status, point) = run("strict", |workspace, arguments| {
        workspace.command_as_typed(arguments)
    });
    assert_eq!(status, Some(3));
    // A driver without enough CPU may have further faults.
    let is_late = |reason: &&str| reason.contains("more than 1 ms late");
    assert_eq!(
        faults(&point).iter().filter(|r| is_late(r)).count(),
        1,
        "{point}"
    );
    let (status, point) = run("allowed", |workspace, arguments| {
        workspace.command(arguments)
    });
    assert_eq!(status, Some(0));
    assert_eq!(faults(&point), [""; 0]);
    let notes = point["notes"].to_string();
    notes.says_all(&[
        "late_starts_pct_max is 100 instead of 1",
        "more than 1 ms late; allowed by the plan",
    ]);
}

#[test]
fn the_short_plan_on_a_database_is_valid_and_reads_its_cache_back() {
    let workspace = Workspace::new();
    let plan = of_the_repository("bench/aa/smoke.toml");
    let url = format!("{}?cache_mb=17", workspace.url("sqlite", "bench.db"));
    workspace.fine(&["run", &plan, "--target", &url]);
    let run = workspace.export("last");
    assert_eq!(run["run"]["valid"], true);
    // SQLite counts KiB as negative numbers: 17·10⁶ / 1024.
    let settings = &run["targets"][0]["settings"];
    assert_eq!(settings["cache_size"], "-16601");
}

#[test]
fn the_mock_is_listed_but_never_measured_unasked() {
    let workspace = Workspace::new();
    let engines = workspace.fine("list engines").stdout;
    assert!(engines.contains("mock:  no database"), "{engines}");
    let (plan, directory) = (workspace.file("plan.toml", TINY), workspace.path("work"));
    workspace.fine(&[
        "run",
        &plan,
        "--demo",
        "--work-dir",
        directory.to_str().unwrap(),
    ]);
    let run = workspace.export("last");
    let targets = run["targets"].as_array().unwrap();
    assert!(!targets.is_empty() && targets.iter().all(|t| t["name"] != "mock"));
}

#[test]
fn a_capability_that_the_mock_lacks_is_missing_with_its_reason() {
    let workspace = Workspace::new();
    let printed = workspace.fine("run smoke --target mock: --full").stdout;
    printed.says_all(&[
        "T611 In-memory SQL, primary key access mock is not a database and has no tables",
        "T132 Integer processing                the library has no SQL of this test for mock",
    ]);
}

#[test]
fn two_paces_are_set_against_each_other() {
    let workspace = Workspace::new();
    let (plan, library) = (
        of_the_repository("bench/aa/mock.toml"),
        format!("library={}", of_the_repository("bench/aa/library")),
    );
    let study = workspace.fine(&words(
        "ab {} --set {} --target mock:?service_us=100 --b target.slow_down_pct=5 --set \
        step.seconds=0.1 --yes --repeat 3 --name paces --full",
        &[&plan, &library],
    ));
    study.stdout.says("T900@1.response_us_p50");
    let slow_down = |side: &str| {
        workspace.export(&format!("paces-{side}"))["targets"][0]["settings"]["slow_down_pct"]
            .clone()
    };
    assert_eq!((slow_down("a"), slow_down("b")), ("0".into(), "5".into()));
}

#[test]
fn the_stream_of_events_agrees_with_the_archive() {
    let workspace = Workspace::new();
    let events = workspace.path("run.jsonl");
    let plan = TINY
        .replace("jobs = [1]", "jobs = [1, 3]")
        .replace("seconds = 0.05", "seconds = 0.6");
    workspace.measure(&plan, &["--events", events.to_str().unwrap()]);
    let exported = workspace.export("last");
    let text = std::fs::read_to_string(events).unwrap();
    let events: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut kinds: Vec<&str> = events
        .iter()
        .map(|e| e["event"].as_str().unwrap())
        .collect();
    kinds.dedup();
    let point = ["point_begins", "snapshot", "point_ends"];
    let expected = [&["run_begins"][..], &point, &point, &["run_ends"]].concat();
    assert_eq!(kinds, expected);
    assert_eq!(events[0]["planned"], 2);
    assert_eq!(events[events.len() - 1]["complete"], true);
    let mut counted = [0; 2];
    let (mut responses, mut services, mut at) = (0, 0, 0);
    let sum = |buckets: &serde_json::Value| -> u64 {
        let buckets = buckets.as_array().unwrap().iter();
        buckets.map(|bucket| bucket[1].as_u64().unwrap()).sum()
    };
    for event in &events {
        if event["event"] == "snapshot" {
            counted[at] += event["operations"].as_u64().unwrap_or(0);
            responses += sum(&event["response_ns"]);
            services += sum(&event["service_ns"]);
            assert_eq!(event["users"], [1, 3][at]);
        }
        at += usize::from(event["event"] == "point_ends");
    }
    let operations = points(&exported).iter();
    let operations: Vec<u64> = operations
        .map(|p| p["operations"].as_f64().unwrap() as u64)
        .collect();
    // An operation of the driver is 100,000 of this test.
    let scaled: Vec<u64> = counted.iter().map(|n| n * 100_000).collect();
    assert_eq!(scaled, operations);
    assert_eq!([responses, services], [counted.iter().sum::<u64>(); 2]);
}

/// Processes that take all the time of the processors until the end of a test.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn on_every_processor() -> Self {
        let processors = std::thread::available_parallelism().unwrap().get();
        let busy = || {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
        };
        Self((0..processors).map(|_| busy().unwrap()).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A database that takes the same time for every statement is good to use, and nothing is beside busy loops. The tests that run at the same
/// time may be the only other programs.
#[test]
fn the_grade_knows_a_quiet_machine_from_a_busy_one() {
    let workspace = Workspace::new();
    let (plan, library) = (
        of_the_repository("bench/aa/mock.toml"),
        format!("library={}", of_the_repository("bench/aa/library")),
    );
    let grade = || {
        let url = "mock:?service_us=5000&wait=sleep&noise_pct=0&session_noise_pct=0";
        let line = "run {} {} --set {} --time 1s --repeat 3";
        workspace.fine(&words(line, &[&plan, url, &library]));
        let exported = workspace.export("last");
        let grade = &exported["grade"];
        let reasons = grade["reasons"].as_array().unwrap().clone();
        (grade["value"].as_str().unwrap().to_owned(), reasons)
    };
    let (value, reasons) = grade();
    let is_busy = |why: &serde_json::Value| why.as_str().unwrap().contains("other programs");
    assert!(
        value == "good to use" || reasons.iter().any(is_busy),
        "{value}: {reasons:?}"
    );

    let _busy = BusyLoops::on_every_processor();
    let (value, reasons) = grade();
    assert_eq!(value, "do not use", "{reasons:?}");
    reasons[0].as_str().unwrap().says("other programs used ");
}
