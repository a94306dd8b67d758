//! The threads of a drive by event loops: start, relief and end.

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;

use super::client::Client;
use super::slot::ClientSlot;
use super::turns::{Relief, Turns};
use crate::cancellation::{Cancellation, ExitReason, panic_message};
use crate::clock::{Clock, Participation, Usage};
use crate::outcome::DriverThreads;
use crate::recorder::Recorder;
use crate::schedule::Window;
use crate::start_barrier::{Participant, StartBarrier};

pub struct Loops<'r, 'a> {
    pub threads: RangeInclusive<usize>,
    pub window: Window,
    /// Barrier at which the loops meet, made for their initial number.
    pub barrier: &'r StartBarrier,
    pub cancellation: &'r Cancellation<'r>,
    pub clock: &'r Clock,
    pub new_recorder: &'r (dyn Fn() -> Recorder<'a> + Sync),
}

pub struct LoopOutcome<'a, 'o> {
    pub slots: Vec<ClientSlot<'a, 'o>>,
    pub used: DriverThreads,
    pub recorders: Vec<Recorder<'a>>,
}

pub fn run<'a, 'o>(
    clients: Vec<Client<'a, 'o>>,
    loops: &Loops<'_, 'a>,
    meanwhile: impl FnOnce(),
) -> LoopOutcome<'a, 'o> {
    let first = *loops.threads.start();
    let mut dealt: Vec<Vec<ClientSlot<'a, 'o>>> = (0..first).map(|_| Vec::new()).collect();
    for (number, client) in clients.into_iter().enumerate() {
        dealt[number % first].push(ClientSlot::new(client));
    }
    let shared = Shared {
        loops,
        spare: AtomicUsize::new(loops.threads.end().saturating_sub(first)),
        left: Mutex::new(LoopOutcome {
            slots: Vec::new(),
            used: DriverThreads::default(),
            recorders: Vec::new(),
        }),
    };
    std::thread::scope(|scope| {
        let loop_threads = LoopThreads {
            scope,
            shared: &shared,
        };
        // All participations exist before the first thread begins, so that none runs ahead in virtual time.
        let parts: Vec<_> = dealt.iter().map(|_| loops.clock.participate()).collect();
        for (slots, part) in dealt.into_iter().zip(parts) {
            loop_threads.spawn(slots, Entry::Start(loops.barrier.participant()), part);
        }
        meanwhile();
    });
    let left = shared.left.into_inner();
    left.unwrap_or_else(PoisonError::into_inner)
}

struct Shared<'r, 'a, 'o> {
    loops: &'r Loops<'r, 'a>,
    spare: AtomicUsize,
    left: Mutex<LoopOutcome<'a, 'o>>,
}

struct LoopThreads<'scope, 'env, 'r, 'a, 'o> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'scope Shared<'r, 'a, 'o>,
}

impl Clone for LoopThreads<'_, '_, '_, '_, '_> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for LoopThreads<'_, '_, '_, '_, '_> {}

enum Entry<'g> {
    Start(Participant<'g>),
    /// It takes them over in the middle of their work, with the common start.
    Relief(u64),
}

impl<'scope, 'r: 'scope, 'a: 'scope, 'o: 'scope> LoopThreads<'scope, '_, 'r, 'a, 'o> {
    fn spawn(self, slots: Vec<ClientSlot<'a, 'o>>, entry: Entry<'scope>, part: Participation) {
        let cancellation = self.shared.loops.cancellation;
        let thread = std::thread::Builder::new().name("driver".into());
        let spawned = thread.spawn_scoped(self.scope, move || {
            part.enter();
            self.work(slots, entry);
            drop(part);
        });
        if let Err(error) = spawned {
            cancellation.fail(format!(
                "a thread for the driver cannot be started ({error}): raise the limit of processes"
            ));
        }
    }

    fn work(self, slots: Vec<ClientSlot<'a, 'o>>, entry: Entry) {
        let Loops {
            window,
            cancellation,
            clock,
            new_recorder,
            ..
        } = *self.shared.loops;
        let mut turns = match Turns::new(slots, window, new_recorder(), clock) {
            Ok(turns) => turns,
            Err((error, slots)) => {
                cancellation.fail(error.to_string());
                return self.put_down(slots, &Usage::default(), None);
            }
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| match entry {
            Entry::Start(participant) => turns.run(participant, cancellation, &self),
            Entry::Relief(origin_ns) => turns.take_over(origin_ns, cancellation, &self),
        }));
        let failed = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(panic) => Some(format!(
                "the driver panicked, which is a bug in dbdyno: {}",
                panic_message(panic.as_ref())
            )),
        };
        if let Some(message) = failed {
            cancellation.fail(message);
            for slot in &mut turns.slots {
                slot.leaving = ExitReason::Failed;
            }
        }
        self.put_down(turns.slots, &turns.usage, Some(turns.recorder));
    }

    fn put_down(
        self,
        mut slots: Vec<ClientSlot<'a, 'o>>,
        usage: &Usage,
        mut recorder: Option<Recorder<'a>>,
    ) {
        for slot in &mut slots {
            slot.work.finish();
        }
        recorder.iter_mut().for_each(Recorder::finish);
        let left = self.shared.left.lock();
        let mut left = left.unwrap_or_else(PoisonError::into_inner);
        left.slots.append(&mut slots);
        left.used.add(usage);
        left.recorders.extend(recorder);
    }
}

impl<'scope, 'r: 'scope, 'a: 'scope, 'o: 'scope> Relief<'a, 'o>
    for LoopThreads<'scope, '_, 'r, 'a, 'o>
{
    fn may_begin(&self) -> bool {
        let one_less = |spare: usize| spare.checked_sub(1);
        let spare = &self.shared.spare;
        spare.fetch_update(Relaxed, Relaxed, one_less).is_ok()
    }

    fn begin(&self, slots: Vec<ClientSlot<'a, 'o>>, origin_ns: u64) {
        let part = self.shared.loops.clock.participate();
        self.spawn(slots, Entry::Relief(origin_ns), part);
    }
}
