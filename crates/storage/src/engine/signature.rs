//! Contents of a block device: file systems, volumes, disk groups and partition tables are recognized by the bytes
//! that their own tools look for.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// All marks are within this distance of the beginning …
const HEAD_BYTES: u64 = 320 << 10;
/// … or of the end: ZFS has two of its four labels at each.
const TAIL_BYTES: u64 = 768 << 10;
/// Smallest unit of any device, to which tables and labels are aligned.
const SECTOR: u64 = 512;

/// Name, possible positions, and bytes of a mark.
type Mark = (&'static str, &'static [u64], &'static [u8]);

/// Marks at fixed positions from the beginning. Those of containers come first.
const MARKS: &[Mark] = &[
    ("a LUKS volume", &[0], b"LUKS\xba\xbe"),
    ("a LUKS volume", &[16 << 10], b"SKUL\xba\xbe"),
    ("a BitLocker volume", &[3], b"-FVE-FS-"),
    ("an Oracle ASM disk", &[32], b"ORCLDISK"),
    (
        "an LVM physical volume",
        &[0, SECTOR, 2 * SECTOR, 3 * SECTOR],
        b"LABELONE",
    ),
    ("a member of a RAID (md)", &[0, 4096], b"\xfc\x4e\x2b\xa9"),
    ("a Ceph OSD", &[0], b"bluestore block device"),
    (
        "a bcache device",
        &[4096 + 24],
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
    ),
    ("a Stratis device", &[SECTOR + 4], b"!Stra0tis\x86\xff\x02"),
    ("a dm-verity device", &[0], b"verity\0\0"),
    ("a dm-integrity device", &[0], b"integrt\0"),
    ("a VDO volume", &[0], b"dmvdo001"),
    (
        "swap space",
        &[4096 - 10, 8192 - 10, 16384 - 10, 65536 - 10],
        b"SWAPSPACE2",
    ),
    (
        "swap space",
        &[4096 - 10, 8192 - 10, 16384 - 10, 65536 - 10],
        b"S1SUSPEND\0",
    ),
    ("an XFS file system", &[0], b"XFSB"),
    ("a Btrfs file system", &[65536 + 64], b"_BHRfS_M"),
    ("an NTFS file system", &[3], b"NTFS    "),
    ("an exFAT file system", &[3], b"EXFAT   "),
    ("a FAT file system", &[0x52], b"FAT32   "),
    ("a FAT file system", &[0x36], b"FAT16   "),
    ("a FAT file system", &[0x36], b"FAT12   "),
    ("an F2FS file system", &[1024], b"\x10\x20\xf5\xf2"),
    ("an EROFS file system", &[1024], b"\xe2\xe1\xf5\xe0"),
    ("a JFS file system", &[32768], b"JFS1"),
    ("a ReiserFS file system", &[65536 + 52], b"ReIsEr"),
    ("a GFS2 file system", &[65536], b"\x01\x16\x19\x70"),
    ("an OCFS2 file system", &[1024, 2048, 4096, 8192], b"OCFSV2"),
    ("an ISO 9660 file system", &[32768 + 1], b"CD001"),
    ("a SquashFS file system", &[0], b"hsqs"),
    ("a partition table (GPT)", &[SECTOR, 4096], b"EFI PART"),
];

/// Contents of the device, if it carries a known mark.
pub(crate) fn of(device: &File) -> io::Result<Option<&'static str>> {
    let seen = DeviceEnds::of(device)?;
    let marked = MARKS.iter().find(|(_, places, mark)| {
        let mut places = places.iter();
        places.any(|at| seen.has(*at, mark))
    });
    if let Some((what, ..)) = marked {
        return Ok(Some(what));
    }
    Ok(match () {
        () if seen.is_md_by_its_end() => Some("a member of a RAID (md)"),
        () if seen.is_zfs() => Some("a ZFS pool"),
        () if seen.is_ext() => Some("an ext2, ext3 or ext4 file system"),
        () if seen.has_gpt_at_its_end() => Some("a partition table (GPT)"),
        () if seen.has_partitions() => Some("a partition table (MBR)"),
        () => None,
    })
}

/// Contents by this list or, if installed, by `blkid`.
pub(crate) fn on(path: &Path, device: &File) -> io::Result<Option<String>> {
    if let Some(what) = of(device)? {
        return Ok(Some(what.to_owned()));
    }
    let mut command = Command::new("blkid");
    command
        .args(["-p", "-o", "value", "-s", "TYPE", "-s", "PTTYPE"])
        .arg(path)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null());
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => Ok(said
            .lines()
            .find(|line| !line.is_empty())
            .map(str::to_owned)),
        // `blkid` found nothing.
        Some(2) => Ok(None),
        Some(8) => Ok(Some("several signatures".to_owned())),
        _ => Err(io::Error::other(format!(
            "blkid ended with {}",
            output.status
        ))),
    }
}

struct DeviceEnds {
    size_bytes: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl DeviceEnds {
    fn of(mut device: &File) -> io::Result<Self> {
        let size_bytes = device.seek(SeekFrom::End(0))?;
        let piece = |from: u64, bytes: u64| -> io::Result<Vec<u8>> {
            let mut piece = vec![0; bytes as usize];
            device.read_exact_at(&mut piece, from)?;
            Ok(piece)
        };
        let tail_bytes = size_bytes.min(TAIL_BYTES);
        Ok(Self {
            size_bytes,
            head: piece(0, size_bytes.min(HEAD_BYTES))?,
            tail: piece(size_bytes - tail_bytes, tail_bytes)?,
        })
    }

    fn at(&self, from: u64, count: usize) -> Option<&[u8]> {
        let within = |piece: &'_ [u8], begin: u64| -> Option<std::ops::Range<usize>> {
            let from = usize::try_from(from.checked_sub(begin)?).ok()?;
            let range = from..from.checked_add(count)?;
            (range.end <= piece.len()).then_some(range)
        };
        let begin = self.size_bytes - self.tail.len() as u64;
        match within(&self.head, 0) {
            Some(range) => Some(&self.head[range]),
            None => within(&self.tail, begin).map(|range| &self.tail[range]),
        }
    }

    fn has(&self, at: u64, mark: &[u8]) -> bool {
        self.at(at, mark.len()) == Some(mark)
    }

    fn byte(&self, at: u64) -> Option<u8> {
        self.at(at, 1).map(|bytes| bytes[0])
    }

    /// Two bytes are weak evidence, so the sizes next to them must be possible as well.
    fn is_ext(&self) -> bool {
        let word = |at: u64| self.at(1024 + at, 4).map(|b| [b[0], b[1], b[2], b[3]]);
        let number = |at: u64| word(at).map(u32::from_le_bytes);
        self.has(1024 + 56, b"\x53\xef")
            && number(24).is_some_and(|block_log| block_log <= 6)
            && number(76).is_some_and(|revision| revision <= 1)
            && number(0).is_some_and(|inodes| inodes > 0)
    }

    /// A boot sector's mark, and entries that are used or empty, at least one of them used.
    fn has_partitions(&self) -> bool {
        let entry = |number: u64| 446 + 16 * number;
        let is_possible = |number| matches!(self.byte(entry(number)), Some(0 | 0x80));
        let is_used = |number| self.byte(entry(number) + 4).is_some_and(|kind| kind != 0);
        self.has(510, b"\x55\xaa") && (0..4).all(is_possible) && (0..4).any(is_used)
    }

    /// Tools that erase only the beginning leave this table.
    fn has_gpt_at_its_end(&self) -> bool {
        [SECTOR, 4096].iter().any(|sector| {
            let last = self.size_bytes.checked_sub(*sector);
            last.is_some_and(|last| self.has(last, b"EFI PART"))
        })
    }

    fn is_md_by_its_end(&self) -> bool {
        let mark = b"\xfc\x4e\x2b\xa9";
        let new = (self.size_bytes / SECTOR).checked_sub(16);
        let old = (self.size_bytes & !0xffff).checked_sub(0x10000);
        new.is_some_and(|sector| self.has((sector & !7) * SECTOR, mark))
            || old.is_some_and(|at| self.has(at, mark) || self.has(at, b"\xa9\x2b\x4e\xfc"))
    }

    /// Any block of the rings in each of the four labels may be in use.
    fn is_zfs(&self) -> bool {
        const LABEL: u64 = 256 << 10;
        let end = self.size_bytes / LABEL * LABEL;
        let labels = [Some(0), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
        let marks = [0x00ba_b10c_u64.to_le_bytes(), 0x00ba_b10c_u64.to_be_bytes()];
        labels.into_iter().flatten().any(|label| {
            let mut ring = (128 << 10..LABEL).step_by(1024);
            ring.any(|at| marks.iter().any(|mark| self.has(label + at, mark)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = (8 << 20) + 12_800;

    fn recognized(marks: &[(u64, &[u8])]) -> Option<&'static str> {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        for (at, mark) in marks {
            file.write_all_at(mark, *at).unwrap();
        }
        of(&file).unwrap()
    }

    #[test]
    fn every_mark_is_known_at_every_place() {
        assert_eq!(recognized(&[]), None);
        for (what, places, mark) in MARKS {
            for at in *places {
                assert_eq!(recognized(&[(*at, mark)]), Some(*what), "at {at}");
                // A truncated mark is none.
                assert_eq!(recognized(&[(*at, &mark[1..])]), None, "at {at}");
            }
        }
        let zfs = 0x00ba_b10c_u64;
        let end = SIZE / (256 << 10) * (256 << 10);
        for at in [
            136 << 10,
            end - (120 << 10),
            end - (512 << 10) + (255 << 10),
        ] {
            assert_eq!(recognized(&[(at, &zfs.to_le_bytes())]), Some("a ZFS pool"));
            assert_eq!(recognized(&[(at, &zfs.to_be_bytes())]), Some("a ZFS pool"));
        }
        for at in [(SIZE / 512 - 16) & !7, ((SIZE & !0xffff) - 0x10000) / 512] {
            let md = recognized(&[(at * 512, b"\xfc\x4e\x2b\xa9")]);
            assert_eq!(md, Some("a member of a RAID (md)"));
        }
        for at in [SIZE - 512, SIZE - 4096] {
            let gpt = recognized(&[(at, b"EFI PART")]);
            assert_eq!(gpt, Some("a partition table (GPT)"));
        }
    }

    #[test]
    fn two_bytes_that_chance_brings_are_no_mark() {
        let boot: (u64, &[u8]) = (510, b"\x55\xaa");
        assert_eq!(recognized(&[boot]), None);
        let used: (u64, &[u8]) = (446 + 4, b"\x83");
        assert_eq!(recognized(&[boot, used]), Some("a partition table (MBR)"));
        assert_eq!(recognized(&[boot, used, (446 + 16, b"\x17")]), None);
        let ext: (u64, &[u8]) = (1024 + 56, b"\x53\xef");
        assert_eq!(recognized(&[ext]), None);
        let inodes: (u64, &[u8]) = (1024, b"\x10");
        let ext4 = Some("an ext2, ext3 or ext4 file system");
        assert_eq!(recognized(&[ext, inodes]), ext4);
        assert_eq!(recognized(&[ext, inodes, (1024 + 24, b"\x77")]), None);
    }

    #[test]
    fn a_device_of_any_size_is_looked_at() {
        let file = tempfile::tempfile().unwrap();
        for size in [0, 1, 511, 512, 4096, 70_000, 600_000] {
            file.set_len(size).unwrap();
            assert_eq!(of(&file).unwrap(), None, "{size}");
        }
    }

    #[test]
    fn real_file_systems_and_swap_are_known() {
        let folder = tempfile::tempdir().unwrap();
        for (program, options, what) in [
            ("mkfs.ext4", "-qF", "an ext2, ext3 or ext4 file system"),
            ("mkfs.ext2", "-qF", "an ext2, ext3 or ext4 file system"),
            ("mkswap", "-q", "swap space"),
        ] {
            let path = folder.path().join(program);
            File::create(&path).unwrap().set_len(16 << 20).unwrap();
            let mut made = std::process::Command::new(program);
            let made = made.arg(options).arg(&path).output().unwrap();
            assert!(made.status.success(), "{made:?}");
            assert_eq!(of(&File::open(&path).unwrap()).unwrap(), Some(what));
        }
    }
}
