//! Basic facts of the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The measured host. Unknown facts are `None` or empty, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Platform {
    /// Name of the host.
    pub host_name: Option<String>,
    /// Name of the distribution, e.g. "Debian GNU/Linux 12 (bookworm)".
    pub distribution: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Machine architecture, e.g. "x86_64".
    pub architecture: Option<String>,
    /// Vendor and product of the machine, by its firmware.
    pub product: Option<String>,
    /// Hypervisor or "none".
    pub virtualisation: Option<String>,
    /// Processor model.
    pub processor: Option<String>,
    /// Nominal frequency, MHz.
    pub processor_mhz: Option<f64>,
    /// Processor sockets.
    pub sockets: Option<u32>,
    /// Physical cores.
    pub cores: Option<u32>,
    /// Hardware threads.
    pub threads: Option<u32>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// Main memory.
    pub memory_bytes: Option<u64>,
    /// Swap space.
    pub swap_bytes: Option<u64>,
    /// Block devices that hold data.
    pub block_devices: Vec<BlockDevice>,
    /// Limits of the control group of the driver.
    pub control_group: Option<ControlGroup>,
}

/// Limits of the driver and all its children; of nested groups the tightest counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ControlGroup {
    /// Limit of processor time, in hardware threads.
    pub cpu_max_threads: Option<f64>,
    /// Hardware threads that may be used, e.g. "0-3,8"; null if all.
    pub threads: Option<String>,
    /// Limit of memory with page cache; null without one.
    pub memory_max_bytes: Option<u64>,
    /// Memory beyond which the group is slowed down; null without such a limit.
    pub memory_high_bytes: Option<u64>,
    /// Limit of swap space; null without one.
    pub swap_max_bytes: Option<u64>,
    /// Limits of I/O.
    pub devices: Vec<DeviceCap>,
}

/// Rates at which a control group may use one block device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeviceCap {
    /// Kernel name, or the number of the device.
    pub name: String,
    /// Limit; null without one.
    pub read_max_bytes_per_s: Option<u64>,
    /// Limit; null without one.
    pub write_max_bytes_per_s: Option<u64>,
    /// Limit; null without one.
    pub read_max_iops: Option<u64>,
    /// Limit; null without one.
    pub write_max_iops: Option<u64>,
}

impl ControlGroup {
    /// By name, as people write them.
    #[must_use]
    pub fn caps(&self) -> Vec<(String, String)> {
        let bytes = |value: Option<u64>| value.map(whole_units);
        let own = [
            (
                "processor time",
                self.cpu_max_threads.map(|n| format!("{n} threads")),
            ),
            ("threads", self.threads.clone()),
            ("memory", bytes(self.memory_max_bytes)),
            ("memory (soft)", bytes(self.memory_high_bytes)),
            ("swap", bytes(self.swap_max_bytes)),
        ];
        let own = own
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let devices = self.devices.iter().flat_map(|device| {
            let cap = |what: &str, value: Option<u64>, unit: &str| {
                let value = value.map(|value| format!("{value} {unit}"));
                (format!("{} {what}", device.name), value)
            };
            [
                cap("reads", device.read_max_iops, "a second"),
                cap("writes", device.write_max_iops, "a second"),
                cap("bytes read", device.read_max_bytes_per_s, "a second"),
                cap("bytes written", device.write_max_bytes_per_s, "a second"),
            ]
        });
        own.chain(devices)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BlockDevice {
    /// Kernel name.
    pub name: String,
    /// Size.
    pub size_bytes: Option<u64>,
    /// True for spinning disks.
    pub rotational: Option<bool>,
    /// I/O scheduler in force.
    pub scheduler: Option<String>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Mount points with their file systems, e.g. "/ (ext4)".
    pub mounts: Vec<String>,
}

/// In the largest unit of which they are a multiple.
fn whole_units(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = |(bits, _): &&(u32, &str)| bytes > 0 && bytes.trailing_zeros() >= *bits;
    match units.iter().find(fits) {
        Some((bits, unit)) => format!("{} {unit}", bytes >> bits),
        None => format!("{bytes} bytes"),
    }
}
