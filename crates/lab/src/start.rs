//! The common start of a point's jobs, and what host and engine had counted by then.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use host::{HostMark, HostUse, HostWatch, IoAccounts, Programs};
use load::{BlockingClient, Clients, Done, Failure, NonblockingClient, Request, Turn};
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
    taken: Mutex<Option<(HostMark, Counters)>>,
    /// What the host did, and what the engine had counted at the start, where the window was ended already.
    ended: Mutex<Option<(HostUse, Counters)>>,
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
            taken: Mutex::default(),
            ended: Mutex::default(),
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

    /// Wraps clients that block so that their common start is noticed.
    pub fn watch<'s>(&'s self, clients: Vec<Box<dyn BlockingClient + 's>>) -> Clients<'s> {
        let waiting = self.waiting(clients.len());
        let watched = clients.into_iter().map(|client| {
            Box::new(Watched {
                client,
                start: self,
                waiting: Arc::clone(&waiting),
            }) as Box<dyn BlockingClient + 's>
        });
        Clients::Blocking(watched.collect())
    }

    /// The same for the clients of an event loop.
    pub fn watch_nonblocking<'s>(
        &'s self,
        clients: Vec<Box<dyn NonblockingClient>>,
    ) -> Clients<'s> {
        let waiting = self.waiting(clients.len());
        let watched = clients.into_iter().map(|client| {
            Box::new(WatchedNonblocking {
                client,
                start: self,
                waiting: Arc::clone(&waiting),
            }) as Box<dyn NonblockingClient + 's>
        });
        Clients::nonblocking(watched.collect())
    }

    /// How many have to ramp up before the common start.
    fn waiting(&self, jobs: usize) -> Arc<AtomicUsize> {
        Arc::new(AtomicUsize::new(if self.timed { 1 } else { jobs }))
    }

    /// The window is over for the host: what is done from now on, such as closing thousands of sessions, is no part of it.
    pub fn end(&self) {
        self.take();
        let ended = self.until_now();
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
    }

    /// The host's use since the common start, and what the engine had counted then.
    fn until_now(&self) -> (HostUse, Counters) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mark, before) = taken
            .take()
            .expect("take() was called before, and fills it");
        (self.sampler.finish(mark), before)
    }

    /// The host's use since the common start, and the counters of the engine, or of the sessions where they have their own.
    pub fn finish(&self, sessions: Counters) -> (HostUse, Counters) {
        let ended = self
            .ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let (used, before) = ended.unwrap_or_else(|| {
            self.take();
            self.until_now()
        });
        let engine = engine_counters(self.target).since(before);
        let counters = Counters {
            buffer_gets: sessions.buffer_gets.or(engine.buffer_gets),
            redo_bytes: sessions.redo_bytes.or(engine.redo_bytes),
            pages_read: sessions.pages_read.or(engine.pages_read),
        };
        (used, counters)
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

/// A client that reports when its ramp-up is over.
struct Watched<'s> {
    client: Box<dyn BlockingClient + 's>,
    start: &'s Start<'s>,
    waiting: Arc<AtomicUsize>,
}

impl BlockingClient for Watched<'_> {
    #[inline]
    fn operate(&mut self, request: Request) -> std::result::Result<Done, Failure> {
        self.client.operate(request)
    }

    fn measurement_begins(&mut self) {
        self.client.measurement_begins();
        if self.waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.start.take();
        }
    }

    fn interrupt(&self) -> Option<load::Interrupt> {
        self.client.interrupt()
    }
}

/// A client of an event loop that reports the same.
struct WatchedNonblocking<'s> {
    client: Box<dyn NonblockingClient>,
    start: &'s Start<'s>,
    waiting: Arc<AtomicUsize>,
}

impl NonblockingClient for WatchedNonblocking<'_> {
    fn descriptor(&self) -> std::os::fd::RawFd {
        self.client.descriptor()
    }

    #[inline]
    fn begin(&mut self, request: Request) -> Turn {
        self.client.begin(request)
    }

    #[inline]
    fn ready(&mut self) -> Turn {
        self.client.ready()
    }

    #[inline]
    fn await_ready(&mut self) -> Option<Turn> {
        self.client.await_ready()
    }

    fn measurement_begins(&mut self) {
        self.client.measurement_begins();
        if self.waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.start.take();
        }
    }
}
