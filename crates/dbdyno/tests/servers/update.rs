//! An update of the storage below an active database: the device is slow before it and fast after it.

use std::path::{Path, PathBuf};

use ::postgres::local::PostgresServer;
use local_server::LocalServer;
use serde_json::Value;

use crate::common::Workspace;
use crate::common::words;
use crate::disk::Disk;
use crate::postgres;
use testing::Says;

/// Writes per second of the slow device, at which the writes of a few users queue, even if a sync takes 5 ms more.
const WRITES_PER_S: u32 = 60;
/// Users of one warehouse, with the repetitions for a verdict.
const PLAN: &str = "name = \"update\"\nrepeat = 6\nsample_ms = 200\n\
    [[step]]\nuse = \"oltp\"\nseconds = 2.5\nramp_up_seconds = 0.2\n\
    [step.oltp]\ndo = \"run\"\nusers = \"8\"\nwarm_up_max_seconds = 0.0\ncheck = \"none\"\n";

/// Practical band in percent: the update changes the times by large factors, and two runs on the same device differ by a few percent, as
/// the database grows.
const BAND: &str = "20";

/// A control group with a slow device; removed when dropped.
struct Slow(PathBuf);

impl Slow {
    fn make(device: &str) -> Result<Self, String> {
        let number = std::fs::read_to_string(format!("/sys/class/block/{device}/dev"))
            .map_err(|e| format!("{device}: {e}"))?;
        let number = number.trim();
        let mounts = Path::new("/sys/fs/cgroup");
        let (parent, file, limit) = if mounts.join("cgroup.controllers").exists() {
            (
                mounts.into(),
                "io.max",
                format!("{number} wiops={WRITES_PER_S}"),
            )
        } else {
            (
                mounts.join("blkio"),
                "blkio.throttle.write_iops_device",
                format!("{number} {WRITES_PER_S}"),
            )
        };
        let group = Self(parent.join(format!("dbdyno-test-slow-{}", std::process::id())));
        std::fs::create_dir(&group.0).map_err(|e| format!("{}: {e}", group.0.display()))?;
        std::fs::write(group.0.join(file), limit).map_err(|e| format!("{file}: {e}"))?;
        Ok(group)
    }

    /// Moves the processes of a server into the group, or out of it.
    fn hold(&self, server: &LocalServer, is_in: bool) {
        let group = if is_in {
            self.0.clone()
        } else {
            self.0.parent().unwrap().to_owned()
        };
        let root = server.pid().unwrap().to_string();
        let children = std::fs::read_to_string(format!("/proc/{root}/task/{root}/children"));
        for pid in children.unwrap().split_whitespace().chain([root.as_str()]) {
            // A process that has just ended needs no group.
            let _ = std::fs::write(group.join("cgroup.procs"), pid);
        }
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The shift of writes at the device of the database.
fn writes(workspace: &Workspace, before: &str, after: &str) -> Value {
    let compare = words(
        "compare {} {} --trust-sequential --band {}",
        &[before, after, BAND],
    );
    let compared = workspace.json(&[&compare[..], &["--format", "json"]].concat());
    let mut shifts = compared["shifts"].as_array().unwrap().iter();
    let is =
        |s: &&Value| s["operation"] == "write" && s["phase"] == "whole" && s["place"] == "data";
    shifts
        .find(is)
        .unwrap_or_else(|| panic!("{compared}"))
        .clone()
}

#[test]
fn the_tail_of_a_slow_device_is_gone_after_its_update() {
    let workspace = Workspace::new();
    let below = host::device_of(&workspace.path("")).map_err(|e| e.to_string());
    let disk = Disk::on_a_device(&workspace, 1 << 30);
    let (disk, slow) = match disk.and_then(|disk| Ok((disk, Slow::make(&below?)?))) {
        Ok(made) => made,
        Err(reason) => testing::skip!("{reason}"),
    };
    let url = format!("postgres+local:{}?version=15", disk.path("data").display());
    let server = LocalServer::start_for(&PostgresServer, &engines::parse(&url).unwrap()).unwrap();
    let url = postgres::url(&server, server.superuser());
    workspace.load_order_entry(&url);
    let plan = workspace.file("update.toml", PLAN);
    slow.hold(&server, true);
    let run = |name| {
        workspace.fine(&["run", &plan, "--target", &url, "--yes", "--name", name]);
    };
    run("before");
    run("again");
    slow.hold(&server, false);
    run("after");

    // The same twice is neither better nor worse.
    let same = writes(&workspace, "before", "again");
    let verdict = same["verdict"].as_str().unwrap();
    assert!(["equivalent", "inconclusive"].contains(&verdict), "{same}");
    let update = writes(&workspace, "before", "after");
    assert_eq!(update["is_of_database"], true, "{update}");
    assert_eq!(update["verdict"], "better", "{update}");
    let share = |side: &str, name: &str| update[side][name].as_f64().unwrap();
    // The queue of the slow device forms its tail.
    let [slow, fast] = ["a", "b"].map(|side| share(side, "above_4_ms_pct"));
    assert!(slow > fast, "{update}");
    assert_eq!(writes(&workspace, "after", "before")["verdict"], "worse");
    let page = workspace.path("page.html");
    let written = page.display().to_string();
    workspace.fine(&["report", "after", "--against", "before", "-o", &written]);
    let page = std::fs::read_to_string(page).unwrap();
    page.says_all(&["storage I/O times", "beyond 1 ms"]);
}
