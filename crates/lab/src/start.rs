//! Common start of a point's jobs, with the counters of host and engine at that time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::Counters;
use host::{HostMark, HostUse, HostWatch, IoAccounts, Programs};
use load::{BlockingClient, Clients, Done, Failure, NonblockingClient, Request, Turn};

use crate::context::RunContext;
use crate::nodes::Nodes;
use crate::session_sampler::SessionSampler;

/// Samples host and engine at the common start: when the last job has ramped up, or with a timed ramp-up when the
/// first one enters the measured window.
pub struct Start<'a> {
    sampler: &'a HostWatch,
    count: Box<dyn Fn() -> Counters + Send + Sync + 'a>,
    programs: std::result::Result<Programs, String>,
    io: Option<std::result::Result<IoAccounts, String>>,
    taken: Mutex<Option<(HostMark, Counters)>>,
    /// Use of host and engine, if the window has already ended.
    ended: Mutex<Option<(HostUse, Counters)>>,
    watcher: Option<&'a SessionSampler>,
    timed: bool,
}

impl<'a> Start<'a> {
    /// The target of the run must be ready.
    pub fn new(
        context: &'a RunContext<'_>,
        target: u32,
        watcher: Option<&'a SessionSampler>,
        timed: bool,
    ) -> Self {
        let nodes = &context.targets[target as usize];
        Self::of(
            &context.samplers[target as usize],
            context.programs(target),
            Box::new(|| engine_counters(nodes)),
            watcher,
            timed,
        )
    }

    fn of(
        sampler: &'a HostWatch,
        programs: std::result::Result<Programs, String>,
        count: Box<dyn Fn() -> Counters + Send + Sync + 'a>,
        watcher: Option<&'a SessionSampler>,
        timed: bool,
    ) -> Self {
        // Unknown programs of the database are already reported.
        let io = programs.as_ref().ok().and_then(|p| sampler.io_so_far(p));
        Self {
            sampler,
            watcher,
            count,
            programs,
            io,
            taken: Mutex::default(),
            ended: Mutex::default(),
            timed,
        }
    }

    pub fn take(&self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.is_none() {
            let programs = self.programs.as_ref().map_err(String::as_str);
            let mark = self.sampler.mark(programs).with_io_before(self.io.clone());
            *taken = Some((mark, (self.count)()));
            if let Some(watcher) = self.watcher {
                watcher.begin();
            }
        }
    }

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

    /// Counter of jobs that have to ramp up before the common start.
    fn waiting(&self, jobs: usize) -> Arc<AtomicUsize> {
        Arc::new(AtomicUsize::new(if self.timed { 1 } else { jobs }))
    }

    /// Ends the window for host, engine and sampler of sessions: later steps, such as reading the memory of thousands
    /// of processes and closing their sessions, do not belong to it.
    pub fn end(&self) {
        self.take();
        let ended = self.until_now();
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
    }

    /// Use of host and engine since the common start; ends the sampling of sessions.
    fn until_now(&self) -> (HostUse, Counters) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mark, before) = taken
            .take()
            .expect("take() was called before, and fills it");
        if let Some(watcher) = self.watcher {
            watcher.end();
        }
        let engine = (self.count)().since(before);
        (self.sampler.finish(mark), engine)
    }

    /// The host's use since the common start, and the counters of the engine, or of the sessions if they have their
    /// own.
    pub fn finish(&self, sessions: Counters) -> (HostUse, Counters) {
        let ended = self
            .ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let (used, engine) = ended.unwrap_or_else(|| {
            self.take();
            self.until_now()
        });
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    use super::*;

    fn watch_of_host() -> HostWatch {
        HostWatch::here(Duration::from_secs(1), Err("no device".into())).unwrap()
    }

    fn counting(counter: &AtomicU64) -> Counters {
        Counters {
            redo_bytes: Some(counter.load(Ordering::Relaxed)),
            ..Counters::default()
        }
    }

    /// The window has 250 bytes of log, and closing the sessions 1000: both ways to end it exclude those.
    #[test]
    fn what_the_engine_counts_behind_the_window_is_no_part_of_it() {
        let host = watch_of_host();
        for is_ended_before in [true, false] {
            let counter = AtomicU64::new(100);
            let unknown = Err("no server".into());
            let count = Box::new(|| counting(&counter));
            let start = Start::of(&host, unknown, count, None, true);
            start.take();
            counter.fetch_add(250, Ordering::Relaxed);
            if is_ended_before {
                start.end();
                counter.fetch_add(1000, Ordering::Relaxed);
            }
            let (_, counters) = start.finish(Counters::default());
            assert_eq!(counters.redo_bytes, Some(250), "{is_ended_before}");
        }
    }
}
