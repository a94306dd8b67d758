//! Assignment of streams to lanes, lanes to workers, and memory to both.

use super::buffers::PAGE_BYTES;
use super::error::{EngineError, Operation};
use super::ring::ENTRIES_MAX;
use crate::run::Run;

pub(crate) const STREAMS_MAX: usize = 4096;

/// I/Os that share one limit of I/Os in flight: those of one SD, or all when SDs are concatenated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LanePlan {
    pub limit: u32,
    pub streams: Vec<usize>,
    /// Bytes of a read buffer and of a write buffer; 0 without such I/Os.
    pub buffer_bytes: [usize; 2],
}

impl LanePlan {
    pub fn slot_bytes(&self) -> usize {
        self.buffer_bytes[0] + self.buffer_bytes[1]
    }

    pub fn buffer_start(&self, operation: Operation) -> usize {
        match operation {
            Operation::Read => 0,
            Operation::Write => self.buffer_bytes[0],
        }
    }
}

/// Lanes of each worker. One SD belongs to one worker, so that nothing is shared during the run.
pub(crate) fn workers(run: &Run, workers_max: usize) -> Result<Vec<Vec<LanePlan>>, EngineError> {
    let lanes = lanes(run)?;
    // Shares over all SDs need one worker that sees all of them.
    let count = if run.rate.is_controlled() {
        1
    } else {
        workers_max.clamp(1, lanes.len().max(1))
    };
    let mut workers: Vec<Vec<LanePlan>> = vec![Vec::new(); count];
    for (index, lane) in lanes.into_iter().enumerate() {
        workers[index % count].push(lane);
    }
    for lanes in &workers {
        let places: u64 = lanes.iter().map(|lane| u64::from(lane.limit)).sum();
        let limit = u64::from(ENTRIES_MAX);
        if places > limit {
            let what = "I/Os in flight on one worker";
            return Err(EngineError::too_many(run, places, what, limit));
        }
    }
    Ok(workers)
}

fn lanes(run: &Run) -> Result<Vec<LanePlan>, EngineError> {
    if run.streams.is_empty() {
        let what = "it has no streams; give it a wd= and an sd=";
        return Err(EngineError::unusable(run, what));
    }
    let (count, limit) = (run.streams.len() as u64, STREAMS_MAX as u64);
    if count > limit {
        return Err(EngineError::too_many(run, count, "streams", limit));
    }
    if let Some(limit) = run.threads_shared {
        let all = (0..run.streams.len()).collect();
        return Ok(vec![lane(run, limit, all)]);
    }
    if let Some(stream) = run.streams.iter().find(|stream| stream.storage.len() != 1) {
        let what = format!(
            "WD {} works on several SDs as one without a common threads=; add threads= to the rd",
            stream.workload
        );
        return Err(EngineError::unusable(run, what));
    }
    let of = |sd: usize| -> Vec<usize> {
        (0..run.streams.len())
            .filter(|stream| run.streams[*stream].storage[0] == sd)
            .collect()
    };
    Ok((0..run.storage.len())
        .map(|sd| lane(run, run.storage[sd].threads, of(sd)))
        .filter(|lane| !lane.streams.is_empty())
        .collect())
}

fn lane(run: &Run, limit: u32, streams: Vec<usize>) -> LanePlan {
    let of = |wanted: fn(f64) -> bool| {
        let sizes = streams.iter().map(|stream| &run.streams[*stream]);
        let sizes = sizes.filter(|stream| wanted(stream.read_pct));
        let largest = sizes.map(|stream| stream.size_bytes_max()).max();
        (largest.unwrap_or(0) as usize).next_multiple_of(PAGE_BYTES)
    };
    let reads = of(|read_pct| read_pct > 0.0);
    let writes = of(|read_pct| read_pct < 100.0);
    let mut sds = streams
        .iter()
        .flat_map(|stream| &run.streams[*stream].storage);
    let is_proven = sds.any(|sd| run.storage[*sd].content.validation.is_some());
    LanePlan {
        limit: limit.max(1),
        // Validated writes are also read.
        buffer_bytes: [if is_proven { reads.max(writes) } else { reads }, writes],
        streams,
    }
}
