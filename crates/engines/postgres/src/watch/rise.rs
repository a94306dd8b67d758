//! Counts of the extension's collector between two samples.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use super::activity::{self, BACKGROUND, IDLE_KINDS, ProcessSample, SESSION, Wait};
use super::class;
use engine::Tally;

/// Counts by what was waited for; none is for being at work.
pub(super) type Counts = HashMap<Option<Wait>, u64>;

/// The processes of each group, in order.
pub(super) type Members = BTreeMap<usize, Vec<u32>>;

/// Processes whose counts are added up: dbdyno's sessions, each kind of the server's own processes, and all
/// others, of which nothing is shown.
const OTHERS: usize = BACKGROUND.len() + 1;

fn group_of(kind: &str) -> usize {
    match BACKGROUND.iter().position(|shown| *shown == kind) {
        Some(place) => place,
        None if kind == SESSION => BACKGROUND.len(),
        None => OTHERS,
    }
}

/// The groups of processes, `own` among the others.
pub(super) fn members_of(processes: &[ProcessSample], own: u32) -> Members {
    let mut members = Members::from([(OTHERS, vec![own])]);
    for process in processes {
        let group = group_of(&process.kind);
        members.entry(group).or_default().push(process.pid);
    }
    members.values_mut().for_each(|pids| pids.sort_unstable());
    members
}

/// Where the counts stood at a look, from which the next one goes on.
pub(super) struct Standing {
    pub at: Instant,
    pub members: Members,
    pub counts: HashMap<usize, Counts>,
    /// The most that any one process was counted.
    pub most: u64,
}

/// Counts between two samples, of groups that had the same processes at both.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rise {
    pub samples: u64,
    pub is_of_sessions: bool,
    /// How many processes a group has, and their counts.
    groups: BTreeMap<usize, (u64, Counts)>,
}

impl Rise {
    /// `None` where a count fell or is gone: somebody has reset them.
    pub(super) fn between(before: &Standing, now: &Standing) -> Option<Self> {
        let none = Counts::new();
        let mut groups = BTreeMap::new();
        for (group, pids) in &now.members {
            if before.members.get(group) != Some(pids) {
                continue;
            }
            let then = before.counts.get(group).unwrap_or(&none);
            let counts = now.counts.get(group).unwrap_or(&none);
            if then.keys().any(|wait| !counts.contains_key(wait)) {
                return None;
            }
            let mut rise = Counts::new();
            for (wait, count) in counts {
                let before = then.get(wait).copied().unwrap_or(0);
                match count.checked_sub(before)? {
                    0 => {}
                    more => drop(rise.insert(wait.clone(), more)),
                }
            }
            groups.insert(*group, (pids.len() as u64, rise));
        }
        let sessions = group_of(SESSION);
        Some(Self {
            samples: now.most.checked_sub(before.most)?,
            is_of_sessions: groups.contains_key(&sessions) || !now.members.contains_key(&sessions),
            groups,
        })
    }

    /// Only so large a part of the time belongs to the window. Sessions that ended with it were waiting for
    /// nothing afterwards, and would be taken for working.
    pub(super) fn shortened(self, part: f64) -> Self {
        let samples = (self.samples as f64 * part).round() as u64;
        Self { samples, ..self }
    }

    pub(super) fn has_waits_for_workers(&self) -> bool {
        let sessions = self.groups.get(&group_of(SESSION));
        let mut waits = sessions
            .iter()
            .flat_map(|(_, counts)| counts.keys().flatten());
        waits.any(class::is_for_workers)
    }

    /// Adds how many processes were in each event on average; those that were not counted are taken as they
    /// are seen. `in_statement` is the share of sessions without a wait that are in a statement.
    pub(super) fn add(&self, processes: &[ProcessSample], in_statement: f64, tally: &mut Tally) {
        let is_counted = |p: &&ProcessSample| self.groups.contains_key(&group_of(&p.kind));
        activity::add(processes.iter().filter(|p| !is_counted(p)), tally);
        for (group, (members, counts)) in &self.groups {
            let at_work = self.at_work(*members, counts);
            match BACKGROUND.get(*group) {
                Some(kind) => self.add_background(kind, counts, at_work, tally),
                None if *group == OTHERS => {}
                None => {
                    self.add_sessions(counts, tally);
                    if at_work > 0.0 {
                        let (class, event) = class::of(None);
                        tally.session(class, &event, at_work * in_statement);
                    }
                }
            }
        }
        let reads =
            |p: &&ProcessSample| p.is_at_work && p.wait.as_ref().is_some_and(is_client_read);
        for session in processes.iter().filter(is_counted).filter(reads) {
            let (class, event) = class::of(session.wait.as_ref());
            tally.session(class, &event, 1.0);
        }
    }

    fn add_sessions(&self, counts: &Counts, tally: &mut Tally) {
        let waits = counts
            .iter()
            .filter_map(|(wait, n)| Some((wait.as_ref()?, n)));
        for (wait, count) in waits.filter(|(wait, _)| !is_client_read(wait)) {
            let (class, event) = class::of(Some(wait));
            tally.session(class, &event, self.share(*count));
        }
    }

    fn add_background(&self, kind: &str, counts: &Counts, at_work: f64, tally: &mut Tally) {
        for (wait, count) in counts {
            match wait {
                Some((idle, _)) if IDLE_KINDS.contains(&idle.as_str()) => {}
                Some((_, event)) => tally.background(kind, event, self.share(*count)),
                None => {}
            }
        }
        if at_work > 0.0 {
            tally.background(kind, activity::CPU, at_work);
        }
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.samples as f64
    }

    /// How many processes were not seen waiting.
    fn at_work(&self, members: u64, counts: &Counts) -> f64 {
        let waits = counts.iter().filter(|(wait, _)| wait.is_some());
        let waited: u64 = waits.map(|(_, count)| count).sum();
        self.share((members * self.samples).saturating_sub(waited))
    }
}

fn is_client_read(wait: &Wait) -> bool {
    wait.0 == "Client" && wait.1 == "ClientRead"
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::WaitClass;

    const IDLE: &str = "Client: ClientRead";

    fn wait(text: &str) -> Option<Wait> {
        let (kind, event) = text.split_once(": ")?;
        Some((kind.into(), event.into()))
    }

    fn seen(pid: u32, kind: &str, at_work: bool, text: &str) -> ProcessSample {
        let cell = |text: &str| Some(text.to_owned());
        let (kind_of_wait, event) = wait(text).unzip();
        ProcessSample::of(vec![
            cell(&pid.to_string()),
            cell(&pid.to_string()),
            cell(kind),
            cell(&at_work.to_string()),
            kind_of_wait,
            event,
        ])
        .unwrap()
    }

    fn standing(
        processes: &[ProcessSample],
        most: u64,
        counts: &[(&str, &[(&str, u64)])],
    ) -> Standing {
        let of_one = |counts: &[(&str, u64)]| counts.iter().map(|(w, n)| (wait(w), *n)).collect();
        Standing {
            at: Instant::now(),
            members: members_of(processes, 1),
            counts: counts
                .iter()
                .map(|(kind, counts)| (group_of(kind), of_one(counts)))
                .collect(),
            most,
        }
    }

    fn added(rise: &Rise, processes: &[ProcessSample], in_statement: f64) -> Tally {
        let mut tally = Tally::default();
        rise.add(processes, in_statement, &mut tally);
        tally
    }

    fn session(tally: &Tally, class: WaitClass, event: &str) -> f64 {
        let key = (class, event.to_owned());
        tally.sessions.get(&key).copied().unwrap_or(0.0)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn what_processes_are_short_of_the_collectors_looks_they_were_at_work() {
        let processes = [
            seen(7, SESSION, true, "Lock: tuple"),
            seen(8, SESSION, false, IDLE),
            seen(9, "checkpointer", false, "Activity: CheckpointerMain"),
        ];
        let before: [(&str, &[(&str, u64)]); 2] = [
            (SESSION, &[(IDLE, 50), ("Lock: tuple", 5)]),
            ("checkpointer", &[("Activity: CheckpointerMain", 900)]),
        ];
        let now: [(&str, &[(&str, u64)]); 2] = [
            (
                SESSION,
                &[(IDLE, 170), ("Lock: tuple", 35), ("IO: WALSync", 10)],
            ),
            (
                "checkpointer",
                &[("Activity: CheckpointerMain", 990), ("IO: DataFileSync", 4)],
            ),
        ];
        let (before, now) = (
            standing(&processes, 1000, &before),
            standing(&processes, 1100, &now),
        );
        let rise = Rise::between(&before, &now).unwrap();
        assert_eq!(rise.samples, 100);
        let tally = added(&rise, &processes, 0.5);
        assert!(close(session(&tally, WaitClass::Lock, "Lock: tuple"), 0.3));
        assert!(close(
            session(&tally, WaitClass::LogSync, "IO: WALSync"),
            0.1
        ));
        // 200 less 160 waits of two sessions, half of them in a statement.
        assert!(close(session(&tally, WaitClass::Cpu, "DB CPU"), 0.2));
        assert_eq!(tally.sessions.len(), 3, "{tally:?}");
        let background = |event: &str| tally.background[&("checkpointer".into(), event.into())];
        assert!(close(background("DataFileSync"), 0.04) && close(background("CPU"), 0.06));
    }

    #[test]
    fn sessions_are_as_they_are_seen_where_one_came_or_went() {
        let one = [seen(7, SESSION, true, "Lock: tuple")];
        let two = [one[0].clone(), seen(8, SESSION, true, "IO: WALSync")];
        for (then, now) in [(&one[..], &two[..]), (&two[..], &one[..])] {
            let rise = Rise::between(
                &standing(then, 10, &[(SESSION, &[("Lock: tuple", 5)])]),
                &standing(now, 20, &[(SESSION, &[("Lock: tuple", 6)])]),
            );
            let rise = rise.unwrap();
            assert!(!rise.is_of_sessions);
            let tally = added(&rise, now, 1.0);
            assert!(close(session(&tally, WaitClass::Lock, "Lock: tuple"), 1.0));
            assert_eq!(tally.sessions.len(), now.len(), "{tally:?}");
        }
    }

    /// Later versions count them, and this must not make two of one.
    #[test]
    fn processes_at_work_that_are_counted_are_added_once() {
        let processes = [seen(7, SESSION, false, IDLE)];
        let rise = Rise::between(
            &standing(&processes, 0, &[(SESSION, &[("", 10)])]),
            &standing(&processes, 40, &[(SESSION, &[("", 30), (IDLE, 20)])]),
        );
        let tally = added(&rise.unwrap(), &processes, 1.0);
        let cpu = (WaitClass::Cpu, "DB CPU".to_owned());
        assert_eq!(tally.sessions, HashMap::from([(cpu, 0.5)]));
    }

    #[test]
    fn a_session_that_waits_for_rows_of_a_copy_is_seen_not_counted() {
        let client = (WaitClass::Client, IDLE.to_owned());
        for (at_work, expected) in [
            (true, HashMap::from([(client, 1.0)])),
            (false, HashMap::new()),
        ] {
            let processes = [seen(7, SESSION, at_work, IDLE)];
            let rise = Rise::between(
                &standing(&processes, 10, &[(SESSION, &[(IDLE, 10)])]),
                &standing(&processes, 20, &[(SESSION, &[(IDLE, 20)])]),
            );
            let tally = added(&rise.unwrap(), &processes, 1.0);
            assert_eq!(tally.sessions, expected);
        }
    }

    #[test]
    fn a_reset_is_noticed() {
        let processes = [seen(7, SESSION, true, "Lock: tuple")];
        let before = standing(&processes, 50, &[(SESSION, &[("Lock: tuple", 5)])]);
        for (most, counts) in [
            (60, ("Lock: tuple", 3)),
            (60, (IDLE, 8)),
            (3, ("Lock: tuple", 8)),
        ] {
            let now = standing(&processes, most, &[(SESSION, &[counts])]);
            assert_eq!(Rise::between(&before, &now), None);
        }
    }

    #[test]
    fn statements_with_workers_are_told_by_their_waits() {
        let processes = [seen(7, SESSION, true, IDLE)];
        let with = |event: &str| {
            let now = standing(&processes, 1, &[(SESSION, &[(event, 1)])]);
            let rise = Rise::between(&standing(&processes, 0, &[]), &now);
            rise.unwrap().has_waits_for_workers()
        };
        assert!(with("IPC: ExecuteGather") && with("IPC: ParallelFinish"));
        assert!(!with("IPC: BufferIO") && !with("Lock: tuple"));
        // A watch itself.
        assert!(!with("IPC: MessageQueueReceive"));
    }
}
