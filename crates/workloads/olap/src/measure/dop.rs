//! Degrees of parallelism inside one session: the sweep, and the degree of a point.

use archive::{Figures, Point, Remark};
use engine::Feature;
use lab::point::fingerprint;
use lab::{Measured, Nodes};

use super::points::PointContext;
use crate::Query;
use crate::work::Work;

/// Distinct degrees of a step's points: the requested ones, as far as the engine takes them. If none is requested, 1
/// stands for the target's default.
pub fn swept(dop: &[u32], target: &Nodes) -> Vec<u32> {
    let mut degrees: Vec<u32> = Vec::new();
    for requested in dop {
        let taken = taken(*requested, target);
        if !degrees.contains(&taken) {
            degrees.push(taken);
        }
    }
    if degrees.is_empty() { vec![1] } else { degrees }
}

/// Degree that the engine uses instead of the requested one.
fn taken(requested: u32, target: &Nodes) -> u32 {
    match target.lacks(Feature::ParallelStatement) {
        Some(_) => 1,
        None => requested.min(target.first().threads_max()),
    }
}

/// Sets the degree of a point for later sessions, if degrees are swept and the engine takes them.
pub fn set_degree(dop: &[u32], target: &Nodes, degree: u32) -> engine::Result<()> {
    let can = target.lacks(Feature::ParallelStatement).is_none();
    target.set_threads((!dop.is_empty() && can).then_some(degree))
}

impl PointContext<'_> {
    /// Measures at the degree of the point and then resets it to the target's.
    pub fn at_degree(&self, measure: impl FnOnce() -> Measured) -> Measured {
        let set = set_degree(&self.olap.dop, self.target(), self.key.threads);
        let measured = match set {
            Ok(()) => measure(),
            Err(error) => self.failed(error.into()),
        };
        match self.target().set_threads(None) {
            Ok(()) => measured,
            Err(error) => self.failed(error.into()),
        }
    }

    /// Requested degrees that the engine maps to that of this point.
    fn requested_degrees(&self) -> impl Iterator<Item = u32> {
        let requested = self.olap.dop.iter().copied();
        requested.filter(|requested| taken(*requested, self.target()) == self.key.threads)
    }

    /// Adds a note if the engine uses another degree than the requested one.
    pub fn note_degree(&self, point: &mut Point) {
        let target = self.target();
        let requested: Vec<u32> = self.requested_degrees().collect();
        point.work.threads_requested = requested.first().copied();
        if requested
            .iter()
            .any(|requested| *requested != self.key.threads)
        {
            point
                .notes
                .push(match target.lacks(Feature::ParallelStatement) {
                    Some(why) => Remark::ThreadsLacking { requested, why },
                    None => Remark::ThreadsAtMost {
                        requested,
                        threads_max: target.first().threads_max(),
                    },
                });
        }
    }

    /// Adds the query's plan, and in a sweep the number of its workers.
    pub fn note_plan(&self, work: &Work, query: &Query, point: &mut Point) -> crate::Result<()> {
        match work.plan(query.number)? {
            Ok(plan) => point.work.plan = plan.map(|text| fingerprint(&[&text])),
            Err(why) => point.notes.push(Remark::PlanUnknown { why }),
        }
        if self.olap.dop.is_empty() {
            return Ok(());
        }
        match work.workers(query.number)? {
            Ok(workers) => point.figures.workers = workers.map(f64::from),
            Err(why) => point.notes.push(Remark::WorkersUnknown { why }),
        }
        match point.figures.workers {
            Some(0.0) => point.notes.push(Remark::Serial),
            Some(_) => point.notes.push(Remark::WorkersCountedApart),
            None => {}
        }
        Ok(())
    }

    pub fn busy_cores(&self, figures: &Figures) -> Option<f64> {
        figures.elapsed_s.filter(|s| *s >= archive::CPU_S_MIN)?;
        let of_process = figures
            .process_cpu_pct
            .filter(|_| self.target().is_embedded);
        let of_machine = || {
            let threads = f64::from(self.context.hardware_threads?);
            figures.cpu_pct_avg.map(|pct| pct * threads)
        };
        Some(of_process.or_else(of_machine)? / 100.0)
    }
}
