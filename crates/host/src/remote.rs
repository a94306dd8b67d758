//! A machine that dbdyno does not run on, reached through the user's own ssh client.
//!
//! Nothing is installed or left there: a script of a few lines prints files of `/proc`, `/sys` and `/etc`, which the
//! same code reads here as on this machine.

mod address;
mod client;
mod error;
mod sample;
mod sampler;
mod tree;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::counters::physical_interfaces;
use archive::Purpose;

use crate::device::DeviceError;
use crate::stack::{NoDevice, Stack};

pub use address::{AddressError, SshAddress};
pub use error::RemoteError;
pub use sampler::{RemoteMark, RemoteSampler};

#[derive(Debug)]
pub struct Remote {
    address: SshAddress,
    root: tempfile::TempDir,
}

impl Remote {
    /// Logs on and fetches the files of an inventory. Fails if the machine cannot be reached, or is not Linux.
    pub fn connect(address: &SshAddress) -> Result<Self, RemoteError> {
        let printed = client::ask(address, &tree::script(), tree::MARK)?;
        let tree = tree::Tree::parse(&printed);
        if !tree.complete {
            return Err(RemoteError::Unreachable {
                address: address.clone(),
                cause: "the connection was lost while its files were read".into(),
            });
        }
        let no_room = |cause| RemoteError::NoRoom {
            address: address.clone(),
            cause,
        };
        let root = tempfile::Builder::new().prefix("dbdyno-host-").tempdir();
        let root = root.map_err(no_room)?;
        tree.write(root.path()).map_err(no_room)?;
        Ok(Self {
            address: address.clone(),
            root,
        })
    }

    pub fn address(&self) -> &SshAddress {
        &self.address
    }

    /// The directory with its `proc`, `sys` and `etc`, for [`crate::facts()`] and
    /// [`crate::inventory::inventory`].
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The block devices under these paths of that machine, from its mount table. Links in the paths are followed if
    /// the user has the right. Fails if the first path is on no block device; the message is the reason to show.
    pub fn stack(
        &self,
        paths: &[(Purpose, PathBuf)],
    ) -> Result<(Stack, Vec<NoDevice>), DeviceError> {
        let real = |path: &PathBuf| self.without_links(path).unwrap_or_else(|| path.clone());
        let paths: Vec<_> = paths.iter().map(|(of, path)| (*of, real(path))).collect();
        Stack::there(self.root(), &paths)
    }

    fn without_links(&self, path: &Path) -> Option<PathBuf> {
        let path = path.to_str()?;
        // A path that a shell's quotes would not protect is not sent.
        if path.contains(['\'', '"', '$', '`', '\\', '!', '\n']) {
            return None;
        }
        let script = format!("echo dbdyno-path; readlink -f -- \"{path}\"");
        let answer = client::ask(&self.address, &script, "dbdyno-path").ok()?;
        let real = PathBuf::from(answer.lines().next()?);
        real.is_absolute().then_some(real)
    }

    /// Samples the machine with its devices, or for this reason without. Fails if the machine cannot be reached any
    /// more, or the name of a device is invalid.
    pub fn sample(
        &self,
        devices: Result<Stack, String>,
        interval: Duration,
    ) -> Result<RemoteSampler, RemoteError> {
        let (devices, io_reason) = match devices {
            Ok(stack) => {
                let odd = |name: &&&str| !sample::is_device_name(name);
                if let Some(name) = stack.names().iter().find(odd) {
                    return Err(RemoteError::BadDevice((*name).to_owned()));
                }
                (stack, None)
            }
            Err(why) => (
                Stack::default(),
                Some(archive::Remark::DeviceUnknown { why }),
            ),
        };
        let plan = sampler::Plan {
            address: self.address.clone(),
            devices,
            interfaces: physical_interfaces(self.root()),
            interval,
        };
        RemoteSampler::start(plan, io_reason)
    }
}
