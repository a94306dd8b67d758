//! Caps of real control groups, as a process within them reads them.

use std::io::{BufRead, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use archive::ControlGroup;

const CHILD: &str = "DBDYNO_TEST_CONTROL_GROUP";
const MOUNTS: &str = "/sys/fs/cgroup";
const MEMORY_BYTES: u64 = 4 << 30;
const READ_IOPS: u64 = 4321;

fn within_the_groups() {
    // Waits until the groups contain this process.
    std::io::stdin()
        .lock()
        .read_line(&mut String::new())
        .unwrap();
    let found = host::facts(Path::new("/")).control_group;
    println!("found {}", serde_json::to_string(&found).unwrap());
}

struct Group(PathBuf);

impl Group {
    fn with(parent: &str, settings: &[(&str, String)]) -> Result<Self, String> {
        let name = format!("dbdyno-test-caps-{}", std::process::id());
        let group = Self(Path::new(MOUNTS).join(parent).join(name));
        std::fs::create_dir(&group.0).map_err(|e| format!("{}: {e}", group.0.display()))?;
        for (file, value) in settings {
            std::fs::write(group.0.join(file), value).map_err(|e| format!("{file}: {e}"))?;
        }
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Groups with a cap on processor time, memory and the reads of device `number`, in the version that the system has.
fn groups(number: &str) -> Result<Vec<Group>, String> {
    let memory = MEMORY_BYTES.to_string();
    if Path::new(MOUNTS).join("cgroup.controllers").exists() {
        let settings = [
            ("cpu.max", "150000 100000".to_owned()),
            ("memory.max", memory),
            ("io.max", format!("{number} riops={READ_IOPS}")),
        ];
        return Ok(vec![Group::with("", &settings)?]);
    }
    let time = [
        ("cpu.cfs_period_us", "100000".to_owned()),
        ("cpu.cfs_quota_us", "150000".to_owned()),
    ];
    let reads = format!("{number} {READ_IOPS}");
    Ok(vec![
        Group::with("cpu", &time)?,
        Group::with("memory", &[("memory.limit_in_bytes", memory)])?,
        Group::with("blkio", &[("blkio.throttle.read_iops_device", reads)])?,
    ])
}

#[test]
fn a_process_reads_the_caps_of_its_groups() {
    if std::env::var_os(CHILD).is_some() {
        return within_the_groups();
    }
    let folder = tempfile::tempdir().unwrap();
    let device = match host::device_of(folder.path()) {
        Ok(device) => device,
        Err(reason) => testing::skip!("{reason}"),
    };
    let numbers = std::fs::read_to_string(format!("/sys/class/block/{device}/dev"));
    let number = numbers.map_or_else(
        |_| {
            let device = std::fs::metadata(folder.path()).unwrap().dev();
            format!("{}:{}", libc::major(device), libc::minor(device))
        },
        |text| text.trim().to_owned(),
    );
    let groups = match groups(&number) {
        Ok(groups) => groups,
        Err(reason) => testing::skip!("no control group can be made here: {reason}"),
    };
    let mut child = testing::again!()
        .env(CHILD, "yes")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let entered: Result<Vec<()>, _> = groups
        .iter()
        .map(|group| std::fs::write(group.0.join("cgroup.procs"), child.id().to_string()))
        .collect();
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let output = child.wait_with_output().unwrap();
    entered.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let json = printed.lines().find_map(|line| line.split_once("found "));
    let found: ControlGroup = serde_json::from_str(json.unwrap().1).unwrap();
    assert_eq!(found.cpu_max_threads, Some(1.5));
    assert_eq!(found.memory_max_bytes, Some(MEMORY_BYTES));
    let cap = found.devices.iter().find(|cap| cap.name == device).unwrap();
    assert_eq!(cap.read_max_iops, Some(READ_IOPS));
    assert_eq!(cap.write_max_iops, None);
}
