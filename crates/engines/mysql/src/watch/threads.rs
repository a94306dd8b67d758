//! Processor time of a server's threads on this machine, from the kernel's account.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::super::client::Client;
use engine::Result;
use engine::process::{self, Schedule};

/// Sessions whose threads are kept; more than any server is asked for.
const SESSIONS_MAX: usize = 1 << 14;

/// Parts of the time since the last look that a thread was at work and that it waited for a processor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Used {
    pub cpu: f64,
    pub queued: f64,
}

#[derive(Debug, Clone, Copy)]
struct Account {
    used: Schedule,
    at: Instant,
}

#[derive(Debug)]
struct Thread {
    /// `None` where the session has none that can be seen.
    id: Option<u32>,
    last: Option<Account>,
}

/// The threads of the sessions, by the sessions' numbers.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    known: HashMap<u64, Thread>,
}

impl Threads {
    /// Asks for the threads of sessions that were not seen before, and forgets those that have ended.
    pub fn learn(
        &mut self,
        client: &mut Client,
        sessions: impl Iterator<Item = u64>,
    ) -> Result<()> {
        let sessions: HashSet<u64> = sessions.take(SESSIONS_MAX).collect();
        if sessions.iter().all(|id| self.known.contains_key(id)) {
            return Ok(());
        }
        self.known.retain(|id, _| sessions.contains(id));
        let rows = client.read(client.flavour().threads_query)?;
        let pair = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter().flatten();
            Some((cells.next()?.parse().ok()?, cells.next()?.parse().ok()?))
        };
        let found: HashMap<u64, u32> = rows.into_iter().filter_map(pair).collect();
        for session in sessions {
            let id = found.get(&session).copied();
            let thread = Thread { id, last: None };
            self.known.entry(session).or_insert(thread);
        }
        Ok(())
    }

    /// Use of a session's thread since the last call; `None` the first time, and when it cannot
    /// be seen.
    pub fn used(&mut self, session: u64) -> Option<Used> {
        let thread = self.known.get_mut(&session)?;
        let now = account(thread.id?)?;
        let last = thread.last.replace(now)?;
        let time_ns = (now.at - last.at).as_nanos() as f64;
        let part = |now: u64, last: u64| now.saturating_sub(last) as f64 / time_ns.max(1.0);
        Some(Used {
            cpu: part(now.used.cpu_ns, last.used.cpu_ns),
            queued: part(now.used.queued_ns, last.used.queued_ns),
        })
    }
}

fn account(thread: u32) -> Option<Account> {
    let used = process::schedule(thread)?;
    Some(Account {
        used,
        at: Instant::now(),
    })
}

/// The operating system's number of the thread that serves this connection; only on this machine it says something.
pub(crate) fn own(client: &mut Client) -> Option<u32> {
    let sql = client.flavour().own_thread_query;
    let thread: u32 = client.read_one(sql).ok()??.parse().ok()?;
    let server = process::of_thread(thread)?;
    (is_server(server) && account(thread).is_some()).then_some(thread)
}

pub(in super::super) fn server_process(client: &mut Client) -> std::result::Result<u32, String> {
    let of_thread = |client: &mut Client| process::of_thread(own(client)?);
    // Whoever listens need not be the server.
    let listener = client.listener().filter(|pid| is_server(*pid));
    listener.or_else(|| of_thread(client)).ok_or_else(|| {
        "cannot find the server's process on this machine: it is in a container or behind a tunnel or proxy, or reports \
         no thread number; connect through its Unix socket"
            .to_owned()
    })
}

fn is_server(pid: u32) -> bool {
    process::name(pid).is_some_and(|name| ["mariadbd", "mysqld"].contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_thread_that_works_uses_its_time_and_one_that_is_gone_nothing() {
        let mut threads = Threads::default();
        for (session, id) in [
            (1, Some(std::process::id())),
            (2, None),
            (3, Some(u32::MAX)),
        ] {
            threads.known.insert(session, Thread { id, last: None });
        }
        assert_eq!(threads.used(1), None);
        std::thread::sleep(Duration::from_millis(20));
        let used = threads.used(1).unwrap();
        assert!((0.0..1.0).contains(&used.cpu), "{used:?}");
        assert_eq!((threads.used(2), threads.used(3)), (None, None));
        assert!(!is_server(std::process::id()));
    }
}
