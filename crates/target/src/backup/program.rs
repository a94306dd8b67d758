//! The programs that carry backups out.

use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::server::failed;
use crate::{ErrorKind, Result, TargetError};

/// The end of what a program says, where its reason stands.
const COMPLAINT_CHARACTERS_MAX: usize = 300;

/// A program that has ended well.
pub(crate) struct Ran {
    /// Its processor time, with that of its children.
    pub cpu: Duration,
    /// What it wrote to both of its outputs.
    pub said: String,
}

/// Runs a program to its end, or to that of dbdyno.
///
/// # Errors
/// When it cannot be executed, or fails: what it says.
pub(crate) fn run(mut command: Command) -> Result<Ran> {
    let name = Path::new(command.get_program()).display().to_string();
    // What it writes is worth nothing without dbdyno, which awaits it.
    host::die_with_parent(&mut command);
    let before = of_ended_children();
    let output = command
        .output()
        .map_err(|e| failed(&format!("{name} cannot be executed"), &e))?;
    let cpu = of_ended_children().saturating_sub(before);
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    if output.status.success() {
        let said = said.concat();
        return Ok(Ran { cpu, said });
    }
    let lines = said.iter().flat_map(|said| said.lines());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
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

/// Reads a database file. Not by dbdyno itself: closing it would release the locks that an engine in this process has on it.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn warm(file: &Path) -> Result<()> {
    let mut input = OsString::from("if=");
    input.push(file);
    let mut command = Command::new("dd");
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .args(["of=/dev/null", "bs=1M", "status=none"])
        .arg(input);
    run(command).map(drop)
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
