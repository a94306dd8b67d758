//! Backups of a database by its engine's own means, and their restore elsewhere: what an engine can do it declares here.

use std::mem::MaybeUninit;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::server::failed;
use crate::{ErrorKind, Result, Target, TargetError};

/// The end of what a program says, where its reason stands.
const COMPLAINT_CHARACTERS_MAX: usize = 300;

/// One way to back a database up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupMethod {
    /// As plans name it: small letters and hyphens.
    pub name: &'static str,
    /// What is done, in a sentence.
    pub how: &'static str,
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
    /// The methods that can be carried out here.
    fn methods(&self) -> &'static [BackupMethod];

    /// Bytes of the database that a backup holds: without free pages and without logs.
    ///
    /// # Errors
    /// When the engine does not tell.
    fn logical_bytes(&self) -> Result<u64>;

    /// Backs the database up into an empty directory; when it returns, everything is durable there. Gives the processor time
    /// of the programs that were executed for it.
    ///
    /// # Errors
    /// When the engine or a file fails; what lies in the directory then is no backup.
    fn back_up(&self, method: &BackupMethod, into: &Path) -> Result<Duration>;

    /// Whether the engine can open a database that is restored into this directory.
    ///
    /// # Errors
    /// When its user cannot reach it.
    fn check_place(&self, _directory: &Path) -> Result<()> {
        Ok(())
    }

    /// What the engine's own verification says is wrong with a backup; `None` where nothing is.
    ///
    /// # Errors
    /// When it cannot be carried out.
    fn verify(&self, method: &BackupMethod, from: &Path) -> Result<Option<String>>;

    /// Restores a backup into an empty directory, and opens it there.
    ///
    /// # Errors
    /// When it cannot be restored, or the engine does not open it.
    fn restore(&self, method: &BackupMethod, from: &Path, into: &Path) -> Result<Restored>;
}

/// Runs a program to its end; its processor time.
///
/// # Errors
/// When it cannot be executed, or fails: what it says.
pub(crate) fn run(mut command: Command) -> Result<Duration> {
    let name = Path::new(command.get_program()).display().to_string();
    let before = of_ended_children();
    let output = command
        .output()
        .map_err(|e| failed(&format!("{name} cannot be executed"), &e))?;
    let took = of_ended_children().saturating_sub(before);
    if output.status.success() {
        return Ok(took);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
    let said = lines.join("; ");
    let skipped = said
        .chars()
        .count()
        .saturating_sub(COMPLAINT_CHARACTERS_MAX);
    let said: String = said.chars().skip(skipped).collect();
    Err(TargetError::new(
        ErrorKind::Statement,
        format!("{name}: {said}"),
    ))
}

/// Processor time of all children that have ended and were awaited.
fn of_ended_children() -> Duration {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the struct, and zeros are valid where it does not.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let of = |time: libc::timeval| {
        let micros = time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        Duration::from_micros(micros)
    };
    of(usage.ru_utime) + of(usage.ru_stime)
}
