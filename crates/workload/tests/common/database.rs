use std::sync::Arc;

use engine::{Session, Target};
use tempfile::TempDir;

/// The data need not outlive the machine, so nothing waits for the device.
pub const POSTGRES: &str = "version=15&shared_buffers=64MB&fsync=off&max_wal_size=1GB";
pub const MARIADB: &str = "innodb_buffer_pool_size=256M&innodb_log_file_size=256M&innodb_flush_log_at_trx_commit=0\
    &innodb_flush_method=nosync&innodb_doublewrite=OFF&performance_schema=OFF";
pub const MYSQL: &str = "innodb_buffer_pool_size=256M&innodb_redo_log_capacity=256M&innodb_flush_log_at_trx_commit=0\
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

    pub fn mariadb() -> Self {
        Self::running("mariadb", &format!("mariadb+local:?{MARIADB}"))
    }

    pub fn mysql() -> Self {
        Self::running("mysql", &format!("mysql+local:?{MYSQL}"))
    }

    /// Both servers that take this SQL. MySQL cannot be had everywhere; its own tests are skipped then.
    pub fn mariadb_and_mysql() -> Vec<Self> {
        let mut databases = vec![Self::mariadb()];
        databases.extend(mysql_is_there().then(Self::mysql));
        databases
    }

    pub fn running(scheme: &'static str, url: &str) -> Self {
        Self::at(scheme, url, tempfile::tempdir().unwrap())
    }

    pub fn at(scheme: &'static str, url: &str, directory: TempDir) -> Self {
        Self {
            target: open(url),
            engine: engines::library_name(scheme),
            _directory: directory,
        }
    }

    pub fn session(&self) -> Box<dyn Session> {
        self.target.open_session().unwrap()
    }
}

pub fn mysql_is_there() -> bool {
    let url = engines::parse("mysql+local:").unwrap();
    engines::find(&url).unwrap().version().is_ok()
}

pub fn open(url: &str) -> Arc<dyn Target> {
    let opened = engines::open(&engines::parse(url).unwrap());
    opened.unwrap_or_else(|error| match error.kind {
        engine::ErrorKind::NotInstalled => testing::lacking(&error.message),
        _ => panic!("{url}: {error}"),
    })
}
