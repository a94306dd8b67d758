//! Waits of sessions of MariaDB and MySQL. States of the process list are sampled; what their threads
//! use of the processors is the kernel's account, where the server is on this machine; row locks, and with
//! `performance_schema` the I/O of data files, are what the server counts.

pub(super) mod class;
pub(super) mod counts;
mod files;
pub(super) mod threads;

use super::access::Access;
use super::client::Client;
use super::session::connect;
pub(super) use counts::is_denied;
use engine::process;
use engine::{Result, ServerCounts, Tally, Transport, WaitClass, Watch};

use class::Meaning;
use threads::Threads;
pub(super) use threads::server_process;

/// Columns of `SHOW PROCESSLIST`, which costs the server a tenth of the table of the same name.
const ID: usize = 0;
const DATABASE: usize = 3;
const COMMAND: usize = 4;
const STATE: usize = 6;

pub(super) struct MySqlWatch {
    client: Client,
    database: String,
    own: String,
    counts: counts::Source,
    /// The sessions' threads, where they are this machine's.
    threads: Option<Threads>,
    own_thread: Option<u32>,
}

impl MySqlWatch {
    pub(super) fn open(access: &Access) -> Result<Self> {
        let mut client = connect(access)?;
        let own = client
            .read_one("SELECT CONNECTION_ID()")?
            .unwrap_or_default();
        let own_thread = threads::own(&mut client);
        Ok(Self {
            counts: counts::Source::of(&mut client),
            database: access.database.clone(),
            own,
            threads: own_thread.map(|_| Threads::default()),
            own_thread,
            client,
        })
    }

    /// Number and state of every session of dbdyno's database; no state while it is not in a statement.
    fn sessions(&mut self) -> Result<Vec<(u64, Option<String>)>> {
        let rows = self.client.read("SHOW PROCESSLIST")?;
        let session = |mut row: Vec<Option<String>>| {
            let is_ours = row.get(DATABASE)?.as_deref() == Some(self.database.as_str())
                && row[ID].as_deref() != Some(self.own.as_str());
            let number = row[ID].as_ref()?.parse().ok()?;
            let command = row.get(COMMAND)?.as_deref();
            let is_at_work = matches!(command, Some("Query" | "Execute"));
            let state = row.get_mut(STATE)?.take().unwrap_or_default();
            is_ours.then_some((number, is_at_work.then_some(state)))
        };
        Ok(rows.into_iter().filter_map(session).collect())
    }
}

impl Watch for MySqlWatch {
    fn source(&self) -> String {
        let list = "the server's process list";
        match self.threads {
            Some(_) => format!("{list} and the kernel's accounting of its threads"),
            None => list.into(),
        }
    }

    fn look(&mut self, tally: &mut Tally) -> Result<()> {
        let sessions = self.sessions()?;
        if let Some(threads) = &mut self.threads {
            threads.learn(&mut self.client, sessions.iter().map(|(id, _)| *id))?;
        }
        for (id, state) in sessions {
            // Without an account of the time before, this look stands for nothing.
            let used = match &mut self.threads {
                Some(threads) => match threads.used(id) {
                    Some(used) => Some(used),
                    None => continue,
                },
                None => None,
            };
            match state.as_deref().map(class::of) {
                Some(Meaning::Wait(class)) => {
                    let state = state.unwrap_or_default();
                    tally.session(class, &state, 1.0);
                }
                Some(Meaning::Unclear) if used.is_some() => {
                    tally.session(WaitClass::Blocked, self.counts.unexplained(), 1.0);
                }
                Some(Meaning::Unclear) => {
                    tally.session(WaitClass::Cpu, self.counts.at_work(), 1.0);
                }
                None => {}
            }
            if let Some(used) = used {
                tally.session(WaitClass::Cpu, "DB CPU", used.cpu);
                tally.session(WaitClass::Cpu, "DB waiting for a processor", used.queued);
                let known = -(used.cpu + used.queued);
                tally.session(WaitClass::Blocked, self.counts.unexplained(), known);
            }
        }
        Ok(())
    }

    fn transport(&self) -> Transport {
        self.client.transport()
    }

    fn ping(&mut self) -> Result<()> {
        self.client.read("SELECT 1").map(drop)
    }

    fn count(&mut self) -> Result<ServerCounts> {
        self.counts.read(&mut self.client)
    }

    fn server_cpu_ns(&self) -> Option<u64> {
        process::cpu_ns(self.own_thread?)
    }
}
