//! Streams tables from a source into a store and verifies them.
//!
//! Every stream decodes, counts and hashes its rows and fills the store, while packing runs in parallel. A complete
//! table is read back and hashed again, and the sums of source and store are compared.

mod lifted_table;
mod table;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use archive::Remark;
use column_store::{Level, Store};
use engine::source::{Reader, Source, SourceTable};
use workload::loading::{Event, Observer};

use super::chosen::{LeftOut, Selection};
use super::memory::Grown;
use super::watch::{Watch, watched};
use super::{Chosen, ColumnarError, JOBS_MAX, Result, memory, unfit};
pub use lifted_table::{LiftedTable, compress_factor};
use table::Run;

#[derive(Debug, Clone, PartialEq)]
pub struct LiftOptions {
    pub chosen: Chosen,
    pub level: Level,
    /// Memory limit in bytes, with the overhead of populating and queries (default: most of what is available).
    pub memory_bytes: Option<u64>,
    /// Reading streams, and packing threads (default: one per processor; one stream if the source supports no more).
    pub jobs: Option<u32>,
}

pub struct Lifted {
    pub store: Store,
    /// Tables in the order in which they were populated.
    pub tables: Vec<LiftedTable>,
    pub jobs: u32,
    /// Time of the rows' snapshot.
    pub moment: &'static str,
    pub memory_bytes: u64,
    /// Time from the first row to the last one packed, for all tables.
    pub populate_took: Duration,
    pub grown: Grown,
    /// Tables and columns that are missing although nobody excluded them.
    pub left_out: Vec<LeftOut>,
    /// Reason why sizes in memory are unknown.
    pub doubt: Option<Remark>,
}

impl Lifted {
    pub fn is_valid(&self) -> bool {
        self.tables.iter().all(|table| table.reasons.is_empty())
    }

    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.digest.rows).sum()
    }

    /// Bytes of all tables in memory; `None` if the count is incomplete.
    pub fn bytes(&self) -> Option<u64> {
        self.tables.iter().map(|table| table.memory_bytes).sum()
    }

    /// Bytes of all tables on disk; `None` if one is unknown.
    pub fn disk_bytes(&self) -> Option<u64> {
        self.tables.iter().map(|table| table.disk_bytes).sum()
    }

    /// Size on disk ÷ size in memory, of all tables.
    pub fn compress_factor(&self) -> Option<f64> {
        compress_factor(&self.tables)
    }
}

/// Populates a store. After an error, nothing is left of the tables.
///
/// # Errors
/// When a name is unknown, a column is unsupported, the tables do not fit, source or store fails, or `stop` was set.
pub fn lift(
    source: &dyn Source,
    options: &LiftOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Lifted> {
    watched(source, stop, tell, |watch| {
        populate(source, options, stop, tell, Some(watch))
    })
}

/// Like [`lift`]; without a watch nothing is compared, and only sizes are reliable.
pub(super) fn populate(
    source: &dyn Source,
    options: &LiftOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
    watch: Option<&Watch>,
) -> Result<Lifted> {
    let Selection {
        tables,
        left_out,
        unfit,
    } = options.chosen.of(source.tables()?)?;
    if !unfit.is_empty() {
        tell(Event::Step(
            "looking for other values that no level can hold",
        ));
        return Err(unfit::refused(source, &tables, &unfit)?);
    }
    let memory_bytes = options.memory_bytes.or_else(memory::usable_bytes);
    let memory_bytes = memory_bytes.unwrap_or(u64::MAX);
    refuse_too_large(&tables, options.level, memory_bytes)?;
    let jobs = streams(source, options.jobs, tell);
    let mut readers: Vec<Box<dyn Reader>> = Vec::with_capacity(jobs as usize);
    for _ in 0..jobs {
        readers.push(source.open_reader()?);
    }
    let store = Store::open(options.level, memory_bytes)?;
    let not_in_force = store.not_in_force()?;
    let base_bytes = store.allocated_bytes()?;
    let mut run = Run {
        source,
        store: &store,
        unfit: options.chosen.unfit,
        jobs: options.jobs,
        stop,
        tell,
        watch,
        left_out,
    };
    let begun = Instant::now();
    let (outcome, grown) =
        memory::grown_by(|| store.file_bytes(), || run.tables(&mut readers, &tables));
    let mut done = outcome?;
    let populate_took = begun.elapsed();
    if watch.is_some() {
        done = run.verify(&mut readers, done)?;
    }
    let left_out = Selection {
        left_out: run.left_out,
        ..Selection::default()
    };
    if done.is_empty() {
        left_out.refuse_nothing()?;
    }
    let left_out = left_out.left_out;
    let mut tables: Vec<LiftedTable> = done.into_iter().map(|done| done.lifted).collect();
    let of_level = not_in_force.map(|why| Remark::LevelNotInForce {
        level: options.level.to_string(),
        why,
    });
    (tables.iter_mut()).for_each(|table| table.reasons.extend(of_level.clone()));
    let counted = tables.iter().filter_map(|table| table.memory_bytes).sum();
    let engine_bytes = store.allocated_bytes()?.saturating_sub(base_bytes);
    let doubt = memory::doubt(counted, engine_bytes, grown.left_bytes);
    if doubt.is_some() {
        tables
            .iter_mut()
            .for_each(|table| table.memory_bytes = None);
    }
    store.seal()?;
    Ok(Lifted {
        tables,
        jobs,
        moment: source.moment(),
        memory_bytes,
        populate_took,
        grown,
        left_out,
        doubt,
        store,
    })
}

/// An unknown size is not refused: the store fails when memory runs out.
fn refuse_too_large(tables: &[SourceTable], level: Level, memory_bytes: u64) -> Result<()> {
    let disk_bytes: u64 = tables.iter().filter_map(|table| table.disk_bytes).sum();
    let expected = level.expected_bytes(disk_bytes);
    if expected <= memory_bytes {
        return Ok(());
    }
    Err(ColumnarError::TooLarge {
        disk: memory::words(disk_bytes),
        expected: memory::words(expected),
        level,
        memory: memory::words(memory_bytes),
    })
}

fn streams(source: &dyn Source, requested: Option<u32>, tell: Observer<'_>) -> u32 {
    let Some(why) = source.one_stream() else {
        return requested.unwrap_or_else(processors).clamp(1, JOBS_MAX);
    };
    if requested > Some(1) {
        tell(Event::Note(&format!("reading with a single stream: {why}")));
    }
    1
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1))
}
