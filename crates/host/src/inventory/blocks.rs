//! Block devices, their queue settings and how they are built on each other.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::listing::names;
use crate::facts::{facts, first_line, first_number};

/// Most devices in the list: 4,096 paths are 512 volumes over 8 ports.
const DEVICES_MAX: usize = 4096;

/// Role of a block device relative to those above and below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    #[default]
    Disk,
    Multipath,
    Path,
    Mapped,
    Array,
    /// Loop, RAM or network device, tape or optical drive: not a disk of the machine.
    Other,
}

impl Role {
    /// Role of the device with this kernel name; `mapping` is the UUID of a mapped one. Only the volume above shows
    /// which disks are paths.
    pub fn of(name: &str, mapping: Option<&str>) -> Self {
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        match mapping {
            Some(uuid) if uuid.starts_with("mpath-") => Self::Multipath,
            Some(_) => Self::Mapped,
            None if starts(&["dm-"]) => Self::Mapped,
            None if starts(&["md"]) => Self::Array,
            None if starts(&["loop", "ram", "zram", "sr", "fd", "nbd", "st"]) => Self::Other,
            None => Self::Disk,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    /// Kernel name, e.g. "sda" or "dm-3".
    pub name: String,
    pub role: Role,
    /// Name of the mapping, e.g. "data01".
    pub mapped_name: Option<String>,
    /// The name without its last digits: volumes of one series ("data") belong together.
    pub series: Option<String>,
    pub size_bytes: Option<u64>,
    /// Vendor; for a volume, that of its paths.
    pub vendor: Option<String>,
    /// Model; for a volume, that of its paths.
    pub model: Option<String>,
    pub rotational: Option<bool>,
    pub scheduler: Option<String>,
    /// Place of completion of a request: 0 anywhere, 1 on the processor group that sent it, 2 on the same processor.
    pub rq_affinity: Option<u64>,
    pub nr_requests: Option<u64>,
    /// Merging of requests: 0 all, 1 simple ones, 2 none.
    pub nomerges: Option<u64>,
    pub read_ahead_kib: Option<u64>,
    pub slaves: Vec<String>,
    /// Devices that are built on it.
    pub holders: Vec<String>,
}

pub(super) fn read(root: &Path) -> Vec<Block> {
    // The basic facts contain the non-empty devices with size and scheduler.
    let basic = facts(root).block_devices;
    let known = |name: &str| basic.iter().find(|device| device.name == name);
    let mut blocks: Vec<Block> = names(&root.join("sys/block"))
        .iter()
        .take(DEVICES_MAX)
        .map(|name| block(root, name))
        .filter(|block| block.size_bytes != Some(0))
        .collect();
    for block in &mut blocks {
        block.scheduler = known(&block.name)
            .and_then(|device| device.scheduler.clone())
            .or_else(|| scheduler(root, &block.name));
    }
    let paths: Vec<String> = blocks
        .iter()
        .filter(|block| block.role == Role::Multipath)
        .flat_map(|block| block.slaves.clone())
        .collect();
    for block in &mut blocks {
        if block.role == Role::Disk && paths.contains(&block.name) {
            block.role = Role::Path;
        }
    }
    inherit(&mut blocks);
    blocks
}

fn block(root: &Path, name: &str) -> Block {
    let at = |file: &str| format!("sys/block/{name}/{file}");
    let line = |file: &str| first_line(root, &at(file));
    let number = |file: &str| first_number::<u64>(root, &at(file));
    let mapped_name = line("dm/name");
    Block {
        // A name with a slash (cciss/c0d0) has an exclamation mark in /sys.
        name: name.replace('!', "/"),
        role: Role::of(name, line("dm/uuid").as_deref()),
        series: mapped_name.as_deref().and_then(series),
        mapped_name,
        size_bytes: number("size").and_then(|sectors| sectors.checked_mul(512)),
        vendor: line("device/vendor").filter(|vendor| !vendor.starts_with("0x")),
        model: line("device/model").or_else(|| line("device/name")),
        rotational: number("queue/rotational").and_then(|flag| match flag {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }),
        scheduler: None,
        rq_affinity: number("queue/rq_affinity"),
        nr_requests: number("queue/nr_requests"),
        nomerges: number("queue/nomerges"),
        read_ahead_kib: number("queue/read_ahead_kb"),
        slaves: names(&root.join(at("slaves"))),
        holders: names(&root.join(at("holders"))),
    }
}

/// The scheduler in brackets, as in "noop [deadline] cfq", or a single word.
fn scheduler(root: &Path, name: &str) -> Option<String> {
    let line = first_line(
        root,
        &format!("sys/block/{}/queue/scheduler", name.replace('/', "!")),
    )?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let in_force = words
        .iter()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let alone = || match words[..] {
        [word] if !word.contains(['[', ']']) => Some(word),
        _ => None,
    };
    in_force.or_else(alone).map(str::to_owned)
}

/// "data01" → "data"; a name without digits at its end is its own series.
fn series(name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some(if stem.is_empty() { name } else { stem }.to_owned())
}

/// Gives a volume the vendor and model of its paths, if they agree.
fn inherit(blocks: &mut [Block]) {
    let below: Vec<(String, Option<String>, Option<String>)> = blocks
        .iter()
        .map(|block| {
            (
                block.name.clone(),
                block.vendor.clone(),
                block.model.clone(),
            )
        })
        .collect();
    for block in blocks
        .iter_mut()
        .filter(|block| block.role == Role::Multipath)
    {
        let mut paths = below
            .iter()
            .filter(|(name, ..)| block.slaves.contains(name));
        if let Some((_, vendor, model)) = paths.next()
            && paths.all(|(_, v, m)| (v, m) == (vendor, model))
        {
            block.vendor.clone_from(vendor);
            block.model.clone_from(model);
        }
    }
}
