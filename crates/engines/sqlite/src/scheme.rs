//! The engine.

use std::sync::Arc;

use super::inspect::inspect;
use super::source::SqliteSource;
use super::target::backup;
use super::target::{SetUp, SqliteTarget};
use engine::catalogue::Source;
use engine::inspection::Inspection;
use engine::url::Foreign;
use engine::{BackupMethod, Result, Target, TargetUrl};
use engine::{Engine, EngineInfo};

/// The engines of this crate.
pub const ENGINES: engine::Engines = engine::Engines(&[&Sqlite]);

const SETTINGS: &[(&str, &str)] = &[
    (
        "page_size",
        "page size of a new database in bytes (default 8192)",
    ),
    ("cache_mb", "page cache of each session in MB (default 64)"),
    ("synchronous", "FULL (default), NORMAL, EXTRA or OFF"),
];

/// Settings of other clients, and their meaning here.
const FOREIGN: &[Foreign] = &[
    Foreign::only(
        "mode",
        &["rw", "rwc"],
        "leave it out: what a run measures is written, and the database of data load columnar and data estimate is never written; memory is sqlite: alone",
    ),
    Foreign::nothing(
        "psow timeout busy_timeout connection_limit",
        "dbdyno's sessions have a cache each, and wait for each other as long as it takes",
    ),
    Foreign::never(
        "place.log",
        "SQLite keeps its log next to the database; put the database on the device that the log needs",
    ),
    Foreign::never(
        "place.temporary",
        "SQLite reads the directory of its temporary files from the environment; set SQLITE_TMPDIR",
    ),
    Foreign::never(
        "vfs nolock immutable modeof",
        "dbdyno uses SQLite's own files and locks; leave it out",
    ),
];

pub struct Sqlite;

impl Engine for Sqlite {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: "sqlite",
            aliases: &["sqlite3"],
            title: "SQLite, embedded row store (built in)",
            settings: SETTINGS,
            foreign_settings: FOREIGN,
            ..EngineInfo::EMBEDDED
        }
    }

    fn version(&self) -> std::result::Result<String, String> {
        Ok(rusqlite::version().to_owned())
    }

    fn cache_setting(&self, bytes: u64) -> Option<(&'static str, String)> {
        Some(("cache_mb", (bytes / 1_000_000).to_string()))
    }

    fn backup_methods(&self) -> Vec<BackupMethod> {
        backup::methods()
    }

    fn check(&self, url: &TargetUrl) -> Result<()> {
        SetUp::from_url(url).map(|_| ())
    }

    fn open_source(&self, url: &TargetUrl) -> Result<Box<dyn Source>> {
        Ok(Box::new(SqliteSource::open(url)?))
    }

    fn inspect(&self, url: &TargetUrl) -> Result<Inspection> {
        SetUp::from_url(url)?;
        inspect(url)
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        Ok(Arc::new(SqliteTarget::open(url)?))
    }
}
