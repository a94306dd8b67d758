//! Processors: their number and settings.

use std::collections::BTreeSet;
use std::path::Path;

use archive::Platform;
use serde::{Deserialize, Serialize};

use super::listing::names;
use crate::facts::{first_line, is_numbered};

const CPUS: &str = "sys/devices/system/cpu";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Processor {
    pub model: Option<String>,
    pub nominal_mhz: Option<f64>,
    pub sockets: Option<u32>,
    pub cores: Option<u32>,
    pub threads: Option<u32>,
    pub numa_nodes: Option<u32>,
    /// Simultaneous multithreading in the kernel's words: on, off, forceoff, notsupported, notimplemented.
    pub smt: Option<String>,
    /// True if the processor may run above its nominal frequency.
    pub turbo: Option<bool>,
    /// Frequency governor; several with commas, if processors differ.
    pub governor: Option<String>,
    pub frequency_driver: Option<String>,
    /// Preference between performance and energy, if the processor has one.
    pub energy_preference: Option<String>,
}

pub(super) fn read(root: &Path, basic: &Platform) -> Processor {
    Processor {
        model: basic.processor.clone(),
        nominal_mhz: basic.processor_mhz,
        sockets: basic.sockets,
        cores: basic.cores,
        threads: basic.threads,
        numa_nodes: basic.numa_nodes,
        smt: first_line(root, &format!("{CPUS}/smt/control")),
        turbo: turbo(root),
        governor: over_all(root, "cpufreq/scaling_governor"),
        frequency_driver: over_all(root, "cpufreq/scaling_driver"),
        energy_preference: over_all(root, "cpufreq/energy_performance_preference"),
    }
}

/// Intel's driver has a flag for turbo off, all others one for turbo on.
fn turbo(root: &Path) -> Option<bool> {
    let flag = |name: &str| match first_line(root, &format!("{CPUS}/{name}")).as_deref() {
        Some("0") => Some(false),
        Some("1") => Some(true),
        _ => None,
    };
    flag("intel_pstate/no_turbo")
        .map(|off| !off)
        .or_else(|| flag("cpufreq/boost"))
}

/// The distinct values of a file that every processor has.
fn over_all(root: &Path, file: &str) -> Option<String> {
    let values: BTreeSet<String> = names(&root.join(CPUS))
        .iter()
        .filter(|name| is_numbered(name, "cpu"))
        .filter_map(|name| first_line(root, &format!("{CPUS}/{name}/{file}")))
        .collect();
    let values: Vec<String> = values.into_iter().collect();
    (!values.is_empty()).then(|| values.join(", "))
}
