//! Methods of backups: what each is, and the trait by which it is carried out.
//!
//! A method is one entry in the list of its engine: an [`Adapter`] with its description and what carries it out. Plans,
//! points and pages know the description alone.

mod program;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use program::run;

use crate::{Result, Target};

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
}

impl BackupMethod {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupOptions {
    /// Channels that copy at once.
    pub channels: u32,
    /// Level of the compression; the method's usual one when nothing is said.
    pub level: Option<u32>,
}

/// What a backup that was made tells about itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BackedUp {
    /// Processor time of the programs that were executed for it.
    pub programs_cpu: Duration,
    /// How long it took by the tool's own clock, where the tool tells.
    pub tool_took: Option<Duration>,
}

/// A backup that was restored, and is open.
pub struct Restored {
    /// The restored database; it must not outlive its directory.
    pub target: Arc<dyn Target>,
    /// How long it took to copy the files to their new place, durably.
    pub copy_took: Duration,
    /// How long it took from then until the database answered.
    pub replay_took: Duration,
}

/// The backups of one database.
pub trait Backup: Sync {
    /// Bytes of the database that a backup holds: without free pages and without logs.
    ///
    /// # Errors
    /// When the engine does not tell.
    fn logical_bytes(&self) -> Result<u64>;

    /// The methods of its engine, those included for which something is missing here.
    fn methods(&self) -> Vec<BackupMethod>;

    /// What carries a method out; `None` of one that the engine does not have.
    fn method(&self, name: &str) -> Option<Box<dyn Method + '_>>;

    /// Whether the engine can open a database that is restored into this directory.
    ///
    /// # Errors
    /// When its user cannot reach it.
    fn check_place(&self, _directory: &Path) -> Result<()> {
        Ok(())
    }
}

/// Carries a method out on one database.
pub trait Method: Send + Sync {
    /// Why it cannot be carried out here, and what to do about that.
    fn lacks(&self) -> Option<String> {
        None
    }

    /// Readies the database and an empty directory for a backup, before the work whose transactions the backup must hold.
    ///
    /// # Errors
    /// When the engine or a program fails.
    fn prepare(&self, _options: BackupOptions, _into: &Path) -> Result<()> {
        Ok(())
    }

    /// Backs the database up; when it returns, everything is durable there.
    ///
    /// # Errors
    /// When the engine or a file fails; what lies in the directory then is no backup.
    fn back_up(&self, options: BackupOptions, into: &Path) -> Result<BackedUp>;

    /// Undoes what [`Method::prepare`] did to the database.
    ///
    /// # Errors
    /// When the engine fails.
    fn finish(&self) -> Result<()> {
        Ok(())
    }

    /// What the engine's own verification says is wrong with a backup; `None` where nothing is.
    ///
    /// # Errors
    /// When it cannot be carried out.
    fn verify(&self, from: &Path) -> Result<Option<String>>;

    /// Restores a backup into an empty directory, and opens it there.
    ///
    /// # Errors
    /// When it cannot be restored, or the engine does not open it.
    fn restore(&self, options: BackupOptions, from: &Path, into: &Path) -> Result<Restored>;
}

/// A method of an engine, with what carries it out on a target of type `T`.
pub(crate) struct Adapter<T> {
    pub about: BackupMethod,
    pub on: for<'t> fn(&'t T) -> Box<dyn Method + 't>,
}

/// The descriptions of an engine's methods.
pub(crate) fn described<T>(adapters: &[Adapter<T>]) -> Vec<BackupMethod> {
    adapters.iter().map(|adapter| adapter.about).collect()
}

/// What carries a method of an engine out on a target.
pub(crate) fn bound<'t, T>(
    adapters: &[Adapter<T>],
    name: &str,
    target: &'t T,
) -> Option<Box<dyn Method + 't>> {
    let adapter = adapters.iter().find(|adapter| adapter.about.name == name)?;
    Some((adapter.on)(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_asked_for_behind_the_name() {
        let method = BackupMethod {
            name: "tool-zst",
            how: "",
            has_channels: true,
            levels: Some((1, 22)),
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
