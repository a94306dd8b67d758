//! Lifted tables as targets of a run: one engine a level, because targets of one engine are nodes of a cluster.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use archive::TargetRecord;

use super::store::{MEMORY_BYTES_MIN, Store, available};
use crate::level::Level;
use duckdb::library::library;
use duckdb::set_up::{SetUp, THREADS_MAX};
use engine::{Cooled, ErrorKind, Feature, Result, Session, Target, TargetError, TargetUrl};
use engine::{Engine, EngineInfo, Reach};

/// Tables of another target of the run, lifted at a level.
pub struct LiftedTables(pub Level);

/// Settings of a URL, with their meaning.
const SETTINGS: &[(&str, &str)] = &[
    (
        "threads",
        "threads of the pool shared by all sessions (default: one per core)",
    ),
    (
        "memory_limit_mb",
        "memory in MB for tables and queries (default: 80 % of the available memory)",
    ),
];

/// The scheme of a level's targets.
fn scheme(level: Level) -> &'static str {
    match level {
        Level::None => "duckdb+none",
        Level::QueryLow => "duckdb+query-low",
        Level::QueryHigh => "duckdb+query-high",
        Level::CapacityLow => "duckdb+capacity-low",
        Level::CapacityHigh => "duckdb+capacity-high",
    }
}

/// URLs of targets of these levels, each with so much memory and so many threads.
pub fn urls(levels: &[Level], memory_bytes: Option<u64>, threads: Option<u32>) -> Vec<TargetUrl> {
    let url = |level: &Level| {
        let memory = memory_bytes.map(|bytes| ("memory_limit_mb", (bytes / 1_000_000).to_string()));
        let threads = threads.map(|threads| ("threads", threads.to_string()));
        let settings = memory.into_iter().chain(threads);
        TargetUrl {
            scheme: scheme(*level).to_owned(),
            path: String::new(),
            settings: settings
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
            password: None,
            sql_of: None,
        }
    };
    levels.iter().map(url).collect()
}

impl Engine for LiftedTables {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: scheme(self.0),
            title: match self.0 {
                Level::None => "column store: uncompressed columns",
                Level::QueryLow => "column store: numbers packed",
                Level::QueryHigh => "column store: numbers and texts packed",
                Level::CapacityLow => "column store: Parquet in memory, zstd 1",
                Level::CapacityHigh => "column store: Parquet in memory, zstd 9",
            },
            reach: Reach::Replica,
            settings: SETTINGS,
            ..EngineInfo::EMBEDDED
        }
    }

    fn version(&self) -> std::result::Result<String, String> {
        let version = library().map(|loaded| loaded.version.clone());
        version.map_err(|error| error.message)
    }

    fn check(&self, url: &TargetUrl) -> Result<()> {
        if url.path.is_empty() {
            let memory_bytes = SetUp::from_url(url)?
                .memory_limit_mb
                .map(|mb| mb * 1_000_000);
            return match memory_bytes.filter(|bytes| *bytes < MEMORY_BYTES_MIN) {
                None => Ok(()),
                Some(_) => Err(TargetError::statement(format!(
                    "memory_limit_mb of {url} is too small; the column store needs {} to pack its tables",
                    MEMORY_BYTES_MIN / 1_000_000
                ))),
            };
        }
        Err(TargetError::statement(format!(
            "{url} contains a path, but a column store has none: it is populated from another target of the run"
        )))
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        let set_up = SetUp::from_url(url)?;
        if let Some(message) = available() {
            return Err(TargetError::new(ErrorKind::NotInstalled, message));
        }
        Ok(Arc::new(Replica {
            level: self.0,
            url: url.to_string(),
            memory_bytes: set_up.memory_limit_mb.map(|mb| mb * 1_000_000),
            state: Mutex::new(State {
                threads: set_up.threads,
                filled: None,
            }),
        }))
    }
}

/// A target whose tables are those of another one, lifted.
pub struct Replica {
    level: Level,
    url: String,
    memory_bytes: Option<u64>,
    state: Mutex<State>,
}

struct State {
    threads: Option<u32>,
    /// The tables, and the same as a target.
    filled: Option<(Arc<Store>, Arc<dyn Target>)>,
}

impl Replica {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tables(&self) -> Result<Arc<dyn Target>> {
        let state = self.state();
        let tables = state.filled.as_ref().map(|(_, target)| Arc::clone(target));
        tables.ok_or_else(|| {
            TargetError::statement(
                "the column store is empty; first populate it by a step with use = \"columnar\" and do = \"lift\"",
            )
        })
    }
}

impl Replica {
    /// A target as a copy of another one's tables; `None` where it has tables of its own.
    pub fn of(target: &dyn Target) -> Option<&Self> {
        target.as_any()?.downcast_ref()
    }

    /// How hard they are compressed.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Memory for them in bytes; as much as is available when nothing was said.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.memory_bytes
    }

    pub fn is_filled(&self) -> bool {
        self.state().filled.is_some()
    }

    /// Takes the tables that were lifted; what was there before is gone when its last session is.
    pub fn fill(&self, store: Store) -> Result<()> {
        let target = store.target();
        let mut state = self.state();
        if let Some(threads) = state.threads {
            target.set_threads(threads)?;
        }
        state.filled = Some((Arc::new(store), target));
        Ok(())
    }

    pub fn store(&self) -> Option<Arc<Store>> {
        let state = self.state();
        state.filled.as_ref().map(|(store, _)| Arc::clone(store))
    }

    /// Gives the memory of what was there back, as soon as its last session is gone.
    pub fn empty(&self) {
        self.state().filled = None;
    }
}

impl Target for Replica {
    fn record(&self) -> TargetRecord {
        let tables = self.tables().map(|tables| tables.record());
        let mut record = tables.unwrap_or_else(|_| TargetRecord {
            name: String::new(),
            url: String::new(),
            engine: "DuckDB".into(),
            engine_version: library().map_or(String::new(), |l| l.version.clone()),
            nodes: 1,
            device: None,
            settings: BTreeMap::new(),
            rights_missing: None,
        });
        record.name = scheme(self.level).into();
        record.url = self.url.clone();
        let level = format!("{}: {}", self.level, self.level.meaning());
        record.settings.insert("lifted_level".into(), level);
        record
    }

    fn lacks(&self, feature: Feature) -> Option<String> {
        match feature {
            Feature::ParallelStatement => None,
            _ => Some("the column store is a read-only copy in memory".into()),
        }
    }

    fn open_session(&self) -> Result<Box<dyn Session>> {
        self.tables()?.open_session()
    }

    fn cool(&self) -> Result<Cooled> {
        Ok(Cooled::Lukewarm(
            "the column store is always in memory".into(),
        ))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn threads(&self) -> u32 {
        let threads = self.state().threads;
        threads.unwrap_or_else(|| {
            let processors = std::thread::available_parallelism();
            processors.map_or(1, |n| u32::try_from(n.get()).unwrap_or(1))
        })
    }

    fn threads_max(&self) -> u32 {
        THREADS_MAX
    }

    fn set_threads(&self, threads: u32) -> Result<()> {
        if !(1..=THREADS_MAX).contains(&threads) {
            return Err(TargetError::statement(format!(
                "{threads} threads are out of range; choose 1 to {THREADS_MAX}"
            )));
        }
        let mut state = self.state();
        if let Some((_, target)) = &state.filled {
            target.set_threads(threads)?;
        }
        state.threads = Some(threads);
        Ok(())
    }

    fn storage_of(&self, table: &str) -> Result<BTreeMap<String, u64>> {
        let state = self.state();
        let Some((store, _)) = &state.filled else {
            return Ok(BTreeMap::new());
        };
        let mut segments: BTreeMap<String, u64> = BTreeMap::new();
        for codec in store.codecs(table)? {
            *segments.entry(codec.codec).or_default() += codec.segments;
        }
        Ok(segments)
    }
}
