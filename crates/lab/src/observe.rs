//! The recipe of a point: jobs are driven while host and engine are watched, and what was seen becomes a point.

pub mod at_work;

use std::sync::Arc;
use std::time::Duration;

use archive::{ByOperation, EngineIo, HeldBack, Histograms, Point, Remark};
use engine::Counters;
use host::{HostUse, Stopwatch};
use load::Outcome;

use crate::alternate::Tables;
use crate::checks;
use crate::context::RunContext;
use crate::done::Measured;
use crate::nodes::Nodes;
use crate::point::{figures_of, joined, sample, series, steady};
use crate::requests;
use crate::session_sampler::SessionSampler;
use crate::start::Start;
use crate::wait_profile::WaitProfile;

/// A point that is about to be measured.
pub struct Observation<'a> {
    context: &'a RunContext<'a>,
    /// The databases whose sessions are watched.
    nodes: &'a Nodes,
    /// Number of the target whose server and device they are on.
    site: u32,
    /// The point as far as it is known, without figures.
    blank: Point,
    stopwatch: Stopwatch,
    /// Whether it begins when the first job enters its window, and not when the last one has ramped up.
    is_timed: bool,
}

/// What was driven, and what belongs to its time behind the last job.
pub struct Driven {
    pub outcome: Outcome,
    /// How long what is timed with them took behind the last of them.
    pub closing: Duration,
    /// What the sessions counted themselves.
    pub counters: Counters,
    /// Operations that each operation of the driver stands for.
    pub operations_scale: u64,
    /// What is wrong beside what the outcome says.
    pub failure: Option<Remark>,
}

/// A point that was measured, before it is finished: its figures, and what is wrong or to be known by them.
pub struct Observed<'a> {
    pub outcome: Outcome,
    pub point: Point,
    context: &'a RunContext<'a>,
    site: u32,
    stopwatch: Stopwatch,
    used: HostUse,
    profile: WaitProfile,
}

impl<'a> Observation<'a> {
    /// Of a point that has everything but what was measured; it begins now.
    pub fn of(context: &'a RunContext<'a>, blank: Point) -> Self {
        let site = blank.key.target;
        Self {
            context,
            nodes: &context.targets[site as usize],
            site,
            stopwatch: Stopwatch::start(Arc::clone(&context.clock)),
            blank,
            is_timed: false,
        }
    }

    /// The same, which began before.
    #[must_use]
    pub fn since(self, stopwatch: Stopwatch) -> Self {
        Self { stopwatch, ..self }
    }

    /// Whose window begins when its first job enters it, and not when the last one has ramped up.
    #[must_use]
    pub fn timed(self, is_timed: bool) -> Self {
        Self { is_timed, ..self }
    }

    /// Of databases beside those of the point's target, in the server of another one.
    #[must_use]
    pub fn on(self, nodes: &'a Nodes, site: u32) -> Self {
        Self {
            nodes,
            site,
            ..self
        }
    }

    /// Drives under the eyes of host and engine.
    ///
    /// # Errors
    /// What became of a drive that did not come to its end.
    pub fn drive(
        self,
        drive: impl FnOnce(&Start<'_>) -> Result<Driven, Measured>,
    ) -> Result<Observed<'a>, Measured> {
        let context = self.context;
        // What machine and server are seen doing is done for both sides of a study in slices.
        let is_alone = context.side.is_none();
        let watcher = is_alone
            .then(|| SessionSampler::seen_by(&self.nodes.nodes, context.waits_seen.clone()))
            .flatten();
        let start = Start::new(context, self.site, watcher.as_ref(), self.is_timed);
        let driven = {
            let _drive = tracing::info_span!("drive").entered();
            drive(&start)?
        };
        let outcome = driven.outcome;
        Measured::cut_short(outcome.interrupted, outcome.fatal.as_deref())?;
        let (used, counters) = if is_alone {
            start.finish(driven.counters)
        } else {
            (HostUse::default(), driven.counters)
        };
        drop(start);
        let profile = WaitProfile::of(&outcome, watcher.map(SessionSampler::finish));
        let engine_io = if is_alone {
            engine_io(self.nodes, &profile, &counters)
        } else {
            Vec::new()
        };
        let operations = outcome.operations() * driven.operations_scale;
        let is_inside = self.nodes.first().server_process().is_none();
        let used_by = (&used, is_inside);
        let mut figures = figures_of(&outcome, driven.closing, operations, used_by, counters);
        profile.write_into(&mut figures);
        let mut point = self.blank;
        point.engine_io = engine_io;
        point
            .reasons
            .extend(checks::reasons(&outcome, &context.validity));
        point.reasons.extend(driven.failure);
        point
            .notes
            .extend(checks::notes(&outcome, &figures, &context.validity));
        point
            .notes
            .extend(checks::drive_note(&outcome).filter(|_| !is_inside));
        let limits = (context.interval, &context.validity);
        checks::blame_driver(&mut point, &outcome, &used, limits);
        if let Some(side) = context.side {
            let slices = side.slices();
            point
                .reasons
                .extend(checks::slices_too_short(&outcome, slices));
            point.notes.push(checks::in_slices(slices));
            let is_beside = side.tables() == Tables::Beside;
            point
                .notes
                .extend(is_beside.then_some(Remark::TablesBeside));
        }
        point.figures = figures;
        Ok(Observed {
            outcome,
            point,
            context,
            site: self.site,
            stopwatch: self.stopwatch,
            used,
            profile,
        })
    }
}

/// The engine's own account of its I/O: a server's as it was watched, of an embedded one what its sessions and it counted.
fn engine_io(nodes: &Nodes, profile: &WaitProfile, counters: &Counters) -> Vec<EngineIo> {
    profile.engine_io().unwrap_or_else(|| {
        let counted = nodes.first().file_io(counters);
        counted.iter().map(EngineIo::from).collect()
    })
}

impl Observed<'_> {
    /// The point, with what held it back; its figures must be complete.
    pub fn finish(self) -> Point {
        let (context, outcome, used) = (self.context, self.outcome, self.used);
        let all = outcome.total();
        let watch = &context.samplers[self.site as usize];
        // What machine and server were seen doing was done for both sides of a study in slices.
        let (held_back, timed_events, times, samples, (devices, interfaces)) = match context.side {
            None => (
                (self.profile).held_back(&outcome, &self.point.figures, (watch.device(), &used)),
                self.profile.top(),
                requests::below_database(&used),
                series(&used.samples, &outcome, context.interval),
                (used.devices.clone(), used.interfaces.clone()),
            ),
            Some(_) => (
                HeldBack::default(),
                Vec::new(),
                Vec::new(),
                outcome.intervals.iter().map(sample).collect(),
                Default::default(),
            ),
        };
        // A slice scatters too much to be judged alone.
        let per_interval = context.side.map_or(1, |side| {
            let slice = side.slices().slice;
            context.interval.as_nanos().div_ceil(slice.as_nanos()) as usize
        });
        let mut notes = self.point.notes;
        notes.extend(checks::host_notes(&used));
        notes.extend(self.profile.note());
        notes.extend(checks::clock_note(&self.stopwatch));
        Point {
            started_at: self.stopwatch.started_at(),
            steady: steady(&joined(&outcome.interval_rates_per_s(), per_interval)),
            timed_events,
            by_operation: ByOperation {
                times,
                ..self.point.by_operation
            },
            held_back,
            samples,
            devices,
            interfaces,
            notes,
            histograms: Histograms::of(&all.service, &all.response),
            ..self.point
        }
    }
}
