//! A DuckDB database file (or one in memory) as a target.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::{IoOperation, IoUnknown, Purpose, TargetRecord};

use super::VERSION_TESTED;
use super::explain::explain;
use super::features::lacks;
use super::instance::Instance;
use super::library::library;
use super::redo::RedoMeter;
use super::session::DuckDbSession;
use super::set_up::{SetUp, THREADS_MAX};
use super::source::DuckDbSource;
use engine::catalogue::Source;
use engine::{
    Backup, Cooled, Counted, Counters, Feature, FileIo, Result, Session, Target, TargetError,
    TargetUrl,
};

/// Where the writes of the log are seen.
const LOG_GROWTH: &str = "growth of the log's file";
const RECORDED: &str = "'threads', 'memory_limit', 'wal_autocheckpoint', 'force_compression', \
    'storage_compatibility_version', 'preserve_insertion_order', 'temp_directory', \
    'enable_external_access', 'allocator_background_threads', 'checkpoint_on_shutdown'";

/// A database as a target.
pub struct DuckDbTarget {
    pub url: String,
    pub instance: Arc<Instance>,
}

impl DuckDbTarget {
    /// Opens the database that a URL names, or makes it.
    pub fn open(url: &TargetUrl) -> Result<Self> {
        let set_up = SetUp::from_url(url)?;
        Ok(Self {
            url: url.to_string(),
            instance: Arc::new(Instance::open(library()?, url.place(), set_up)?),
        })
    }

    pub fn texts(&self, context: &str, sql: &str) -> Result<Vec<Vec<String>>> {
        self.instance
            .with_control(|c| c.texts(sql).map_err(|m| explain(context, &m)))
    }

    /// Name and value of everything that `sql` reads back; empty when this version does not know it.
    fn read_back(&self, sql: &str) -> Vec<(String, String)> {
        let rows = self.texts("reading settings", sql).unwrap_or_default();
        rows.into_iter()
            .filter_map(|row| <[String; 2]>::try_from(row).ok())
            .map(|[name, value]| (name, value))
            .collect()
    }
}

impl Target for DuckDbTarget {
    fn record(&self) -> TargetRecord {
        let mut settings = self.read_back(&format!(
            "SELECT name, value FROM duckdb_settings() WHERE name IN ({RECORDED})"
        ));
        if self.instance.path.is_some() {
            settings.extend(
                self.read_back(
                    "SELECT 'block_size', block_size::VARCHAR FROM pragma_database_size()",
                ),
            );
            settings.extend(self.read_back(
                "SELECT 'storage_version', tags['storage_version'] FROM duckdb_databases() \
                 WHERE NOT internal",
            ));
        }
        settings.push(("library_version_tested".into(), VERSION_TESTED.into()));
        TargetRecord {
            name: "duckdb".into(),
            url: self.url.clone(),
            engine: "DuckDB".into(),
            engine_version: self.instance.loaded.version.clone(),
            nodes: 1,
            device: None,
            settings: settings.into_iter().collect(),
            rights_missing: None,
        }
    }

    fn lacks(&self, feature: Feature) -> Option<String> {
        lacks(self.instance.path.is_none(), feature)
    }

    fn open_session(&self) -> Result<Box<dyn Session>> {
        let (connection, guard) = self.instance.connect()?;
        Ok(Box::new(DuckDbSession::new(connection, guard)?))
    }

    fn data_path(&self) -> Option<&Path> {
        self.instance.path.as_deref()
    }

    fn storage_paths(&self) -> std::result::Result<Vec<(Purpose, PathBuf)>, String> {
        let data = self.data_directory()?;
        // Its log is beside it, and unless the URL says otherwise its temporary files too.
        let temporary = self.instance.temporary().unwrap_or_else(|| data.clone());
        Ok(vec![
            (Purpose::Data, data.clone()),
            (Purpose::Log, data),
            (Purpose::Temporary, temporary),
        ])
    }

    fn counters(&self) -> Counters {
        Counters {
            buffer_gets: None,
            redo_bytes: self.instance.redo.as_ref().map(RedoMeter::total_bytes),
            pages_read: None,
        }
    }

    /// DuckDB counts none of its I/O; the growth of the log's file is seen from outside.
    fn file_io(&self, counters: &Counters) -> Vec<FileIo> {
        if self.instance.path.is_none() {
            return Vec::new();
        }
        let of_log = Counted {
            bytes: counters.redo_bytes,
            ..Counted::default()
        };
        let not_counted =
            |purpose, operation| FileIo::unknown(purpose, operation, IoUnknown::NotCounted);
        vec![
            not_counted(Purpose::Data, IoOperation::Read),
            not_counted(Purpose::Data, IoOperation::Write),
            not_counted(Purpose::Log, IoOperation::Read),
            FileIo::counted(Purpose::Log, IoOperation::Write, LOG_GROWTH, of_log),
            not_counted(Purpose::Temporary, IoOperation::Read),
            not_counted(Purpose::Temporary, IoOperation::Write),
        ]
    }

    fn checkpoint(&self) -> Result<()> {
        self.instance.checkpoint()
    }

    fn cool(&self) -> Result<Cooled> {
        match &self.instance.path {
            Some(path) => self.instance.cool(path),
            None => Ok(Cooled::Lukewarm(
                "an in-memory database has no cold state".into(),
            )),
        }
    }

    fn backup(&self) -> std::result::Result<&dyn Backup, String> {
        match self.instance.path {
            Some(_) => Ok(self),
            None => Err("this database is in memory; name a file to back it up".into()),
        }
    }

    fn source(&self) -> Result<Box<dyn Source>> {
        let url = self.url.clone();
        Ok(Box::new(DuckDbSource::of_instance(&self.instance, url)))
    }

    fn threads(&self) -> u32 {
        let sql = "SELECT current_setting('threads')::VARCHAR";
        let rows = self.texts("reading threads", sql).unwrap_or_default();
        let threads = rows.first().and_then(|row| row.first()?.parse().ok());
        // A statement has at least the thread that runs it, also when the database is gone.
        threads.unwrap_or(1)
    }

    fn threads_max(&self) -> u32 {
        THREADS_MAX
    }

    fn set_threads(&self, threads: u32) -> Result<()> {
        if !(1..=THREADS_MAX).contains(&threads) {
            return Err(TargetError::statement(format!(
                "DuckDB: {threads} threads are out of range; choose 1 to {THREADS_MAX}"
            )));
        }
        self.instance.set_threads(Some(threads))
    }

    fn set_compression(&self, compressed: bool) -> Result<()> {
        self.instance.set_compression(compressed)
    }

    fn storage_of(&self, table: &str) -> Result<BTreeMap<String, u64>> {
        // The bit masks of nulls are segments too, and always compressed; they are left out.
        let sql = format!(
            "SELECT compression, count(*)::VARCHAR FROM pragma_storage_info('{}') \
             WHERE segment_type <> 'VALIDITY' GROUP BY compression",
            table.replace('\'', "''")
        );
        let context = format!("cannot read how {table} is stored");
        let rows = self.texts(&context, &sql)?;
        let pair = |row: &Vec<String>| Some((row.first()?.clone(), row.get(1)?.parse().ok()?));
        Ok(rows.iter().filter_map(pair).collect())
    }
}
