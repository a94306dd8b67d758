//! The basic facts of the machine, for the page of a run.
//!
//! Read once, from files of `/proc`, `/sys` and `/etc` below any root. A file that is missing, cut
//! short or odd makes its fact `None`; nothing is guessed and nothing fails.

mod control_group;
mod disks;
mod processor;
mod virtualisation;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use archive::Platform;

/// Longest file that is read: `/proc/cpuinfo` of a thousand processors.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// What firmware says when its maker has filled in nothing.
const EMPTY_WORDS: &[&str] = &[
    "default string",
    "none",
    "not specified",
    "system manufacturer",
    "system product name",
    "to be filled by o.e.m.",
    "unknown",
];

/// What the machine below `root` is; `/` for the one that dbdyno runs on.
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

/// True for the machine that dbdyno runs on, which may also be asked otherwise than through files.
fn is_this_machine(root: &Path) -> bool {
    root == Path::new("/")
}

/// A whole file; bytes that are not UTF-8 become the replacement character. What is no regular file
/// is not opened: a pipe in a copied tree would never answer.
pub(crate) fn text(root: &Path, name: &str) -> Option<String> {
    let path = root.join(name);
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(FILE_BYTES_MAX)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first line of a file without surrounding blanks; `None` when it is empty.
pub(crate) fn first_line(root: &Path, name: &str) -> Option<String> {
    let text = text(root, name)?;
    let line = text
        .lines()
        .next()?
        .trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!line.is_empty()).then(|| line.to_owned())
}

/// The first line of a file as a number.
pub(crate) fn first_number<T: std::str::FromStr>(root: &Path, name: &str) -> Option<T> {
    first_line(root, name)?.parse().ok()
}

/// How many entries of a directory are `prefix` and a number; `None` when there are none.
fn count_numbered(directory: &Path, prefix: &str) -> Option<u32> {
    let count = std::fs::read_dir(directory)
        .ok()?
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|name| is_numbered(name, prefix))
        })
        .count();
    u32::try_from(count).ok().filter(|&count| count > 0)
}

pub(crate) fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn distribution(root: &Path) -> Option<String> {
    ["etc/os-release", "usr/lib/os-release"]
        .iter()
        .find_map(|name| {
            let text = text(root, name)?;
            let value = text
                .lines()
                .find_map(|line| line.strip_prefix("PRETTY_NAME="))?
                .trim();
            let value = value.trim_matches(|c| c == '"' || c == '\'');
            (!value.is_empty()).then(|| value.to_owned())
        })
}

/// Kernels before 6.1 have no file for it.
fn architecture(root: &Path) -> Option<String> {
    first_line(root, "proc/sys/kernel/arch")
        .or_else(|| is_this_machine(root).then(|| std::env::consts::ARCH.to_owned()))
}

/// A value of `/proc/meminfo`, whose "kB" are 1024 bytes. A line without its unit was cut short.
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
