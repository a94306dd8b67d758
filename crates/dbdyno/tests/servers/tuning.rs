//! Kernel settings for a database's device: made for a run, and restored after any end of it.

use std::time::{Duration, Instant};

use crate::common::words;
use crate::common::{Workspace, points};
use crate::disk::Disk;
use testing::Says;

const PLAN: &str = "name = \"tuned\"\n\
    [[step]]\nuse = \"library\"\ntests = [\"T611\"]\njobs = [1]\nmode = \"time\"\nseconds = 0.5\n";
/// A setting that no device has by default.
const SETTING: [&str; 2] = ["--set", "host.read_ahead_kb=512"];
/// Longest time until a run has made its settings.
const PATIENCE: Duration = Duration::from_secs(60);

fn read_ahead_kb(device: &str) -> String {
    let file = format!("/sys/block/{device}/queue/read_ahead_kb");
    std::fs::read_to_string(file).unwrap().trim().to_owned()
}

/// A disk, the name of its device, and its setting; an error if this machine has none.
fn tunable(workspace: &Workspace) -> Result<(Disk, String, String), String> {
    let disk = Disk::on_a_device(workspace, 200 << 20)?;
    let device = host::device_of(&disk.path("")).unwrap();
    let before = read_ahead_kb(&device);
    Ok((disk, device, before))
}

#[test]
fn settings_of_the_device_hold_for_a_run_and_no_longer() {
    let workspace = Workspace::new();
    let (disk, device, before) = match tunable(&workspace) {
        Ok(tunable) => tunable,
        Err(reason) => testing::skip!("{reason}"),
    };
    assert_ne!(before, "512");
    let url = format!("sqlite:{}", disk.path("t.db").display());
    let plan = workspace.file("tuned.toml", PLAN);
    let run = ["run", &plan, "--target", &url, "--yes"];
    workspace.fine(&[&run[..], &SETTING, &["--name", "tuned"]].concat());
    assert_eq!(read_ahead_kb(&device), before);
    workspace.export("tuned")["run"]["plan_toml"]
        .as_str()
        .unwrap()
        .says("read_ahead_kb");

    // After a kill during its change, the next run restores the setting, even without settings of its own.
    let endless = ["--set", "step.seconds=600.0"];
    let mut long = workspace
        .command(&[&run[..], &SETTING, &endless].concat())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while read_ahead_kb(&device) != "512" {
        assert!(since.elapsed() < PATIENCE && long.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    long.kill().unwrap();
    long.wait().unwrap();
    // The next dbdyno of any test restores it.
    let other = format!("sqlite:{}", workspace.path("other.db").display());
    workspace.fine(&["run", &plan, "--target", &other, "--yes"]);
    assert_eq!(read_ahead_kb(&device), before);
}

#[test]
fn sides_that_differ_in_the_host_are_measured_in_blocks() {
    let workspace = Workspace::new();
    let (disk, device, before) = match tunable(&workspace) {
        Ok(tunable) => tunable,
        Err(reason) => testing::skip!("{reason}"),
    };
    let url = format!("sqlite:{}", disk.path("t.db").display());
    let plan = workspace.file("tuned.toml", PLAN);
    let study = [
        "ab", &plan, "--target", &url, "--yes", "--repeat", "2", "--name", "study",
    ];
    let sides = words("--a host.read_ahead_kb=16 --b host.read_ahead_kb=2048", &[]);
    let refused = workspace.ends(2, &[&study[..], &sides, &["--interleave", "50ms"]].concat());
    refused.sentence().says("in blocks");
    workspace.fine(&[&study[..], &sides].concat());
    assert_eq!(read_ahead_kb(&device), before);
    assert_eq!(points(&workspace.export("study-a")).len(), 2);
    let compared = workspace.fine("compare study-a study-b");
    compared.stdout.says("read_ahead_kb");
}

#[test]
fn unsupported_settings_are_reported_before_anything_is_measured() {
    let workspace = Workspace::new();
    let plan = workspace.file("tuned.toml", PLAN);
    let url = workspace.url("sqlite", "t.db");
    let of = |setting: &str| {
        workspace.dbdyno(&["run", &plan, "--target", &url, "--yes", "--set", setting])
    };
    let unknown = of("host.read_ahead=1");
    assert_eq!(unknown.status, 2, "{}", unknown.stderr);
    unknown.sentence().says("read_ahead_kb");
    let wrong = of("host.scheduler=fastest");
    assert_ne!(wrong.status, 0);
    wrong.sentence().says("host.scheduler");
}
