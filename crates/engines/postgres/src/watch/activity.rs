//! Activity of every process at one moment, from `pg_stat_activity`.

use std::collections::HashMap;

use super::class;
use engine::Tally;

/// Parallel workers name their leader from this version on.
const VERSION_OF_LEADERS: u32 = 13;

/// The server's own processes that are shown.
pub(crate) const BACKGROUND: [&str; 5] = [
    "checkpointer",
    "background writer",
    "walwriter",
    "autovacuum worker",
    "io worker",
];
/// Kinds of waits of the server's own processes that have nothing to do.
pub(crate) const IDLE_KINDS: [&str; 2] = ["Activity", "Timeout"];
/// Shown for one of them that waits for nothing.
pub(crate) const CPU: &str = "CPU";
pub(crate) const SESSION: &str = "client backend";
pub(crate) const WORKER: &str = "parallel worker";

/// Which processes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    AtWork,
    /// Idle ones as well, whose waits somebody else has counted.
    All,
}

/// The function below the view, because the view joins names of databases and users to every session.
pub(crate) fn sql(major: u32, scope: Scope) -> String {
    let leader = if major >= VERSION_OF_LEADERS {
        "coalesce(leader_pid, pid)"
    } else {
        "pid"
    };
    let list = |words: &[&str]| format!("('{}')", words.join("', '"));
    let at_work = format!(
        "coalesce(CASE backend_type WHEN '{SESSION}' THEN state = 'active' WHEN '{WORKER}' THEN true \
         ELSE backend_type IN {} AND coalesce(wait_event_type, '') NOT IN {} END, false)",
        list(&BACKGROUND),
        list(&IDLE_KINDS)
    );
    let wanted = match scope {
        Scope::AtWork => at_work.as_str(),
        Scope::All => "true",
    };
    format!(
        "SELECT pid::text, {leader}::text, backend_type, ({at_work})::text, wait_event_type, wait_event \
         FROM pg_stat_get_activity(NULL) WHERE pid <> pg_backend_pid() AND {wanted} \
         AND (backend_type NOT IN ('{SESSION}', '{WORKER}') OR application_name = 'dbdyno')"
    )
}

/// Kind and name of a wait.
pub(crate) type Wait = (String, String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessSample {
    pub pid: u32,
    leader: u32,
    pub kind: String,
    pub is_at_work: bool,
    pub wait: Option<Wait>,
}

impl ProcessSample {
    /// The process of a row of [`sql`].
    pub(crate) fn of(row: Vec<Option<String>>) -> Option<Self> {
        let mut cells = row.into_iter();
        Some(Self {
            pid: cells.next()??.parse().ok()?,
            leader: cells.next()??.parse().ok()?,
            kind: cells.next()??,
            is_at_work: cells.next()?? == "true",
            wait: cells.next()?.zip(cells.next()?),
        })
    }

    pub(super) fn is_worker(&self) -> bool {
        self.kind == WORKER
    }
}

/// Adds what was seen of those at work. A session and its parallel workers share one weight, because they
/// do one job's statement together; a leader that only waits for its workers leaves the weight to them.
pub(crate) fn add<'a>(processes: impl Iterator<Item = &'a ProcessSample>, tally: &mut Tally) {
    let mut groups: HashMap<u32, Vec<&ProcessSample>> = HashMap::new();
    for process in processes.filter(|process| process.is_at_work) {
        match process.kind.as_str() {
            SESSION | WORKER => groups.entry(process.leader).or_default().push(process),
            kind => {
                let wait = process.wait.as_ref();
                tally.background(kind, wait.map_or(CPU, |(_, event)| event), 1.0);
            }
        }
    }
    for members in groups.values() {
        let has_workers = members.iter().any(|p| p.is_worker());
        let waits_for_workers = |p: &ProcessSample| {
            let ipc = p.wait.as_ref().is_some_and(|(kind, _)| kind == "IPC");
            ipc && p.kind == SESSION
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
    use engine::WaitClass;

    fn process(leader: u32, kind: &str, wait: Option<(&str, &str)>) -> ProcessSample {
        ProcessSample {
            pid: leader,
            leader,
            kind: kind.into(),
            is_at_work: true,
            wait: wait.map(|(kind, event)| (kind.into(), event.into())),
        }
    }

    #[test]
    fn a_leader_that_waits_for_its_workers_leaves_its_weight_to_them() {
        let mut tally = Tally::default();
        let idle = ProcessSample {
            is_at_work: false,
            ..process(6, SESSION, Some(("Client", "ClientRead")))
        };
        let processes = [
            idle,
            process(7, SESSION, Some(("IPC", "ExecuteGather"))),
            process(7, WORKER, None),
            process(7, WORKER, Some(("IO", "DataFileRead"))),
            process(8, SESSION, Some(("Lock", "transactionid"))),
            process(9, "checkpointer", Some(("IO", "DataFileWrite"))),
        ];
        add(processes.iter(), &mut tally);
        let weight = |class: WaitClass| -> f64 {
            let of_class = tally.sessions.iter().filter(|((c, _), _)| *c == class);
            of_class.map(|(_, weight)| weight).sum()
        };
        assert_eq!(weight(WaitClass::Cpu), 0.5);
        assert_eq!(weight(WaitClass::DataRead), 0.5);
        assert_eq!(weight(WaitClass::Lock), 1.0);
        assert_eq!(weight(WaitClass::Other), 0.0);
        assert_eq!(weight(WaitClass::Client), 0.0);
        assert_eq!(tally.background.len(), 1);
    }
}
