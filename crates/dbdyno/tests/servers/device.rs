//! What the device did below a server: times of its requests in every point, and before and after.

use serde_json::Value;

use crate::common::{Place, points};
use crate::disk::Disk;

const PLAN: &str = "name = \"device\"\nrepeat = 4\n\
    [[step]]\nuse = \"library\"\ntests = [\"T311\"]\njobs = [2]\nmode = \"time\"\nseconds = 1\n";

fn times<'a>(point: &'a Value, operation: &str, phase: &str) -> Option<&'a Value> {
    let all = point["operation_times"].as_array().unwrap();
    let is = |t: &&Value| t["operation"] == operation && t["phase"] == phase;
    all.iter().find(is)
}

#[test]
fn requests_of_every_point_are_told_and_compared() {
    let place = Place::new();
    // A device of its own: what others do on the machine's disk is not on it.
    let disk = match Disk::on_a_device(&place, 600 << 20) {
        Ok(disk) => disk,
        Err(reason) => testing::skip!("{reason}"),
    };
    let device = host::device_of(&disk.path("")).unwrap();
    if let Err(error) = host::block::BlockWatch::open(&[&device]) {
        testing::skip!("{error}");
    }
    let data = disk.path("data");
    let url = format!(
        "postgres+local:{}?version=15&shared_buffers=32MB",
        data.display()
    );
    let plan = place.file("plan.toml", PLAN);
    for name in ["before", "after"] {
        place.fine(&["run", &plan, "--target", &url, "--yes", "--name", name]);
    }
    for point in points(&place.export("after")) {
        let [whole, inside] = ["whole", "device"].map(|phase| times(point, "write", phase));
        let (whole, inside) = (whole.unwrap(), inside.unwrap());
        assert_eq!(whole["subject"], device.as_str());
        assert!(whole["histogram"].is_string(), "{whole}");
        // Each commit waits for its log.
        assert!(whole["count"].as_u64().unwrap() > 0, "{whole}");
        let mean_us = |of: &Value| of["mean_us"].as_f64().unwrap();
        assert!(mean_us(whole) >= mean_us(inside), "{whole} {inside}");
        let remark = whole["remark"].as_str().unwrap();
        assert!(remark.contains("/proc/diskstats has"), "{remark}");
    }
    let compared = place.fine(&["compare", "before", "after", "--json"]);
    let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
    let shifts = compared["shifts"].as_array().unwrap();
    let is_write = |s: &&Value| s["operation"] == "write" && s["phase"] == "whole";
    let write = shifts.iter().find(is_write);
    let write = write.unwrap_or_else(|| panic!("{compared}"));
    assert_eq!(write["is_of_database"], true);
    assert_eq!(
        (&write["test"], &write["jobs_a"]),
        (&"T311".into(), &2.into())
    );
    assert!(write["buckets"].as_array().unwrap().len() > 1, "{write}");
    // Four repetitions a side have an interval; one run after the other has no verdict.
    assert!(write["improvement_pct_low"].is_number(), "{write}");
    assert_eq!(write["verdict"], "inconclusive");
    let page = place.path("page.html");
    let written = page.display().to_string();
    place.fine(&["report", "after", "--against", "before", "-o", &written]);
    let page = std::fs::read_to_string(page).unwrap();
    for part in [
        "storage I/O times",
        "T311, 2 jobs",
        "Requests at the device",
    ] {
        assert!(page.contains(part), "{part}");
    }
}
