//! Restricts this process and everything that it has started to fewer processors for a while.

use std::fs;
use std::io;

use crate::bystanders::children;

/// Most passes: threads that start meanwhile inherit old or new processors, so passes are repeated until all have the
/// new ones.
const LOOKS_MAX: usize = 100;

#[derive(Clone, Copy)]
struct Set(libc::cpu_set_t);

impl Set {
    fn of(thread: libc::pid_t) -> io::Result<Self> {
        // SAFETY: zeros are an empty set, and the call fills it within its size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            match libc::sched_getaffinity(thread, size_of::<libc::cpu_set_t>(), &mut set) {
                0 => Ok(Self(set)),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    fn numbers(&self) -> impl Iterator<Item = usize> {
        let all = 0..libc::CPU_SETSIZE as usize;
        // SAFETY: the number is below the size of the set.
        all.filter(|number| unsafe { libc::CPU_ISSET(*number, &self.0) })
    }

    fn first(&self, count: usize) -> Self {
        // SAFETY: zeros are an empty set, and the numbers are below its size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            for number in self.numbers().take(count) {
                libc::CPU_SET(number, &mut set);
            }
            Self(set)
        }
    }

    fn is(&self, other: &Self) -> bool {
        // SAFETY: both are whole sets.
        unsafe { libc::CPU_EQUAL(&self.0, &other.0) }
    }

    /// Restricts a thread to the set; true if it was not yet. A thread that has ended does not count, and the
    /// kernel's own threads cannot be restricted.
    fn hold(&self, thread: libc::pid_t) -> io::Result<bool> {
        let held = match Self::of(thread) {
            Ok(now) if now.is(self) => return Ok(false),
            Ok(_) => {
                // SAFETY: the set is whole, and read only.
                let code = unsafe {
                    libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &self.0)
                };
                match code {
                    0 => return Ok(true),
                    _ => io::Error::last_os_error(),
                }
            }
            Err(error) => error,
        };
        match held.raw_os_error() {
            Some(libc::ESRCH | libc::EINVAL) => Ok(false),
            _ => Err(held),
        }
    }
}

/// Number of processors that this process may use. Fails if the kernel does not report it.
pub fn processors() -> io::Result<usize> {
    Ok(Set::of(std::process::id() as libc::pid_t)?
        .numbers()
        .count())
}

/// Restricts this process, and all that it has started, to fewer processors until it is dropped.
pub struct FewerProcessors {
    root: u32,
    before: Set,
}

impl FewerProcessors {
    /// The first `count` processors that this process may use, in the order of their numbers. Fails if there are
    /// fewer, or the kernel refuses.
    pub fn first(count: usize) -> io::Result<Self> {
        Self::below(std::process::id(), count)
    }

    fn below(root: u32, count: usize) -> io::Result<Self> {
        let before = Set::of(root as libc::pid_t)?;
        if count == 0 || count > before.numbers().count() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let held = Self { root, before };
        hold_all(root, &before.first(count))?;
        Ok(held)
    }
}

impl Drop for FewerProcessors {
    fn drop(&mut self) {
        let _ = hold_all(self.root, &self.before);
    }
}

/// Restricts every thread of a process and of all that it has started.
fn hold_all(root: u32, set: &Set) -> io::Result<()> {
    for _ in 0..LOOKS_MAX {
        let mut changed = 0;
        let mut left = vec![root];
        while let Some(pid) = left.pop() {
            for thread in threads(pid) {
                changed += u32::from(set.hold(thread)?);
            }
            left.extend(children(pid));
        }
        if changed == 0 {
            break;
        }
    }
    Ok(())
}

/// Threads of a process; empty if it has ended.
fn threads(pid: u32) -> Vec<libc::pid_t> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let entries = entries.into_iter().flatten().flatten();
    let threads = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
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
        let of = |pid: u32| Set::of(pid as libc::pid_t).unwrap().numbers().count();
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
