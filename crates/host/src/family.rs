//! Processor time of a process, its living children and those that it has awaited.
//!
//! A server with a process for each session is too expensive to read file by file: 512 of them would be as many files
//! of `/proc` to open. So one file lists the children, one system call reads the clock of each, and the time of those
//! that ended is in the time charged to their parent.

use std::collections::HashMap;
use std::fs;

use crate::clock::try_read_ns;

/// Most retries: a child that ends between two readings is in neither, so both are repeated.
const READINGS_MAX: usize = 4;
/// Most children; more than any server has sessions.
const CHILDREN_MAX: usize = 1 << 16;

/// Processor time so far of a process, its children and those that it has awaited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Family {
    pid: u32,
    /// Start of the process, because its number may be reused later.
    began_ticks: u64,
    own_ns: u64,
    awaited_ns: u64,
    children_ns: HashMap<u32, u64>,
}

impl Family {
    /// Reads the family of a process of this machine; `None` if it is not visible.
    ///
    /// Grandchildren are left to their parents: they count as soon as they and their parents have ended.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let mut readings = 0;
        loop {
            let before = Stat::of(pid)?;
            let children_ns = children(pid)?;
            let family = Self {
                pid,
                began_ticks: before.began_ticks,
                own_ns: clock_ns(pid)?,
                awaited_ns: before.awaited_ns,
                children_ns,
            };
            readings += 1;
            if readings == READINGS_MAX || Stat::of(pid)? == before {
                return Some(family);
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Time used since an earlier reading; `None` if that was of another process with the same number.
    pub(crate) fn since(&self, earlier: &Self) -> Option<u64> {
        if (self.pid, self.began_ticks) != (earlier.pid, earlier.began_ticks) {
            return None;
        }
        let rise = |(pid, now): (&u32, &u64)| {
            let then = earlier.children_ns.get(pid).copied().unwrap_or(0);
            now.saturating_sub(then)
        };
        let living: u64 = self.children_ns.iter().map(rise).sum();
        // The earlier time of ended children is included in the charge to their parent.
        let ended = earlier.children_ns.iter();
        let ended = ended.filter(|(pid, _)| !self.children_ns.contains_key(pid));
        let before: u64 = ended.map(|(_, then)| then).sum();
        let charged = self.awaited_ns.saturating_sub(earlier.awaited_ns);
        let own = self.own_ns.saturating_sub(earlier.own_ns);
        Some(own + living + charged.saturating_sub(before))
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    began_ticks: u64,
    awaited_ns: u64,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name is in brackets and may contain anything.
    fn parse(text: &str) -> Option<Self> {
        let (_, numbers) = text.rsplit_once(')')?;
        let mut numbers = numbers.split_whitespace().skip(13);
        let mut next = || numbers.next()?.parse::<u64>().ok();
        let awaited_ticks = next()?.checked_add(next()?)?;
        let began_ticks = numbers.nth(4)?.parse().ok()?;
        Some(Self {
            began_ticks,
            awaited_ns: awaited_ticks.checked_mul(tick_ns())?,
        })
    }
}

fn children(pid: u32) -> Option<HashMap<u32, u64>> {
    let pids = pids_of_children(pid)?.into_iter();
    Some(pids.filter_map(|pid| Some((pid, clock_ns(pid)?))).collect())
}

/// The living children of a process; `None` if it is not visible.
pub fn pids_of_children(pid: u32) -> Option<Vec<u32>> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    let pids = text.split_ascii_whitespace().take(CHILDREN_MAX);
    Some(pids.filter_map(|word| word.parse().ok()).collect())
}

/// Start of a process, in ticks since the machine's start; `None` if there is none.
pub(crate) fn began_ticks(pid: u32) -> Option<u64> {
    Some(Stat::of(pid)?.began_ticks)
}

/// Processor time of all threads of a process, including ended ones.
fn clock_ns(pid: u32) -> Option<u64> {
    let pid = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 0)?;
    let mut clock: libc::clockid_t = 0;
    // SAFETY: the call writes one number to the given address.
    let code = unsafe { libc::clock_getcpuclockid(pid, &mut clock) };
    (code == 0).then_some(clock).and_then(try_read_ns)
}

fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    /// A shell that prints a line when it is done, and stays until its input is closed.
    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Waits until the family has used this much, and returns its use.
    fn used_ns(of: &Family, at_least: Duration) -> u64 {
        let begin = Instant::now();
        loop {
            let used = Family::of(of.pid).unwrap().since(of).unwrap();
            if used >= at_least.as_nanos() as u64 {
                return used;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{used} ns");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn children_count_while_they_live_and_when_they_have_ended() {
        // The child computes for a while, and is awaited by its parent, which then reads until the end.
        let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
        let mut parent = shell(&format!(
            "read go; sh -c '{work}' & wait; echo done; read end"
        ));
        let begin = Instant::now();
        let start = Family::of(parent.id()).unwrap();
        assert!(start.children_ns.is_empty(), "{start:?}");
        std::io::Write::write_all(parent.stdin.as_mut().unwrap(), b"go\n").unwrap();
        let alive = used_ns(&start, Duration::from_millis(1));
        let mut done = [0; 5];
        std::io::Read::read_exact(parent.stdout.as_mut().unwrap(), &mut done).unwrap();
        let ended = Family::of(parent.id()).unwrap();
        assert!(ended.children_ns.is_empty(), "{ended:?}");
        // The charge to the parent comes in ticks.
        let used = ended.since(&start).unwrap() + 2 * tick_ns();
        assert!(used > alive, "{used} {alive}");
        assert!(u128::from(used) < begin.elapsed().as_nanos() + 50_000_000);
        drop(parent.stdin.take());
        parent.wait().unwrap();
        assert_eq!(Family::of(parent.id()), None);
    }

    #[test]
    fn every_child_is_counted_once() {
        let family = |own_ns, awaited_ns, children: &[(u32, u64)]| Family {
            pid: 7,
            began_ticks: 1,
            own_ns,
            awaited_ns,
            children_ns: children.iter().copied().collect(),
        };
        let before = family(10, 100, &[(8, 1000), (9, 2000)]);
        // 8 continued, 9 ended after 50 more, 10 is new.
        let after = family(13, 2150, &[(8, 1500), (10, 7)]);
        assert_eq!(after.since(&before), Some(3 + 500 + 50 + 7));
        // The kernel's own threads are awaited by nobody: the last use of an ended one is unknown.
        let after = family(13, 100, &[(8, 1500)]);
        assert_eq!(after.since(&before), Some(3 + 500));
        let other = Family {
            began_ticks: 2,
            ..after
        };
        assert_eq!(other.since(&before), None);
    }

    #[test]
    fn a_name_may_hold_anything() {
        let numbers = "S 1 2 2 0 -1 4194560 1 2 3 4 11 12 13 14 20 0 1 0 5555 6 7";
        let golden = Stat {
            began_ticks: 5555,
            awaited_ns: 27 * tick_ns(),
        };
        assert_eq!(Stat::parse(&format!("9 (a) b (c) {numbers}")), Some(golden));
        for cut in [
            "",
            "9 (a",
            "9 (a) S 1 2",
            "9 (a) S 1 2 2 0 -1 4 1 2 3 4 11 12 13 x 20 0 1 0 5",
        ] {
            assert_eq!(Stat::parse(cut), None, "{cut}");
        }
    }
}
