//! Main memory, NUMA nodes and huge pages.

use std::path::Path;

use archive::Platform;
use serde::{Deserialize, Serialize};

use super::listing::names;
use crate::facts::{first_line, first_number, is_numbered, text};

const NODES: &str = "sys/devices/system/node";
const HUGE: &str = "sys/kernel/mm/hugepages";
const TRANSPARENT: &str = "sys/kernel/mm/transparent_hugepage";
const KIB: u64 = 1024;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    pub total_bytes: Option<u64>,
    pub swap_bytes: Option<u64>,
    /// Transparent huge pages: always, madvise or never.
    pub transparent_huge_pages: Option<String>,
    /// When the kernel compacts memory to make transparent huge pages.
    pub transparent_huge_pages_defrag: Option<String>,
    /// Sum of all huge pages; `None` if one of the counts is unknown.
    pub huge_pages_bytes: Option<u64>,
    pub huge_pages: Vec<HugePages>,
    pub nodes: Vec<NumaNode>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HugePages {
    pub name: String,
    pub page_bytes: Option<u64>,
    pub pages: Option<u64>,
    /// Pages that are promised but not yet touched.
    pub reserved_pages: Option<u64>,
    /// Pages that the kernel may add on demand.
    pub overcommit_pages: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NumaNode {
    pub name: String,
    /// Its hardware threads, e.g. "0-17,72-89".
    pub threads: Option<String>,
    pub memory_bytes: Option<u64>,
}

pub(super) fn read(root: &Path, basic: &Platform) -> Memory {
    let huge_pages = huge_pages(root);
    Memory {
        total_bytes: basic.memory_bytes,
        swap_bytes: basic.swap_bytes,
        transparent_huge_pages: in_force(root, "enabled"),
        transparent_huge_pages_defrag: in_force(root, "defrag"),
        huge_pages_bytes: all_bytes(&huge_pages),
        huge_pages,
        nodes: nodes(root),
    }
}

/// The word in brackets, as in "always [madvise] never".
fn in_force(root: &Path, file: &str) -> Option<String> {
    first_line(root, &format!("{TRANSPARENT}/{file}"))?
        .split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
}

fn huge_pages(root: &Path) -> Vec<HugePages> {
    let sizes = names(&root.join(HUGE));
    let from_sys: Vec<HugePages> = sizes
        .iter()
        .filter_map(|directory| {
            let name = directory.strip_prefix("hugepages-")?;
            let count = |file: &str| first_number(root, &format!("{HUGE}/{directory}/{file}"));
            Some(HugePages {
                name: name.to_owned(),
                page_bytes: kib(name),
                pages: count("nr_hugepages"),
                reserved_pages: count("resv_hugepages"),
                overcommit_pages: count("nr_overcommit_hugepages"),
            })
        })
        .collect();
    if from_sys.is_empty() {
        return from_meminfo(root).into_iter().collect();
    }
    from_sys
}

/// A tree copied without `/sys/kernel` still shows the pages of the default size.
fn from_meminfo(root: &Path) -> Option<HugePages> {
    let text = text(root, "proc/meminfo")?;
    let value = |key: &str| Some(text.lines().find_map(|line| line.strip_prefix(key))?.trim());
    let size = value("Hugepagesize:")?.replace(' ', "");
    Some(HugePages {
        page_bytes: kib(&size),
        name: size,
        pages: value("HugePages_Total:").and_then(|n| n.parse().ok()),
        reserved_pages: value("HugePages_Rsvd:").and_then(|n| n.parse().ok()),
        overcommit_pages: None,
    })
}

fn kib(size: &str) -> Option<u64> {
    size.strip_suffix("kB")?
        .parse::<u64>()
        .ok()?
        .checked_mul(KIB)
}

fn all_bytes(sizes: &[HugePages]) -> Option<u64> {
    if sizes.is_empty() {
        return None;
    }
    sizes.iter().try_fold(0u64, |sum, size| {
        sum.checked_add(size.page_bytes?.checked_mul(size.pages?)?)
    })
}

fn nodes(root: &Path) -> Vec<NumaNode> {
    names(&root.join(NODES))
        .into_iter()
        .filter(|name| is_numbered(name, "node"))
        .map(|name| NumaNode {
            threads: first_line(root, &format!("{NODES}/{name}/cpulist")),
            memory_bytes: text(root, &format!("{NODES}/{name}/meminfo"))
                .and_then(|text| node_bytes(&text)),
            name,
        })
        .collect()
}

/// A line like "Node 0 MemTotal:       790000000 kB"; without its unit it is truncated.
fn node_bytes(text: &str) -> Option<u64> {
    let (_, value) = text.lines().find_map(|line| line.split_once("MemTotal:"))?;
    let value = value.trim().strip_suffix("kB")?.trim_end();
    value.parse::<u64>().ok()?.checked_mul(KIB)
}
