//! The block devices of a database: those of its files, and those that these are built of.
//!
//! A request passes several of them: a logical volume hands it on to its disks, a loop device to the device of its
//! file. A sum must count it once ([`Stack::counted`]); a search for lost time needs each device.

use std::path::{Path, PathBuf};

use archive::Purpose;

use crate::counters::DEVICES_MAX;
use crate::device::{DeviceError, devices_below, devices_of, whole_device};
use crate::nvme;

/// Most levels of devices; volumes on arrays on multipath on partitions have four.
const DEPTH_MAX: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub name: String,
    /// Parts of the database directly on it.
    pub holds: Vec<Purpose>,
    pub carries: Vec<String>,
    /// True if it is built of others whose requests are the only ones: those of a logical volume or of an array of
    /// the kernel (dm, md) and of the head of an NVMe multipath are invisible, those of a loop device are not.
    is_composed: bool,
    /// True for the head of an NVMe multipath, for which many kernels count nothing: its paths are added up instead.
    is_head: bool,
}

/// All devices of a database, in the order of their purposes: data first. At most [`DEVICES_MAX`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stack {
    layers: Vec<Layer>,
}

impl Stack {
    /// The devices under these paths of this machine. A path without a device, such as one in memory, is left out and
    /// returned with its reason. Fails with the reason if it is the first.
    pub fn of(paths: &[(Purpose, PathBuf)]) -> Result<(Self, Vec<NoDevice>), DeviceError> {
        Self::below(Path::new("/"), paths, devices_of)
    }

    /// The devices of the machine whose files were copied below `root`, by its mount table; links in the paths are
    /// followed.
    pub(crate) fn there(
        root: &Path,
        paths: &[(Purpose, PathBuf)],
    ) -> Result<(Self, Vec<NoDevice>), DeviceError> {
        Self::below(root, paths, |path| devices_below(root, path))
    }

    /// A single device named by the user, for all purposes.
    pub fn named(root: &Path, name: &str) -> Self {
        let mut stack = Self::default();
        stack.hold(Purpose::Data, name.to_owned());
        stack.descend(root);
        stack
    }

    fn below(
        root: &Path,
        paths: &[(Purpose, PathBuf)],
        devices: impl Fn(&Path) -> Result<Vec<String>, DeviceError>,
    ) -> Result<(Self, Vec<NoDevice>), DeviceError> {
        let mut stack = Self::default();
        let mut without = Vec::new();
        for (number, (purpose, path)) in paths.iter().enumerate() {
            match devices(path) {
                Ok(found) => found
                    .into_iter()
                    .for_each(|name| stack.hold(*purpose, name)),
                Err(error) if number == 0 => return Err(error),
                Err(error) => without.push(NoDevice {
                    purpose: *purpose,
                    why: error.to_string(),
                }),
            }
        }
        stack.descend(root);
        Ok((stack, without))
    }

    /// Each device, those with a purpose first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    pub fn names(&self) -> Vec<&str> {
        self.layers
            .iter()
            .map(|layer| layer.name.as_str())
            .collect()
    }

    /// Names of all devices, each with true if it is [counted](Self::counted).
    pub(crate) fn names_summed(&self) -> Vec<(String, bool)> {
        let names = self.names().into_iter().map(str::to_owned);
        names.zip(self.counted()).collect()
    }

    /// The first device of the first purpose, the data.
    pub fn first(&self) -> Option<&str> {
        self.layers.first().map(|layer| layer.name.as_str())
    }

    /// Flags of the devices that are added up: those that hold more than temporary files, unless their requests are
    /// counted at another one as well; for the head of an NVMe multipath its paths. Directories for temporary files
    /// are often shared with all other users of the machine.
    pub fn counted(&self) -> Vec<bool> {
        let is_own = |layer: &Layer| layer.holds.iter().any(|of| *of != Purpose::Temporary);
        let is_below = |name: &String| self.layer(name).is_some_and(is_own);
        let is_once = |layer: &Layer| is_own(layer) && !self.lies_on(layer).iter().any(is_below);
        let is_path = |layer: &Layer| {
            let heads = layer.carries.iter().filter_map(|name| self.layer(name));
            heads.into_iter().any(|head| head.is_head && is_once(head))
        };
        self.layers
            .iter()
            .map(|layer| {
                if layer.is_head {
                    false
                } else {
                    is_once(layer) || is_path(layer)
                }
            })
            .collect()
    }

    /// Devices with the requests of the counted ones, each request once: these themselves, or the components of a
    /// composed one.
    pub fn requests_of_counted(&self) -> Vec<&str> {
        let counted = self.counted();
        let mut names: Vec<&str> = Vec::new();
        for (layer, _) in self.layers.iter().zip(&counted).filter(|(_, is)| **is) {
            let lower = self.lies_on(layer);
            let own = [layer.name.clone()];
            let of: &[String] = if layer.is_composed { &lower } else { &own };
            for layer in of.iter().filter_map(|name| self.layer(name)) {
                if !layer.is_composed && !names.contains(&layer.name.as_str()) {
                    names.push(&layer.name);
                }
            }
        }
        names
    }

    fn layer(&self, name: &str) -> Option<&Layer> {
        self.layers.iter().find(|layer| layer.name == name)
    }

    fn lies_on(&self, layer: &Layer) -> Vec<String> {
        let mut lower: Vec<String> = Vec::new();
        let mut above = vec![layer.name.clone()];
        while let Some(name) = above.pop() {
            for layer in self.layers.iter().filter(|l| l.carries.contains(&name)) {
                if !lower.contains(&layer.name) {
                    lower.push(layer.name.clone());
                    above.push(layer.name.clone());
                }
            }
        }
        lower
    }

    fn hold(&mut self, purpose: Purpose, name: String) {
        if let Some(layer) = self.enter(name)
            && !layer.holds.contains(&purpose)
        {
            layer.holds.push(purpose);
        }
    }

    /// The layer of this name, which may be new; `None` if there are too many.
    fn enter(&mut self, name: String) -> Option<&mut Layer> {
        let known = self.layers.iter().position(|layer| layer.name == name);
        if known.is_none() && self.layers.len() == DEVICES_MAX {
            return None;
        }
        let index = known.unwrap_or_else(|| {
            self.layers.push(Layer {
                name,
                holds: Vec::new(),
                carries: Vec::new(),
                is_composed: false,
                is_head: false,
            });
            self.layers.len() - 1
        });
        self.layers.get_mut(index)
    }

    fn descend(&mut self, root: &Path) {
        let mut next = 0;
        for _ in 0..DEPTH_MAX {
            let end = self.layers.len();
            for index in next..end {
                let name = self.layers[index].name.clone();
                let paths = nvme::paths(root, &name);
                self.layers[index].is_head = !paths.is_empty();
                let parts = if paths.is_empty() {
                    parts(root, &name)
                } else {
                    paths
                };
                self.layers[index].is_composed = !parts.is_empty();
                let lower = if parts.is_empty() {
                    backing(root, &name)
                } else {
                    parts
                };
                for device in lower {
                    if let Some(layer) = self.enter(device)
                        && !layer.carries.contains(&name)
                    {
                        layer.carries.push(name.clone());
                    }
                }
            }
            next = end;
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoDevice {
    pub purpose: Purpose,
    pub why: String,
}

/// The components of a kernel device (dm: LVM, encryption, multipath; md), whole disks for partitions.
fn parts(root: &Path, name: &str) -> Vec<String> {
    let slaves = folder(root, name).join("slaves");
    let Ok(entries) = std::fs::read_dir(slaves) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| whole_device(&entry.path()))
        .filter(|part| part != name)
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The devices under the file of a loop device. The path of another machine cannot be followed, but its mount table
/// can.
fn backing(root: &Path, name: &str) -> Vec<String> {
    let file = folder(root, name).join("loop/backing_file");
    let Ok(path) = std::fs::read_to_string(file) else {
        return Vec::new();
    };
    let path = Path::new(path.trim_end_matches('\n'));
    let devices = if root == Path::new("/") {
        devices_of(path)
    } else {
        devices_below(root, path)
    };
    let mut names = devices.unwrap_or_default();
    names.retain(|device| device != name);
    names
}

/// A device's folder; a name with a slash (cciss/c0d0) has an exclamation mark there.
fn folder(root: &Path, name: &str) -> PathBuf {
    root.join("sys/block").join(name.replace('/', "!"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let sys = root.path().join("sys");
        let devices = sys.join("devices");
        for folder in [
            "pci0/block/sda/sda2",
            "pci0/block/sdb",
            "virtual/block/dm-0/slaves",
            "virtual/block/loop0/loop",
        ] {
            create_dir_all(devices.join(folder)).unwrap();
        }
        create_dir_all(sys.join("block")).unwrap();
        create_dir_all(sys.join("dev/block")).unwrap();
        write(devices.join("pci0/block/sda/sda2/partition"), "2\n").unwrap();
        write(
            devices.join("virtual/block/loop0/loop/backing_file"),
            "/volumes/log.img\n",
        )
        .unwrap();
        for (name, index) in [
            ("sda", "pci0/block/sda"),
            ("sdb", "pci0/block/sdb"),
            ("dm-0", "virtual/block/dm-0"),
            ("loop0", "virtual/block/loop0"),
        ] {
            symlink(devices.join(index), sys.join("block").join(name)).unwrap();
        }
        for (name, index) in [("sda2", "pci0/block/sda/sda2"), ("sdb", "pci0/block/sdb")] {
            let link = devices.join("virtual/block/dm-0/slaves").join(name);
            symlink(devices.join(index), link).unwrap();
        }
        for (number, index) in [
            ("8:2", "pci0/block/sda/sda2"),
            ("8:16", "pci0/block/sdb"),
            ("253:0", "virtual/block/dm-0"),
            ("7:0", "virtual/block/loop0"),
        ] {
            symlink(devices.join(index), sys.join("dev/block").join(number)).unwrap();
        }
        create_dir_all(root.path().join("proc/self")).unwrap();
        let table = "1 0 8:2 / / rw - ext4 /dev/sda2 rw\n2 1 253:0 / /volumes rw - xfs /dev/dm-0 rw\n\
                     3 1 7:0 / /log rw - ext4 /dev/loop0 rw\n4 1 0:30 / /tmp rw - tmpfs tmpfs rw\n";
        write(root.path().join("proc/self/mountinfo"), table).unwrap();
        root
    }

    fn stack(paths: &[(Purpose, &str)]) -> (Stack, Vec<NoDevice>) {
        let root = machine();
        let paths: Vec<_> = paths
            .iter()
            .map(|(purpose, path)| (*purpose, PathBuf::from(path)))
            .collect();
        Stack::there(root.path(), &paths).unwrap()
    }

    #[test]
    fn a_volume_is_followed_to_its_disks_and_a_loop_device_to_its_file() {
        let (stack, without) = stack(&[
            (Purpose::Data, "/volumes/db"),
            (Purpose::Log, "/log/wal"),
            (Purpose::Temporary, "/tmp/x"),
        ]);
        assert_eq!(stack.names(), ["dm-0", "loop0", "sda", "sdb"]);
        let of = |index: usize| {
            let layer = &stack.layers()[index];
            (layer.holds.as_slice(), layer.carries.as_slice())
        };
        assert_eq!(of(0), (&[Purpose::Data][..], &["loop0".to_owned()][..]));
        assert_eq!(of(1), (&[Purpose::Log][..], &[][..]));
        assert_eq!(of(2), (&[][..], &["dm-0".to_owned()][..]));
        // The volume handles all requests of the loop device as well.
        assert_eq!(stack.counted(), [true, false, false, false]);
        assert_eq!(stack.requests_of_counted(), ["sda", "sdb"]);
        assert_eq!(without.len(), 1);
        assert_eq!(without[0].purpose, Purpose::Temporary);
        assert!(without[0].why.contains("tmpfs"), "{without:?}");
    }

    #[test]
    fn separate_devices_are_both_counted() {
        let (stack, _) = stack(&[(Purpose::Data, "/db"), (Purpose::Log, "/log/wal")]);
        assert_eq!(stack.names(), ["sda", "loop0", "dm-0", "sdb"]);
        // The loop device is on a volume on sda, so its requests are counted there.
        assert_eq!(stack.counted(), [true, false, false, false]);
        let (stack, _) = self::stack(&[(Purpose::Data, "/log/db"), (Purpose::Log, "/log/db")]);
        assert_eq!(
            stack.layers()[0].holds,
            [Purpose::Data, Purpose::Log],
            "both on one"
        );
        assert_eq!(stack.counted(), [true, false, false, false]);
        assert_eq!(stack.requests_of_counted(), ["loop0"]);
        let (stack, _) = self::stack(&[(Purpose::Data, "/log/db"), (Purpose::Temporary, "/x")]);
        assert_eq!(stack.names(), ["loop0", "sda", "dm-0", "sdb"]);
        assert_eq!(
            stack.counted(),
            [true, false, false, false],
            "others write to /x as well"
        );
    }

    /// Two controllers of one subsystem: the head nvme0n1 with two paths, a second namespace, and a disk without
    /// multipath whose name has the same numbers.
    fn with_multipath() -> tempfile::TempDir {
        let root = machine();
        let block = root.path().join("sys/block");
        for name in [
            "nvme0n1",
            "nvme0c0n1",
            "nvme0c1n1",
            "nvme0c0n2",
            "nvme0n2",
            "nvme10n1",
        ] {
            create_dir_all(block.join(name)).unwrap();
        }
        for (number, name) in [("259:0", "nvme0n1"), ("259:3", "nvme10n1")] {
            let link = root.path().join("sys/dev/block").join(number);
            symlink(block.join(name), link).unwrap();
        }
        let table =
            "1 0 259:0 / / rw - xfs /dev/nvme0n1 rw\n2 1 259:3 / /log rw - xfs /dev/nvme10n1 rw\n";
        write(root.path().join("proc/self/mountinfo"), table).unwrap();
        root
    }

    #[test]
    fn the_head_of_an_nvme_multipath_is_followed_to_its_paths() {
        let root = with_multipath();
        let paths = [
            (Purpose::Data, PathBuf::from("/db")),
            (Purpose::Log, PathBuf::from("/log/wal")),
        ];
        let (stack, without) = Stack::there(root.path(), &paths).unwrap();
        assert!(without.is_empty());
        assert_eq!(
            stack.names(),
            ["nvme0n1", "nvme10n1", "nvme0c0n1", "nvme0c1n1"]
        );
        assert_eq!(stack.first(), Some("nvme0n1"));
        assert_eq!(stack.layers()[2].carries, ["nvme0n1"]);
        // Each request uses one of the paths, and the head need not count it.
        assert_eq!(stack.counted(), [false, true, true, true]);
        assert_eq!(
            stack.requests_of_counted(),
            ["nvme10n1", "nvme0c0n1", "nvme0c1n1"]
        );
        let slaves = root.path().join("sys/devices/virtual/block/dm-0/slaves");
        std::fs::remove_file(slaves.join("sdb")).unwrap();
        std::fs::remove_file(slaves.join("sda2")).unwrap();
        symlink(
            root.path().join("sys/block/nvme0n1"),
            slaves.join("nvme0n1"),
        )
        .unwrap();
        let volume = Stack::named(root.path(), "dm-0");
        assert_eq!(
            volume.names(),
            ["dm-0", "nvme0n1", "nvme0c0n1", "nvme0c1n1"]
        );
        assert_eq!(volume.counted(), [true, false, false, false]);
        assert_eq!(volume.requests_of_counted(), ["nvme0c0n1", "nvme0c1n1"]);
    }

    #[test]
    fn without_a_device_of_the_data_there_is_none() {
        let root = machine();
        let paths = [(Purpose::Data, PathBuf::from("/tmp/db"))];
        let error = Stack::there(root.path(), &paths).unwrap_err().to_string();
        assert!(error.contains("tmpfs"), "{error}");
        assert_eq!(Stack::named(root.path(), "sdb").names(), ["sdb"]);
    }
}
