//! Definition of a layout, as in its file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use archive::Purpose;
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

use super::error::LayoutError;

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../layouts");

const FILE_BYTES_MAX: u64 = 64 << 10;
const DEVICES_MAX: usize = 32;
/// Smallest device: XFS needs 300 MiB.
const DEVICE_MIB_MIN: u64 = 320;
/// Longer names are not valid table names on every server.
const TABLE_CHARACTERS_MAX: usize = 48;
/// Names are those of directories and occur in URLs.
const NAME_CHARACTERS_MAX: usize = 32;

/// Devices, file systems on them, and the volumes of a database's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub about: String,
    #[serde(rename = "device")]
    pub devices: Vec<Device>,
    #[serde(rename = "volume")]
    pub volumes: Vec<Volume>,
    #[serde(default)]
    pub place: BTreeMap<Purpose, String>,
    /// Name of the volume for each table that is on another volume than the data.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, String>,
}

/// Loop device over a file, or a given block device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    pub name: String,
    pub size_mib: Option<u64>,
    /// The given block device, which must carry no signature.
    pub path: Option<PathBuf>,
}

/// File system on one or more devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    pub name: String,
    pub devices: Vec<String>,
    pub file_system: FileSystem,
    /// Reading a file updates its access time according to the kernel's default.
    #[serde(default = "yes")]
    pub atime: bool,
    /// Stripe unit of the devices below (`su` of XFS, `stride` of ext4).
    pub stripe_unit_kib: Option<u32>,
    /// Number of stripe units (`sw` of XFS, `stripe_width` of ext4).
    pub stripe_units: Option<u32>,
    pub log_mib: Option<u32>,
    /// Device of the file system's log, if it is not among `devices` (XFS, ext4).
    pub log_device: Option<String>,
    /// Copy on write and checksums of data (Btrfs).
    #[serde(default = "yes")]
    pub checksums: bool,
    pub profile: Option<Profile>,
}

const fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileSystem {
    Ext4,
    Xfs,
    Btrfs,
    /// The device itself, for parameter files.
    Raw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    Single,
    Raid0,
    Raid1,
}

impl FileSystem {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Raw => "raw",
        }
    }

    pub fn is_mounted(self) -> bool {
        self != Self::Raw
    }
}

impl Profile {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
        }
    }
}

impl Definition {
    /// All built-in layouts, by name.
    pub fn built_in() -> Result<Vec<Self>, LayoutError> {
        let texts = BUILT_IN.files().filter_map(|file| file.contents_utf8());
        let mut all = texts.map(Self::parse).collect::<Result<Vec<_>, _>>()?;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// The built-in layout of this name, or the one in this file.
    pub fn load(name: &str) -> Result<Self, LayoutError> {
        let path = Path::new(name);
        if path.is_file() {
            let text = archive::read_text(path, FILE_BYTES_MAX);
            return Self::parse(&text.map_err(|error| invalid(name, &error.to_string()))?);
        }
        let mut all = Self::built_in()?;
        if let Some(at) = all.iter().position(|layout| layout.name == name) {
            return Ok(all.swap_remove(at));
        }
        let names: Vec<&str> = all.iter().map(|layout| layout.name.as_str()).collect();
        Err(LayoutError::Unknown {
            name: name.to_owned(),
            known: names.join(", "),
        })
    }

    /// Parses a layout and checks everything that does not depend on the machine.
    pub fn parse(text: &str) -> Result<Self, LayoutError> {
        let layout: Self =
            toml::from_str(text).map_err(|error| invalid("file", error.to_string().trim()))?;
        layout.check()?;
        Ok(layout)
    }

    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("names, numbers and words are TOML")
    }

    /// The same layout under another name, with files `times` as large.
    #[must_use]
    pub fn named(&self, name: String, times: u64) -> Self {
        let mut other = Self {
            name,
            ..self.clone()
        };
        for mib in other
            .devices
            .iter_mut()
            .filter_map(|it| it.size_mib.as_mut())
        {
            *mib = mib.saturating_mul(times);
        }
        other
    }

    /// Bytes of the files of its loop devices.
    pub fn file_bytes(&self) -> u64 {
        let sizes = self.devices.iter().filter_map(|device| device.size_mib);
        sizes.map(|mib| mib << 20).sum()
    }

    /// Volume for a kind of files; kinds without an entry are on the data volume.
    pub fn volume_of(&self, purpose: Purpose) -> Option<&Volume> {
        let name = self.place.get(&purpose)?;
        self.volumes.iter().find(|volume| volume.name == *name)
    }

    fn check(&self) -> Result<(), LayoutError> {
        let wrong = |why: String| Err(invalid(&self.name, &why));
        check_name("a layout", &self.name)?;
        if self.devices.is_empty() || self.devices.len() > DEVICES_MAX {
            return wrong(format!("name 1 to {DEVICES_MAX} devices as [[device]]"));
        }
        let mut free = BTreeSet::new();
        for device in &self.devices {
            check_name("a device", &device.name)?;
            device
                .check()
                .map_err(|why| invalid(&self.name, &format!("device {}: {why}", device.name)))?;
            if !free.insert(device.name.as_str()) {
                return wrong(format!("device {} is there twice", device.name));
            }
        }
        let mut volumes = BTreeSet::new();
        for volume in &self.volumes {
            check_name("a volume", &volume.name)?;
            volume
                .check()
                .map_err(|why| invalid(&self.name, &format!("volume {}: {why}", volume.name)))?;
            if !volumes.insert(volume.name.as_str()) {
                return wrong(format!("volume {} is there twice", volume.name));
            }
            for name in volume.devices.iter().chain(&volume.log_device) {
                if !free.remove(name.as_str()) {
                    return wrong(format!(
                        "volume {}: device {name} is not there, or another volume has it",
                        volume.name
                    ));
                }
            }
        }
        if let Some(unused) = free.first() {
            return wrong(format!("device {unused} is in no volume"));
        }
        let placed = self.place.iter();
        let placed = placed.map(|(of, volume)| (format!("place.{}", of.name()), volume));
        let tables = self.tables.iter();
        let tables = tables.map(|(table, volume)| (format!("tables.{table}"), volume));
        for (key, volume) in placed.chain(tables) {
            if let Err(why) = self.check_place(volume) {
                return wrong(format!("{key}: {why}"));
            }
        }
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        for table in self.tables.keys() {
            if table.is_empty() || table.len() > TABLE_CHARACTERS_MAX || !table.chars().all(is_name)
            {
                return wrong(format!(
                    "tables: {} is no table; a name has 1 to {TABLE_CHARACTERS_MAX} lower-case letters, digits and underscores",
                    table.escape_debug()
                ));
            }
        }
        let places_something = !self.place.is_empty() || !self.tables.is_empty();
        if places_something && !self.place.contains_key(&Purpose::Data) {
            wrong("place.data is missing".into())
        } else {
            Ok(())
        }
    }

    fn check_place(&self, volume: &str) -> Result<(), String> {
        match self.volumes.iter().find(|it| it.name == volume) {
            None => Err(format!("there is no volume {volume}")),
            Some(it) if it.file_system == FileSystem::Raw => Err(format!(
                "volume {volume} is raw; a database's files need a file system"
            )),
            Some(_) => Ok(()),
        }
    }
}

impl Device {
    fn check(&self) -> Result<(), String> {
        match (self.size_mib, &self.path) {
            (Some(mib), None) if mib < DEVICE_MIB_MIN => {
                Err(format!("size_mib = {mib} is less than {DEVICE_MIB_MIN}"))
            }
            (Some(_), None) => Ok(()),
            (None, Some(path)) if path.is_absolute() => Ok(()),
            (None, Some(_)) => Err("path must be absolute".into()),
            _ => Err(
                "give either size_mib (a file behind a loop device) or path (a block device)"
                    .into(),
            ),
        }
    }
}

impl Volume {
    /// Description in a line, such as "xfs on one, noatime".
    pub fn summary(&self) -> String {
        let mut parts = vec![format!(
            "{} on {}",
            self.file_system.name(),
            self.devices.join(", ")
        )];
        parts.extend(self.profile.map(|profile| profile.name().to_owned()));
        parts.extend((!self.atime).then(|| "noatime".to_owned()));
        parts.extend((!self.checksums).then(|| "nodatacow".to_owned()));
        if let (Some(unit_kib), Some(units)) = (self.stripe_unit_kib, self.stripe_units) {
            parts.push(format!("stripe unit {unit_kib} KiB × {units}"));
        }
        parts.extend(self.log_mib.map(|mib| format!("log {mib} MiB")));
        let apart = self.log_device.as_ref();
        parts.extend(apart.map(|device| format!("its log on {device}")));
        parts.join(", ")
    }

    fn check(&self) -> Result<(), String> {
        let of = self.file_system;
        let is_btrfs = of == FileSystem::Btrfs;
        let given = [
            ("atime", !self.atime, of != FileSystem::Raw),
            (
                "stripe_unit_kib",
                self.stripe_unit_kib.is_some(),
                matches!(of, FileSystem::Ext4 | FileSystem::Xfs),
            ),
            (
                "log_mib",
                self.log_mib.is_some(),
                matches!(of, FileSystem::Ext4 | FileSystem::Xfs),
            ),
            (
                "log_device",
                self.log_device.is_some(),
                matches!(of, FileSystem::Ext4 | FileSystem::Xfs),
            ),
            ("checksums", !self.checksums, is_btrfs),
            ("profile", self.profile.is_some(), is_btrfs),
        ];
        if let Some((key, ..)) = given.iter().find(|(_, given, fits)| *given && !*fits) {
            return Err(format!("{} has no {key}", of.name()));
        }
        if self.stripe_unit_kib.is_some() != self.stripe_units.is_some() {
            return Err("stripe_unit_kib and stripe_units belong together".into());
        }
        if self
            .stripe_unit_kib
            .is_some_and(|kib| kib == 0 || kib % 4 != 0)
        {
            return Err("stripe_unit_kib must be a multiple of 4".into());
        }
        if self.stripe_units == Some(0) {
            return Err("stripe_units must be 1 or more".into());
        }
        if of == FileSystem::Ext4 && self.log_device.is_some() && self.log_mib.is_some() {
            return Err(
                "the log of ext4 takes a device of its own as a whole; leave out log_mib".into(),
            );
        }
        match (self.devices.len(), is_btrfs) {
            (0, _) => Err("name its devices".into()),
            (1, _) if matches!(self.profile, Some(Profile::Raid0 | Profile::Raid1)) => {
                Err("raid0 and raid1 need two devices or more".into())
            }
            (1, _) | (_, true) => Ok(()),
            (_, false) => Err(format!(
                "{} lies on one device; only btrfs spreads over several",
                of.name()
            )),
        }
    }
}

fn invalid(name: &str, why: &str) -> LayoutError {
    LayoutError::Invalid {
        name: name.to_owned(),
        why: why.to_owned(),
    }
}

fn check_name(what: &str, name: &str) -> Result<(), LayoutError> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = (1..=NAME_CHARACTERS_MAX).contains(&name.len())
        && name.chars().all(is_name)
        && !name.starts_with('-');
    if fits {
        Ok(())
    } else {
        Err(invalid(
            &name.escape_debug().to_string(),
            &format!(
                "{what} has a name of 1 to {NAME_CHARACTERS_MAX} lower-case letters, digits and hyphens"
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_is_right_and_called_as_its_file() {
        let all = Definition::built_in().unwrap();
        assert!(all.len() >= 5);
        for layout in all {
            let file = format!("{}.toml", layout.name);
            assert!(BUILT_IN.get_file(&file).is_some(), "{file}");
            assert!(layout.place.contains_key(&Purpose::Data));
            assert!(layout.file_bytes() > 0);
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let device = "[[device]]\nname = \"d\"\nsize_mib = 512\n";
        let volume = "[[volume]]\nname = \"v\"\ndevices = [\"d\"]\nfile_system = \"ext4\"\n";
        let head = "name = \"l\"\nabout = \"\"\n";
        let cases = [
            (format!("{head}{device}{volume}[place]\ndata = \"v\"\n"), ""),
            (
                format!("{head}{device}{volume}[place]\nlog = \"v\"\n"),
                "layout l: place.data is missing",
            ),
            (
                format!("{head}{device}{volume}[place]\ndata = \"w\"\n"),
                "layout l: place.data: there is no volume w",
            ),
            (
                format!("{head}{device}{volume}checksums = false\n"),
                "layout l: volume v: ext4 has no checksums",
            ),
            (
                format!("{head}{device}{volume}stripe_unit_kib = 64\n"),
                "layout l: volume v: stripe_unit_kib and stripe_units belong together",
            ),
            (
                format!("{head}{device}{device}{volume}"),
                "layout l: device d is there twice",
            ),
            (
                format!("{head}{device}{volume}{}", volume.replace("\"v\"", "\"w\"")),
                "layout l: volume w: device d is not there, or another volume has it",
            ),
            (
                format!("{head}{volume}{}", device.replace("512", "1")),
                "layout l: device d: size_mib = 1 is less than 320",
            ),
            (
                format!(
                    "{head}{volume}{}",
                    device.replace("size_mib = 512", "path = \"sdb\"")
                ),
                "layout l: device d: path must be absolute",
            ),
            (
                format!("{head}{device}{}", volume.replace("ext4", "raw"))
                    + "[place]\ndata = \"v\"\n",
                "layout l: place.data: volume v is raw; a database's files need a file system",
            ),
            (
                format!("{head}{device}{volume}").replace("\"l\"", "\"../l\""),
                "layout ../l: a layout has a name of 1 to 32 lower-case letters, digits and hyphens",
            ),
            (
                format!("{head}{device}{volume}[tables]\nstock = \"v\"\n"),
                "layout l: place.data is missing",
            ),
            (
                format!("{head}{device}{volume}[place]\ndata = \"v\"\n[tables]\nstock = \"w\"\n"),
                "layout l: tables.stock: there is no volume w",
            ),
            (
                format!(
                    "{head}{device}{volume}[place]\ndata = \"v\"\n[tables]\n\"Stock;\" = \"v\"\n"
                ),
                "layout l: tables: Stock; is no table; a name has 1 to 48 lower-case letters, digits and underscores",
            ),
            (
                format!("{head}{device}{volume}log_device = \"d\"\n"),
                "layout l: volume v: device d is not there, or another volume has it",
            ),
            (
                format!(
                    "{head}{device}{}log_device = \"d\"\n",
                    volume.replace("ext4", "btrfs")
                ),
                "layout l: volume v: btrfs has no log_device",
            ),
            (
                format!("{head}{device}{volume}log_device = \"e\"\nlog_mib = 64\n"),
                "layout l: volume v: the log of ext4 takes a device of its own as a whole; leave out log_mib",
            ),
        ];
        for (text, expected) in cases {
            let message =
                Definition::parse(&text).map_or_else(|e| e.to_string(), |_| String::new());
            assert_eq!(message, expected, "{text}");
        }
    }
}
