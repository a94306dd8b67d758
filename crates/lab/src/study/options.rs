//! Options of a study.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use archive::Until;
use host::inventory::Stated;
use host::{SystemClock, WallClock};

use super::side::Side;
use crate::machine::HostOptions;
use crate::registry::Registry;

pub struct StudyOptions {
    /// Configurations A, B and so on: two to [`archive::SIDES_MAX`].
    pub sides: Vec<Side>,
    /// Rounds of blocks, which are pairs for two sides; an upper bound if the study may stop earlier.
    pub rounds: u32,
    /// Schedule of interim analyses; `None` for a fixed number of rounds.
    pub until: Option<Until>,
    /// Length of the slices in which both blocks of a pair are measured in turn; `None`: one after the other.
    pub slice: Option<Duration>,
    pub archive: PathBuf,
    /// Name; generated if `None`. The runs are called `NAME-a`, `NAME-b` and so on.
    pub name: Option<String>,
    pub seed: u64,
    /// Workloads for the plan of each side: scripts of one name may differ.
    pub workloads: Vec<Registry>,
    pub clock: Arc<dyn WallClock>,
    pub tool_version: String,
    pub stated: Stated,
    pub host: HostOptions,
}

impl StudyOptions {
    /// A study with a fixed number of rounds by the clock of this machine, with a generated name.
    pub fn new(
        sides: Vec<Side>,
        rounds: u32,
        archive: &Path,
        seed: u64,
        workloads: Vec<Registry>,
    ) -> Self {
        Self {
            sides,
            rounds,
            until: None,
            slice: None,
            archive: archive.to_owned(),
            name: None,
            seed,
            workloads,
            clock: Arc::new(SystemClock),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            stated: Stated::default(),
            host: HostOptions::default(),
        }
    }
}
