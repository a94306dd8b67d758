//! Traffic of the host's network interfaces while a point was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    #[derive(Default)]
    pub enum InterfaceKind {
        /// An interface of a device.
        Physical = "physical",
        /// An interface without a device: a bridge, bond, VLAN, tunnel or container's end. Its traffic may pass another
        /// interface as well.
        #[default]
        Virtual = "virtual",
        /// The host's loopback.
        Loopback = "loopback",
        /// All interfaces that are not listed.
        Others = "others",
    }
}

/// Traffic in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// Bytes with the frames' heads.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Packets with an error.
    pub errors: u64,
    /// Packets that the host dropped.
    pub drops: u64,
}

/// Traffic of a network interface while a point was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceUse {
    /// Kernel name, e.g. "eth0"; "others" for all that are not listed.
    pub name: String,
    /// Kind of interface.
    pub kind: InterfaceKind,
    /// Time that its counters cover, in seconds.
    pub elapsed_s: Option<f64>,
    /// Traffic in.
    pub received: Traffic,
    /// Traffic out.
    pub sent: Traffic,
}

impl InterfaceUse {
    /// So many bytes as 10^6 bytes per second of the time that the counters cover.
    pub fn mb_per_s(&self, bytes: u64) -> Option<f64> {
        let elapsed_s = self.elapsed_s.filter(|s| *s > 0.0)?;
        Some(bytes as f64 / 1e6 / elapsed_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_needs_a_time() {
        let rate = |elapsed_s| {
            let used = InterfaceUse {
                elapsed_s,
                ..InterfaceUse::default()
            };
            used.mb_per_s(3_000_000)
        };
        assert_eq!(rate(Some(2.0)), Some(1.5));
        for unknown in [None, Some(0.0), Some(f64::NAN)] {
            assert_eq!(rate(unknown), None);
        }
    }
}
