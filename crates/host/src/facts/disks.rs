//! Block devices with a size, and their mount points.

use std::path::{Path, PathBuf};

use archive::BlockDevice;

use super::files::{first_line, first_number};
use crate::mounts::{self, Mount};

const SECTOR_BYTES: u64 = 512;

/// Bounds for machines (and containers) with thousands of either.
const DEVICES_MAX: usize = 256;
const MOUNTS_MAX: usize = 16;

/// All block devices below `root` by name, without empty ones: unused loop, zram or card readers.
pub(super) fn read(root: &Path) -> Vec<BlockDevice> {
    let directory = root.join("sys/block");
    let mut names: Vec<String> = std::fs::read_dir(&directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_by_key(|name| order(name));
    let mounts = mounts::read(root);
    let devices = names.iter().map(|name| device(root, name, &mounts));
    devices
        .filter(|device| device.size_bytes != Some(0))
        .take(DEVICES_MAX)
        .collect()
}

/// Sorts nvme10n1 after nvme2n1.
fn order(name: &str) -> (usize, String) {
    (name.len(), name.to_owned())
}

fn device(root: &Path, name: &str, mounts: &[Mount]) -> BlockDevice {
    let file = |file: &str| first_line(root, &format!("sys/block/{name}/{file}"));
    let sectors: Option<u64> = first_number(root, &format!("sys/block/{name}/size"));
    BlockDevice {
        // A name with a slash (cciss/c0d0) has an exclamation mark in /sys.
        name: name.replace('!', "/"),
        size_bytes: sectors.and_then(|sectors| sectors.checked_mul(SECTOR_BYTES)),
        rotational: match file("queue/rotational").as_deref() {
            Some("0") => Some(false),
            Some("1") => Some(true),
            _ => None,
        },
        scheduler: file("queue/scheduler").and_then(|line| scheduler(&line)),
        model: model(
            file("device/vendor"),
            file("device/model").or_else(|| file("device/name")),
        ),
        mounts: mounts_of(&root.join("sys/block").join(name), mounts),
    }
}

/// The scheduler in brackets, as in "none [mq-deadline] kyber"; a single one without brackets is in force as well.
fn scheduler(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let in_force = words
        .clone()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let alone = || words.next().filter(|_| words.next().is_none());
    in_force
        .or_else(alone)
        .filter(|name| !name.contains(['[', ']']))
        .map(str::to_owned)
}

/// SCSI has a vendor; "ATA" is none, and virtio and NVMe give a number of the PCI bus.
fn model(vendor: Option<String>, model: Option<String>) -> Option<String> {
    let vendor = vendor.filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    match (vendor, model) {
        (Some(vendor), Some(model)) => Some(format!("{vendor} {model}")),
        (_, model) => model,
    }
}

/// Mount points of a device and its partitions, found by number or, if a file system has its own number (btrfs), by
/// the name of the mounted device.
fn mounts_of(device: &Path, mounts: &[Mount]) -> Vec<String> {
    let partitions = std::fs::read_dir(device).into_iter().flatten().flatten();
    let parts: Vec<PathBuf> = std::iter::once(device.to_owned())
        .chain(
            partitions
                .map(|entry| entry.path())
                .filter(|path| path.join("partition").exists()),
        )
        .collect();
    let numbers: Vec<String> = parts
        .iter()
        .filter_map(|part| first_line(part, "dev"))
        .collect();
    let mut sources: Vec<PathBuf> = parts
        .iter()
        .filter_map(|part| {
            Some(Path::new("/dev").join(part.file_name()?.to_str()?.replace('!', "/")))
        })
        .collect();
    sources.extend(first_line(device, "dm/name").map(|name| Path::new("/dev/mapper").join(name)));
    let mut found: Vec<String> = Vec::new();
    for mount in mounts {
        if !numbers.contains(&mount.number) && !sources.contains(&mount.source) {
            continue;
        }
        let line = format!("{} ({})", mount.point.display(), mount.file_system);
        if found.len() < MOUNTS_MAX && !found.contains(&line) {
            found.push(line);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_in_force() {
        assert_eq!(
            scheduler("none [mq-deadline] kyber").as_deref(),
            Some("mq-deadline")
        );
        assert_eq!(scheduler("[none]").as_deref(), Some("none"));
        assert_eq!(scheduler("none").as_deref(), Some("none"));
        assert_eq!(scheduler("none mq-deadline"), None);
        assert_eq!(scheduler("none [mq-dead"), None);
        assert_eq!(scheduler("[mq"), None);
    }

    #[test]
    fn a_number_is_no_vendor() {
        let some = |word: &str| Some(word.to_owned());
        assert_eq!(
            model(some("VIOLIN"), some("VMA 3205")),
            some("VIOLIN VMA 3205")
        );
        assert_eq!(
            model(some("ATA"), some("INTEL SSDSC2BA40")),
            some("INTEL SSDSC2BA40")
        );
        assert_eq!(model(some("0x1af4"), None), None);
    }

    #[test]
    fn names_sort_by_their_numbers() {
        assert!(order("nvme2n1") < order("nvme10n1"));
        assert!(order("sda") < order("sdb"));
    }
}
