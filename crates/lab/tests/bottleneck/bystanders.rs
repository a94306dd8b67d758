//! Use of this machine's processors by server and bystanders, added up process by process, to check the subtraction
//! that points use.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

const KERNEL_THREAD: u64 = 0x0020_0000;

#[derive(Debug, Clone, Copy)]
pub struct Used {
    /// The servers with all their children, in percent of the time of all processors.
    pub servers_pct: f64,
    /// All other processes except this one and the kernel.
    pub bystanders_pct: f64,
    /// Part of the window that may or may not be counted: reading all processes takes time, and long on a busy
    /// machine.
    pub uncertain_pct: f64,
}

pub struct Accounts {
    servers: Vec<u32>,
    before: Look,
}

#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    took: Duration,
    ticks: Ticks,
}

#[derive(Debug, Clone, Copy, Default)]
struct Ticks {
    servers: u64,
    bystanders: u64,
}

struct Process {
    pid: u32,
    parent: u32,
    flags: u64,
    /// Including children that have ended.
    ticks: u64,
}

impl Accounts {
    pub fn begin(servers: &[u32]) -> Self {
        Self {
            servers: servers.to_vec(),
            before: middle_of_three(servers),
        }
    }

    /// Use in a window of this length, which the accounts enclose.
    pub fn finish(self, window: Duration) -> Used {
        let now = middle_of_three(&self.servers);
        let elapsed = now.at - self.before.at;
        let elapsed_s = elapsed.as_secs_f64();
        let uncertain = self.before.took + now.took + elapsed.saturating_sub(window);
        // A process that ends before its parent reads it takes its time along.
        let rise = |of: fn(&Ticks) -> u64| {
            let ticks = of(&now.ticks).saturating_sub(of(&self.before.ticks));
            percent(ticks, elapsed_s)
        };
        Used {
            servers_pct: rise(|t| t.servers),
            bystanders_pct: rise(|t| t.bystanders),
            uncertain_pct: 100.0 * uncertain.as_secs_f64() / elapsed_s,
        }
    }
}

fn percent(ticks: u64, elapsed_s: f64) -> f64 {
    let processors = std::thread::available_parallelism().unwrap().get();
    // SAFETY: sysconf has no preconditions.
    let per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    100.0 * ticks as f64 / per_s as f64 / elapsed_s / processors as f64
}

/// A process that ends meanwhile is found twice, or not at all.
fn middle_of_three(servers: &[u32]) -> Look {
    let mut looks = [(); 3].map(|()| look(servers));
    looks.sort_unstable_by_key(|look| look.ticks.servers + look.ticks.bystanders);
    looks[1]
}

fn look(servers: &[u32]) -> Look {
    let at = Instant::now();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let processes: Vec<Process> = pids.filter_map(process).collect();
    let mut of_servers: HashSet<u32> = servers.iter().copied().collect();
    loop {
        let known = of_servers.len();
        let children = processes.iter().filter(|p| of_servers.contains(&p.parent));
        let children: Vec<u32> = children.map(|p| p.pid).collect();
        of_servers.extend(children);
        if of_servers.len() == known {
            break;
        }
    }
    let own = std::process::id();
    let mut ticks = Ticks::default();
    for process in &processes {
        match process {
            p if of_servers.contains(&p.pid) => ticks.servers += p.ticks,
            p if p.pid == own || p.flags & KERNEL_THREAD != 0 => {}
            p => ticks.bystanders += p.ticks,
        }
    }
    Look {
        at,
        took: at.elapsed(),
        ticks,
    }
}

fn process(pid: u32) -> Option<Process> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, numbers) = text.rsplit_once(')')?;
    let numbers: Vec<&str> = numbers.split_whitespace().collect();
    let number = |at: usize| numbers.get(at)?.parse::<u64>().ok();
    Some(Process {
        pid,
        parent: number(1)? as u32,
        flags: number(6)?,
        ticks: number(11)? + number(12)? + number(13)? + number(14)?,
    })
}
