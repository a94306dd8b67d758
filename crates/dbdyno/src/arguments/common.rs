//! Options that several verbs have.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::results::ResultOptions;
use crate::consent::Permission;
use crate::event_outputs::WatchArguments;

/// Options of every verb that runs a load.
#[derive(Debug, Clone, Default, Args)]
pub struct MeasureOptions {
    /// Measure SQLite and DuckDB in temporary files
    #[arg(long)]
    pub demo: bool,
    /// Name of the run or study, to refer to it later; a second run of that name is NAME-2
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub name: Option<String>,
    /// Set a key of the plan: KEY, step.KEY (all steps) or step.N.KEY (docs/FORMAT.md)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Random seed for keys, orders and pauses (default: a new one, which is printed)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Directory for files that dbdyno creates, on the storage to measure (default: your cache directory)
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// File describing what dbdyno cannot discover: storage array, RAID level, cache, licensed options
    /// (docs/HOST.md)
    #[arg(long, value_name = "FILE.toml")]
    pub platform: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerHost,
    #[command(flatten)]
    pub permission: Permission,
    #[command(flatten)]
    pub watch: WatchArguments,
    #[command(flatten)]
    pub results: ResultOptions,
}

/// Options of every run.
#[derive(Debug, Clone, Default, Args)]
pub struct Occasion {
    /// Number of repetitions of the whole plan
    #[arg(long, value_name = "N")]
    pub repeat: Option<u32>,
    #[command(flatten)]
    pub options: MeasureOptions,
}

/// The machine of servers that run elsewhere.
#[derive(Debug, Default, Clone, Args)]
pub struct ServerHost {
    #[allow(rustdoc::broken_intra_doc_links)] // Brackets of the help, no link.
    /// Machine of a remote database server, sampled over ssh: `ssh://USER@HOST[:PORT][?device=NAME]`
    ///
    /// Without it, CPU, IOPS and platform of the server are unknown. NAME is the device of its data, if dbdyno cannot find it.
    #[arg(long, value_name = "URL")]
    pub ssh: Option<String>,
}

/// Format of a printed result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    #[default]
    Text,
    Json,
}

impl TextOrJson {
    pub fn is_json(self) -> bool {
        self == Self::Json
    }
}
