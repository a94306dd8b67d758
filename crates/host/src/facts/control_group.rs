//! Caps of this process's control group on processors, memory and devices.
//!
//! Version 2 of the kernel's interface has one tree of groups for everything, version 1 one for each controller, and
//! a system may have both. Outer groups cap it as well, as far as this process can see them: a container sees its own
//! group as the outermost.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use archive::{ControlGroup, DeviceCap};

use super::files::{first_line, first_number, text};
use super::processor;
use crate::device::whole_device;
use crate::mounts::{self, Mount};

const DEPTH_MAX: usize = 64;
const DEVICES_MAX: usize = 1024;
/// The kernel writes "no limit" of version 1 as a number that no machine reaches.
const BYTES_MAX: u64 = 1 << 62;

/// The caps of this process; `None` if the machine does not show its group.
pub(crate) fn read(root: &Path) -> Option<ControlGroup> {
    let own = text(root, "proc/self/cgroup")?;
    let mounts = mounts::read(root);
    let [cpu, cpuset, memory, io] =
        ["cpu", "cpuset", "memory", "blkio"].map(|name| Groups::of(root, &own, &mounts, name));
    if [&cpu, &cpuset, &memory, &io]
        .iter()
        .all(|groups| groups.is_none())
    {
        return None;
    }
    let (memory, swap) = memory
        .map(|groups| (groups.memory(), groups.swap()))
        .unzip();
    Some(ControlGroup {
        cpu_max_threads: cpu.and_then(|groups| groups.cpu_threads()),
        threads: cpuset.and_then(|groups| groups.threads(root)),
        memory_max_bytes: memory.and_then(|(max, _)| max),
        memory_high_bytes: memory.and_then(|(_, high)| high),
        swap_max_bytes: swap.flatten(),
        devices: io.map(|groups| groups.devices(root)).unwrap_or_default(),
    })
}

/// The own group of one controller and the outer ones, from the inside out.
struct Groups {
    directories: Vec<PathBuf>,
    is_v2: bool,
}

impl Groups {
    /// Lines of `own` are `number:controllers:path`; version 2 has the number 0 and names no controllers.
    fn of(root: &Path, own: &str, mounts: &[Mount], controller: &str) -> Option<Self> {
        let lines = own.lines().filter_map(|line| {
            let (number, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            Some((number, controllers, path))
        });
        let has = |list: &str| list.split(',').any(|name| name == controller);
        let (mut old, mut new) = (None, None);
        for (number, controllers, path) in lines {
            if has(controllers) {
                let mut all = mounts.iter();
                let mount = all.find(|m| m.file_system == "cgroup" && has(&m.options));
                old = mount.map(|mount| (mount, path));
            } else if number == "0" && controllers.is_empty() {
                let mount = mounts.iter().find(|m| m.file_system == "cgroup2");
                new = mount.map(|mount| (mount, path));
            }
        }
        let (mount, path) = old.or(new)?;
        let directories = directories(root, mount, Path::new(path));
        directories[0].is_dir().then_some(Self {
            directories,
            is_v2: old.is_none(),
        })
    }

    fn least<T: PartialOrd>(&self, of: impl Fn(&Path) -> Option<T>) -> Option<T> {
        let values = self
            .directories
            .iter()
            .filter_map(|directory| of(directory));
        values.reduce(|least, value| if value < least { value } else { least })
    }

    /// Time in each period, in units of one hardware thread.
    fn cpu_threads(&self) -> Option<f64> {
        let share = |time: f64, period: f64| {
            let share = time / period;
            (time > 0.0 && share.is_finite()).then_some(share)
        };
        if self.is_v2 {
            return self.least(|group| {
                let line = first_line(group, "cpu.max")?;
                let (time, period) = line.split_once(' ')?;
                share(time.parse().ok()?, period.parse().ok()?)
            });
        }
        self.least(|group| {
            let time = first_number(group, "cpu.cfs_quota_us")?;
            share(time, first_number(group, "cpu.cfs_period_us")?)
        })
    }

    /// The list of hardware threads, if it is shorter than that of the machine.
    fn threads(&self, root: &Path) -> Option<String> {
        let names = if self.is_v2 {
            ["cpuset.cpus.effective", "cpuset.cpus"]
        } else {
            ["cpuset.effective_cpus", "cpuset.cpus"]
        };
        let mut all = self.directories.iter();
        let list = all.find_map(|group| names.iter().find_map(|name| first_line(group, name)))?;
        let count = processor::listed(&list)?;
        let is_all = processor::online(root).is_some_and(|online| count >= online);
        (!is_all).then_some(list)
    }

    /// The limit, and the size from which the kernel slows allocation down.
    fn memory(&self) -> (Option<u64>, Option<u64>) {
        if self.is_v2 {
            (self.bytes("memory.max"), self.bytes("memory.high"))
        } else {
            (self.bytes("memory.limit_in_bytes"), None)
        }
    }

    /// Version 1 caps memory and swap space together.
    fn swap(&self) -> Option<u64> {
        if self.is_v2 {
            return self.bytes("memory.swap.max");
        }
        let both = self.bytes("memory.memsw.limit_in_bytes")?;
        both.checked_sub(self.bytes("memory.limit_in_bytes")?)
    }

    fn bytes(&self, name: &str) -> Option<u64> {
        self.least(|group| first_number(group, name).filter(|bytes| *bytes < BYTES_MAX))
    }

    /// In version 1 rates hold for one group and not for those inside it.
    fn devices(&self, root: &Path) -> Vec<DeviceCap> {
        let mut found = BTreeMap::new();
        if self.is_v2 {
            for line in self
                .directories
                .iter()
                .filter_map(|group| text(group, "io.max"))
            {
                line.lines().for_each(|line| add_line(&mut found, line));
            }
        } else {
            for key in ["rbps", "wbps", "riops", "wiops"] {
                let (operation, unit) = key.split_at(1);
                let operation = if operation == "r" { "read" } else { "write" };
                let name = format!("blkio.throttle.{operation}_{unit}_device");
                let rates = text(&self.directories[0], &name).unwrap_or_default();
                for (number, rate) in rates.lines().filter_map(|line| line.split_once(' ')) {
                    add_line(&mut found, &format!("{number} {key}={rate}"));
                }
            }
        }
        let named = |(number, cap): (String, DeviceCap)| DeviceCap {
            name: whole_device(&root.join("sys/dev/block").join(&number)).unwrap_or(number),
            ..cap
        };
        found.into_iter().map(named).collect()
    }
}

/// The directories of the group at `path` and of its outer groups, as far as they are mounted: the mount point is the
/// outermost.
fn directories(root: &Path, mount: &Mount, path: &Path) -> Vec<PathBuf> {
    let below = |path: &Path| {
        let inside = path.strip_prefix("/").unwrap_or(path);
        let is_plain = inside
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        is_plain.then(|| inside.to_owned())
    };
    let outermost = root.join(below(&mount.point).unwrap_or_default());
    // A group outside of the mounted part, as containers see it, is the mount point itself.
    let own = path.strip_prefix(&mount.root).ok().and_then(below);
    let own = own.unwrap_or_default();
    let all = own.ancestors().take(DEPTH_MAX);
    all.map(|directory| outermost.join(directory)).collect()
}

/// `254:0 rbps=1048576 wbps=max riops=5000 wiops=max`
fn add_line(found: &mut BTreeMap<String, DeviceCap>, line: &str) {
    let mut words = line.split_whitespace();
    let Some(number) = words.next() else { return };
    if found.len() >= DEVICES_MAX && !found.contains_key(number) {
        return;
    }
    for (key, rate) in words.filter_map(|word| word.split_once('=')) {
        let Ok(rate) = rate.parse::<u64>() else {
            continue;
        };
        let cap = found.entry(number.to_owned()).or_default();
        let least = match key {
            "rbps" => &mut cap.read_max_bytes_per_s,
            "wbps" => &mut cap.write_max_bytes_per_s,
            "riops" => &mut cap.read_max_iops,
            "wiops" => &mut cap.write_max_iops,
            _ => continue,
        };
        *least = Some(least.map_or(rate, |known| known.min(rate)));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let disk = [
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/pci/block/sda/size", "1\n"),
            ("sys/dev/block/none", ""),
        ];
        for (name, content) in disk.iter().chain(files) {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let disk = Path::new("../../devices/pci/block/sda");
        symlink(disk, root.path().join("sys/dev/block/8:0")).unwrap();
        root
    }

    /// The tightest of nested groups counts, and "max" is no cap.
    #[test]
    fn caps_of_version_2() {
        let root = machine(&[
            ("proc/self/cgroup", "0::/bench/run\n"),
            (
                "proc/self/mountinfo",
                "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
            ),
            ("sys/fs/cgroup/cpuset.cpus.effective", "0-3\n"),
            ("sys/fs/cgroup/bench/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/bench/memory.max", "4294967296\n"),
            (
                "sys/fs/cgroup/bench/io.max",
                "8:0 rbps=max wbps=max riops=9000 wiops=max\n",
            ),
            ("sys/fs/cgroup/bench/run/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/bench/run/cpuset.cpus.effective", "0,2\n"),
            ("sys/fs/cgroup/bench/run/memory.max", "max\n"),
            ("sys/fs/cgroup/bench/run/memory.high", "1073741824\n"),
            ("sys/fs/cgroup/bench/run/memory.swap.max", "0\n"),
            (
                "sys/fs/cgroup/bench/run/io.max",
                "8:0 rbps=max wbps=1048576 riops=5000 wiops=max\n9:9 rbps=7 wbps=max riops=max wiops=max\n",
            ),
        ]);
        let golden = ControlGroup {
            cpu_max_threads: Some(1.5),
            threads: Some("0,2".into()),
            memory_max_bytes: Some(4 << 30),
            memory_high_bytes: Some(1 << 30),
            swap_max_bytes: Some(0),
            devices: vec![
                DeviceCap {
                    name: "sda".into(),
                    write_max_bytes_per_s: Some(1 << 20),
                    read_max_iops: Some(5000),
                    ..DeviceCap::default()
                },
                DeviceCap {
                    name: "9:9".into(),
                    read_max_bytes_per_s: Some(7),
                    ..DeviceCap::default()
                },
            ],
        };
        assert_eq!(read(root.path()), Some(golden));
    }

    /// A tree for each controller, of which a container sees its own part; other controllers are in version 2.
    #[test]
    fn caps_of_version_1() {
        let root = machine(&[
            (
                "proc/self/cgroup",
                "7:blkio:/c1/x\n4:memory:/c1/x\n2:cpu,cpuacct:/c1/x\n1:name=systemd:/\n0::/\n",
            ),
            (
                "proc/self/mountinfo",
                "31 1 0:29 /c1 /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                 32 1 0:30 /c1 /cg/memory rw - cgroup cgroup rw,memory\n\
                 33 1 0:31 /other /cg/blkio rw - cgroup cgroup rw,blkio\n\
                 34 1 0:32 / /cg/unified rw - cgroup2 cgroup2 rw\n",
            ),
            ("cg/unified/cpuset.cpus.effective", "0-3\n"),
            ("cg/cpu/cpu.cfs_quota_us", "-1\n"),
            ("cg/cpu/cpu.cfs_period_us", "100000\n"),
            ("cg/cpu/x/cpu.cfs_quota_us", "25000\n"),
            ("cg/cpu/x/cpu.cfs_period_us", "50000\n"),
            ("cg/memory/memory.limit_in_bytes", "2097152\n"),
            ("cg/memory/x/memory.limit_in_bytes", "9223372036854771712\n"),
            ("cg/memory/x/memory.memsw.limit_in_bytes", "3145728\n"),
            ("cg/blkio/blkio.throttle.read_iops_device", "8:0 5000\n"),
            ("cg/blkio/blkio.throttle.write_bps_device", "8:0 65536\n"),
        ]);
        let golden = ControlGroup {
            cpu_max_threads: Some(0.5),
            memory_max_bytes: Some(2 << 20),
            swap_max_bytes: Some(1 << 20),
            devices: vec![DeviceCap {
                name: "sda".into(),
                write_max_bytes_per_s: Some(1 << 16),
                read_max_iops: Some(5000),
                ..DeviceCap::default()
            }],
            ..ControlGroup::default()
        };
        assert_eq!(read(root.path()), Some(golden));
    }

    #[test]
    fn no_caps_and_no_answer_differ() {
        let mounts = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let files = [
            ("proc/self/cgroup", "0::/../up\n"),
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/cpu.max", "max 100000\n"),
        ];
        let free = machine(&files);
        assert_eq!(read(free.path()), Some(ControlGroup::default()));
        assert_eq!(
            read(machine(&files[..2]).path()),
            None,
            "nothing is mounted there"
        );
        assert_eq!(read(machine(&files[1..]).path()), None);
        let odd = machine(&[files[0], files[1], ("sys/fs/cgroup/cpu.max", "1 0\n")]);
        assert_eq!(read(odd.path()), Some(ControlGroup::default()));
    }
}
