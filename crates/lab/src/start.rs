//! The common start of a point's jobs, and what host and engine had counted by then.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use host::{HostMark, HostUse, HostWatch, IoAccounts, Programs};
use load::{BlockingClient, Done, Failure, NonblockingClient, Turn};
use target::Counters;

use crate::context::RunContext;
use crate::nodes::Nodes;
use crate::session_sampler::SessionSampler;

/// Takes the snapshots of host and engine at the common start: when the last job has ramped up, or
/// with a timed ramp-up when the first one enters the measured window.
pub struct Start<'a> {
    sampler: &'a HostWatch,
    target: &'a Nodes,
    programs: std::result::Result<Programs, String>,
    io: Option<std::result::Result<IoAccounts, String>>,
    taken: Arc<Mutex<Option<(HostMark, Counters)>>>,
    watcher: Option<&'a SessionSampler>,
    timed: bool,
}

impl<'a> Start<'a> {
    /// Of a target of the run, which is ready by now.
    pub fn new(
        context: &'a RunContext<'_>,
        target: u32,
        watcher: Option<&'a SessionSampler>,
        timed: bool,
    ) -> Self {
        let sampler = &context.samplers[target as usize];
        let programs = context.programs(target);
        // Where the database's own programs are not known, that is told already.
        let io = programs.as_ref().ok().and_then(|p| sampler.io_so_far(p));
        Self {
            sampler,
            watcher,
            target: &context.targets[target as usize],
            programs,
            io,
            taken: Arc::default(),
            timed,
        }
    }

    /// Takes the snapshots now, unless they are taken.
    pub fn take(&self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.is_none() {
            let programs = self.programs.as_ref().map_err(String::as_str);
            let mark = self.sampler.mark(programs).behind(self.io.clone());
            *taken = Some((mark, engine_counters(self.target)));
            if let Some(watcher) = self.watcher {
                watcher.begin();
            }
        }
    }

    /// Wraps the operators so that their common start is noticed.
    pub fn watch<'s>(
        &'s self,
        operators: Vec<Box<dyn BlockingClient + 's>>,
    ) -> Vec<Box<dyn BlockingClient + 's>> {
        let waiting = self.waiting(operators.len());
        operators
            .into_iter()
            .map(|operator| {
                Box::new(Watched {
                    operator,
                    start: self,
                    waiting: Arc::clone(&waiting),
                }) as Box<dyn BlockingClient + 's>
            })
            .collect()
    }

    /// The same for the clients of an event loop.
    pub fn watch_nonblocking<'s>(
        &'s self,
        stations: Vec<Box<dyn NonblockingClient>>,
    ) -> Vec<Box<dyn NonblockingClient + 's>> {
        let waiting = self.waiting(stations.len());
        let watched = stations.into_iter().map(|station| {
            Box::new(WatchedNonblocking {
                station,
                start: self,
                waiting: Arc::clone(&waiting),
            }) as Box<dyn NonblockingClient + 's>
        });
        watched.collect()
    }

    /// How many have to ramp up before the common start.
    fn waiting(&self, jobs: usize) -> Arc<AtomicUsize> {
        Arc::new(AtomicUsize::new(if self.timed { 1 } else { jobs }))
    }

    /// The host's use since the common start, and the counters of the engine, or of the sessions where they have their own.
    pub fn finish(&self, sessions: Counters) -> (HostUse, Counters) {
        self.take();
        let taken = self
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let (mark, before) = taken.expect("take() has just filled it");
        let engine = engine_counters(self.target).since(before);
        let counters = Counters {
            buffer_gets: sessions.buffer_gets.or(engine.buffer_gets),
            redo_bytes: sessions.redo_bytes.or(engine.redo_bytes),
        };
        (self.sampler.finish(mark), counters)
    }
}

fn engine_counters(target: &Nodes) -> Counters {
    target
        .nodes
        .iter()
        .map(|node| node.counters())
        .reduce(Counters::plus)
        .unwrap_or_default()
}

/// An operator that reports when its ramp-up is over.
struct Watched<'s> {
    operator: Box<dyn BlockingClient + 's>,
    start: &'s Start<'s>,
    waiting: Arc<AtomicUsize>,
}

impl BlockingClient for Watched<'_> {
    #[inline]
    fn operate(&mut self, request: load::Request) -> std::result::Result<Done, Failure> {
        self.operator.operate(request)
    }

    fn measurement_begins(&mut self) {
        self.operator.measurement_begins();
        if self.waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.start.take();
        }
    }
}

/// A client of an event loop that reports the same.
struct WatchedNonblocking<'s> {
    station: Box<dyn NonblockingClient>,
    start: &'s Start<'s>,
    waiting: Arc<AtomicUsize>,
}

impl NonblockingClient for WatchedNonblocking<'_> {
    fn descriptor(&self) -> std::os::fd::RawFd {
        self.station.descriptor()
    }

    #[inline]
    fn begin(&mut self, request: load::Request) -> Turn {
        self.station.begin(request)
    }

    #[inline]
    fn ready(&mut self) -> Turn {
        self.station.ready()
    }

    #[inline]
    fn await_ready(&mut self) -> Option<Turn> {
        self.station.await_ready()
    }

    fn measurement_begins(&mut self) {
        self.station.measurement_begins();
        if self.waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.start.take();
        }
    }
}
