//! What sessions of PostgreSQL wait for, sampled from `pg_stat_activity`, and what the server counts of
//! its own work. PostgreSQL keeps no times of waits, so that looking often is the only way.

mod class;
mod counts;

use std::collections::HashMap;

use archive::WaitHistogram;

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::processes;
use super::set_up::OF_SESSIONS;
use super::wire::Prepared;
use crate::process;
use crate::{Result, ServerCounts, Tally, Watch};

/// Parallel workers name their leader from this version on.
const VERSION_OF_LEADERS: u32 = 13;

/// Why there are no histograms.
const NO_HISTOGRAM: &str =
    "PostgreSQL keeps no distribution of its waits; those of the device's requests stand beside";

/// A watch over one server.
pub(super) struct PostgresWatch {
    connection: Connection,
    look: Prepared,
    major: u32,
    /// The server's process that serves this watch, when it is one of this machine.
    process: Option<u32>,
}

impl PostgresWatch {
    /// Connects and prepares what is asked often.
    ///
    /// # Errors
    /// When the server lets no further connection in.
    pub(super) fn open(endpoint: &Endpoint, major: u32) -> Result<Self> {
        let mut connection = Connection::open(endpoint, OF_SESSIONS)?;
        let pid = processes::own(&mut connection)?;
        let is_local = endpoint.socket.is_some();
        let mut look = connection.prepare(&look_sql(major))?;
        look.columns.fill(0);
        Ok(Self {
            look,
            major,
            process: pid.filter(|pid| is_local && processes::is_server(*pid)),
            connection,
        })
    }
}

/// The function below the view, because the view joins names of databases and users to every session.
fn look_sql(major: u32) -> String {
    let leader = if major >= VERSION_OF_LEADERS {
        "coalesce(leader_pid, pid)"
    } else {
        "pid"
    };
    format!(
        "SELECT {leader}::text, backend_type, wait_event_type, wait_event \
         FROM pg_stat_get_activity(NULL) WHERE pid <> pg_backend_pid() AND \
         CASE backend_type \
         WHEN 'client backend' THEN application_name = 'dbdyno' AND state = 'active' \
         WHEN 'parallel worker' THEN application_name = 'dbdyno' \
         ELSE backend_type IN ('checkpointer', 'background writer', 'walwriter', \
         'autovacuum worker', 'io worker') \
         AND coalesce(wait_event_type, '') NOT IN ('Activity', 'Timeout') END"
    )
}

/// One process as it was seen.
struct Seen {
    leader: String,
    kind: String,
    wait: Option<(String, String)>,
}

fn seen(row: Vec<Option<String>>) -> Option<Seen> {
    let mut cells = row.into_iter();
    let (leader, kind) = (cells.next()??, cells.next()??);
    let wait = cells.next()?.zip(cells.next()?);
    Some(Seen { leader, kind, wait })
}

impl Watch for PostgresWatch {
    fn source(&self) -> &str {
        "pg_stat_activity"
    }

    fn look(&mut self, tally: &mut Tally) -> Result<()> {
        let rows = self.connection.texts_of(&self.look, "the waits", &[])?;
        add(rows.into_iter().filter_map(seen).collect(), tally);
        Ok(())
    }

    fn count(&mut self) -> Result<ServerCounts> {
        let mut counts = counts::read(&mut self.connection, self.major)?;
        counts.histograms = ["data read", "log sync"]
            .map(|class| WaitHistogram::unknown(class, NO_HISTOGRAM))
            .into();
        Ok(counts)
    }

    fn server_cpu_ns(&self) -> Option<u64> {
        process::cpu_ns(self.process?)
    }
}

/// A session and its parallel workers share one weight, because they do one job's statement together; a
/// leader that only waits for its workers leaves the weight to them.
fn add(processes: Vec<Seen>, tally: &mut Tally) {
    let mut groups: HashMap<&str, Vec<&Seen>> = HashMap::new();
    for process in &processes {
        match process.kind.as_str() {
            "client backend" | "parallel worker" => {
                groups.entry(&process.leader).or_default().push(process);
            }
            kind => {
                let wait = process.wait.as_ref();
                let event = wait.map_or("CPU", |(_, event)| event.as_str());
                tally.background(kind, event, 1.0);
            }
        }
    }
    for members in groups.values() {
        let has_workers = members.iter().any(|p| p.kind == "parallel worker");
        let waits_for_workers = |p: &Seen| {
            let ipc = p.wait.as_ref().is_some_and(|(kind, _)| kind == "IPC");
            ipc && p.kind == "client backend"
        };
        let counted: Vec<_> = members
            .iter()
            .filter(|p| !(has_workers && waits_for_workers(p)))
            .collect();
        let weight = 1.0 / counted.len().max(1) as f64;
        for process in counted {
            let (class, event) = class::of(process.wait.as_ref());
            tally.session(class, &event, weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WaitClass;

    fn process(leader: &str, kind: &str, wait: Option<(&str, &str)>) -> Seen {
        Seen {
            leader: leader.into(),
            kind: kind.into(),
            wait: wait.map(|(kind, event)| (kind.into(), event.into())),
        }
    }

    #[test]
    fn a_leader_that_waits_for_its_workers_leaves_its_weight_to_them() {
        let mut tally = Tally::default();
        add(
            vec![
                process("7", "client backend", Some(("IPC", "ExecuteGather"))),
                process("7", "parallel worker", None),
                process("7", "parallel worker", Some(("IO", "DataFileRead"))),
                process("8", "client backend", Some(("Lock", "transactionid"))),
                process("9", "checkpointer", Some(("IO", "DataFileWrite"))),
            ],
            &mut tally,
        );
        let weight = |class: WaitClass| -> f64 {
            let of_class = tally.sessions.iter().filter(|((c, _), _)| *c == class);
            of_class.map(|(_, weight)| weight).sum()
        };
        assert_eq!(weight(WaitClass::Cpu), 0.5);
        assert_eq!(weight(WaitClass::DataRead), 0.5);
        assert_eq!(weight(WaitClass::Lock), 1.0);
        assert_eq!(weight(WaitClass::Other), 0.0);
        assert_eq!(tally.background.len(), 1);
    }
}
