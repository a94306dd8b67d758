//! What a step asks of backups.

use std::path::{Path, PathBuf};

use archive::Remark;
use lab::plan::{Keys, TableKind};
use serde::{Deserialize, Serialize};
use target::Target;

use crate::oltp::WAREHOUSES_MAX;

/// `[step.backup]`.
pub(super) const TABLE: TableKind = TableKind {
    name: "backup",
    keys: Keys {
        of_more: &["methods", "warehouses", "work_seconds", "repository"],
        of_a_run: &[],
        run: "run",
    },
    read: lab::plan::read::<BackupStep>,
};

/// Size of the database where nothing is said.
pub const WAREHOUSES_DEFAULT: u32 = 1;
/// Longest work of the user before a backup.
const WORK_SECONDS_MAX: f64 = 86_400.0;

/// What is backed up, how, and to where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BackupStep {
    /// Methods of the engine; all when nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    /// Size of the order-entry database that is loaded where there is none.
    #[serde(default = "warehouses")]
    pub warehouses: u32,
    /// Seconds for which a user enters orders before each backup.
    #[serde(default = "work_seconds")]
    pub work_seconds: f64,
    /// Directory in which a directory for each backup is made; that of the archive when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<PathBuf>,
}

fn warehouses() -> u32 {
    WAREHOUSES_DEFAULT
}

fn work_seconds() -> f64 {
    1.0
}

impl BackupStep {
    /// What contradicts itself.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=WAREHOUSES_MAX).contains(&self.warehouses) {
            return Err(format!("warehouses is not between 1 and {WAREHOUSES_MAX}"));
        }
        if !(self.work_seconds > 0.0 && self.work_seconds <= WORK_SECONDS_MAX) {
            return Err(format!(
                "work_seconds is not between 0 and {WORK_SECONDS_MAX}"
            ));
        }
        let mut seen = self.methods.clone();
        seen.sort_unstable();
        seen.dedup();
        match seen.len() == self.methods.len() {
            true => Ok(()),
            false => Err("methods names one twice".into()),
        }
    }

    /// The obstacle where repositories would lie inside the directory of the data.
    pub fn repository_inside(&self, target: &dyn Target) -> Option<Remark> {
        let data = target.data_directory().ok()?.canonicalize().ok()?;
        let asked = std::path::absolute(self.repository.as_deref()?).ok()?;
        let repository = existing(&asked)?;
        repository
            .starts_with(&data)
            .then(|| Remark::RepositoryInsideData {
                repository: asked.display().to_string(),
                data: data.display().to_string(),
            })
    }
}

/// The path without links, as far as it exists.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|path| path.canonicalize().ok())
}
