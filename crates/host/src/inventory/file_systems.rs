//! Mounted file systems with their options.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::facts::text;
use crate::mounts::unescape;

/// Bound for machines (and containers) with thousands of mounts.
const FILE_SYSTEMS_MAX: usize = 1024;

/// File systems on the network; all others that count name a device.
const REMOTE: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "lustre",
    "gpfs",
    "ceph",
    "glusterfs",
];

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSystem {
    pub name: String,
    pub kind: String,
    pub source: String,
    pub options: Vec<String>,
}

pub(super) fn read(root: &Path) -> Vec<FileSystem> {
    let table = ["proc/self/mounts", "proc/mounts", "etc/mtab"]
        .iter()
        .find_map(|name| text(root, name))
        .unwrap_or_default();
    let mut found: Vec<FileSystem> = Vec::new();
    for system in table.lines().filter_map(parse) {
        if found.len() < FILE_SYSTEMS_MAX && !found.contains(&system) {
            found.push(system);
        }
    }
    found
}

/// `/dev/sda1 /data ext4 rw,noatime 0 0`
fn parse(line: &str) -> Option<FileSystem> {
    let mut words = line.split_whitespace();
    let mut name = || Some(unescape(words.next()?.as_bytes()).display().to_string());
    let (source, point) = (name()?, name()?);
    let kind = words.next()?.to_owned();
    let options = words.next()?;
    let counts = (source.starts_with("/dev/") && !source.starts_with("/dev/loop"))
        || REMOTE.contains(&kind.as_str());
    counts.then(|| FileSystem {
        name: point,
        kind,
        source,
        options: options.split(',').map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_lines() {
        let golden = FileSystem {
            name: "/data one".into(),
            kind: "xfs".into(),
            source: "/dev/mapper/vg-data".into(),
            options: vec!["rw".into(), "noatime".into()],
        };
        let line = "/dev/mapper/vg-data /data\\040one xfs rw,noatime 0 0";
        assert_eq!(parse(line), Some(golden));
        assert!(parse("filer:/vol /nfs nfs4 rw 0 0").is_some());
        for line in [
            "",
            "proc /proc proc rw 0 0",
            "/dev/loop3 /snap squashfs ro 0 0",
            "/dev/sda1 /x ext4",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
