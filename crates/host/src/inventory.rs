//! The full inventory of the machine: processor, memory, disks, file systems, adapters and settings.
//!
//! Read once from `/proc`, `/sys` and `/etc` below any root, so that the copied tree of another machine can be read
//! as well. A file that is missing, truncated or malformed makes its fact `None`.

mod adapters;
mod blocks;
mod difference;
mod document;
mod file_systems;
mod listing;
mod memory;
mod multipath;
mod processor;
mod rows;
mod show;
mod stated;
mod sysctl;
mod udev;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use archive::ControlGroup;
use serde::{Deserialize, Serialize};

use crate::facts;

pub use adapters::{FibreChannelPort, NetworkInterface};
pub use blocks::{Block, Role};
pub(crate) use difference::shown;
pub use difference::{Changed, difference};
pub use document::{Document, DocumentError};
pub use file_systems::FileSystem;
pub use memory::{HugePages, Memory, NumaNode};
pub use multipath::{Multipath, Section};
pub use processor::Processor;
pub use rows::rows;
pub use show::{changed_rows, sections, stated_section};
pub use stated::{Stated, StatedError};
pub use udev::UdevRule;

/// Everything that was found; facts that the machine does not show are `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inventory {
    pub machine: Machine,
    pub processor: Processor,
    pub memory: Memory,
    /// Caps on dbdyno and everything that it starts.
    pub control_group: Option<ControlGroup>,
    /// Block devices with their queue settings, without empty ones.
    pub block_devices: Vec<Block>,
    /// Mounted file systems on a device or on the network.
    pub file_systems: Vec<FileSystem>,
    pub fibre_channel_ports: Vec<FibreChannelPort>,
    pub network_interfaces: Vec<NetworkInterface>,
    /// Kernel settings of the declared list; `None` if the kernel has none of that name.
    pub sysctl: BTreeMap<String, Option<String>>,
    /// `/etc/multipath.conf`; `None` if it does not exist.
    pub multipath: Option<Multipath>,
    /// udev rules that set attributes of block devices or the permissions of volumes; `None` without
    /// `/etc/udev/rules.d`.
    pub udev_rules: Option<Vec<UdevRule>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub host_name: Option<String>,
    pub product: Option<String>,
    pub virtualisation: Option<String>,
    pub distribution: Option<String>,
    pub kernel: Option<String>,
    pub architecture: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    #[error("the root {} cannot be read ({cause}); give a directory that contains the machine's proc, sys and \
             etc", root.display())]
    Unreadable {
        root: PathBuf,
        cause: std::io::Error,
    },
    #[error("the root {} contains none of proc, sys and etc; give the directory to which they were copied", root.display())]
    NoMachine { root: PathBuf },
}

/// The inventory of the machine below `root`; `/` for the one that dbdyno runs on. Fails if the root cannot be
/// listed, or is not the root of a machine.
pub fn inventory(root: &Path) -> Result<Inventory, InventoryError> {
    std::fs::read_dir(root).map_err(|cause| InventoryError::Unreadable {
        root: root.to_owned(),
        cause,
    })?;
    if !["proc", "sys", "etc"]
        .iter()
        .any(|name| root.join(name).is_dir())
    {
        return Err(InventoryError::NoMachine {
            root: root.to_owned(),
        });
    }
    let basic = facts(root);
    Ok(Inventory {
        processor: processor::read(root, &basic),
        memory: memory::read(root, &basic),
        control_group: basic.control_group,
        block_devices: blocks::read(root),
        file_systems: file_systems::read(root),
        fibre_channel_ports: adapters::fibre_channel_ports(root),
        network_interfaces: adapters::network_interfaces(root),
        sysctl: sysctl::read(root),
        multipath: multipath::read(root),
        udev_rules: udev::read(root),
        machine: Machine {
            host_name: basic.host_name,
            product: basic.product,
            virtualisation: basic.virtualisation,
            distribution: basic.distribution,
            kernel: basic.kernel,
            architecture: basic.architecture,
        },
    })
}
