//! Processes that die with dbdyno, run as somebody else, and are ended for certain.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::account::Account;
use super::launcher::on_launcher;

/// Where the kernel has its files of shared memory.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";
/// Names a library that local servers load before all others, such as another allocator; nothing else of the environment
/// reaches them.
const PRELOAD: &str = "DBDYNO_SERVER_PRELOAD";
/// How often an ending process is looked at.
const POLL: Duration = Duration::from_millis(10);
/// Time that the kernel needs at most to end a killed process, whose pages may be written first.
const KILL_TIME_MAX: Duration = Duration::from_secs(30);

pub(super) struct Bonds {
    pub account: Account,
    /// Membership file of the control group to enter.
    pub group: Option<OwnedFd>,
    /// Signal it gets when dbdyno dies.
    pub death_signal: libc::c_int,
}

/// Starts `command` with its output in `log`.
pub fn spawn(mut command: Command, bonds: Bonds, log: &File) -> io::Result<Child> {
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log.try_clone()?);
    if let Some(library) = preloaded() {
        command.env("LD_PRELOAD", library);
    }
    let parent = std::process::id();
    // SAFETY: `settle` makes system calls only, as is right between fork and exec.
    unsafe { command.pre_exec(move || settle(&bonds, parent)) };
    on_launcher(move || command.spawn())?
}

/// The library that servers load before all others.
pub(super) fn preloaded() -> Option<OsString> {
    std::env::var_os(PRELOAD).filter(|library| !library.is_empty())
}

/// Runs in the child between fork and exec.
fn settle(bonds: &Bonds, parent: u32) -> io::Result<()> {
    let check = |code: libc::c_int| match code {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    // SAFETY: every call is a plain system call on values; the limit and the byte live on the stack.
    unsafe {
        // Ctrl-C on the terminal is for dbdyno, which then ends its servers in order.
        check(libc::setsid())?;
        host::limits::raise_for_server();
        if let Some(group) = &bonds.group
            && libc::write(group.as_raw_fd(), b"0\n".as_ptr().cast(), 2) != 2
        {
            return Err(io::Error::last_os_error());
        }
        if bonds.account.is_changed_to {
            check(libc::setgroups(0, std::ptr::null()))?;
            check(libc::setgid(bonds.account.gid))?;
            check(libc::setuid(bonds.account.uid))?;
        }
        // Last, because a change of user clears it.
        check(libc::prctl(libc::PR_SET_PDEATHSIG, bonds.death_signal))?;
        // dbdyno may have died before there was a signal for it.
        if libc::getppid() as u32 != parent {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    Ok(())
}

/// Sends a signal; false when there is no such process.
pub fn signal(pid: u32, signal: libc::c_int) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else {
        return false;
    };
    // SAFETY: the call touches no memory; 0 and negative numbers, which mean groups, are kept out.
    pid > 0 && unsafe { libc::kill(pid, signal) } == 0
}

/// True if a process has ended but nobody has asked how.
pub fn is_zombie(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| rest.starts_with(" Z"))
}

/// Waits until the child has ended; `None` when the time is over first.
pub fn wait(child: &mut Child, time_max: Duration) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() > time_max {
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

/// Asks the child to end with `gentle` and kills it when it has not ended in time.
pub fn end(child: &mut Child, gentle: libc::c_int, time_max: Duration) -> io::Result<ExitStatus> {
    if let Some(status) = child.try_wait()? {
        return Ok(status);
    }
    signal(child.id(), gentle);
    if let Some(status) = wait(child, time_max)? {
        return Ok(status);
    }
    child.kill()?;
    wait(child, KILL_TIME_MAX)?
        .ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "the killed process did not end"))
}

/// "exit status 1" or "signal 9".
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

/// Processes that run one of `programs`, or a program below one, with their working directory in one of `places`.
///
/// By both, because a working directory alone may be that of its user's shell.
pub(super) fn working_in(places: &[&Path], programs: &[&Path]) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let is_ours = |pid: &u32| {
        let link = |name: &str| std::fs::read_link(format!("/proc/{pid}/{name}")).ok();
        let is_run = |exe: PathBuf| programs.iter().any(|program| exe.starts_with(program));
        let runs = link("exe").is_some_and(is_run);
        runs && link("cwd").is_some_and(|cwd| places.iter().any(|place| cwd.starts_with(place)))
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(is_ours)
        .collect()
}

/// Files of shared memory that a process has mapped and owns.
pub(super) fn shared_files(pid: u32) -> Vec<PathBuf> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let owner = |path: &Path| std::fs::metadata(path).ok().map(|m| m.uid());
    let process = owner(Path::new(&format!("/proc/{pid}")));
    let mut files: Vec<PathBuf> = maps
        .lines()
        .filter_map(|line| Some(PathBuf::from(&line[line.find(SHARED_MEMORY)?..])))
        .filter(|path| owner(path).is_some() && owner(path) == process)
        .collect();
    files.sort();
    files.dedup();
    files
}

/// Waits until `list` names nothing, and kills what it names after `grace`; false when that does not help.
pub(super) fn kill_all(grace: Duration, mut list: impl FnMut() -> Vec<u32>) -> bool {
    let begin = Instant::now();
    loop {
        let pids = list();
        if pids.is_empty() {
            return true;
        }
        if begin.elapsed() >= grace {
            for pid in pids {
                signal(pid, libc::SIGKILL);
            }
        }
        if begin.elapsed() > grace + KILL_TIME_MAX {
            return false;
        }
        std::thread::sleep(POLL);
    }
}
