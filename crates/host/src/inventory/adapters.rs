//! Fibre channel ports and network interfaces.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::listing::names;
use crate::facts::{first_line, first_number};

const ADAPTERS_MAX: usize = 256;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FibreChannelPort {
    /// Kernel name, e.g. "host3".
    pub name: String,
    pub model: Option<String>,
    pub port_name: Option<String>,
    pub state: Option<String>,
    pub speed_gbit_per_s: Option<f64>,
    pub supported_gbit_per_s_max: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkInterface {
    /// Name, e.g. "eth0".
    pub name: String,
    pub driver: Option<String>,
    pub state: Option<String>,
    pub speed_mbit_per_s: Option<u64>,
    pub mtu_bytes: Option<u64>,
}

pub(super) fn fibre_channel_ports(root: &Path) -> Vec<FibreChannelPort> {
    let ports = names(&root.join("sys/class/fc_host"));
    ports
        .into_iter()
        .take(ADAPTERS_MAX)
        .map(|name| port(root, name))
        .collect()
}

fn port(root: &Path, name: String) -> FibreChannelPort {
    let line = |file: &str| first_line(root, &format!("sys/class/fc_host/{name}/{file}"));
    let scsi = |file: &str| first_line(root, &format!("sys/class/scsi_host/{name}/{file}"));
    FibreChannelPort {
        // Each driver has its own file for it.
        model: ["model_name", "modelname", "model"]
            .iter()
            .find_map(|file| scsi(file)),
        port_name: line("port_name"),
        state: line("port_state"),
        speed_gbit_per_s: line("speed").and_then(|text| gbit_per_s(&text)),
        supported_gbit_per_s_max: line("supported_speeds")
            .and_then(|text| text.split(',').filter_map(gbit_per_s).reduce(f64::max)),
        name,
    }
}

/// Speed in e.g. "16 Gbit"; a link that is down has the speed "Unknown".
fn gbit_per_s(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix("Gbit")?.trim_end().parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number)
}

/// Interfaces with a device: no loopback, no bridges.
pub(super) fn network_interfaces(root: &Path) -> Vec<NetworkInterface> {
    let directory = root.join("sys/class/net");
    names(&directory)
        .into_iter()
        .filter(|name| directory.join(name).join("device").exists())
        .take(ADAPTERS_MAX)
        .map(|name| {
            let at = |file: &str| format!("sys/class/net/{name}/{file}");
            NetworkInterface {
                driver: driver(root, &name),
                state: first_line(root, &at("operstate")),
                // -1, the speed of virtual interfaces and of links that are down, is no u64.
                speed_mbit_per_s: first_number(root, &at("speed")).filter(|&speed| speed > 0),
                mtu_bytes: first_number(root, &at("mtu")),
                name,
            }
        })
        .collect()
}

/// The name of the directory that the link leads to; in a copied tree the line DRIVER= of uevent.
fn driver(root: &Path, name: &str) -> Option<String> {
    let device = format!("sys/class/net/{name}/device");
    let link = std::fs::read_link(root.join(&device).join("driver")).ok();
    let from_link = link.and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
    from_link.or_else(|| {
        let text = crate::facts::text(root, &format!("{device}/uevent"))?;
        let driver = text
            .lines()
            .find_map(|line| line.strip_prefix("DRIVER="))?
            .trim();
        (!driver.is_empty()).then(|| driver.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_numbers_or_unknown() {
        assert_eq!(gbit_per_s(" 16 Gbit"), Some(16.0));
        for odd in [
            "Unknown",
            "",
            "16",
            "Gbit",
            "-4 Gbit",
            "inf Gbit",
            "Link not established",
        ] {
            assert_eq!(gbit_per_s(odd), None, "{odd}");
        }
    }
}
