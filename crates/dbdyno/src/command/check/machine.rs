//! The machine of the database, as a run would record it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use archive::Platform;
use engine::{Inspection, TargetUrl};
use host::lint::{Finding, ServerFacts, lint_server};
use host::{Remote, SshAddress};

use crate::arguments::ServerHost;

pub(super) struct Machine {
    /// Facts, or the reason for their absence.
    pub platform: Result<Platform, String>,
    /// The device of the data, or the reason why it is unknown; `None` for a known machine without data.
    pub device: Option<Result<String, String>>,
    /// Settings of the server compared with published advice.
    pub lint: Vec<Finding>,
}

impl Machine {
    /// Examines this machine, or the one named by `--ssh`.
    pub(super) fn of(url: &TargetUrl, host: &ServerHost, found: &Inspection) -> Result<Self> {
        let named = host.ssh.as_deref().map(SshAddress::parse_with_device);
        let (remote, named) = match named.transpose()? {
            Some((address, device)) => (Some(Remote::connect(&address)?), device),
            None => (None, None),
        };
        let platform = match &remote {
            Some(remote) => Ok(host::facts(remote.root())),
            None if engines::runs_here(url) => Ok(host::facts(Path::new("/"))),
            None => Err(
                "the server is on another machine, so its CPU, IOPS, memory and platform are unknown; name it with \
                 --ssh ssh://USER@HOST"
                    .to_owned(),
            ),
        };
        let directory = found.data.as_ref().map(PathBuf::from);
        let device = match (&named, directory, &remote) {
            (Some(device), _, _) => Some(Ok(device.clone())),
            (None, None, _) => None,
            (None, Some(directory), Some(remote)) => {
                let found = remote.stack(&[(archive::Purpose::Data, directory)]);
                let first = |(stack, _): (host::Stack, _)| stack.first().map(str::to_owned);
                found.map(first).map_err(|e| e.to_string()).transpose()
            }
            (None, Some(directory), None) if platform.is_ok() => {
                Some(host::device_of(nearest(&directory)).map_err(|e| e.to_string()))
            }
            (None, Some(_), None) => None,
        };
        let lint = lint(&platform, &device, found);
        Ok(Self {
            platform,
            device,
            lint,
        })
    }
}

/// A file created later will be on the device of its directory.
fn nearest(path: &Path) -> &Path {
    let mut there = path.ancestors().filter(|it| it.exists());
    there.next().unwrap_or(Path::new("."))
}

fn lint(
    platform: &Result<Platform, String>,
    device: &Option<Result<String, String>>,
    found: &Inspection,
) -> Vec<Finding> {
    let platform = platform.as_ref().ok();
    let limit = found.settings.get("dbdyno.memory_bytes");
    let limit = limit.and_then(|text| text.parse().ok());
    let device = device.as_ref().and_then(|device| device.as_ref().ok());
    let disk = platform.zip(device).and_then(|(platform, name)| {
        let mut devices = platform.block_devices.iter();
        devices.find(|device| device.name == *name)
    });
    let facts = ServerFacts {
        settings: Some(&found.settings),
        memory_bytes: limit.or(platform.and_then(|platform| platform.memory_bytes)),
        rotational: disk.and_then(|disk| disk.rotational),
    };
    lint_server(found.rules, &facts)
        .expect("the tests of the engines parse the rules that they give")
}
