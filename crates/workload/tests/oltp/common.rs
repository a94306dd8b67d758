//! What the tests of the order-entry database share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use target::{Session, Target, TargetUrl};
use tempfile::TempDir;
use workload::oltp::{self, Checked, LoadOptions, Loaded, OltpError};

/// A database of its own, gone with the test.
pub struct Database {
    pub target: Arc<dyn Target>,
    pub engine: &'static str,
    _directory: TempDir,
}

impl Database {
    pub fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!(
            "sqlite:{}/oltp.db?synchronous=OFF",
            directory.path().display()
        );
        Self {
            target: open(&url),
            engine: "sqlite",
            _directory: directory,
        }
    }

    pub fn postgres() -> Self {
        let url = "postgres+local:?version=15&shared_buffers=64MB&fsync=off&max_wal_size=1GB";
        Self {
            target: open(url),
            engine: "postgres",
            _directory: tempfile::tempdir().unwrap(),
        }
    }

    pub fn mysql() -> Self {
        let url = "mysql+local:?innodb_buffer_pool_size=64M&innodb_log_file_size=256M\
                   &innodb_flush_log_at_trx_commit=0&performance_schema=OFF";
        Self {
            target: open(url),
            engine: "mysql",
            _directory: tempfile::tempdir().unwrap(),
        }
    }

    /// A database of a server that runs already.
    pub fn running(engine: &'static str, url: &str) -> Self {
        Self {
            target: open(url),
            engine,
            _directory: tempfile::tempdir().unwrap(),
        }
    }

    pub fn load(&self, options: &LoadOptions) -> Result<Loaded, OltpError> {
        let never = AtomicBool::new(false);
        oltp::load(self.target.as_ref(), self.engine, options, &never, &|_| ())
    }

    pub fn check(&self) -> Checked {
        oltp::check(self.target.as_ref(), self.engine, false).unwrap()
    }

    pub fn session(&self) -> Box<dyn Session> {
        self.target.open_session().unwrap()
    }
}

pub fn open(url: &str) -> Arc<dyn Target> {
    target::open(&TargetUrl::parse(url).unwrap()).unwrap()
}

pub fn options(warehouses: u32) -> LoadOptions {
    LoadOptions {
        warehouses,
        jobs: None,
        seed: 1,
        foreign_keys: false,
        replace: false,
    }
}

/// The one text of the one row of a query.
pub fn one(session: &mut dyn Session, sql: &str) -> String {
    let rows = session.texts(sql).unwrap();
    assert_eq!((rows.len(), rows[0].len()), (1, 1), "{sql}");
    rows[0][0].clone().unwrap_or_else(|| "none".into())
}

/// Changes one row.
pub fn change_one(session: &mut dyn Session, sql: &str) {
    let statement = session.prepare(sql).unwrap();
    assert_eq!(session.execute(statement, &[]).unwrap(), 1, "{sql}");
}
