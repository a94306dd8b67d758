//! Arguments of `dbdyno run`, and of the verbs that run a plan of their own.

use std::path::PathBuf;

use clap::Args;

use super::secret::SecretText;
use crate::consent::Permission;
use crate::event_outputs::WatchArguments;

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Built-in plan or path of a plan file
    #[arg(default_value = "quick")]
    pub plan: String,
    /// Database to measure, as ENGINE:PATH (no path: in memory) or ENGINE://USER@HOST/DATABASE; repeat it for
    /// several engines, or for the nodes of one cluster (default: SQLite and DuckDB in temporary files)
    #[arg(long = "target", value_name = "URL")]
    pub targets: Vec<SecretText>,
    /// Label of the run, to refer to it later
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    pub name: Option<String>,
    /// Set a plan key: KEY, step.KEY (all steps) or step.N.KEY
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Number of repetitions of the whole plan
    #[arg(long, value_name = "N")]
    pub repeat: Option<u32>,
    /// Random seed for keys, orders and pauses (default: a new one, which is printed)
    #[arg(long)]
    pub seed: Option<u64>,
    /// Resume an interrupted run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["plan", "targets", "name", "settings", "repeat", "seed", "platform", "address", "device", "shared"])]
    pub resume: Option<String>,
    /// Test library to use instead of the built-in one
    #[arg(long, value_name = "DIR")]
    pub library: Option<PathBuf>,
    /// Directory for the default targets' files (default: your cache directory)
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
}

/// Repetitions and name of a plan that is built from flags, for `run` of the workloads.
#[derive(Debug, Clone, Args)]
pub struct Occasion {
    /// Number of repetitions
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub repeat: u32,
    /// Set a key of the plan that these flags build (docs/FORMAT.md)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Label of the run
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    pub name: Option<String>,
    #[command(flatten)]
    pub server: ServerHost,
    #[command(flatten)]
    pub permission: Permission,
    #[command(flatten)]
    pub watch: WatchArguments,
}

/// The machine of servers that run elsewhere, for `run` and `ab`.
#[derive(Debug, Default, Clone, Args)]
pub struct ServerHost {
    /// Host of a remote database server, sampled and inventoried over ssh: `ssh://USER@HOST[:PORT]`; without
    /// this option, the server's CPU, IOPS and platform are unknown
    #[arg(long = "host", value_name = "URL")]
    pub address: Option<String>,
    /// Block device that holds the server's data, such as nvme0n1; needed only if dbdyno cannot find it
    #[arg(long = "host-device", value_name = "NAME")]
    pub device: Option<String>,
}
