//! What each network interface of the host carried while a point was measured.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What is behind an interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterfaceKind {
    /// A device.
    Physical,
    /// No device: a bridge, a bond, a VLAN, a tunnel, one end of a container's cable. What it carries may pass another
    /// interface as well.
    #[default]
    Virtual,
    /// The host itself.
    Loopback,
    /// Not one interface, but all that are not listed.
    Others,
}

impl InterfaceKind {
    /// All kinds in the order of tables.
    pub const ALL: [Self; 4] = [Self::Physical, Self::Virtual, Self::Loopback, Self::Others];

    /// Word used in tables, the archive and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Physical => "physical",
            Self::Virtual => "virtual",
            Self::Loopback => "loopback",
            Self::Others => "others",
        }
    }
}

/// A word that names no [`InterfaceKind`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of interface \"{0}\"")]
pub struct UnknownInterfaceKind(String);

impl FromStr for InterfaceKind {
    type Err = UnknownInterfaceKind;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == word);
        known.ok_or_else(|| UnknownInterfaceKind(word.to_owned()))
    }
}

/// What an interface carried in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traffic {
    /// With the frames' heads, as the kernel counts.
    pub bytes: u64,
    pub packets: u64,
    /// Packets with an error.
    pub errors: u64,
    /// Packets that the host dropped, for want of room or of a receiver.
    pub drops: u64,
}

/// What one network interface carried while a point was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceUse {
    /// The kernel's name, e.g. "eth0"; "others" for all that are not listed.
    pub name: String,
    pub kind: InterfaceKind,
    /// Time that the counters cover, in seconds.
    pub elapsed_s: Option<f64>,
    pub received: Traffic,
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
    fn words_of_kinds_are_those_of_exports() {
        for kind in InterfaceKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        let unknown = "bridge".parse::<InterfaceKind>().unwrap_err();
        assert_eq!(unknown.to_string(), "unknown kind of interface \"bridge\"");
    }

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
