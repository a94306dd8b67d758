//! A machine that dbdyno does not run on, reached through the user's own ssh client.
//!
//! Nothing is installed or left there: a script of a few lines prints files of `/proc`, `/sys` and
//! `/etc`, which are read here by the code that reads this machine's.

mod address;
mod client;
mod error;
mod sample;
mod sampler;
mod tree;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::counters::physical_interfaces;
use crate::device::{DeviceError, device_below};

pub use address::{AddressError, SshAddress};
pub use error::RemoteError;
pub use sampler::{RemoteMark, RemoteSampler};

/// A machine with the files of its inventory.
#[derive(Debug)]
pub struct Remote {
    address: SshAddress,
    root: tempfile::TempDir,
}

impl Remote {
    /// Logs on and fetches the files that an inventory is read from.
    ///
    /// # Errors
    /// When the machine cannot be reached, or is no Linux.
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

    /// Where it is.
    pub fn address(&self) -> &SshAddress {
        &self.address
    }

    /// The directory with its `proc`, `sys` and `etc`, for [`crate::facts()`] and
    /// [`crate::inventory::inventory`].
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The block device under a path of that machine, from its mount table. Links in the path are
    /// followed where the user may look.
    ///
    /// # Errors
    /// When the path lies on no single block device; the message is the reason to show for it.
    pub fn device_of(&self, path: &Path) -> Result<String, DeviceError> {
        let real = self.without_links(path).unwrap_or_else(|| path.to_owned());
        device_below(self.root(), &real)
    }

    fn without_links(&self, path: &Path) -> Option<PathBuf> {
        let path = path.to_str()?;
        // What the quotes of a shell would not hold together is not sent there.
        if path.contains(['\'', '"', '$', '`', '\\', '!', '\n']) {
            return None;
        }
        let script = format!("echo dbdyno-path; readlink -f -- \"{path}\"");
        let answer = client::ask(&self.address, &script, "dbdyno-path").ok()?;
        let real = PathBuf::from(answer.lines().next()?);
        real.is_absolute().then_some(real)
    }

    /// Samples the machine; `device` is a name or the reason why there is none.
    ///
    /// # Errors
    /// When the machine cannot be reached any more, or the name is none.
    pub fn sample(
        &self,
        device: Result<String, String>,
        interval: Duration,
    ) -> Result<RemoteSampler, RemoteError> {
        let (device, io_reason) = match device {
            Ok(name) if !sample::is_device_name(&name) => return Err(RemoteError::BadDevice(name)),
            Ok(name) => (Some(name), None),
            Err(why) => (None, Some(archive::Remark::DeviceUnknown { why })),
        };
        let plan = sampler::Plan {
            address: self.address.clone(),
            device,
            interfaces: physical_interfaces(self.root()),
            interval,
        };
        RemoteSampler::start(plan, io_reason)
    }
}
