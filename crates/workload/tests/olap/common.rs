//! What the tests of the analytical database share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use target::{Session, Target, TargetUrl};
use tempfile::TempDir;
use workload::olap::{self, Checked, LoadOptions, Loaded, OlapError, Scale};

/// A database of its own, gone with the test.
pub struct Database {
    pub target: Arc<dyn Target>,
    pub engine: &'static str,
    _directory: TempDir,
}

impl Database {
    pub fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display();
        let url = format!("sqlite:{path}/olap.db?synchronous=OFF");
        Self::at(&url, "sqlite", directory)
    }

    pub fn duckdb() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("duckdb:{}/olap.duckdb", directory.path().display());
        Self::at(&url, "duckdb", directory)
    }

    pub fn postgres() -> Self {
        Self::postgres_with("")
    }

    /// With more settings of the server, each after an ampersand.
    pub fn postgres_with(settings: &str) -> Self {
        let url = format!(
            "postgres+local:?version=15&shared_buffers=64MB&fsync=off&max_wal_size=1GB{settings}"
        );
        Self::at(&url, "postgres", tempfile::tempdir().unwrap())
    }

    pub fn mysql() -> Self {
        let url = "mysql+local:?innodb_buffer_pool_size=64M&innodb_log_file_size=256M\
                   &innodb_flush_log_at_trx_commit=0&performance_schema=OFF";
        Self::at(url, "mysql", tempfile::tempdir().unwrap())
    }

    /// On all four engines.
    pub fn all() -> [Self; 4] {
        [
            Self::duckdb(),
            Self::sqlite(),
            Self::postgres(),
            Self::mysql(),
        ]
    }

    fn at(url: &str, engine: &'static str, directory: TempDir) -> Self {
        Self {
            target: target::open(&TargetUrl::parse(url).unwrap()).unwrap(),
            engine,
            _directory: directory,
        }
    }

    pub fn load(&self, options: &LoadOptions) -> Result<Loaded, OlapError> {
        let never = AtomicBool::new(false);
        olap::load(self.target.as_ref(), self.engine, options, &never, &|_| ())
    }

    /// Loads it as small as it can be.
    pub fn load_least(&self) {
        self.load(&options(0.01)).unwrap();
    }

    pub fn check(&self, queries: &[u32]) -> Checked {
        olap::check(self.target.as_ref(), self.engine, queries, None, &|_| ()).unwrap()
    }

    pub fn session(&self) -> Box<dyn Session> {
        self.target.open_session().unwrap()
    }
}

pub fn options(scale: f64) -> LoadOptions {
    LoadOptions {
        scale: Scale::new(scale).unwrap(),
        jobs: None,
        replace: false,
    }
}
