//! What a plan is going to write, foretold before any target is opened.

use crate::workload::Registry;
use crate::{Plan, Result};

/// Bytes, at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Volume {
    /// Written in all, logs included.
    pub written_bytes: u64,
    /// Taken at once.
    pub room_bytes: u64,
}

/// What steps write in one repetition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// By their points; the room is that of the largest.
    pub points: Volume,
    /// To each node, by tables that are loaded once and stay.
    pub loads_bytes: u64,
}

impl Written {
    /// Adds a point, whose room is free again behind it.
    pub fn add(&mut self, point: Volume) {
        let points = &mut self.points;
        points.written_bytes = points.written_bytes.saturating_add(point.written_bytes);
        points.room_bytes = points.room_bytes.max(point.room_bytes);
    }
}

/// What one target is asked to write by a plan; the same for each node of a cluster together.
///
/// It is the most that can be: what the target turns out to lack is in it.
///
/// # Errors
/// A test or size that does not exist.
pub fn foretell(
    plan: &Plan,
    workloads: &Registry,
    engine: &str,
    nodes: u32,
    fresh_each_time: bool,
) -> Result<Volume> {
    let mut all = Written::default();
    for (at, workload) in workloads.all().enumerate() {
        let steps = plan.step.iter();
        let steps = steps.filter(|step| workloads.position(&step.uses) == Some(at));
        let written = workload.written(&steps.collect::<Vec<_>>(), engine)?;
        all.add(written.points);
        all.loads_bytes = all.loads_bytes.saturating_add(written.loads_bytes);
    }
    let loads = all.loads_bytes.saturating_mul(u64::from(nodes));
    let repeat = u64::from(plan.repeat);
    let loaded = if fresh_each_time { repeat } else { 1 };
    Ok(Volume {
        written_bytes: (all.points.written_bytes.saturating_mul(repeat))
            .saturating_add(loads.saturating_mul(loaded)),
        room_bytes: loads.saturating_add(all.points.room_bytes),
    })
}
