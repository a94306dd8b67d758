//! Restricts this process and everything that it has started to fewer processors for a while.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, getpid};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::bystanders::children;

/// Most passes: threads that start meanwhile inherit old or new processors, so passes are repeated until all have the
/// new ones.
const PASSES_MAX: usize = 100;

/// The processors that a thread may use.
fn allowed(thread: Pid) -> io::Result<CpuSet> {
    Ok(sched_getaffinity(Some(thread))?)
}

fn first(set: &CpuSet, count: usize) -> CpuSet {
    let mut first = CpuSet::new();
    let numbers = (0..CpuSet::MAX_CPU).filter(|number| set.is_set(*number));
    numbers.take(count).for_each(|number| first.set(number));
    first
}

/// Restricts a thread to the set; true if it was not yet. A thread that has ended does not count, and the
/// kernel's own threads cannot be restricted.
fn hold(thread: Pid, set: &CpuSet) -> io::Result<bool> {
    let held = match sched_getaffinity(Some(thread)) {
        Ok(now) if now == *set => return Ok(false),
        Ok(_) => sched_setaffinity(Some(thread), set),
        Err(error) => Err(error),
    };
    match held {
        Ok(()) => Ok(true),
        Err(Errno::SRCH | Errno::INVAL) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Number of processors that this process may use. Fails if the kernel does not report it.
pub fn processors() -> io::Result<usize> {
    Ok(allowed(getpid())?.count() as usize)
}

/// Restricts this process, and all that it has started, to fewer processors until it is dropped.
pub struct FewerProcessors {
    root: u32,
    before: CpuSet,
}

impl FewerProcessors {
    /// The first `count` processors that this process may use, in the order of their numbers. Fails if there are
    /// fewer, or the kernel refuses.
    pub fn first(count: usize) -> io::Result<Self> {
        Self::below(std::process::id(), count)
    }

    fn below(root: u32, count: usize) -> io::Result<Self> {
        let before = allowed(pid_of(root)?)?;
        if count == 0 || count > before.count() as usize {
            return Err(Errno::INVAL.into());
        }
        let held = Self { root, before };
        hold_all(root, &first(&before, count))?;
        Ok(held)
    }
}

impl Drop for FewerProcessors {
    fn drop(&mut self) {
        let _ = hold_all(self.root, &self.before);
    }
}

/// Restricts every thread of a process and of all that it has started.
fn hold_all(root: u32, set: &CpuSet) -> io::Result<()> {
    for _ in 0..PASSES_MAX {
        let mut changed = 0;
        let mut left = vec![root];
        while let Some(pid) = left.pop() {
            for thread in threads(pid) {
                changed += u32::from(hold(thread, set)?);
            }
            left.extend(children(pid));
        }
        if changed == 0 {
            break;
        }
    }
    Ok(())
}

fn pid_of(number: u32) -> io::Result<Pid> {
    let pid = i32::try_from(number).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| Errno::SRCH.into())
}

/// Threads of a process; empty if it has ended.
fn threads(pid: u32) -> Vec<Pid> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let entries = entries.into_iter().flatten().flatten();
    let threads =
        entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    threads.collect()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;

    /// A program, its children and those that it starts later are restricted and released; threads of other tests are
    /// not.
    #[test]
    fn everything_that_was_started_is_held_and_let_go() {
        let mut shell = Command::new("sh")
            .args([
                "-c",
                "sleep 600 & echo $!; read go; nproc; read go; nproc; kill $!",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(shell.stdout.take().unwrap()).lines();
        let mut number = || -> usize { said.next().unwrap().unwrap().trim().parse().unwrap() };
        let [pid, child] = [shell.id(), number() as u32];
        let of = |pid| allowed(pid_of(pid).unwrap()).unwrap().count() as usize;
        let all = of(pid);
        let held = FewerProcessors::below(pid, 1).unwrap();
        assert_eq!([of(pid), of(child)], [1, 1]);
        let mut input = shell.stdin.take().unwrap();
        input.write_all(b"go\n").unwrap();
        assert_eq!(number(), 1);
        drop(held);
        assert_eq!([of(pid), of(child)], [all, all]);
        input.write_all(b"go\n").unwrap();
        assert_eq!(number(), all);
        for none in [0, all + 1] {
            assert!(FewerProcessors::below(pid, none).is_err());
        }
        shell.wait().unwrap();
    }
}
