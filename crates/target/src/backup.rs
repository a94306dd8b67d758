//! Methods of backups: what each is, and the programs that carry them out. Plans, points and pages know this alone.

mod program;

use std::time::Duration;

pub(crate) use program::{run, warm};

/// One way to back a database up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupMethod {
    /// As plans name it: small letters, digits and hyphens.
    pub name: &'static str,
    /// What is done, in a sentence.
    pub how: &'static str,
    /// Whether several channels can copy at once.
    pub has_channels: bool,
    /// The lowest and the highest level of its compression, which plans name behind the method: `NAME-LEVEL`.
    pub levels: Option<(u32, u32)>,
    /// Where in the repository the log is archived, so that a backup can be restored to a point in time behind it.
    pub log_archive: Option<&'static str>,
    /// Backups that lie beside each other until one is restored, each at most as large as the database. None of a method that
    /// keeps nothing, so that nothing can be restored: it shows what a backup costs without its medium.
    pub backups: u32,
    /// Whether it can be held to a rate.
    pub has_rate: bool,
    /// Log that the server makes anew which a backup is restored into, beside the restored files.
    pub restored_log_bytes: u64,
}

impl BackupMethod {
    /// What most methods are.
    pub(crate) const SIMPLE: Self = Self {
        name: "",
        how: "",
        has_channels: false,
        levels: None,
        log_archive: None,
        backups: 1,
        has_rate: false,
        restored_log_bytes: 0,
    };

    /// The level that a name asks for: `Some(None)` is the usual one, and `None` says that the name is none of this method.
    pub fn level_of(&self, name: &str) -> Option<Option<u32>> {
        let rest = name.strip_prefix(self.name)?;
        if rest.is_empty() {
            return Some(None);
        }
        let (least, most) = self.levels?;
        let level = rest.strip_prefix('-')?.parse().ok()?;
        // Written one way only, so that a point has one name.
        let is_plain = rest[1..] == format!("{level}");
        (is_plain && (least..=most).contains(&level)).then_some(Some(level))
    }
}

/// What is asked of a method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupOptions {
    /// Channels that copy at once.
    pub channels: u32,
    /// Level of the compression; the method's usual one when nothing is said.
    pub level: Option<u32>,
    /// The highest rate, in 10^6 bytes per second.
    pub max_mb_per_s: Option<u32>,
}

/// What a backup that was made tells about itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BackedUp {
    /// Processor time of the programs that were executed for it.
    pub programs_cpu: Duration,
    /// How long it took by the tool's own clock, where the tool tells.
    pub tool_took: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_asked_for_behind_the_name() {
        let method = BackupMethod {
            name: "tool-zst",
            levels: Some((1, 22)),
            ..BackupMethod::SIMPLE
        };
        assert_eq!(method.level_of("tool-zst"), Some(None));
        assert_eq!(method.level_of("tool-zst-19"), Some(Some(19)));
        for none in [
            "tool",
            "tool-zst-0",
            "tool-zst-23",
            "tool-zst-x",
            "tool-zst-",
            "tool-zst-+3",
            "tool-zst-03",
        ] {
            assert_eq!(method.level_of(none), None, "{none}");
        }
        let plain = BackupMethod {
            levels: None,
            ..method
        };
        assert_eq!(plain.level_of("tool-zst-3"), None);
    }
}
