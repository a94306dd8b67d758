//! What is watched while a point runs: the driver's own process, and the machine of the database.
//!
//! They are the same machine, or another one reached through ssh, or one of which nothing is known;
//! then its figures stay unknown, and are never those of the machine on which the driver happens to run.

use std::path::Path;

use archive::Remark;

use crate::block::{BlockWatch, DeviceTimes};
use crate::bystanders::IoAccounts;
use crate::owners::{Owners, Programs};
use crate::remote::{RemoteMark, RemoteSampler};
use crate::sampler::{HostUse, Mark, Sampler};
use crate::speed::Speed;

/// The samplers of one target.
#[derive(Debug)]
pub struct HostWatch {
    driver: Sampler,
    database: Database,
    /// The block device under the database, or why none is known.
    device: Result<String, String>,
    /// Times the requests of that device, or why nobody does.
    requests: Result<BlockWatch, String>,
}

#[derive(Debug)]
enum Database {
    Here,
    There(Box<RemoteSampler>),
    Unknown(String),
}

/// The start of a window.
#[derive(Debug)]
pub struct HostMark {
    driver: Mark,
    database: Option<RemoteMark>,
    requests: Option<DeviceTimes>,
    /// None where nothing is known of the machine, which is told already.
    owners: Option<Result<Owners, String>>,
    /// What everybody had read and written before; none where nobody looked.
    io: Option<Result<IoAccounts, String>>,
    /// The processors of the machine that runs the driver.
    speed: Speed,
}

impl HostMark {
    /// With what everybody had read and written at a moment before it.
    #[must_use]
    pub fn behind(self, io: Option<Result<IoAccounts, String>>) -> Self {
        Self { io, ..self }
    }
}

impl HostWatch {
    /// The database runs on this machine, on this device of it or on none for this reason.
    pub fn here(sampler: Sampler, device: Result<String, String>) -> Self {
        let requests = device
            .as_deref()
            .map_err(String::clone)
            .and_then(|name| BlockWatch::open(&[name]).map_err(|error| error.to_string()));
        Self {
            driver: sampler,
            database: Database::Here,
            device,
            requests,
        }
    }

    /// The database runs on another machine; `driver` samples this one.
    pub fn there(driver: Sampler, database: RemoteSampler, device: Result<String, String>) -> Self {
        Self {
            driver,
            database: Database::There(Box::new(database)),
            device,
            requests: Err("device requests are timed only on the machine that runs dbdyno".into()),
        }
    }

    /// The database runs on a machine of which nothing is known, for this reason.
    pub fn unknown(driver: Sampler, reason: String) -> Self {
        Self {
            driver,
            device: Err(reason.clone()),
            requests: Err(reason.clone()),
            database: Database::Unknown(reason),
        }
    }

    /// The block device under the database, where it is known.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref().ok()
    }

    /// Who times the requests of that device, or why nobody does.
    ///
    /// # Errors
    /// In a sentence, where nobody does.
    pub fn requests(&self) -> Result<&BlockWatch, &str> {
        self.requests.as_ref().map_err(String::as_str)
    }

    /// Begins a window of a database that is made of these programs, or of ones that are not known for this reason.
    pub fn mark(&self, programs: Result<&Programs, &str>) -> HostMark {
        let database = match &self.database {
            Database::There(sampler) => Some(sampler.mark()),
            Database::Here | Database::Unknown(_) => None,
        };
        HostMark {
            driver: self.driver.mark(),
            database,
            requests: self.requests_so_far().ok(),
            owners: self.owners(programs),
            io: None,
            speed: Speed::below(Path::new("/")),
        }
    }

    /// What everybody has read and written so far: to be asked before a window, because it takes a look at each process.
    /// None where the machine is another one, or has no device whose reads and writes are counted.
    pub fn io_so_far(&self, programs: &Programs) -> Option<Result<IoAccounts, String>> {
        let is_here = matches!(self.database, Database::Here) && self.device.is_ok();
        is_here.then(|| IoAccounts::so_far(programs))
    }

    /// What each owner of processor time has used so far.
    fn owners(&self, programs: Result<&Programs, &str>) -> Option<Result<Owners, String>> {
        Some(match self.database {
            Database::Here => programs.map_err(str::to_owned).and_then(Owners::of),
            Database::There(_) => Err("it is known only on the machine that runs dbdyno".into()),
            Database::Unknown(_) => return None,
        })
    }

    /// Requests of the device since the watch began.
    fn requests_so_far(&self) -> Result<DeviceTimes, String> {
        let watch = self.requests.as_ref().map_err(String::clone)?;
        let mut read = watch.read().map_err(|error| error.to_string())?;
        read.pop().ok_or_else(|| "no device is watched".to_owned())
    }

    /// Ends the window that `mark` began.
    pub fn finish(&self, mark: HostMark) -> HostUse {
        let requests = self.requests_so_far();
        let driver = self.driver.finish(mark.driver);
        let (requests, requests_reason) = match (requests, mark.requests) {
            (Ok(now), Some(then)) => (Some(now.since(&then)), None),
            (Ok(_), None) => (
                None,
                Some("the request counts could not be read at the start".into()),
            ),
            (Err(reason), _) => (None, Some(reason)),
        };
        let speed = mark.speed.changes_to(&Speed::below(Path::new("/")));
        let used = self.machine(driver, mark.database);
        let now = |then: Owners| then.until_now(&used.rates);
        let (owners, owners_reason) = match mark.owners.map(|then| then.and_then(now)) {
            None => (None, None),
            Some(Ok(owners)) => (Some(owners), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let now = |then: IoAccounts| then.until_now(&used.rates);
        let (io_by_others, io_by_others_reason) = match mark.io.map(|then| then.and_then(now)) {
            None => (None, None),
            Some(Ok(others)) => (Some(others), None),
            Some(Err(why)) => (None, Some(why)),
        };
        HostUse {
            requests,
            requests_reason,
            owners,
            owners_reason,
            io_by_others,
            io_by_others_reason,
            speed,
            ..used
        }
    }

    /// What the machine of the database did, with what the driver did.
    fn machine(&self, driver: HostUse, mark: Option<RemoteMark>) -> HostUse {
        match (&self.database, mark) {
            (Database::Here, _) => HostUse {
                io_reason: (self.device.clone().err())
                    .map(|why| Remark::DeviceUnknown { why })
                    .or(driver.io_reason.clone()),
                ..driver
            },
            (Database::There(sampler), Some(mark)) => driver.with_machine(sampler.finish(mark)),
            (Database::There(_), None) => driver.with_machine(HostUse::default()),
            (Database::Unknown(reason), _) => driver.with_machine(HostUse {
                unknown: Some(Remark::MachineUnknown {
                    why: reason.clone(),
                }),
                ..HostUse::default()
            }),
        }
    }
}
