//! Procedure of a point: jobs are driven while host and engine are sampled, and the results become a point.

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

pub struct Observation<'a> {
    context: &'a RunContext<'a>,
    nodes: &'a Nodes,
    site: u32,
    blank: Point,
    stopwatch: Stopwatch,
    /// The window begins when the first job enters it, not when the last one has ramped up.
    is_timed: bool,
}

/// Result of a drive, with the time after its last job.
pub struct Driven {
    pub outcome: Outcome,
    /// Time of the steps after the last job that belong to the drive.
    pub closing: Duration,
    pub counters: Counters,
    /// Operations per operation of the driver.
    pub operations_scale: u64,
    pub failure: Option<Remark>,
}

impl From<Outcome> for Driven {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            closing: Duration::ZERO,
            counters: Counters::default(),
            operations_scale: 1,
            failure: None,
        }
    }
}

/// A measured point before it is finished: its figures, reasons and notes.
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
    /// Observation of a point that lacks only its figures; it begins now.
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

    #[must_use]
    pub fn since(self, stopwatch: Stopwatch) -> Self {
        Self { stopwatch, ..self }
    }

    /// Lets the window begin when its first job enters it, not when the last one has ramped up.
    #[must_use]
    pub fn timed(self, is_timed: bool) -> Self {
        Self { is_timed, ..self }
    }

    /// Observes other databases than the point's target, in the server of target `site`.
    #[must_use]
    pub fn on(self, nodes: &'a Nodes, site: u32) -> Self {
        Self {
            nodes,
            site,
            ..self
        }
    }

    /// Drives jobs while host and engine are sampled.
    pub fn drive(
        self,
        drive: impl FnOnce(&Start<'_>) -> Result<Driven, Measured>,
    ) -> Result<Observed<'a>, Measured> {
        let context = self.context;
        // In slices, samples of machine and server cover both sides of a study.
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
        let mut figures = figures_of(
            &outcome,
            driven.closing,
            operations,
            &used,
            is_inside,
            counters,
        );
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
        checks::blame_driver(
            &mut point,
            &outcome,
            &used,
            context.interval,
            &context.validity,
        );
        if let Some(side) = context.side {
            let slices = side.slices();
            point
                .reasons
                .extend(checks::slices_too_short(&outcome, slices));
            point.notes.push(checks::in_slices(slices));
            let is_beside = side.tables() == Tables::Beside;
            point
                .notes
                .extend(is_beside.then_some(Remark::TablesSeparate));
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

/// The engine's own statistics of its I/O: of a server as sampled, of an embedded engine from its counters and those
/// of its sessions.
fn engine_io(nodes: &Nodes, profile: &WaitProfile, counters: &Counters) -> Vec<EngineIo> {
    profile.engine_io().unwrap_or_else(|| {
        let counted = nodes.first().file_io(counters);
        counted.iter().map(EngineIo::from).collect()
    })
}

impl Observed<'_> {
    /// The point, with its bottleneck; its figures must be complete.
    pub fn finish(self) -> Point {
        let (context, outcome, used) = (self.context, self.outcome, self.used);
        let all = outcome.total();
        let watch = &context.samplers[self.site as usize];
        // In slices, samples of machine and server cover both sides of a study.
        let (held_back, timed_events, times, samples, (devices, interfaces)) = match context.side {
            None => (
                (self.profile).held_back(&outcome, &self.point.figures, watch.device(), &used),
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
        // A single slice varies too much to be judged.
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
