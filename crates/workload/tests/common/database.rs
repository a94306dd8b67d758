use std::sync::Arc;

use engine::{Session, Target};
use tempfile::TempDir;

/// The data need not outlive the machine, so nothing waits for the device.
pub const POSTGRES: &str = "version=15&shared_buffers=64MB&fsync=off&max_wal_size=1GB";
pub const MYSQL: &str = "innodb_buffer_pool_size=256M&innodb_log_file_size=256M&innodb_flush_log_at_trx_commit=0\
    &innodb_flush_method=nosync&innodb_doublewrite=OFF&performance_schema=OFF";

/// A database of its own, gone with the test.
pub struct Database {
    pub target: Arc<dyn Target>,
    pub engine: &'static str,
    _directory: TempDir,
}

impl Database {
    pub fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let url = format!("sqlite:{}?synchronous=OFF", path.display());
        Self::at("sqlite", &url, directory)
    }

    pub fn postgres() -> Self {
        Self::postgres_with("")
    }

    /// `settings` of the server, each after an ampersand.
    pub fn postgres_with(settings: &str) -> Self {
        Self::running("postgres", &format!("postgres+local:?{POSTGRES}{settings}"))
    }

    pub fn mysql() -> Self {
        Self::running("mysql", &format!("mysql+local:?{MYSQL}"))
    }

    pub fn running(engine: &'static str, url: &str) -> Self {
        Self::at(engine, url, tempfile::tempdir().unwrap())
    }

    pub fn at(engine: &'static str, url: &str, directory: TempDir) -> Self {
        Self {
            target: open(url),
            engine,
            _directory: directory,
        }
    }

    pub fn session(&self) -> Box<dyn Session> {
        self.target.open_session().unwrap()
    }
}

pub fn open(url: &str) -> Arc<dyn Target> {
    let opened = engines::open(&engines::parse(url).unwrap());
    opened.unwrap_or_else(|error| match error.kind {
        engine::ErrorKind::NotInstalled => testing::lacking(&error.message),
        _ => panic!("{url}: {error}"),
    })
}
