//! Methods of backups: what each is, and the programs that carry them out. Plans, points and pages know this alone.

mod program;

use std::time::Duration;

pub use program::{Ran, run, run_on, warm};

/// One way to back a database up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupMethod {
    /// As plans name it: small letters, digits and hyphens.
    pub name: &'static str,
    pub how: &'static str,
    pub has_channels: bool,
    /// The lowest and the highest level of its compression, which plans name behind the method: `NAME-LEVEL`.
    pub levels: Option<(u32, u32)>,
    /// The smallest and the largest buffer for reading and writing, in KiB and powers of two, which plans name behind the method
    /// and its level: `NAME-64k`, `NAME-1m`.
    pub buffers_kib: Option<(u32, u32)>,
    /// Where in the repository the log is archived, so that a backup can be restored to a point in time behind it.
    pub log_archive: Option<&'static str>,
    /// Backups that lie beside each other until one is restored, each at most as large as the database. None of a method that
    /// keeps nothing, so that nothing can be restored: it shows what a backup costs without its medium.
    pub backups: u32,
    pub has_rate: bool,
    /// Log that the server makes anew which a backup is restored into, beside the restored files.
    pub restored_log_bytes: u64,
}

impl BackupMethod {
    pub const SIMPLE: Self = Self {
        name: "",
        how: "",
        has_channels: false,
        levels: None,
        buffers_kib: None,
        log_archive: None,
        backups: 1,
        has_rate: false,
        restored_log_bytes: 0,
    };

    /// The variant that a name means; `None` for a name of another method.
    pub fn variant_of(&self, name: &str) -> Option<Variant> {
        let mut variant = Variant::default();
        let mut rest = name.strip_prefix(self.name)?;
        if let Some((level, behind)) = part(rest).filter(|(part, _)| is_number(part)) {
            let (least, most) = self.levels?;
            variant.level = Some(
                level
                    .parse()
                    .ok()
                    .filter(|it| (least..=most).contains(it))?,
            );
            rest = behind;
        }
        if let Some((buffer, behind)) = part(rest) {
            let (least, most) = self.buffers_kib?;
            let kib = kib_of(buffer).filter(|kib| (least..=most).contains(kib));
            variant.buffer_kib = Some(kib?);
            rest = behind;
        }
        rest.is_empty().then_some(variant)
    }
}

/// The words between the first hyphen and the next, and what is behind them.
fn part(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('-')?;
    Some(text.split_at(text.find('-').unwrap_or(text.len())))
}

/// True if it is a number in the one way to write it, so that a point has one name.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0')
}

/// A power of two as `64k` or, from 1024 KiB on, `1m`.
fn kib_of(text: &str) -> Option<u32> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u32 = number.parse().ok().filter(|_| is_number(number))?;
    let kib = match unit {
        "k" if number < 1024 => number,
        "m" => number.checked_mul(1024)?,
        _ => return None,
    };
    kib.is_power_of_two().then_some(kib)
}

/// Compression level and buffer behind a method's name, with defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Variant {
    pub level: Option<u32>,
    /// Size of the buffer for reading and writing.
    pub buffer_kib: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupOptions {
    /// Channels that copy at once.
    pub channels: u32,
    pub variant: Variant,
    /// The highest rate, in 10^6 bytes per second.
    pub max_mb_per_s: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProgramUse {
    /// Processor time, with that of their children.
    pub cpu: Duration,
    /// Largest resident memory of one of their processes; `None` where no program was executed.
    pub memory_bytes: Option<u64>,
    /// Read from devices and written to them, by the kernel's account of their processes.
    pub read_bytes: u64,
    pub written_bytes: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BackedUp {
    pub programs: ProgramUse,
    /// Duration by the tool's own clock, where it reports one.
    pub tool_took: Option<Duration>,
}

impl From<ProgramUse> for BackedUp {
    fn from(programs: ProgramUse) -> Self {
        Self {
            programs,
            tool_took: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_and_buffer_are_asked_for_behind_the_name() {
        let method = BackupMethod {
            name: "tool-zst",
            levels: Some((1, 22)),
            buffers_kib: Some((16, 16_384)),
            ..BackupMethod::SIMPLE
        };
        let variant = |level, buffer_kib| Some(Variant { level, buffer_kib });
        for (name, asked) in [
            ("tool-zst", variant(None, None)),
            ("tool-zst-19", variant(Some(19), None)),
            ("tool-zst-64k", variant(None, Some(64))),
            ("tool-zst-3-16m", variant(Some(3), Some(16_384))),
            ("tool", None),
            ("tool-zst-0", None),
            ("tool-zst-23", None),
            ("tool-zst-x", None),
            ("tool-zst-", None),
            ("tool-zst-+3", None),
            ("tool-zst-03", None),
            ("tool-zst-8k", None),
            ("tool-zst-32m", None),
            ("tool-zst-48k", None),
            ("tool-zst-1024k", None),
            ("tool-zst-064k", None),
            ("tool-zst-64k-3", None),
            ("tool-zst-3-64k-", None),
            ("tool-zst-k", None),
        ] {
            assert_eq!(method.variant_of(name), asked, "{name}");
        }
        let plain = BackupMethod {
            levels: None,
            buffers_kib: None,
            ..method
        };
        assert_eq!(plain.variant_of("tool-zst-3"), None);
        assert_eq!(plain.variant_of("tool-zst-64k"), None);
    }
}
