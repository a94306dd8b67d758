//! A programmed device in virtual time. The engine above it is the real one, so that everything it draws, orders,
//! times and counts can be checked against exact figures. The clock advances only while somebody waits.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::mpsc::channel;
use std::time::Duration;

use load::clock::ns;

use super::backend::{Backend, Completion, Request};
use super::build::{Job, work_on};
use super::collect::Collector;
use super::error::{EngineError, Obstacle, Operation};
use super::figures::{EngineEvent, Outcome};
use super::files::{Extent, SECTOR_BYTES};
use super::message::Message;
use super::shared::Shared;
use super::{Options, check, plan};
use crate::run::{Run, StorageDefinition};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MockIo {
    pub storage: usize,
    pub operation: Operation,
    pub offset_bytes: u64,
    pub size_bytes: u64,
    pub at: Duration,
}

type Program<'a> = Box<dyn FnMut(&MockIo) -> Duration + 'a>;

pub struct MockDevice<'a> {
    program: RefCell<Program<'a>>,
    channels: usize,
    /// Start and length of a halt of the machine.
    halt: Option<(u64, u64)>,
}

impl<'a> MockDevice<'a> {
    /// A device that serves `channels` I/Os at once, each for `service`; the others queue.
    pub fn new(channels: usize, service: impl FnMut(&MockIo) -> Duration + 'a) -> Self {
        Self {
            program: RefCell::new(Box::new(service)),
            channels: channels.max(1),
            halt: None,
        }
    }

    #[must_use]
    pub fn of(channels: usize, service: Duration) -> Self {
        Self::new(channels, move |_| service)
    }

    /// Halts the whole machine once: timers that expire within the halt fire at its end.
    #[must_use]
    pub fn with_halt(mut self, at: Duration, length: Duration) -> Self {
        self.halt = Some((ns(at), ns(length)));
        self
    }

    /// Carries out a run, as [`run`](super::run) does on files and devices. An SD without a size is as large as its
    /// file.
    ///
    /// # Errors
    /// [`EngineError`] when the run cannot begin.
    pub fn run(
        &self,
        run: &Run,
        options: &Options<'_>,
        report: &mut dyn FnMut(EngineEvent<'_>),
    ) -> Result<Outcome, EngineError> {
        check(run)?;
        let extents = run.storage.iter().map(extent);
        let extents = extents.collect::<Result<Vec<_>, _>>()?;
        let plans = plan::workers(run, 1)?;
        let sizes = extents.iter().map(|sd| sd.size_bytes).sum();
        let (sender, messages) = channel();
        let shared = Shared::new(run, sender, run.storage.iter().map(|_| None).collect());
        let collector = RefCell::new((Collector::new(run, &plans, sizes), report));
        let keep_up = |since_ns| {
            let (collector, report) = &mut *collector.borrow_mut();
            collector.keep_up(&messages, &shared, options.stop, since_ns, *report);
        };
        let mut program = self.program.borrow_mut();
        let clock = Clock {
            now_ns: Cell::new(0),
            halt: self.halt,
        };
        let device = Working {
            clock: &clock,
            program: &mut program,
            free_at_ns: vec![0; self.channels],
            under_way: BinaryHeap::new(),
            count: 0,
            keep_up: &keep_up,
        };
        let job = Job {
            index: 0,
            run,
            extents: &extents,
            lanes: &plans[0],
            options,
            shared: &shared,
        };
        let end = work_on(&job, device)?;
        // The receiver outlives this call.
        let _ = shared.messages().send(Message::Finished(Box::new(end)));
        keep_up(clock.now_ns.get());
        Ok(collector.into_inner().0.outcome(&shared).0)
    }
}

fn extent(sd: &StorageDefinition) -> Result<Extent, EngineError> {
    let length = || std::fs::metadata(&sd.path).ok().map(|file| file.len());
    let size_bytes = sd.size_bytes.or_else(length);
    Ok(Extent {
        size_bytes: size_bytes.ok_or_else(|| EngineError::of_sd(sd, Obstacle::NoSize))?,
        offset_bytes: sd.offset_bytes,
        spare_first_block: sd.is_device(),
        unit_bytes: SECTOR_BYTES,
    })
}

struct Clock {
    now_ns: Cell<u64>,
    halt: Option<(u64, u64)>,
}

impl Clock {
    fn wait_until(&self, until_ns: u64) {
        let woken_ns = match self.halt {
            Some((at, length)) if (at..at + length).contains(&until_ns) => at + length,
            _ => until_ns,
        };
        self.now_ns.set(woken_ns.max(self.now_ns.get()));
    }
}

struct Working<'w, 'a> {
    clock: &'w Clock,
    program: &'w mut Program<'a>,
    free_at_ns: Vec<u64>,
    /// End, order of hand-over, slot and result.
    under_way: BinaryHeap<Reverse<(u64, u64, u32, i32)>>,
    count: u64,
    keep_up: &'w dyn Fn(u64),
}

impl Working<'_, '_> {
    fn begin(&mut self, request: &Request) {
        let now_ns = self.clock.now_ns.get();
        let service = (self.program)(&MockIo {
            storage: request.file as usize,
            operation: request.operation,
            offset_bytes: request.offset,
            size_bytes: u64::from(request.length),
            at: Duration::from_nanos(now_ns),
        });
        let channel = self.free_at_ns.iter_mut().min();
        let channel = channel.expect("a device has a channel");
        *channel = now_ns.max(*channel) + ns(service);
        let end_ns = *channel;
        let done_bytes = if request.is_sync { 0 } else { request.length };
        self.count += 1;
        let done = (end_ns, self.count, request.slot, done_bytes as i32);
        self.under_way.push(Reverse(done));
    }
}

impl Backend for Working<'_, '_> {
    fn now_ns(&self) -> u64 {
        self.clock.now_ns.get()
    }

    fn submit_and_wait(
        &mut self,
        requests: &[Request],
        want: usize,
        timeout_ns: u64,
    ) -> io::Result<()> {
        requests.iter().for_each(|request| self.begin(request));
        if want > 0 {
            let limit_ns = self.clock.now_ns.get().saturating_add(timeout_ns);
            let next_ns = self.under_way.peek().map_or(limit_ns, |next| next.0.0);
            self.clock.wait_until(next_ns.min(limit_ns));
        }
        (self.keep_up)(self.clock.now_ns.get());
        Ok(())
    }

    fn reap(&mut self, completions: &mut Vec<Completion>) {
        let now_ns = self.clock.now_ns.get();
        while let Some(Reverse((end_ns, _, slot, result))) = self.under_way.peek().copied() {
            if end_ns > now_ns {
                break;
            }
            self.under_way.pop();
            completions.push(Completion { slot, result });
        }
    }
}
