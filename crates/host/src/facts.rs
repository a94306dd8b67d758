//! The basic facts of the machine, for the page of a run.
//!
//! Read once, from files of `/proc`, `/sys` and `/etc` below any root. A file that is missing, truncated or malformed
//! makes its fact `None`; nothing is guessed and nothing fails.

pub(crate) mod control_group;
mod disks;
mod files;
mod processor;
mod virtualisation;

use std::path::Path;

use archive::Platform;

use files::{count_numbered, is_this_machine};
pub(crate) use files::{first_line, first_number, is_numbered, text};

/// Placeholders of firmware whose maker has filled in nothing.
const EMPTY_WORDS: &[&str] = &[
    "default string",
    "none",
    "not specified",
    "system manufacturer",
    "system product name",
    "to be filled by o.e.m.",
    "unknown",
];

/// Facts of the machine below `root`; `/` for the one that dbdyno runs on.
pub fn facts(root: &Path) -> Platform {
    let cpuinfo = text(root, "proc/cpuinfo").unwrap_or_default();
    let processor = processor::read(root, &cpuinfo);
    let product = product(root);
    Platform {
        host_name: first_line(root, "proc/sys/kernel/hostname")
            .or_else(|| first_line(root, "etc/hostname")),
        distribution: distribution(root),
        kernel: first_line(root, "proc/sys/kernel/osrelease"),
        architecture: architecture(root),
        virtualisation: virtualisation::read(root, &cpuinfo, product.as_deref()),
        product,
        processor: processor.model,
        processor_mhz: processor.mhz,
        sockets: processor.sockets,
        cores: processor.cores,
        threads: processor.threads,
        numa_nodes: count_numbered(&root.join("sys/devices/system/node"), "node"),
        memory_bytes: memory_bytes(root, "MemTotal:"),
        swap_bytes: memory_bytes(root, "SwapTotal:"),
        block_devices: disks::read(root),
        control_group: control_group::read(root),
    }
}

fn distribution(root: &Path) -> Option<String> {
    ["etc/os-release", "usr/lib/os-release"]
        .iter()
        .find_map(|name| {
            let text = text(root, name)?;
            let value = text
                .lines()
                .find_map(|line| line.strip_prefix("PRETTY_NAME="))?
                .trim()
                .trim_matches(|c| c == '"' || c == '\'');
            (!value.is_empty()).then(|| value.to_owned())
        })
}

/// Kernels before 6.1 have no file for it.
fn architecture(root: &Path) -> Option<String> {
    first_line(root, "proc/sys/kernel/arch")
        .or_else(|| is_this_machine(root).then(|| std::env::consts::ARCH.to_owned()))
}

/// A value of `/proc/meminfo`, whose "kB" are 1024 bytes. A line without its unit is truncated.
fn memory_bytes(root: &Path, key: &str) -> Option<u64> {
    let text = text(root, "proc/meminfo")?;
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    value
        .trim()
        .strip_suffix("kB")?
        .trim_end()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// Vendor and product from DMI or, on machines without, the name in the device tree.
fn product(root: &Path) -> Option<String> {
    let dmi = |name: &str| {
        first_line(root, &format!("sys/class/dmi/id/{name}"))
            .filter(|value| !EMPTY_WORDS.contains(&value.to_ascii_lowercase().as_str()))
    };
    match (dmi("sys_vendor"), dmi("product_name")) {
        (Some(vendor), Some(name)) if !name.starts_with(&vendor) => {
            Some(format!("{vendor} {name}"))
        }
        (vendor, name) => name
            .or(vendor)
            .or_else(|| first_line(root, "proc/device-tree/model")),
    }
}
