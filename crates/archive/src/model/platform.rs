//! The basic facts of the machine that stand in every run.

use serde::{Deserialize, Serialize};

/// The host that was measured. What it does not tell is `None` or empty, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Platform {
    /// Name of the host.
    pub host_name: Option<String>,
    /// Distribution as it calls itself, e.g. "Debian GNU/Linux 12 (bookworm)".
    pub distribution: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Machine architecture, e.g. "x86_64".
    pub architecture: Option<String>,
    /// Vendor and product of the machine, as its firmware says.
    pub product: Option<String>,
    /// Hypervisor or "none"; `None` when it cannot be told.
    pub virtualisation: Option<String>,
    /// Processor model.
    pub processor: Option<String>,
    /// Nominal frequency in MHz as the kernel shows it.
    pub processor_mhz: Option<f64>,
    /// Processor sockets.
    pub sockets: Option<u32>,
    /// Physical cores.
    pub cores: Option<u32>,
    /// Hardware threads the kernel schedules on.
    pub threads: Option<u32>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Swap space in bytes.
    pub swap_bytes: Option<u64>,
    /// Block devices that hold something.
    pub block_devices: Vec<BlockDevice>,
}

/// One block device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockDevice {
    /// Kernel name, e.g. "nvme0n1".
    pub name: String,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// True for spinning disks.
    pub rotational: Option<bool>,
    /// I/O scheduler in force.
    pub scheduler: Option<String>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Where its file systems are mounted, with their type, e.g. "/ (ext4)".
    pub mounts: Vec<String>,
}
