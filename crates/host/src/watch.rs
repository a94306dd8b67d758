//! What is watched while a point runs: the driver's own process, and the machine of the database.
//!
//! They are the same machine, or another one reached through ssh, or one of which nothing is known;
//! then its figures stay unknown, and are never those of the machine on which the driver happens to run.

use crate::remote::{RemoteMark, RemoteSampler};
use crate::sampler::{HostUse, Mark, Sampler};

/// The samplers of one target.
#[derive(Debug)]
pub struct HostWatch {
    driver: Sampler,
    database: Database,
    /// The block device under the database, or why none is known.
    device: Result<String, String>,
}

#[derive(Debug)]
enum Database {
    Here,
    There(RemoteSampler),
    Unknown(String),
}

/// The start of a window.
#[derive(Debug)]
pub struct HostMark {
    driver: Mark,
    database: Option<RemoteMark>,
}

impl HostWatch {
    /// The database runs on this machine, on this device of it or on none for this reason.
    pub fn here(sampler: Sampler, device: Result<String, String>) -> Self {
        Self {
            driver: sampler,
            database: Database::Here,
            device,
        }
    }

    /// The database runs on another machine; `driver` samples this one.
    pub fn there(driver: Sampler, database: RemoteSampler, device: Result<String, String>) -> Self {
        Self {
            driver,
            database: Database::There(database),
            device,
        }
    }

    /// The database runs on a machine of which nothing is known, for this reason.
    pub fn unknown(driver: Sampler, reason: String) -> Self {
        Self {
            driver,
            device: Err(reason.clone()),
            database: Database::Unknown(reason),
        }
    }

    /// The block device under the database, where it is known.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref().ok()
    }

    /// Begins a window.
    pub fn mark(&self) -> HostMark {
        let database = match &self.database {
            Database::There(sampler) => Some(sampler.mark()),
            Database::Here | Database::Unknown(_) => None,
        };
        HostMark {
            driver: self.driver.mark(),
            database,
        }
    }

    /// Ends the window that `mark` began.
    pub fn finish(&self, mark: HostMark) -> HostUse {
        let driver = self.driver.finish(mark.driver);
        match (&self.database, mark.database) {
            (Database::Here, _) => HostUse {
                io_reason: self.device.clone().err().or(driver.io_reason.clone()),
                ..driver
            },
            (Database::There(sampler), Some(mark)) => driver.with_machine(sampler.finish(mark)),
            (Database::There(_), None) => driver.with_machine(HostUse::default()),
            (Database::Unknown(reason), _) => driver.with_machine(HostUse {
                unknown: Some(reason.clone()),
                ..HostUse::default()
            }),
        }
    }
}
