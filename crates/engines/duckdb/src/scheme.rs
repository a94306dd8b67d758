//! The engine.

use std::sync::Arc;

use archive::Purpose;

use super::inspect::inspect;
use super::library::library;
use super::set_up::{SETTINGS, SetUp};
use super::source::DuckDbSource;
use super::target::DuckDbTarget;
use super::{VERSION_TESTED, backup};
use engine::catalogue::Source;
use engine::inspection::Inspection;
use engine::{BackupMethod, Result, Target, TargetUrl};
use engine::{Engine, EngineInfo};

/// The engines of this crate.
pub const ENGINES: engine::Engines = engine::Engines(&[&DuckDb]);

pub struct DuckDb;

impl Engine for DuckDb {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: "duckdb",
            title: "DuckDB, embedded column store (library loaded at runtime)",
            settings: SETTINGS,
            places: &[Purpose::Temporary],
            ..EngineInfo::EMBEDDED
        }
    }

    fn version(&self) -> std::result::Result<String, String> {
        match library() {
            Ok(loaded) if loaded.version == VERSION_TESTED => Ok(loaded.version.clone()),
            Ok(loaded) => Ok(format!("{} (tested: {VERSION_TESTED})", loaded.version)),
            Err(error) => Err(error.message),
        }
    }

    fn check(&self, url: &TargetUrl) -> Result<()> {
        SetUp::from_url(url).map(|_| ())
    }

    fn backup_methods(&self) -> Vec<BackupMethod> {
        backup::methods()
    }

    fn open_source(&self, url: &TargetUrl) -> Result<Box<dyn Source>> {
        Ok(Box::new(DuckDbSource::open(url)?))
    }

    fn inspect(&self, url: &TargetUrl) -> Result<Inspection> {
        SetUp::from_url(url)?;
        inspect(url)
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        Ok(Arc::new(DuckDbTarget::open(url)?))
    }
}
