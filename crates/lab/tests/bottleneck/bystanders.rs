//! What all programs of this machine that are not the test's took of its processors, by their own accounts: added up
//! process by process, where a point takes it from the whole what it knows of.

use std::collections::HashSet;
use std::fs;
use std::time::Instant;

/// Bit of the kernel's own threads among a process's flags.
const KERNEL_THREAD: u64 = 0x0020_0000;

pub struct Bystanders {
    servers: Vec<u32>,
    before_ticks: u64,
    begin: Instant,
}

struct Process {
    pid: u32,
    parent: u32,
    flags: u64,
    /// With those of its children that have ended.
    ticks: u64,
}

impl Bystanders {
    /// Beside this process and these servers with all that they started.
    pub fn beside(servers: &[u32]) -> Self {
        Self {
            servers: servers.to_vec(),
            before_ticks: ticks(servers),
            begin: Instant::now(),
        }
    }

    /// In percent of the time of all processors.
    pub fn finish_pct(self) -> f64 {
        let elapsed_s = self.begin.elapsed().as_secs_f64();
        // Who ended unseen by its parent takes its time along.
        let rise = ticks(&self.servers).saturating_sub(self.before_ticks);
        let processors = std::thread::available_parallelism().unwrap().get();
        // SAFETY: sysconf has no preconditions.
        let per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        100.0 * rise as f64 / per_s as f64 / elapsed_s / processors as f64
    }
}

/// The middle one of three looks: a process that ends while it is looked at is found twice, or not at all.
fn ticks(servers: &[u32]) -> u64 {
    let mut looks = [(); 3].map(|()| look(servers));
    looks.sort_unstable();
    looks[1]
}

fn look(servers: &[u32]) -> u64 {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let processes: Vec<Process> = pids.filter_map(process).collect();
    let mut ours: HashSet<u32> = servers.iter().copied().collect();
    loop {
        let known = ours.len();
        let children = processes.iter().filter(|p| ours.contains(&p.parent));
        let children: Vec<u32> = children.map(|p| p.pid).collect();
        ours.extend(children);
        if ours.len() == known {
            break;
        }
    }
    ours.insert(std::process::id());
    let others = processes
        .iter()
        .filter(|p| !ours.contains(&p.pid) && p.flags & KERNEL_THREAD == 0);
    others.map(|p| p.ticks).sum()
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
