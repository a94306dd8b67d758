//! Table `[step.backup]` of a plan.

use std::path::{Path, PathBuf};

use ::load::{Arrivals, Schedule};
use archive::Remark;
use engine::{BackupMethod, Target};
use lab::plan::{Keys, TableKind, bounded, is_default};
use oltp::{WAREHOUSES_MAX, WarehouseRows};
use serde::{Deserialize, Serialize};
use stats::words::counted;
use workload::numbers::Numbers;

use super::code::method_of;

pub(super) const TABLE: TableKind = TableKind {
    name: "backup",
    keys: Keys {
        of_more: &[
            "methods",
            "channels",
            "warehouses",
            "warehouse_rows",
            "work_seconds",
            "users",
            "during_per_s",
            "point_in_time",
            "max_mb_per_s",
            "processors",
            "repository",
        ],
        of_a_run: &[],
        run: "run",
    },
    read: lab::plan::read::<BackupStep>,
};

pub const WAREHOUSES_DEFAULT: u32 = 1;
/// pgBackRest starts no more processes.
const CHANNELS_MAX: u32 = 999;
/// Each user has a connection of its own.
const USERS_MAX: u32 = 1024;
/// PostgreSQL takes no more.
const MB_PER_S_MAX: u32 = 1073;
const WORK_SECONDS_MAX: f64 = 86_400.0;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BackupStep {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    /// Parallel channels of methods that support them, one point for each (default: 1).
    #[serde(default, skip_serializing_if = "Channels::is_one")]
    pub channels: Channels,
    /// Size of the order-entry database that is loaded if there is none.
    #[serde(default = "warehouses")]
    pub warehouses: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub warehouse_rows: WarehouseRows,
    #[serde(default = "work_seconds")]
    pub work_seconds: f64,
    #[serde(default = "users", skip_serializing_if = "is_one")]
    pub users: u32,
    /// Transactions per second offered before and during the backup (default: no work during it).
    pub during_per_s: Option<f64>,
    /// Restore to a point in time after the backup, with work before and after that point.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub point_in_time: bool,
    /// Rate limit for methods that support one, such as the rate of a medium.
    pub max_mb_per_s: Option<u32>,
    #[serde(default, skip_serializing_if = "Processors::is_all")]
    pub processors: Processors,
    /// Directory for the directories of the backups (default: that of the archive).
    pub repository: Option<PathBuf>,
}

/// Number of the processors that dbdyno may use, lowest numbers first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ProcessorsAsWritten", into = "ProcessorsAsWritten")]
pub(super) enum Processors {
    #[default]
    All,
    Half,
    Number(u32),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ProcessorsAsWritten {
    Number(u32),
    Word(String),
}

impl TryFrom<ProcessorsAsWritten> for Processors {
    type Error = String;

    fn try_from(written: ProcessorsAsWritten) -> Result<Self, String> {
        let word = match written {
            ProcessorsAsWritten::Number(number) if number > 0 => return Ok(Self::Number(number)),
            ProcessorsAsWritten::Number(number) => number.to_string(),
            ProcessorsAsWritten::Word(word) => word,
        };
        match word.as_str() {
            "all" => Ok(Self::All),
            "half" => Ok(Self::Half),
            _ => Err(format!(
                "processors = {word} is not \"all\", \"half\" or a number above 0"
            )),
        }
    }
}

impl From<Processors> for ProcessorsAsWritten {
    fn from(processors: Processors) -> Self {
        match processors {
            Processors::All => Self::Word("all".into()),
            Processors::Half => Self::Word("half".into()),
            Processors::Number(number) => Self::Number(number),
        }
    }
}

impl Processors {
    fn is_all(&self) -> bool {
        *self == Self::All
    }

    /// Number of processors; `None` means all that dbdyno may use.
    ///
    /// # Errors
    /// A sentence if there are fewer.
    pub fn here(self) -> Result<Option<Few>, String> {
        match self {
            Self::All => Ok(None),
            _ => self.of(host::processors().map_err(|e| e.to_string())?),
        }
    }

    fn of(self, there: usize) -> Result<Option<Few>, String> {
        let (few, words) = match self {
            Self::All => return Ok(None),
            Self::Half => (there / 2, "half of the processors".into()),
            Self::Number(number) => (number as usize, counted(u64::from(number), "processor")),
        };
        if (1..=there).contains(&few) {
            Ok(Some(Few { few, there }))
        } else {
            Err(format!(
                "the step asks for {words}, and dbdyno may use {there} here; ask for fewer, or leave out processors"
            ))
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Few {
    pub few: usize,
    pub there: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Numbers", into = "Vec<u32>")]
pub(super) struct Channels(Vec<u32>);

impl TryFrom<Numbers> for Channels {
    type Error = String;

    fn try_from(written: Numbers) -> Result<Self, String> {
        let text = String::from(written);
        let numbers = text.split(',').map(|number| number.trim().parse());
        let numbers: Result<Vec<u32>, _> = numbers.collect();
        let numbers =
            numbers.map_err(|_| format!("channels = \"{text}\" is not a list such as 1,2,4"))?;
        if let Some(bad) = numbers.iter().find(|n| !(1..=CHANNELS_MAX).contains(*n)) {
            return Err(format!(
                "channels: {bad} is not between 1 and {CHANNELS_MAX}"
            ));
        }
        if numbers.is_sorted_by(|a, b| a < b) {
            Ok(Self(numbers))
        } else {
            Err("list the numbers of channels in increasing order".into())
        }
    }
}

impl From<Channels> for Vec<u32> {
    fn from(channels: Channels) -> Self {
        channels.0
    }
}

impl Default for Channels {
    fn default() -> Self {
        Self(vec![1])
    }
}

impl Channels {
    fn is_one(&self) -> bool {
        self.0 == [1]
    }
}

fn warehouses() -> u32 {
    WAREHOUSES_DEFAULT
}

fn users() -> u32 {
    1
}

fn is_one(users: &u32) -> bool {
    *users == 1
}

fn work_seconds() -> f64 {
    1.0
}

impl BackupStep {
    /// Number of full-size warehouses with as many rows as are loaded.
    pub fn whole_warehouses(&self) -> f64 {
        self.warehouse_rows.whole(self.warehouses)
    }

    pub fn check(&self) -> Result<(), String> {
        bounded([
            ("warehouses", Some(self.warehouses), WAREHOUSES_MAX),
            ("users", Some(self.users), USERS_MAX),
            ("max_mb_per_s", self.max_mb_per_s, MB_PER_S_MAX),
        ])?;
        if !(self.work_seconds > 0.0 && self.work_seconds <= WORK_SECONDS_MAX) {
            return Err(format!(
                "work_seconds is not between 0 and {WORK_SECONDS_MAX}"
            ));
        }
        if let Some(rate_per_s) = self.during_per_s {
            let arrivals = Arrivals::Poisson;
            let schedule = Schedule::Open {
                rate_per_s,
                arrivals,
            };
            schedule.check().map_err(|e| format!("during_per_s: {e}"))?;
        }
        if self.during_per_s.is_some() && self.point_in_time {
            return Err(
                "during_per_s and point_in_time are two measurements; give each a step of its own"
                    .into(),
            );
        }
        let mut seen = self.methods.clone();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() == self.methods.len() {
            Ok(())
        } else {
            Err("methods names one twice".into())
        }
    }

    /// Points of these methods: names with levels, and the channels of each. An unknown name has one point.
    pub fn points(&self, methods: &[BackupMethod]) -> Vec<(String, &[u32])> {
        let all = methods.iter().map(|method| method.name.to_owned());
        let names = if self.methods.is_empty() {
            all.collect()
        } else {
            self.methods.clone()
        };
        let with_channels = |name: String| {
            let method = method_of(methods, &name);
            let channels: &[u32] = if method.is_some_and(|(method, _)| method.has_channels) {
                &self.channels.0
            } else {
                &[1]
            };
            (name, channels)
        };
        names.into_iter().map(with_channels).collect()
    }

    /// Seconds of the users' work per backup: before it, up to the restore point, and after that.
    pub fn work_seconds_in_all(&self) -> f64 {
        let times = if self.point_in_time { 3.0 } else { 1.0 };
        self.work_seconds * times
    }

    /// Obstacle if repositories would lie inside the data directory.
    pub fn repository_inside(&self, target: &dyn Target) -> Option<Remark> {
        let data = target.data_directory().ok()?.canonicalize().ok()?;
        let requested = std::path::absolute(self.repository.as_deref()?).ok()?;
        let repository = existing(&requested)?;
        repository
            .starts_with(&data)
            .then(|| Remark::RepositoryInsideData {
                repository: requested.display().to_string(),
                data: data.display().to_string(),
            })
    }
}

/// Path without links, as far as it exists.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|path| path.canonicalize().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_all_half_or_so_many() {
        #[derive(Debug, Deserialize)]
        struct Plan {
            processors: Processors,
        }
        let read = |text: &str| toml::from_str::<Plan>(&format!("processors = {text}"));
        let of = |text: &str, there| read(text).unwrap().processors.of(there);
        let few = |few, there| Ok(Some(Few { few, there }));
        assert_eq!(of("\"all\"", 5), Ok(None));
        assert_eq!(of("\"half\"", 5), few(2, 5));
        assert_eq!(of("4", 4), few(4, 4));
        for (text, there, says) in [
            ("\"half\"", 1, "half of the processors"),
            ("3", 2, "3 processors"),
        ] {
            assert!(of(text, there).unwrap_err().contains(says));
        }
        for wrong in ["0", "\"most\""] {
            assert!(
                read(wrong).unwrap_err().to_string().contains("half"),
                "{wrong}"
            );
        }
    }
}
