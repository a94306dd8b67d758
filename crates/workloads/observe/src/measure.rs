//! Sampling loop of an observation.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use archive::{Archive, Component, Point, PointKey, WorkDone};
use engine::{
    Activity as Server, ErrorKind, ServerCounts, Tally, TargetError, TimeOnProcessors, WaitClass,
    Wanted,
};
use lab::observe::Observation;
use lab::observe::at_work::AtWork;
use lab::session_sampler::SessionSamples;
use lab::start::Start;
use lab::{Done, Measure, Measured, Result, RunContext, Step};
use load::{Clock, Progress};

use super::activity::Activity;
use super::code::{DEFINITION, TITLE};
use super::pace::{Coverage, HELD_UP, Pace};
use super::point::{self, Cost};
use super::rates::Rates;
use super::sessions::SessionHistory;
use super::step::ObserveStep;

/// Discarded samples before the start, because the first ones are cold and expensive.
const WARM_UP_SAMPLES: usize = 3;
/// Interval of the load counters, longer in a long observation …
const INTERVAL_MIN: Duration = Duration::from_secs(1);
/// … so that there are no more intervals than this.
const INTERVALS_MAX: u32 = 150;
/// Wait for a server that restarts, beyond the end of the observation if necessary.
const RESTART_MAX: Duration = Duration::from_secs(60);
const RETRY: Duration = Duration::from_millis(500);
/// Sessions that no sample shows at work.
const QUEUED: &str = "DB waiting for a processor";
/// Longest sleep between two checks of the stop flag.
const NAP: Duration = Duration::from_millis(100);

pub(super) struct Measurement<'a> {
    pub context: &'a RunContext<'a>,
}

impl Measure for Measurement<'_> {
    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done> {
        let context = self.context;
        let wanted = step.table::<ObserveStep>().wanted();
        let server = match context.targets[key.target as usize]
            .first()
            .activity(wanted)
        {
            Ok(server) => server,
            Err(error) => return Ok(Done::Broken(error.message)),
        };
        let seconds = step.timed_s();
        let definition = lab::point::fingerprint(&[DEFINITION]);
        let blank = Point {
            work: WorkDone {
                mode: "time".into(),
                seconds: Some(seconds),
                ..WorkDone::default()
            },
            ..context.blank(
                step,
                key.clone(),
                definition,
                TITLE.to_owned(),
                Component::Database,
            )
        };
        let observer = Observer::new(context, server, wanted, progress);
        let length = Duration::from_secs_f64(seconds);
        let observed =
            Observation::of(context, blank).look(|start| observer.observe(start, length));
        let measured = observed.map(|point| Measured::Points(vec![point]));
        let measured = measured.unwrap_or_else(|ended| ended);
        measured.enter(archive, context)
    }
}

struct Observer<'a> {
    context: &'a RunContext<'a>,
    server: Box<dyn Server>,
    wanted: Wanted,
    progress: &'a Progress,
    clock: Clock,
    begun: Instant,
    coverage: Coverage,
    pace: Pace,
    activity: Activity,
    history: SessionHistory,
    rates: Rates,
    seconds: Tally,
    /// Processor time of the sessions in the last answer.
    on_processors: Option<TimeOnProcessors>,
    cost: Cost,
}

impl<'a> Observer<'a> {
    fn new(
        context: &'a RunContext<'a>,
        server: Box<dyn Server>,
        wanted: Wanted,
        progress: &'a Progress,
    ) -> Self {
        let now = Instant::now();
        Self {
            context,
            pace: Pace::of(server.rest()),
            server,
            wanted,
            progress,
            clock: Clock::Monotonic,
            begun: now,
            coverage: Coverage::from(now),
            activity: Activity::default(),
            history: SessionHistory::default(),
            rates: Rates::default(),
            seconds: Tally::default(),
            on_processors: None,
            cost: Cost::default(),
        }
    }

    fn observe(
        mut self,
        start: &Start<'_>,
        length: Duration,
    ) -> std::result::Result<AtWork, Measured> {
        for _ in 0..WARM_UP_SAMPLES {
            let sampled = self.ask(|server| server.look().map(drop));
            drop(refused(sampled)?);
        }
        start.take();
        let before = refused(self.server.count())?;
        let begun = refused(self.server.begin())?;
        self.cost = Cost::begun(self.server.asked());
        self.begun = Instant::now();
        self.coverage = Coverage::from(self.begun);
        begun.unwrap_or_else(|error| self.cost.fail(error.message));
        let read = self.read_load();
        refused(read)?.unwrap_or_else(|error| self.cost.fail(error.message));
        let interval = INTERVAL_MIN.max(length / INTERVALS_MAX);
        let mut next = interval;
        while self.begun.elapsed() < length {
            self.pause(next.min(length))?;
            let sampled = self.take_sample();
            self.or_recover(sampled)?;
            if self.begun.elapsed() >= next.min(length) {
                let read = self.read_load();
                self.or_recover(read)?;
                next = self.begun.elapsed() + interval;
            }
        }
        let elapsed = self.begun.elapsed();
        self.context.tell_rate(None);
        start.end();
        Ok(self.finish(elapsed, before))
    }

    fn finish(mut self, elapsed: Duration, before: engine::Result<ServerCounts>) -> AtWork {
        // This comes first, because later statements would add to the observer's time.
        let account = self.server.time_in_statements();
        let account = account.unwrap_or_else(|error| {
            self.cost.fail(error.message);
            None
        });
        self.cost.end(self.server.asked(), self.coverage.unobserved);
        let tables = self.server.tables();
        let counts = before.and_then(|before| Ok(self.server.count()?.since(&before)));
        let counts = counts.unwrap_or_else(|error| {
            self.cost.fail(error.message);
            ServerCounts::default()
        });
        let watched = SessionSamples {
            seconds: std::mem::take(&mut self.seconds),
            counts,
            source: self.server.source(),
            samples: self.cost.samples,
            elapsed,
            unseen: self.coverage.unobserved,
            cost: Duration::from_secs_f64(self.cost.cpu_s()),
            ..SessionSamples::default()
        };
        let observed = point::Observed {
            activity: &self.activity,
            sessions: &self.history,
            rates: &self.rates,
            cost: &self.cost,
            account,
            hidden: self.server.hidden(),
            lines: self.wanted.lines,
        };
        AtWork {
            figures: observed.figures(&watched),
            notes: observed.notes(&watched, &tables),
            observed: observed.tables(&watched, tables),
            rates: self.activity.rates(),
            watched,
        }
    }

    /// Sleeps until the next sample, at most until the given time after the start.
    fn pause(&mut self, until: Duration) -> std::result::Result<(), Measured> {
        let pause = (self.pace).pause(until.saturating_sub(self.begun.elapsed()));
        let end = Instant::now() + pause;
        loop {
            if self.context.stop.load(Ordering::Relaxed) {
                return Err(Measured::Interrupted);
            }
            match end.saturating_duration_since(Instant::now()) {
                Duration::ZERO => return Ok(()),
                left => std::thread::sleep(left.min(NAP)),
            }
        }
    }

    /// Runs a statement and records its cost.
    fn ask<T>(
        &mut self,
        what: impl FnOnce(&mut dyn Server) -> engine::Result<T>,
    ) -> engine::Result<T> {
        let (own, sent) = (self.clock.thread_cpu(), Instant::now());
        let server_before = self.server.server_cpu_ns();
        let answer = what(self.server.as_mut());
        let answer_s = sent.elapsed().as_secs_f64();
        let spent = self.server.server_cpu_ns().zip(server_before);
        let server_s = match spent {
            Some((after, before)) => after.saturating_sub(before) as f64 / 1e9,
            None => answer_s.min(HELD_UP.as_secs_f64()),
        };
        let driver_s = self.clock.thread_cpu().saturating_sub(own).as_secs_f64();
        self.cost.add(answer_s, driver_s, server_s, spent.is_some());
        self.pace.answered(answer_s, driver_s + server_s);
        answer
    }

    fn take_sample(&mut self) -> engine::Result<()> {
        let sent = Instant::now();
        let sample = self.ask(|server| server.look())?;
        let now = Instant::now();
        let stands_for = self.coverage.record_sample(sent, now);
        self.cost.samples += 1;
        self.seconds
            .add_times(&sample.tally, stands_for.as_secs_f64());
        self.activity.add(&sample.tally, stands_for.as_secs_f64());
        self.history.add(&sample.sessions, stands_for.as_secs_f64());
        self.context.tell_waits(&sample.tally, stands_for);
        Ok(())
    }

    fn read_load(&mut self) -> engine::Result<()> {
        let (before_s, sent) = (self.cost.cpu_s(), Instant::now());
        let counters = self.ask(|server| Ok((server.load()?, server.time_on_processors()?)));
        self.pace.owe(self.cost.cpu_s() - before_s);
        let (counts, on_processors) = counters?;
        self.coverage.record_answer(sent, Instant::now());
        let at_s = self.begun.elapsed().as_secs_f64();
        let ended_s = self
            .activity
            .rates()
            .last()
            .map_or(0.0, |(end_s, _)| *end_s);
        let transactions = self.rates.add(at_s, counts);
        let before = std::mem::replace(&mut self.on_processors, on_processors);
        if self.cost.loads > 0 {
            let per_s = transactions.map(|n| n / (at_s - ended_s).max(1e-6));
            self.context.tell_rate(per_s);
            let spent = on_processors
                .zip(before)
                .map(|(now, before)| now.since(&before));
            let unobserved_s = self.activity.end_interval(at_s, per_s, spent);
            (self.seconds).session(WaitClass::Cpu, QUEUED, unobserved_s);
            self.progress
                .add(transactions.unwrap_or(0.0).max(0.0) as u64, 0);
        }
        self.cost.loads += 1;
        Ok(())
    }

    /// Handles a failed statement: the observation continues after a restart, and the time of a timeout counts as
    /// unobserved.
    fn or_recover(&mut self, outcome: engine::Result<()>) -> std::result::Result<(), Measured> {
        let Err(error) = outcome else {
            return Ok(());
        };
        if error.kind == ErrorKind::Unreachable {
            let at_s = self.begun.elapsed().as_secs_f64();
            self.rates.interrupt(at_s);
            self.cost.restarts += 1;
            self.wait_for_server(&error)?;
        } else {
            self.cost.fail(error.message);
        }
        self.coverage.record_failure(Instant::now());
        Ok(())
    }

    fn wait_for_server(&mut self, error: &TargetError) -> std::result::Result<(), Measured> {
        let since = Instant::now();
        while self.server.reconnect().is_err() {
            if self.context.stop.load(Ordering::Relaxed) {
                return Err(Measured::Interrupted);
            }
            if since.elapsed() >= RESTART_MAX {
                return Err(Measured::Broken(error.message.clone()));
            }
            std::thread::sleep(RETRY);
        }
        Ok(())
    }
}

/// A server that is gone ends the observation; one that refuses a statement does not.
fn refused<T>(outcome: engine::Result<T>) -> std::result::Result<engine::Result<T>, Measured> {
    match outcome {
        Err(error) if error.kind == ErrorKind::Unreachable => Err(Measured::Broken(error.message)),
        answered => Ok(answered),
    }
}
