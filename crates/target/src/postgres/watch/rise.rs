//! What the extension's collector counted between two looks.

use std::collections::HashMap;

use super::activity::{self, BACKGROUND, IDLE_KINDS, SESSION, Seen, Wait};
use super::class;
use crate::Tally;

/// Counts of a process by what it waited for; none is for being at work.
pub(super) type Counts = HashMap<Option<Wait>, u64>;

/// Where the counts stood at a look, from which the next one goes on.
pub(super) struct Standing {
    pub processes: Vec<Seen>,
    /// By process.
    pub counts: HashMap<u32, Counts>,
}

/// What was counted between two looks, of processes that were there at both.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rise {
    /// Looks of the collector.
    pub samples: u64,
    of_processes: HashMap<u32, Counts>,
}

impl Rise {
    /// `None` where a count fell or is gone: somebody has reset them.
    pub(super) fn between(before: &Standing, now: &Standing) -> Option<Self> {
        let mut of_processes = HashMap::new();
        for (pid, counts) in &now.counts {
            let Some(then) = before.counts.get(pid) else {
                continue;
            };
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
            of_processes.insert(*pid, rise);
        }
        let sums = of_processes.values().map(|rise| rise.values().sum());
        Some(Self {
            samples: sums.max().unwrap_or(0),
            of_processes,
        })
    }

    /// Whether a statement had parallel workers meanwhile.
    pub(super) fn has_waits_for_workers(&self) -> bool {
        let waits = self.of_processes.values().flat_map(Counts::keys).flatten();
        waits.into_iter().any(class::is_for_workers)
    }

    /// Adds how many processes were in each event on average; those that were not counted before are taken
    /// as they are seen.
    pub(super) fn add(&self, processes: &[Seen], tally: &mut Tally) {
        let is_counted = |p: &&Seen| self.of_processes.contains_key(&p.pid);
        activity::add(processes.iter().filter(|p| !is_counted(p)), tally);
        for process in processes.iter().filter(is_counted) {
            let counts = &self.of_processes[&process.pid];
            match process.kind.as_str() {
                SESSION => self.add_session(process, counts, tally),
                kind if BACKGROUND.contains(&kind) => self.add_background(kind, counts, tally),
                _ => {}
            }
        }
    }

    fn add_session(&self, process: &Seen, counts: &Counts, tally: &mut Tally) {
        let waits = counts
            .iter()
            .filter_map(|(wait, n)| Some((wait.as_ref()?, n)));
        for (wait, count) in waits.filter(|(wait, _)| !is_client_read(wait)) {
            let (class, event) = class::of(Some(wait));
            tally.session(class, &event, self.share(*count));
        }
        let at_work = self.at_work(counts);
        if at_work > 0 {
            let (class, event) = class::of(None);
            tally.session(class, &event, self.share(at_work));
        }
        let seen = process.wait.as_ref();
        if process.is_at_work && seen.is_some_and(is_client_read) {
            let (class, event) = class::of(seen);
            tally.session(class, &event, 1.0);
        }
    }

    fn add_background(&self, kind: &str, counts: &Counts, tally: &mut Tally) {
        for (wait, count) in counts {
            match wait {
                Some((idle, _)) if IDLE_KINDS.contains(&idle.as_str()) => {}
                Some((_, event)) => tally.background(kind, event, self.share(*count)),
                None => {}
            }
        }
        let at_work = self.at_work(counts);
        if at_work > 0 {
            tally.background(kind, activity::CPU, self.share(at_work));
        }
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.samples as f64
    }

    /// How often it was not seen waiting.
    fn at_work(&self, counts: &Counts) -> u64 {
        let waits = counts.iter().filter(|(wait, _)| wait.is_some());
        let waited: u64 = waits.map(|(_, count)| count).sum();
        self.samples.saturating_sub(waited)
    }
}

fn is_client_read(wait: &Wait) -> bool {
    wait.0 == "Client" && wait.1 == "ClientRead"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WaitClass;

    fn wait(text: &str) -> Option<Wait> {
        let (kind, event) = text.split_once(": ")?;
        Some((kind.into(), event.into()))
    }

    fn counts(of: &[(u32, &[(&str, u64)])]) -> Standing {
        let of_one = |counts: &[(&str, u64)]| counts.iter().map(|(w, n)| (wait(w), *n)).collect();
        Standing {
            processes: Vec::new(),
            counts: of
                .iter()
                .map(|(pid, counts)| (*pid, of_one(counts)))
                .collect(),
        }
    }

    fn seen(pid: u32, kind: &str, at_work: bool, text: &str) -> Seen {
        let cell = |text: &str| Some(text.to_owned());
        let (kind_of_wait, event) = wait(text).unzip();
        Seen::of(vec![
            cell(&pid.to_string()),
            cell(&pid.to_string()),
            cell(kind),
            cell(&at_work.to_string()),
            kind_of_wait,
            event,
        ])
        .unwrap()
    }

    const IDLE: &str = "Client: ClientRead";

    #[test]
    fn what_a_process_is_short_of_the_collectors_looks_it_was_at_work() {
        let before = counts(&[
            (1, &[(IDLE, 1000)]),
            (7, &[(IDLE, 50), ("Lock: tuple", 5)]),
            (9, &[("Activity: CheckpointerMain", 900)]),
        ]);
        let now = counts(&[
            (1, &[(IDLE, 1100)]),
            (7, &[(IDLE, 70), ("Lock: tuple", 35), ("IO: WALSync", 10)]),
            (8, &[("Lock: tuple", 3)]),
            (
                9,
                &[("Activity: CheckpointerMain", 990), ("IO: DataFileSync", 4)],
            ),
        ]);
        let rise = Rise::between(&before, &now).unwrap();
        assert_eq!(rise.samples, 100);
        let processes = [
            seen(7, SESSION, true, "Lock: tuple"),
            // It was not there before.
            seen(8, SESSION, true, "Lock: tuple"),
            seen(9, "checkpointer", false, "Activity: CheckpointerMain"),
        ];
        let mut tally = Tally::default();
        rise.add(&processes, &mut tally);
        let session = |class: WaitClass, event: &str| {
            let key = (class, event.to_owned());
            tally.sessions.get(&key).copied().unwrap_or(0.0)
        };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(session(WaitClass::Lock, "Lock: tuple"), 0.3 + 1.0));
        assert!(close(session(WaitClass::LogSync, "IO: WALSync"), 0.1));
        assert!(close(session(WaitClass::Cpu, "DB CPU"), 0.4));
        assert_eq!(tally.sessions.len(), 3, "{tally:?}");
        let background = |event: &str| tally.background[&("checkpointer".into(), event.into())];
        assert!(close(background("DataFileSync"), 0.04) && close(background("CPU"), 0.06));
    }

    /// Later versions count them, and this must not make two of one.
    #[test]
    fn processes_at_work_that_are_counted_are_added_once() {
        let before = counts(&[(7, &[("", 10)]), (8, &[("", 0)])]);
        let now = counts(&[(7, &[("", 30), (IDLE, 20)]), (8, &[("", 40)])]);
        let rise = Rise::between(&before, &now).unwrap();
        assert_eq!(rise.samples, 40);
        let mut tally = Tally::default();
        rise.add(&[seen(7, SESSION, false, IDLE)], &mut tally);
        let cpu = (WaitClass::Cpu, "DB CPU".to_owned());
        assert_eq!(tally.sessions, HashMap::from([(cpu, 0.5)]));
    }

    #[test]
    fn a_session_that_waits_for_rows_of_a_copy_is_seen_not_counted() {
        let before = counts(&[(7, &[(IDLE, 10)])]);
        let now = counts(&[(7, &[(IDLE, 20)])]);
        let rise = Rise::between(&before, &now).unwrap();
        let client = (WaitClass::Client, IDLE.to_owned());
        for (at_work, expected) in [
            (true, HashMap::from([(client, 1.0)])),
            (false, HashMap::new()),
        ] {
            let mut tally = Tally::default();
            rise.add(&[seen(7, SESSION, at_work, IDLE)], &mut tally);
            assert_eq!(tally.sessions, expected);
        }
    }

    #[test]
    fn a_reset_is_noticed() {
        let before = counts(&[(1, &[(IDLE, 50)]), (7, &[("Lock: tuple", 5)])]);
        for now in [
            counts(&[(1, &[(IDLE, 3)]), (7, &[("Lock: tuple", 8)])]),
            counts(&[(1, &[(IDLE, 60)]), (7, &[(IDLE, 8)])]),
        ] {
            assert_eq!(Rise::between(&before, &now), None);
        }
    }

    #[test]
    fn statements_with_workers_are_told_by_their_waits() {
        let before = counts(&[(7, &[])]);
        let with = |event: &str| {
            let now = counts(&[(7, &[(event, 1)])]);
            Rise::between(&before, &now)
                .unwrap()
                .has_waits_for_workers()
        };
        assert!(with("IPC: ExecuteGather") && with("IPC: ParallelFinish"));
        assert!(!with("IPC: BufferIO") && !with("Lock: tuple"));
        // A watch itself.
        assert!(!with("IPC: MessageQueueReceive"));
    }
}
