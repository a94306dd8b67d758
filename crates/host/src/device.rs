//! The block device under a path, whose counters show the reads and writes of a database.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::mounts;

/// Most parents that are tried for a path that does not exist yet.
const PARENTS_MAX: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error("{} cannot be accessed ({reason}); check the path and its permissions", path.display())]
    Unreadable {
        path: PathBuf,
        reason: std::io::Error,
    },
    /// The file system lives in memory, on the network or on devices it does not name.
    #[error(
        "{} lies on {file_system}, which has no block device of its own here, so its device I/O cannot be counted; \
         choose a path on a local disk",
        path.display()
    )]
    NoDevice { path: PathBuf, file_system: String },
    /// The file system spreads over several devices.
    #[error(
        "{} lies on a file system of {devices} devices, so no single device shows its I/O; choose a path on a single disk",
        path.display()
    )]
    SeveralDevices { path: PathBuf, devices: usize },
    /// The device has a number but `/sys` does not list it, as in some containers.
    #[error(
        "{} lies on device {number}, which /sys/dev/block does not show, so its device I/O cannot be counted; mount /sys",
        path.display()
    )]
    Unknown { path: PathBuf, number: String },
}

/// Kernel name of the whole block device under `path`, e.g. "nvme0n1": the disk of a partition, the "dm-0" of a
/// logical volume. A path that does not exist yet counts as its nearest parent. Fails if the path is on no single
/// block device; the message is the reason to show.
pub fn device_of(path: &Path) -> Result<String, DeviceError> {
    single(path, devices_of(path)?)
}

/// As [`device_of`], but there may be several: a btrfs spreads over all of its devices. Fails if the path is on no
/// known block device; the message is the reason to show.
pub fn devices_of(path: &Path) -> Result<Vec<String>, DeviceError> {
    let unreadable = |reason| DeviceError::Unreadable {
        path: path.to_owned(),
        reason,
    };
    let existing = nearest_existing(path).map_err(unreadable)?;
    let found = std::fs::metadata(&existing).map_err(unreadable)?;
    // A block device counts itself, a file counts as the device that it is on.
    let number = if found.file_type().is_block_device() {
        found.rdev()
    } else {
        found.dev()
    };
    devices_in(
        Path::new("/"),
        path,
        &existing,
        libc::major(number),
        libc::minor(number),
    )
}

/// As [`devices_of`], for a path of the machine whose files were copied below `root`: only by its mount table,
/// because the path itself is not here.
pub(crate) fn devices_below(root: &Path, path: &Path) -> Result<Vec<String>, DeviceError> {
    let mounts = mounts::read(root);
    let number = mounts::holding(&mounts, path).and_then(|mount| {
        let (major, minor) = mount.number.split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    let (major, minor) = number.unwrap_or((0, 0));
    devices_in(root, path, path, major, minor)
}

fn single(path: &Path, mut devices: Vec<String>) -> Result<String, DeviceError> {
    match (devices.len(), devices.pop()) {
        (1, Some(device)) => Ok(device),
        (several, _) => Err(DeviceError::SeveralDevices {
            path: path.to_owned(),
            devices: several,
        }),
    }
}

/// As [`devices_of`], for a machine below `root`.
fn devices_in(
    root: &Path,
    path: &Path,
    existing: &Path,
    major: u32,
    minor: u32,
) -> Result<Vec<String>, DeviceError> {
    if major == 0 {
        return anonymous_devices(root, path, existing);
    }
    let number = format!("{major}:{minor}");
    let device = whole_device(&root.join("sys/dev/block").join(&number));
    device
        .map(|device| vec![device])
        .ok_or_else(|| DeviceError::Unknown {
            path: path.to_owned(),
            number,
        })
}

/// Devices of a file system whose device number names no block device. Only btrfs lists its devices in `/sys`.
fn anonymous_devices(
    root: &Path,
    path: &Path,
    existing: &Path,
) -> Result<Vec<String>, DeviceError> {
    let mounts = mounts::read(root);
    let mount = mounts::holding(&mounts, existing);
    let no_device = || DeviceError::NoDevice {
        path: path.to_owned(),
        file_system: mount
            .map_or("an unknown file system", |mount| &mount.file_system)
            .to_owned(),
    };
    let Some(mount) = mount.filter(|mount| mount.file_system == "btrfs") else {
        return Err(no_device());
    };
    let source = std::fs::canonicalize(&mount.source).unwrap_or_else(|_| mount.source.clone());
    let name = source.file_name().ok_or_else(no_device)?;
    let mut devices = btrfs_devices(root, name).ok_or_else(no_device)?;
    // Two partitions of a disk are one device.
    devices.sort();
    devices.dedup();
    Ok(devices)
}

fn btrfs_devices(root: &Path, device: &std::ffi::OsStr) -> Option<Vec<String>> {
    let file_systems = std::fs::read_dir(root.join("sys/fs/btrfs")).ok()?;
    let devices = file_systems
        .flatten()
        .map(|entry| entry.path().join("devices"))
        .find(|devices| devices.join(device).symlink_metadata().is_ok())?;
    let names = std::fs::read_dir(devices).ok()?.flatten();
    let whole =
        names.map(|entry| whole_device(&root.join("sys/class/block").join(entry.file_name())));
    whole.collect()
}

/// Name of the device at a link in `/sys`; for a partition that of its disk.
pub(crate) fn whole_device(link: &Path) -> Option<String> {
    let mut directory = std::fs::canonicalize(link).ok()?;
    if directory.join("partition").exists() {
        directory.pop();
    }
    // A name with a slash (cciss/c0d0) has an exclamation mark in /sys.
    Some(directory.file_name()?.to_str()?.replace('!', "/"))
}

/// The path itself or, if it does not exist yet, its nearest existing parent.
fn nearest_existing(path: &Path) -> std::io::Result<PathBuf> {
    let mut candidate = std::path::absolute(path)?;
    for _ in 0..PARENTS_MAX {
        match std::fs::canonicalize(&candidate) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && candidate.pop() => {}
            result => return result,
        }
    }
    Err(std::io::Error::from(std::io::ErrorKind::NotFound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    fn find(root: &Path, major: u32, minor: u32) -> Result<String, DeviceError> {
        let path = Path::new("/data/db");
        single(path, devices_in(root, path, path, major, minor)?)
    }

    fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let sys = root.path().join("sys");
        for directory in [
            "devices/pci0/block/sda/sda2",
            "devices/virtual/block/dm-0",
            "devices/cciss/block/cciss!c0d0",
            "dev/block",
            "class/block",
            "fs/btrfs/features",
        ] {
            create_dir_all(sys.join(directory)).unwrap();
        }
        write(sys.join("devices/pci0/block/sda/sda2/partition"), "2\n").unwrap();
        for (number, device) in [
            ("8:0", "pci0/block/sda"),
            ("8:2", "pci0/block/sda/sda2"),
            ("253:0", "virtual/block/dm-0"),
            ("104:0", "cciss/block/cciss!c0d0"),
        ] {
            let target = Path::new("../../devices").join(device);
            symlink(&target, sys.join("dev/block").join(number)).unwrap();
            let name = target.file_name().unwrap();
            symlink(&target, sys.join("class/block").join(name)).unwrap();
        }
        root
    }

    #[test]
    fn a_partition_is_its_disk_and_a_logical_volume_itself() {
        let root = machine();
        assert_eq!(find(root.path(), 8, 0).unwrap(), "sda");
        assert_eq!(find(root.path(), 8, 2).unwrap(), "sda");
        assert_eq!(find(root.path(), 253, 0).unwrap(), "dm-0");
        assert_eq!(find(root.path(), 104, 0).unwrap(), "cciss/c0d0");
        let error = find(root.path(), 9, 9).unwrap_err().to_string();
        assert!(
            error.contains("device 9:9") && error.contains("/sys/dev/block"),
            "{error}"
        );
    }

    #[test]
    fn a_file_system_without_a_device_is_named() {
        let root = machine();
        create_dir_all(root.path().join("proc/self")).unwrap();
        let table = "1 0 8:2 / / rw - ext4 /dev/sda2 rw\n2 1 0:22 / /data rw - tmpfs tmpfs rw\n";
        write(root.path().join("proc/self/mountinfo"), table).unwrap();
        let error = find(root.path(), 0, 22).unwrap_err();
        assert!(
            matches!(&error, DeviceError::NoDevice { file_system, .. } if file_system == "tmpfs")
        );
        assert!(
            error.to_string().starts_with("/data/db lies on tmpfs"),
            "{error}"
        );
    }

    #[test]
    fn the_mount_table_of_another_machine_shows_the_device() {
        let root = machine();
        create_dir_all(root.path().join("proc/self")).unwrap();
        let table = "1 0 8:2 / / rw - ext4 /dev/sda2 rw\n2 1 253:0 / /data rw - xfs /dev/dm-0 rw\n";
        write(root.path().join("proc/self/mountinfo"), table).unwrap();
        let devices = |path: &str| devices_below(root.path(), Path::new(path)).unwrap();
        assert_eq!(devices("/data/pg/15"), ["dm-0"]);
        assert_eq!(devices("/var/lib/pg"), ["sda"]);
    }

    #[test]
    fn a_btrfs_counts_when_it_has_one_device() {
        let root = machine();
        create_dir_all(root.path().join("proc/self")).unwrap();
        let table = "1 0 0:30 /@ / rw - btrfs /dev/no/such/directory/sda2 rw\n";
        write(root.path().join("proc/self/mountinfo"), table).unwrap();
        let devices = root.path().join("sys/fs/btrfs/1234/devices");
        assert!(matches!(
            find(root.path(), 0, 31),
            Err(DeviceError::NoDevice { .. })
        ));
        create_dir_all(&devices).unwrap();
        symlink(
            "../../../../devices/pci0/block/sda/sda2",
            devices.join("sda2"),
        )
        .unwrap();
        assert_eq!(find(root.path(), 0, 31).unwrap(), "sda");
        symlink(
            "../../../../devices/virtual/block/dm-0",
            devices.join("dm-0"),
        )
        .unwrap();
        let error = find(root.path(), 0, 31).unwrap_err();
        assert!(
            matches!(error, DeviceError::SeveralDevices { devices: 2, .. }),
            "{error}"
        );
        let all = devices_in(root.path(), Path::new("/data"), Path::new("/data"), 0, 31);
        assert_eq!(all.unwrap(), ["dm-0", "sda"]);
    }

    #[test]
    fn a_path_still_to_be_created_counts_as_its_parent() {
        let directory = tempfile::tempdir().unwrap();
        let there = device_of(directory.path()).map_err(|error| error.to_string());
        let later = directory.path().join("a/b/c.db");
        match (there, device_of(&later)) {
            (Ok(device), Ok(same)) => assert_eq!(device, same),
            (Err(_), Err(error)) => assert!(error.to_string().contains("c.db"), "{error}"),
            (there, later) => panic!("{there:?} for the directory, {later:?} for a file in it"),
        }
    }

    #[test]
    fn proc_has_no_device() {
        let error = device_of(Path::new("/proc/self/stat")).unwrap_err();
        assert!(error.to_string().contains("proc"), "{error}");
        assert!(!error.to_string().contains("unknown"), "{error}");
    }
}
