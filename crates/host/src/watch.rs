//! Observation of hosts during a point: the driver's own process, and the machine of the database.
//!
//! That is the same machine, or another one reached through ssh, or an unknown one; then its figures stay unknown,
//! and are never those of the driver's machine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use archive::Remark;

use crate::block::{BlockWatch, RequestLog, RequestMark, WindowRequests};
use crate::bystanders::IoAccounts;
use crate::owners::{Owners, Programs};
use crate::remote::{RemoteMark, RemoteSampler};
use crate::sampler::{HostUse, Mark, Sampler, SamplerError, SamplerOptions};
use crate::speed::Speed;
use crate::stack::Stack;

#[derive(Debug)]
pub struct HostWatch {
    driver: Sampler,
    database: Database,
    /// The block devices under the database, or why they are unknown.
    devices: Result<Stack, String>,
    /// Timer of the requests of these devices, or why there is none.
    requests: Result<Arc<RequestLog>, String>,
}

#[derive(Debug)]
enum Database {
    Here,
    There(Box<RemoteSampler>),
    Unknown(String),
}

#[derive(Debug)]
pub struct HostMark {
    driver: Mark,
    database: Option<RemoteMark>,
    requests: Option<RequestMark>,
    /// `None` if the machine is unknown, which is reported separately.
    owners: Option<Result<Owners, String>>,
    /// I/O of all processes before the window; `None` if it was not read.
    io: Option<Result<IoAccounts, String>>,
    speed: Speed,
}

impl HostMark {
    /// Adds the I/O of all processes at an earlier moment.
    #[must_use]
    pub fn with_io_before(self, io: Option<Result<IoAccounts, String>>) -> Self {
        Self { io, ..self }
    }
}

impl HostWatch {
    /// Watches a database on this machine, on these devices or on none for this reason; sampled every `interval`.
    pub fn here(interval: Duration, devices: Result<Stack, String>) -> Result<Self, SamplerError> {
        let requests = (devices.as_ref().map_err(String::clone)).and_then(|stack| {
            let log = RequestLog::open(&stack.names()).map_err(|error| error.to_string())?;
            Ok(Arc::new(log))
        });
        let driver = Sampler::start(SamplerOptions {
            interval,
            devices: devices.clone().unwrap_or_default(),
            requests: requests.clone().ok(),
            ..SamplerOptions::default()
        })?;
        Ok(Self {
            driver,
            database: Database::Here,
            devices,
            requests,
        })
    }

    /// Watches a database on another machine; `driver` samples this one.
    pub fn there(driver: Sampler, database: RemoteSampler, devices: Result<Stack, String>) -> Self {
        Self {
            driver,
            database: Database::There(Box::new(database)),
            devices,
            requests: Err("device requests are timed only on the machine that runs dbdyno".into()),
        }
    }

    /// Watches a database on an unknown machine, for this reason.
    pub fn unknown(driver: Sampler, reason: String) -> Self {
        Self {
            driver,
            devices: Err(reason.clone()),
            requests: Err(reason.clone()),
            database: Database::Unknown(reason),
        }
    }

    /// The block device under the data of the database, if known.
    pub fn device(&self) -> Option<&str> {
        self.devices.as_ref().ok()?.first()
    }

    /// Bytes that the block devices under the database have read so far, for all programs; `None` if they are not on
    /// this machine, or unknown.
    pub fn device_read_bytes(&self) -> Option<u64> {
        match self.database {
            Database::Here => self.driver.device_read_bytes(),
            Database::There(_) | Database::Unknown(_) => None,
        }
    }

    /// Figures of the database's machine in the newest interval, and its number. `None` for another machine, whose
    /// samples are fetched at the end of a window.
    pub fn newest(&self) -> Option<(u64, HostUse)> {
        match self.database {
            Database::Here => self.driver.newest(),
            Database::There(_) | Database::Unknown(_) => None,
        }
    }

    /// The timer of the devices' requests. Fails with a sentence that says why there is none.
    pub fn requests(&self) -> Result<&BlockWatch, &str> {
        match &self.requests {
            Ok(log) => Ok(log.watch()),
            Err(why) => Err(why),
        }
    }

    /// Begins a window of a database with these programs, or with unknown ones for this reason.
    pub fn mark(&self, programs: Result<&Programs, &str>) -> HostMark {
        let database = match &self.database {
            Database::There(sampler) => Some(sampler.mark()),
            Database::Here | Database::Unknown(_) => None,
        };
        HostMark {
            driver: self.driver.mark(),
            database,
            requests: (self.requests.as_ref().ok()).and_then(|log| log.mark().ok()),
            owners: self.owners(programs),
            io: None,
            speed: Speed::below(Path::new("/")),
        }
    }

    /// Reads and writes of all processes so far: must be called before a window, because it reads each process.
    /// `None` for another machine, or without a counted device.
    pub fn io_so_far(&self, programs: &Programs) -> Option<Result<IoAccounts, String>> {
        let is_here = matches!(self.database, Database::Here) && self.devices.is_ok();
        is_here.then(|| IoAccounts::so_far(programs))
    }

    fn owners(&self, programs: Result<&Programs, &str>) -> Option<Result<Owners, String>> {
        Some(match self.database {
            Database::Here => programs.map_err(str::to_owned).and_then(Owners::of),
            Database::There(_) => Err("it is known only on the machine that runs dbdyno".into()),
            Database::Unknown(_) => return None,
        })
    }

    fn requests_since(&self, mark: Option<RequestMark>) -> Result<WindowRequests, String> {
        let log = self.requests.as_ref().map_err(String::clone)?;
        let mark = mark.ok_or("the request counts could not be read at the start")?;
        log.finish(mark).map_err(|error| error.to_string())
    }

    pub fn finish(&self, mark: HostMark) -> HostUse {
        let requests = self.requests_since(mark.requests);
        let driver = self.driver.finish(mark.driver);
        let requests_reason = requests.as_ref().err().cloned();
        let requests = requests.unwrap_or_default();
        let speed = mark.speed.changes_to(&Speed::below(Path::new("/")));
        let mut used = self.machine(driver, mark.database);
        // The times of the kernel's timer are better than the means of its counters.
        for (device, samples) in used.devices.iter_mut().zip(requests.samples) {
            if samples.iter().any(|sample| sample.requests > 0) {
                device.samples = samples;
            }
        }
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
            requests: requests.times,
            requests_of: self.requests_of(),
            requests_reason,
            owners,
            owners_reason,
            io_by_others,
            io_by_others_reason,
            speed,
            ..used
        }
    }

    fn requests_of(&self) -> Vec<String> {
        let devices = self.devices.as_ref().map(Stack::requests_of_counted);
        let names = devices.unwrap_or_default();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Figures of the database's machine, with the driver's own.
    fn machine(&self, driver: HostUse, mark: Option<RemoteMark>) -> HostUse {
        match (&self.database, mark) {
            (Database::Here, _) => HostUse {
                io_reason: (self.devices.clone().err())
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
