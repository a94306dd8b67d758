//! Processes of this machine, by their numbers.

use std::collections::HashMap;
use std::fs;
use std::os::fd::BorrowedFd;

use crate::TimeOnProcessors;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    pub cpu_ns: u64,
    /// Time that it was ready and waited for one.
    pub queued_ns: u64,
}

/// That of another process or thread of this machine; `None` where there is none to be seen.
pub fn schedule(thread: u32) -> Option<Schedule> {
    // In nanoseconds, where /proc/PID/stat counts ticks of ten milliseconds.
    let text = fs::read_to_string(format!("/proc/{thread}/schedstat")).ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    Some(Schedule {
        cpu_ns: numbers.next()?.ok()?,
        queued_ns: numbers.next()?.ok()?,
    })
}

/// Processor time of another process of this machine; `None` where there is no such process to be seen.
pub fn cpu_ns(pid: u32) -> Option<u64> {
    Some(schedule(pid)?.cpu_ns)
}

/// True if a thread of this machine waits for something else than a processor; `None` where there is none to be seen.
pub fn is_asleep(thread: u32) -> Option<bool> {
    let text = fs::read_to_string(format!("/proc/{thread}/stat")).ok()?;
    // Behind the program's name, which may hold anything.
    let state = text.rsplit_once(')')?.1.trim_start().chars().next()?;
    Some(state != 'R')
}

/// Threads that are followed; more than any server is asked for.
const FOLLOWED_MAX: usize = 1 << 14;

/// How long threads that come and go were on a processor or waited for one.
#[derive(Debug, Default)]
pub struct OnProcessors {
    last_ns: HashMap<u32, u64>,
    total_ns: u64,
}

impl OnProcessors {
    /// Follows these threads from now on, and those that it followed before to this moment; gives the seconds of all so far, and how many
    /// there are now.
    pub fn follow(&mut self, threads: impl Iterator<Item = u32>) -> TimeOnProcessors {
        let now = threads.take(FOLLOWED_MAX).filter_map(|thread| {
            let Schedule { cpu_ns, queued_ns } = schedule(thread)?;
            Some((thread, cpu_ns + queued_ns))
        });
        let now_ns: HashMap<u32, u64> = now.collect();
        let risen = now_ns.iter().filter_map(|(thread, ns)| {
            let before = self.last_ns.get(thread)?;
            Some(ns.saturating_sub(*before))
        });
        self.total_ns += risen.sum::<u64>();
        self.last_ns = now_ns;
        TimeOnProcessors {
            seconds: self.total_ns as f64 / 1e9,
            sessions: self.last_ns.len(),
        }
    }
}

/// Name of its program. A server in a container has numbers of its own, so that the same number may be another
/// process here: whoever got a number from a server looks at the name.
pub fn name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

pub fn title(pid: u32) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The process that a thread belongs to.
pub fn of_thread(thread: u32) -> Option<u32> {
    status(thread, "Tgid:")
}

/// The process that started it.
pub fn parent(pid: u32) -> Option<u32> {
    status(pid, "PPid:")
}

fn status(pid: u32, key: &str) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().parse().ok()
}

/// The process that listens at the other end of a Unix socket, as the kernel noted it; `None` of other sockets, and
/// where that process has no number here.
pub fn listener(socket: BorrowedFd<'_>) -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(socket).ok()?;
    // Of a socket that is no Unix socket, or of another machine's numbers.
    u32::try_from(peer.pid.as_raw_pid())
        .ok()
        .filter(|pid| *pid > 0)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_process_is_told_by_its_number() {
        let own = std::process::id();
        assert!(cpu_ns(own).unwrap() > 0);
        assert_eq!(of_thread(own), Some(own));
        assert_eq!(parent(own), Some(std::os::unix::process::parent_id()));
        let program = std::env::current_exe().unwrap();
        let program = program.file_name().unwrap().to_string_lossy().into_owned();
        assert!(title(own).unwrap().contains(&program));
        assert!(program.starts_with(&name(own).unwrap()));
        let nobody = u32::MAX;
        assert_eq!((cpu_ns(nobody), name(nobody)), (None, None));
        assert_eq!(is_asleep(nobody), None);
        assert_eq!((parent(nobody), title(nobody)), (None, None));
    }

    /// This thread works and sleeps; another one comes later, and one is gone.
    #[test]
    fn threads_are_followed_from_when_they_are_found() {
        // SAFETY: it takes nothing and always succeeds.
        let own = unsafe { libc::gettid() } as u32;
        let mut followed = OnProcessors::default();
        let begin_ns = schedule(own).unwrap();
        let begun = followed.follow([own, u32::MAX].into_iter());
        assert_eq!((begun.seconds, begun.sessions), (0.0, 1));
        while cpu_ns(own).unwrap() < begin_ns.cpu_ns + 20_000_000 {}
        let first_s = followed.follow([own, 1].into_iter()).seconds;
        assert!(first_s >= 0.019, "{first_s}");
        let most_s = schedule(own).unwrap();
        let risen_ns = most_s.cpu_ns + most_s.queued_ns - begin_ns.cpu_ns - begin_ns.queued_ns;
        assert!(
            first_s <= risen_ns as f64 / 1e9,
            "{first_s} in {risen_ns} ns"
        );
        let none = followed.follow(std::iter::empty());
        assert_eq!((none.seconds, none.sessions), (first_s, 0));
        let found_anew = followed.follow([own].into_iter());
        assert_eq!((found_anew.seconds, found_anew.sessions), (first_s, 1));
    }

    #[test]
    fn who_sleeps_is_told_from_who_works() {
        // SAFETY: it takes nothing and always succeeds.
        let own = unsafe { libc::gettid() } as u32;
        assert_eq!(is_asleep(own), Some(false));
        let mut sleeper = std::process::Command::new("sleep");
        let mut sleeper = sleeper.arg("600").spawn().unwrap();
        while is_asleep(sleeper.id()) != Some(true) {}
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }

    #[test]
    fn who_listens_at_a_socket_is_told_by_the_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("socket");
        let _listener = UnixListener::bind(&place).unwrap();
        let stream = UnixStream::connect(&place).unwrap();
        assert_eq!(listener(stream.as_fd()), Some(std::process::id()));
        let network = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(network.local_addr().unwrap()).unwrap();
        assert_eq!(listener(stream.as_fd()), None);
    }
}
