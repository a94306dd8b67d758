//! The mount table, `/proc/self/mountinfo`.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Device number "major:minor"; major 0 without a block device.
    pub number: String,
    /// Mounted directory of the file system; "/" for all of it.
    pub root: PathBuf,
    pub point: PathBuf,
    pub file_system: String,
    /// Mounted device or source, e.g. "/dev/sda2".
    pub source: PathBuf,
    pub options: String,
}

/// The mount table below `root`, without malformed lines; empty if it cannot be read.
pub(crate) fn read(root: &Path) -> Vec<Mount> {
    let text = std::fs::read(root.join("proc/self/mountinfo")).unwrap_or_default();
    text.split(|&byte| byte == b'\n')
        .filter_map(parse_line)
        .collect()
}

/// Mount points below a path of this machine (absolute, without links), in the order of mounting.
pub fn mounted_below(path: &Path) -> Vec<PathBuf> {
    let points = read(Path::new("/")).into_iter().map(|mount| mount.point);
    points.filter(|point| point.starts_with(path)).collect()
}

/// The file system that contains `path` (absolute, without links): the longest mount point above it, and the last of
/// several on one point, which covers the others.
pub(crate) fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
}

/// `36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/root rw`
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|&byte| byte == b' ');
    let number = String::from_utf8(words.nth(2)?.to_vec()).ok()?;
    let root = unescape(words.next()?);
    let point = unescape(words.next()?);
    words.find(|word| *word == b"-")?;
    let file_system = String::from_utf8_lossy(words.next()?).into_owned();
    let source = unescape(words.next()?);
    let options = words.next().unwrap_or_default();
    Some(Mount {
        number,
        root,
        point,
        file_system,
        source,
        options: String::from_utf8_lossy(options).into_owned(),
    })
}

/// Decodes blanks, tabs, line ends and backslashes, which the table writes as `\` and three octal digits.
pub(crate) fn unescape(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, tail)) = rest.split_first() {
        match (first, tail) {
            (
                b'\\',
                [
                    a @ b'0'..=b'3',
                    b @ b'0'..=b'7',
                    c @ b'0'..=b'7',
                    after @ ..,
                ],
            ) => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = after;
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    PathBuf::from(std::ffi::OsStr::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_lines() {
        let mount =
            parse_line(b"36 35 8:2 /sub /data\\040one rw,noatime master:1 x:2 - ext4 /dev/sda2 rw");
        let golden = Mount {
            number: "8:2".into(),
            root: "/sub".into(),
            point: "/data one".into(),
            file_system: "ext4".into(),
            source: "/dev/sda2".into(),
            options: "rw".into(),
        };
        assert_eq!(mount, Some(golden));
        assert_eq!(parse_line(b"36 35 8:2 / /data rw"), None);
        assert_eq!(parse_line(b""), None);
        assert_eq!(unescape(b"a\\134b\\04"), PathBuf::from("a\\b\\04"));
    }

    #[test]
    fn the_longest_and_last_mount_point_holds_a_path() {
        let mount = |point: &str, source: &str| Mount {
            number: "0:1".into(),
            root: "/".into(),
            point: point.into(),
            file_system: "x".into(),
            source: source.into(),
            options: "rw".into(),
        };
        let mounts = [
            mount("/", "a"),
            mount("/data", "b"),
            mount("/data", "c"),
            mount("/da", "d"),
        ];
        let source = |path: &str| holding(&mounts, Path::new(path)).unwrap().source.clone();
        assert_eq!(source("/data/x"), PathBuf::from("c"));
        assert_eq!(source("/database"), PathBuf::from("a"));
    }
}
