//! What the machine is, in full: processor, memory, disks, file systems, adapters and settings.
//!
//! Read once from `/proc`, `/sys` and `/etc` below any root, so that the copied tree of another
//! machine can be read as well. A file that is missing, cut short or odd makes its fact `None`.

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

/// Everything that was found; what the machine does not tell is `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inventory {
    /// Name, product, distribution and kernel.
    pub machine: Machine,
    /// Processors and how they are set.
    pub processor: Processor,
    /// Main memory and huge pages.
    pub memory: Memory,
    /// Caps that hold dbdyno and all that it starts.
    pub control_group: Option<ControlGroup>,
    /// Block devices with their queue settings, without those that hold nothing.
    pub block_devices: Vec<Block>,
    /// Mounted file systems that lie on a device or on the network.
    pub file_systems: Vec<FileSystem>,
    pub fibre_channel_ports: Vec<FibreChannelPort>,
    /// Network interfaces with hardware behind them.
    pub network_interfaces: Vec<NetworkInterface>,
    /// Kernel settings of the declared list; `None` where the kernel has none of that name.
    pub sysctl: BTreeMap<String, Option<String>>,
    /// `/etc/multipath.conf`; `None` where there is none.
    pub multipath: Option<Multipath>,
    /// udev rules that set attributes of block devices or the permissions of volumes; `None` where
    /// there is no `/etc/udev/rules.d`.
    pub udev_rules: Option<Vec<UdevRule>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub host_name: Option<String>,
    /// Vendor and product, as the firmware says.
    pub product: Option<String>,
    /// Hypervisor or "none".
    pub virtualisation: Option<String>,
    /// Distribution as it calls itself.
    pub distribution: Option<String>,
    pub kernel: Option<String>,
    pub architecture: Option<String>,
}

/// Why there is no inventory.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// The root is no directory that can be listed.
    #[error("the root {} cannot be read ({cause}); give a directory that contains the machine's proc, sys and \
             etc", root.display())]
    Unreadable {
        root: PathBuf,
        cause: std::io::Error,
    },
    /// The root holds none of the trees.
    #[error("the root {} contains none of proc, sys and etc; give the directory to which they were copied", root.display())]
    NoMachine { root: PathBuf },
}

/// Everything that is found below `root`; `/` for the machine that dbdyno runs on.
///
/// # Errors
/// When the root cannot be listed, or is not the root of a machine.
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
