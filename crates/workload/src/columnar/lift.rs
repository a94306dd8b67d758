//! Streams tables from a source into a store, and proves that they arrived.
//!
//! Every stream decodes, counts and hashes its rows and fills the store itself; packing goes on beside. When a
//! table is whole, it is read back and hashed again, and source and store are asked for the same sums.

mod table;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use target::lifted::{Level, Store};
use target::source::{Digest, Reader, Source, SourceTable};

use super::{Chosen, ColumnarError, JOBS_MAX, Result, memory};
use crate::loading::{Event, Observer};

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct LiftOptions {
    /// Which tables and columns.
    pub chosen: Chosen,
    /// How hard they are compressed.
    pub level: Level,
    /// Bytes that they may take, with what lifting and queries need; most of what is available when nothing is
    /// said.
    pub memory_bytes: Option<u64>,
    /// Streams; one for each processor when nothing is said, one where the source cannot have more.
    pub jobs: Option<u32>,
}

/// Tables in memory.
pub struct Lifted {
    /// Where they are.
    pub store: Store,
    /// What is known of each, in the order in which they were lifted.
    pub tables: Vec<LiftedTable>,
    /// Streams that read.
    pub jobs: u32,
    /// Of which moment the rows are.
    pub moment: &'static str,
    /// Bytes that they may take.
    pub memory_bytes: u64,
    /// Time from the first row to the last one packed, of all tables.
    pub populate_took: Duration,
    /// Most memory that the process had beyond what it had before; `None` where the kernel does not tell.
    pub memory_bytes_peak: Option<u64>,
}

/// What is known of one lifted table.
#[derive(Debug, Clone, PartialEq)]
pub struct LiftedTable {
    /// Schema and name in the source.
    pub label: String,
    /// Its name in the store.
    pub name: String,
    /// Rows and their digest, as they came out of the source.
    pub digest: Digest,
    /// Bytes that are allocated for it.
    pub memory_bytes: u64,
    /// Bytes of its rows on the source's disk.
    pub disk_bytes: Option<u64>,
    /// Whether a size of so few pieces of memory says anything.
    pub is_measurable: bool,
    /// Time until it was whole and packed.
    pub populate_took: Duration,
    /// Time that reading back and comparing took.
    pub verify_took: Duration,
    /// How its columns are kept: codec → columns, read back from the engine.
    pub codecs: BTreeMap<String, Vec<String>>,
    /// What became of columns that are not kept as they are.
    pub notes: Vec<String>,
    /// Why it is not valid; empty when it is.
    pub reasons: Vec<String>,
}

impl LiftedTable {
    /// How many times less it takes than on disk; `None` where either size says nothing.
    pub fn compress_factor(&self) -> Option<f64> {
        let disk_bytes = self.disk_bytes.filter(|_| self.is_measurable)?;
        Some(disk_bytes as f64 / self.memory_bytes.max(1) as f64)
    }
}

impl Lifted {
    /// Whether every table is whole, right and kept as asked for.
    pub fn is_valid(&self) -> bool {
        self.tables.iter().all(|table| table.reasons.is_empty())
    }

    /// Rows of all tables.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.digest.rows).sum()
    }

    /// Bytes of all tables in memory.
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.memory_bytes).sum()
    }

    /// Bytes of all tables on disk; `None` where one is not known.
    pub fn disk_bytes(&self) -> Option<u64> {
        self.tables.iter().map(|table| table.disk_bytes).sum()
    }
}

/// Lifts tables. When it fails, nothing of them is left.
///
/// # Errors
/// When a name is none, a column cannot be held, the tables do not fit, source or store fails, or `stop` was set.
pub fn lift(
    source: &dyn Source,
    options: &LiftOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
) -> Result<Lifted> {
    populate(source, options, stop, tell, true)
}

/// As [`lift`]; without a comparison nothing but sizes can be believed.
pub(super) fn populate(
    source: &dyn Source,
    options: &LiftOptions,
    stop: &AtomicBool,
    tell: Observer<'_>,
    is_compared: bool,
) -> Result<Lifted> {
    let tables = options.chosen.of(source.tables()?)?;
    refuse_unholdable(&tables)?;
    let memory_bytes = options.memory_bytes.or_else(memory::usable_bytes);
    let memory_bytes = memory_bytes.unwrap_or(u64::MAX);
    refuse_too_large(&tables, options.level, memory_bytes)?;
    let jobs = streams(source, options.jobs, tell);
    let mut readers: Vec<Box<dyn Reader>> = Vec::with_capacity(jobs as usize);
    for _ in 0..jobs {
        readers.push(source.open_reader()?);
    }
    let store = Store::open(options.level, memory_bytes)?;
    let run = table::Run {
        source,
        store: &store,
        stop,
        tell,
    };
    let begun = Instant::now();
    let (outcome, peak) = memory::peak_of(
        || store.file_bytes(),
        || {
            let mut lifted = Vec::with_capacity(tables.len());
            for (place, table) in tables.iter().enumerate() {
                lifted.push(run.table(&mut readers, table)?);
                tell(Event::Parts {
                    done: place as u32 + 1,
                    of: tables.len() as u32,
                    rows: lifted
                        .iter()
                        .map(|table: &LiftedTable| table.digest.rows)
                        .sum(),
                });
            }
            Ok::<_, ColumnarError>(lifted)
        },
    );
    let mut lifted = outcome?;
    let populate_took = begun.elapsed();
    if is_compared {
        run.verify(&mut readers, &mut lifted, &tables)?;
    }
    store.seal()?;
    Ok(Lifted {
        tables: lifted,
        jobs,
        moment: source.moment(),
        memory_bytes,
        populate_took,
        memory_bytes_peak: peak,
        store,
    })
}

/// Refuses the first column that no level can hold.
pub(super) fn refuse_unholdable(tables: &[SourceTable]) -> Result<()> {
    for table in tables {
        if let Some((column, why)) = table.unholdable().next() {
            return Err(ColumnarError::Unholdable {
                column: format!("{}.{}", table.name, column.name),
                declared: column.declared.clone(),
                why: why.to_owned(),
            });
        }
    }
    Ok(())
}

/// What is not known is not refused: the store ends with an error when its memory does.
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

fn streams(source: &dyn Source, asked: Option<u32>, tell: Observer<'_>) -> u32 {
    let Some(why) = source.one_stream() else {
        return asked.unwrap_or_else(processors).clamp(1, JOBS_MAX);
    };
    if asked > Some(1) {
        tell(Event::Note(&format!("reading with one stream: {why}")));
    }
    1
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1))
}
