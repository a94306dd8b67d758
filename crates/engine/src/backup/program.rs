//! The programs that carry backups out.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::failed;
use crate::{ProgramUse, Result, TargetError};

/// Between two looks at the memory of a program.
const LOOK: Duration = Duration::from_millis(20);
/// The end of what a program says, where its reason stands.
const COMPLAINT_CHARACTERS_MAX: usize = 300;

/// A program that has ended well.
pub struct Ran {
    pub took: ProgramUse,
    pub said: String,
}

/// Runs a program to its end, or to that of dbdyno.
///
/// # Errors
/// When it cannot be executed, or fails: what it says.
pub fn run(command: Command) -> Result<Ran> {
    run_on(Stdio::null(), command)
}

/// The same for a program that reads this.
///
/// # Errors
/// As [`run`].
pub fn run_on(input: impl Into<Stdio>, mut command: Command) -> Result<Ran> {
    command.stdin(input);
    let name = Path::new(command.get_program()).display().to_string();
    // Its output is worth nothing without dbdyno, which awaits it.
    host::die_with_parent(&mut command);
    let Ended { status, took, said } =
        end(command).map_err(|e| failed(&format!("{name} cannot be executed"), &e))?;
    let said = said.map(|said| String::from_utf8_lossy(&said).into_owned());
    if status.success() {
        let said = said.concat();
        return Ok(Ran { took, said });
    }
    let lines = said.iter().flat_map(|said| said.lines());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let said = lines.join("; ");
    let skipped = said
        .chars()
        .count()
        .saturating_sub(COMPLAINT_CHARACTERS_MAX);
    let said: String = said.chars().skip(skipped).collect();
    Err(TargetError::statement(format!("{name}: {said}")))
}

/// Reads a database file. Not by dbdyno itself: closing it would release the locks that an engine in this process has on it.
///
/// # Errors
/// When it cannot be read.
pub fn warm(file: &Path) -> Result<()> {
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

/// A program that has ended.
struct Ended {
    status: ExitStatus,
    took: ProgramUse,
    said: [Vec<u8>; 2],
}

/// Runs a program until it ends.
fn end(mut command: Command) -> io::Result<Ended> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let read = |from: Option<&mut dyn Read>| -> io::Result<Vec<u8>> {
        let mut said = Vec::new();
        from.map_or(Ok(0), |from| from.read_to_end(&mut said))?;
        Ok(said)
    };
    let (is_over, pid) = (AtomicBool::new(false), child.id());
    let (said, memory_bytes) = thread::scope(|scope| {
        let said = scope.spawn(|| read(out.as_mut().map(|it| it as &mut dyn Read)));
        let memory = scope.spawn(|| peak_bytes(pid, &is_over));
        let complained = read(err.as_mut().map(|it| it as &mut dyn Read));
        let said = joined(said);
        is_over.store(true, Ordering::Relaxed);
        let both = said.and_then(|said| Ok([said, complained?]));
        (both, joined(memory))
    });
    // Awaited whatever came of reading, so that it does not stay behind.
    let (status, mut took) = wait(&child)?;
    took.memory_bytes = Some(memory_bytes);
    Ok(Ended {
        status,
        took,
        said: said?,
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    let ended = thread.join();
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The largest resident memory that one process of a program and its descendants was seen with until it is over. What the kernel tells
/// when a process ends has the memory in it of whoever started it.
fn peak_bytes(program: u32, is_over: &AtomicBool) -> u64 {
    let mut peak = 0;
    while !is_over.load(Ordering::Relaxed) {
        let mut left = vec![program];
        while let Some(pid) = left.pop() {
            peak = peak.max(high_water_bytes(pid).unwrap_or(0));
            left.extend(host::pids_of_children(pid).unwrap_or_default());
        }
        thread::sleep(LOOK);
    }
    peak
}

/// The largest resident memory of a process since it began its program.
fn high_water_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Waits for a child to end, for the kernel to tell what it and its own children took, but for their memory.
fn wait(child: &Child) -> io::Result<(ExitStatus, ProgramUse)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: the call fills both, and zeros are valid where it does not; nobody else awaits the child, because `Child` is
        // not asked to and does not by itself.
        let ended = unsafe { libc::wait4(child.id() as i32, &mut status, 0, usage.as_mut_ptr()) };
        match ended {
            -1 => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
            _ => break,
        }
    }
    // SAFETY: see above.
    let usage = unsafe { usage.assume_init() };
    let of = |time: libc::timeval| {
        let micros = time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        Duration::from_micros(micros)
    };
    let took = ProgramUse {
        cpu: of(usage.ru_utime) + of(usage.ru_stime),
        // In sectors, whatever the device's are.
        read_bytes: usage.ru_inblock.unsigned_abs() << 9,
        written_bytes: usage.ru_oublock.unsigned_abs() << 9,
        memory_bytes: None,
    };
    Ok((ExitStatus::from_raw(status), took))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_program_is_that_of_its_largest_process() {
        let sh = |script: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            run(command)
        };
        // This process is larger than what it starts.
        let block = vec![1_u8; 128 << 20];
        // A child that holds a block of 64 MiB for a while.
        let ran = sh("dd if=/dev/zero of=/dev/null bs=64M count=40; echo said").unwrap();
        assert!(
            ran.said.starts_with("said") && ran.said.contains("copied"),
            "{}",
            ran.said
        );
        assert!(ran.took.memory_bytes.unwrap() > 64 << 20, "{:?}", ran.took);
        let small = sh("sleep 0.3").unwrap();
        assert!(
            small.took.memory_bytes.unwrap() < 64 << 20,
            "{:?}",
            small.took
        );
        let sum: usize = block.iter().map(|byte| usize::from(*byte)).sum();
        assert_eq!(sum, 128 << 20);
        // Both outputs are read, however much comes.
        let much = sh("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2").unwrap();
        assert_eq!(much.said.len(), 600_000);
        let failed = sh("echo why >&2; exit 3").err().unwrap();
        assert!(failed.message.ends_with(": why"), "{failed}");
    }
}
