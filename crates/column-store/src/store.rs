//! The tables of a copy, and the memory that they take.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::left_out::{LeftOut, beside};
use super::memory_file::MemoryFile;
use crate::level::Level;
use duckdb::explain::explain;
use duckdb::instance::{Instance, MemoryAttachment};
use duckdb::library::library;
use duckdb::set_up::SetUp;
use duckdb::source::{DIALECT, DuckDbSource, type_of};
use duckdb::target::DuckDbTarget;
use engine::catalogue::{Source, SourceTable};
use engine::{Result, Target, TargetError};

/// Smallest limit of its memory with which the engine packs anything.
pub const MEMORY_BYTES_MIN: u64 = 64_000_000;

/// Why there can be no store here; `None` when there can.
pub fn available() -> Option<String> {
    library().err().map(|error| error.message)
}

/// How a column is kept, read back from the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Codec {
    pub column: String,
    /// Codec in the engine's own words.
    pub codec: String,
    /// Segments that are kept so.
    pub segments: u64,
    /// Those of them that wait to be packed.
    pub unpacked: u64,
}

pub struct Store {
    pub(super) instance: Arc<Instance>,
    pub level: Level,
    /// Files of each table; empty at the levels that need none.
    files: Mutex<BTreeMap<String, Vec<MemoryFile>>>,
    /// Rows that newer ones replace.
    pub(super) left_out: Mutex<BTreeMap<String, LeftOut>>,
    /// Numbers for the tables in which rows wait for their file.
    pub(super) staged: AtomicU32,
}

impl Store {
    /// An empty store, whose tables together with what queries need may take so many bytes.
    pub fn open(level: Level, memory_bytes: u64) -> Result<Self> {
        let set_up = SetUp {
            memory_limit_mb: Some(memory_bytes.max(MEMORY_BYTES_MIN) / 1_000_000),
            ..SetUp::default()
        };
        let mut opening = vec!["SET GLOBAL enable_external_file_cache = false".to_owned()];
        opening.extend(settings(level).map(str::to_owned));
        let database = match level.zstd() {
            Some(_) => "memory",
            None => {
                opening.push("ATTACH ':memory:' AS lifted (COMPRESS)".into());
                "lifted"
            }
        };
        let attachment = MemoryAttachment { opening, database };
        let instance = Instance::open_shelf(library()?, set_up, attachment)?;
        Ok(Self {
            instance: Arc::new(instance),
            level,
            files: Mutex::default(),
            left_out: Mutex::default(),
            staged: AtomicU32::new(0),
        })
    }

    /// The level that was requested.
    pub fn level(&self) -> Level {
        self.level
    }

    pub fn title(&self) -> String {
        format!("DuckDB {}", self.instance.loaded.version)
    }

    /// Name of the engine in the library's files, whose SQL queries the tables.
    pub fn engine(&self) -> &'static str {
        "duckdb"
    }

    /// Begins a table, which so many are going to fill at the same time.
    ///
    /// Until it ends the engine has half as many threads of its own to pack with. More of them take statements away
    /// from those that fill, which then do nothing but ask whether they are done, on the same processors.
    ///
    /// # Errors
    /// When a column has no kind, or a table of the name is there.
    pub fn begin(&self, table: &SourceTable, writers: u32) -> Result<()> {
        self.instance.set_threads(Some((writers / 2).max(1)))?;
        if self.level.zstd().is_none() {
            self.run(&create(&table.name, table)?)?;
        }
        Ok(())
    }

    /// Packs what was committed; nothing at the levels whose writers do it themselves.
    pub fn pack(&self) -> Result<()> {
        match self.level.zstd() {
            None => self.run("CHECKPOINT lifted"),
            Some(_) => Ok(()),
        }
    }

    /// Packs until nothing becomes smaller. What was committed while something else was packed counts as packed
    /// for DuckDB, which then does nothing: only a change behind it makes it look again.
    fn pack_all(&self) -> Result<()> {
        let mut before_bytes = u64::MAX;
        loop {
            self.run(
                "CREATE OR REPLACE TABLE dbdyno_touched (n INTEGER); DROP TABLE dbdyno_touched",
            )?;
            self.pack()?;
            let now_bytes = self.allocated_bytes()?;
            if now_bytes >= before_bytes {
                return Ok(());
            }
            before_bytes = now_bytes;
        }
    }

    /// Ends a table, whose writers have finished. So many threads pack what is left; one for each processor when nothing is
    /// said. With one alone the same rows take the same memory every time: which columns share the engine's pieces of
    /// memory is up to the threads.
    pub fn finish(&self, table: &SourceTable, threads: Option<u32>) -> Result<()> {
        if self.level.zstd().is_none() {
            self.instance.set_threads(threads)?;
            let packed = self.pack_all();
            return packed.and(self.instance.set_threads(None));
        }
        self.instance.set_threads(None)?;
        let name = DIALECT.quoted(&table.name);
        match self.paths(&table.name) {
            // A table without rows has no file.
            None => self.run(&create(&table.name, table)?),
            Some(paths) => self.run(&format!(
                "CREATE VIEW {name} AS SELECT * FROM read_parquet([{paths}])"
            )),
        }
    }

    /// Gives a table's memory back, finished or not.
    pub fn remove(&self, table: &str) -> Result<()> {
        let name = DIALECT.quoted(table);
        let files = self.files().remove(table);
        match files {
            Some(_) => self.run(&format!(
                "DROP VIEW IF EXISTS {name}; DROP TABLE IF EXISTS {}",
                DIALECT.quoted(&beside(table))
            )),
            None => self.run(&format!("DROP TABLE IF EXISTS {name}")),
        }
    }

    /// Bytes that all tables take, as the engine or the kernel has allocated them. Everything that the engine counts is
    /// theirs when no statement is under way: long texts, for one, lie in blocks of their own.
    pub fn allocated_bytes(&self) -> Result<u64> {
        let of_engine = self.texts(
            "SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT::VARCHAR FROM duckdb_memory()",
        )?;
        let of_engine = of_engine.first().and_then(|row| row.first()?.parse().ok());
        let of_engine: u64 = of_engine.ok_or_else(|| {
            TargetError::statement("DuckDB does not report the size of its tables")
        })?;
        Ok(self.file_bytes() + of_engine)
    }

    /// Bytes of them that the kernel keeps as files, and does not count as this process's.
    pub fn file_bytes(&self) -> u64 {
        self.files().values().flatten().map(MemoryFile::bytes).sum()
    }

    /// Bytes of the finest piece of memory that the engine allocates: sizes of tables of a few such say nothing.
    pub fn grain_bytes(&self) -> u64 {
        match self.level.zstd() {
            Some(_) => 4096,
            None => 256 << 10,
        }
    }

    /// How the columns of a table are kept, read back from the engine.
    pub fn codecs(&self, table: &str) -> Result<Vec<Codec>> {
        let rows = if let Some(paths) = self.paths(table) {
            self.texts(&format!(
                "SELECT path_in_schema, compression, count(*)::VARCHAR, '0' \
                 FROM parquet_metadata([{paths}]) GROUP BY ALL ORDER BY ALL"
            ))?
        } else {
            self.texts(&format!(
                "SELECT column_name, compression, count(*)::VARCHAR, \
                 (count(*) FILTER (NOT persistent))::VARCHAR FROM pragma_storage_info('{}') \
                 WHERE segment_type <> 'VALIDITY' GROUP BY ALL ORDER BY ALL",
                DIALECT.quoted(table).replace('\'', "''")
            ))?
        };
        let codec = |row: Vec<String>| {
            let [column, codec, segments, unpacked] = <[String; 4]>::try_from(row).ok()?;
            Some(Codec {
                column,
                codec,
                segments: segments.parse().ok()?,
                unpacked: unpacked.parse().ok()?,
            })
        };
        Ok(rows.into_iter().filter_map(codec).collect())
    }

    /// Forbids every further file: populated tables are only queried from now on.
    pub fn seal(&self) -> Result<()> {
        let paths: Vec<String> = (self.files().values().flatten())
            .map(|file| format!("'{}'", file.path()))
            .collect();
        if !paths.is_empty() {
            self.run(&format!(
                "SET GLOBAL allowed_paths = [{}]",
                paths.join(", ")
            ))?;
        }
        self.run("SET GLOBAL enable_external_access = false")
    }

    pub fn source(&self) -> Box<dyn Source> {
        Box::new(DuckDbSource::of_instance(&self.instance, self.url()))
    }

    /// The tables as a target to query; it lives as long as the store.
    pub fn target(&self) -> Arc<dyn Target> {
        Arc::new(DuckDbTarget {
            url: self.url(),
            instance: Arc::clone(&self.instance),
        })
    }

    /// The files of a table, as a list of the engine's; `None` where it has none.
    pub fn paths(&self, table: &str) -> Option<String> {
        let files = self.files();
        let paths = files.get(table)?.iter();
        let paths: Vec<String> = paths.map(|file| format!("'{}'", file.path())).collect();
        (!paths.is_empty()).then(|| paths.join(", "))
    }

    fn url(&self) -> String {
        format!("duckdb:?lifted={}", self.level)
    }

    pub(crate) fn files(&self) -> MutexGuard<'_, BTreeMap<String, Vec<MemoryFile>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn run(&self, sql: &str) -> Result<()> {
        let run = |connection: &duckdb::handle::Connection| {
            let answer = connection.query(sql).map(drop);
            answer.map_err(|m| explain("column store", &m))
        };
        // A session of its own: packing takes long, and the control is everybody's.
        let (connection, _guard) = self.instance.connect()?;
        run(&connection)
    }

    pub fn texts(&self, sql: &str) -> Result<Vec<Vec<String>>> {
        let (connection, _guard) = self.instance.connect()?;
        let texts = connection.texts(sql);
        texts.map_err(|m| explain("column store", &m))
    }
}

/// The statement that makes a table with the columns of another engine's.
pub fn create(name: &str, table: &SourceTable) -> Result<String> {
    let columns: Vec<String> = (table.columns.iter())
        .map(|column| match &column.kind {
            Ok(kind) => Ok(format!(
                "{} {}",
                DIALECT.quoted(&column.name),
                type_of(*kind)
            )),
            Err(why) => Err(TargetError::statement(format!(
                "column {}.{} is {}, which no level can store: {why}; exclude the column",
                table.label(),
                column.name,
                column.declared
            ))),
        })
        .collect::<Result<_>>()?;
    Ok(format!(
        "CREATE TABLE {} ({})",
        DIALECT.quoted(name),
        columns.join(", ")
    ))
}

fn settings(level: Level) -> Option<&'static str> {
    match level {
        Level::None => Some("SET GLOBAL force_compression = 'uncompressed'"),
        Level::QueryLow => {
            Some("SET GLOBAL disabled_compression_methods = 'dict_fsst,fsst,dictionary,zstd'")
        }
        Level::QueryHigh | Level::CapacityLow | Level::CapacityHigh => None,
    }
}
