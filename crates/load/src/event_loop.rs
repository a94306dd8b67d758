//! Drives many clients from one thread, for targets whose answers can be awaited: the counterpart of
//! [`crate::drive()`] with the same models of load, the same records and the same outcome.
//!
//! A thread for every client would be simpler, but hundreds of threads take processor time for switching
//! that is then missing in the database beside them.

mod client;
mod poll;
mod turns;

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::Scope;

use crate::clock::Usage;
use crate::drive::{Drive, Ended, JOBS_MAX, summarise};
use crate::gate::{Gate, Ticket};
use crate::job::{Brake, Leaving, panic_message};
use crate::outcome::{DriverThreads, Outcome};
use crate::recorder::{INTERVAL_MIN, Latencies, Recorder};
use crate::schedule::{RampUp, Timetable};
use crate::series::Series;
use crate::station::Station;
use client::Client;
use turns::{Relief, Turns};

/// Drives one client per station and returns when all of them have left.
///
/// It begins with as many threads as the lower end of `threads` says (at least one, at most one per station);
/// a thread that is on a processor nearly all of its time hands half of its clients to a new one, up to the
/// upper end. The stations are dropped after the last client has left.
pub fn drive_stations(
    stations: Vec<Box<dyn Station + '_>>,
    threads: RangeInclusive<usize>,
    drive: &Drive,
) -> Outcome {
    let count = stations.len();
    if count > JOBS_MAX {
        return Outcome::fatal(format!(
            "{count} jobs are more than one driver can hold: use at most {JOBS_MAX}"
        ));
    }
    let table = match Timetable::new(drive.schedule, drive.ramp_up, drive.end, count, drive.seed) {
        Ok(table) => table,
        Err(error) => return Outcome::fatal(error.to_string()),
    };
    let brake = Brake {
        stop: drive.stop,
        fatal: OnceLock::new(),
        failed: AtomicBool::new(false),
    };
    let first = (*threads.start()).clamp(1, count.max(1));
    let gate = Gate::new(first);
    let (ended, series) = run(
        stations,
        first,
        *threads.end(),
        drive,
        &table,
        &gate,
        &brake,
    );
    let Done {
        mut clients,
        used,
        latencies,
    } = ended;
    clients.sort_by_key(|client| client.number);
    let ended: Vec<Ended> = clients
        .iter()
        .map(|client| Ended {
            recorder: &client.recorder,
            usage: Usage::default(),
            unserved: client.unserved,
            leaving: client.leaving,
        })
        .collect();
    let origin_ns = gate.common_start_ns().filter(|_| count > 0);
    let fatal = brake.fatal.get().cloned();
    let mut outcome = summarise(&ended, &series, &table, origin_ns, fatal);
    outcome.service.merge(&latencies.service);
    outcome.response.merge(&latencies.response);
    // No client has processor time of its own: each gets an equal share of the threads'.
    let equal = u32::try_from(outcome.jobs.len().max(1)).unwrap_or(u32::MAX);
    for job in &mut outcome.jobs {
        job.cpu = used.cpu / equal;
        job.run_queue = used.run_queue.map(|all| all / equal);
    }
    outcome.driver_threads = Some(used);
    outcome
}

/// What the threads of a drive share.
struct Shared<'a, 'o> {
    table: &'a Timetable,
    brake: &'a Brake<'a>,
    /// Threads that may still be begun.
    spare: AtomicUsize,
    ended: Mutex<Done<'a, 'o>>,
}

/// What the threads leave.
#[derive(Default)]
struct Done<'a, 'o> {
    clients: Vec<Client<'a, 'o>>,
    used: DriverThreads,
    latencies: Latencies,
}

/// Runs the loops, and gathers the intervals of their clients on the calling thread meanwhile.
fn run<'a, 'o: 'a>(
    stations: Vec<Box<dyn Station + 'o>>,
    first: usize,
    most: usize,
    drive: &Drive<'a>,
    table: &'a Timetable,
    gate: &Gate,
    brake: &'a Brake<'a>,
) -> (Done<'a, 'o>, Series) {
    let interval = drive.interval.max(INTERVAL_MIN);
    let mut series = Series::new(interval);
    let (sender, intervals) = mpsc::channel();
    let ramp_up = match drive.ramp_up {
        RampUp::Operations { per_job } => per_job,
        RampUp::None | RampUp::Time(_) => 0,
    };
    let mut dealt: Vec<Vec<Client>> = (0..first).map(|_| Vec::new()).collect();
    for (number, station) in stations.into_iter().enumerate() {
        let recorder =
            Recorder::without_latencies(table.from_ns(), interval, sender.clone(), drive.progress);
        let pacer = table.pacer(number as u64);
        let entered = table.from_ns() == 0;
        let client = Client::new(number as u64, station, recorder, pacer, ramp_up, entered);
        dealt[number % first].push(client);
    }
    drop(sender);
    let shared = Shared {
        table,
        brake,
        spare: AtomicUsize::new(most.saturating_sub(first)),
        ended: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let crew = Crew {
            scope,
            shared: &shared,
        };
        for clients in dealt {
            crew.spawn(clients, Entry::Start(gate.ticket()));
        }
        for record in intervals {
            series.add(&record);
        }
    });
    let ended = shared.ended.into_inner();
    (ended.unwrap_or_else(PoisonError::into_inner), series)
}

/// Begins threads.
struct Crew<'scope, 'env, 'a, 'o> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'scope Shared<'a, 'o>,
}

impl Clone for Crew<'_, '_, '_, '_> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for Crew<'_, '_, '_, '_> {}

/// How a thread comes by its clients.
enum Entry<'g> {
    /// From the beginning.
    Start(Ticket<'g>),
    /// In the middle of their work; with the common start.
    Relief(u64),
}

impl<'scope, 'a: 'scope, 'o: 'scope> Crew<'scope, '_, 'a, 'o> {
    fn spawn(self, clients: Vec<Client<'a, 'o>>, entry: Entry<'scope>) {
        let shared = self.shared;
        let thread = std::thread::Builder::new().name("driver".into());
        let spawned = thread.spawn_scoped(self.scope, move || self.work(clients, entry));
        if let Err(error) = spawned {
            shared.brake.fail(format!(
                "a thread for the driver cannot be had ({error}): raise the limit of processes"
            ));
        }
    }

    fn work(self, clients: Vec<Client<'a, 'o>>, entry: Entry) {
        let brake = self.shared.brake;
        let mut turns = match Turns::new(clients, self.shared.table) {
            Ok(turns) => turns,
            Err((error, clients)) => {
                brake.fail(error.to_string());
                return self.put_down(clients, &Usage::default(), &Latencies::default());
            }
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| match entry {
            Entry::Start(ticket) => turns.run(ticket, brake, &self),
            Entry::Relief(origin_ns) => turns.take_over(origin_ns, brake, &self),
        }));
        let failed = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(panic) => Some(format!(
                "the driver panicked, which is a defect of the program: {}",
                panic_message(panic.as_ref())
            )),
        };
        if let Some(message) = failed {
            brake.fail(message);
            for client in &mut turns.clients {
                client.leaving = Leaving::Failed;
            }
        }
        self.put_down(turns.clients, &turns.usage, &turns.latencies);
    }

    fn put_down(self, mut clients: Vec<Client<'a, 'o>>, usage: &Usage, latencies: &Latencies) {
        for client in &mut clients {
            client.recorder.finish();
        }
        let ended = self.shared.ended.lock();
        let mut ended = ended.unwrap_or_else(PoisonError::into_inner);
        ended.clients.append(&mut clients);
        ended.used.add(usage);
        ended.latencies.merge(latencies);
    }
}

impl<'scope, 'a: 'scope, 'o: 'scope> Relief<'a, 'o> for Crew<'scope, '_, 'a, 'o> {
    fn may_begin(&self) -> bool {
        let one_less = |spare: usize| spare.checked_sub(1);
        let spare = &self.shared.spare;
        spare.fetch_update(Relaxed, Relaxed, one_less).is_ok()
    }

    fn begin(&self, clients: Vec<Client<'a, 'o>>, origin_ns: u64) {
        self.spawn(clients, Entry::Relief(origin_ns));
    }
}
