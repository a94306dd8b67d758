//! Arguments of `dbdyno run`, and of the verbs that stand for it.

use std::path::PathBuf;

use clap::Args;
use target::TargetUrl;

use super::secret::SecretText;
use crate::consent::Permission;

/// `dbdyno run`.
#[derive(Debug, Default, Args)]
pub struct RunArguments {
    /// Name of a built-in plan or path of a plan file
    #[arg(default_value = "quick")]
    pub plan: String,
    /// Text of the plan, from verbs that write one
    #[arg(skip)]
    pub plan_text: Option<String>,
    /// Replicas of the first target, from verbs that lift
    #[arg(skip)]
    pub replicas: Vec<TargetUrl>,
    /// Bytes of the cache of a default target, from verbs that set it against memory
    #[arg(skip)]
    pub cache_bytes: Option<u64>,
    /// Database to measure, as ENGINE:PATH (an empty path is a database in memory); several of one
    /// engine are the nodes of a cluster. Without it: SQLite and DuckDB in files of their own, which
    /// are removed afterwards
    #[arg(long = "target", value_name = "URL")]
    pub targets: Vec<SecretText>,
    /// Label of the run, by which it can be called later
    #[arg(long, value_name = "LABEL")]
    pub name: Option<String>,
    /// Sets a key of the plan: KEY, step.KEY (all steps) or step.N.KEY
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Repetitions of the whole plan
    #[arg(long, value_name = "N")]
    pub repeat: Option<u32>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Go on with a run that was interrupted or killed
    #[arg(long, value_name = "RUN", conflicts_with_all = ["plan", "targets", "name", "settings", "repeat", "seed", "platform", "address", "device", "yes", "shared"])]
    pub resume: Option<String>,
    /// Directory with a test library to use instead of the built-in one
    #[arg(long, value_name = "DIR")]
    pub library: Option<PathBuf>,
    /// Directory for the files of the default targets (default: the user's cache directory)
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// File that states what a machine cannot discover: array, RAID, cache, options
    #[arg(long, value_name = "FILE.toml")]
    pub platform: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerHost,
    #[command(flatten)]
    pub permission: Permission,
}

/// How often a plan that the flags of a verb stand for is carried out, and by which name: `run` of the workloads.
#[derive(Debug, Clone, Args)]
pub struct Occasion {
    /// Repetitions
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub repeat: u32,
    /// Sets a key of the plan that these flags stand for (docs/FORMAT.md)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Label of the run
    #[arg(long, value_name = "LABEL")]
    pub name: Option<String>,
    #[command(flatten)]
    pub server: ServerHost,
    #[command(flatten)]
    pub permission: Permission,
}

impl Occasion {
    /// As if the plan had been in a file.
    pub fn run_of(&self, plan: &toml::Table, targets: Vec<SecretText>, seed: u64) -> RunArguments {
        RunArguments {
            plan: plan["name"].as_str().unwrap_or_default().to_owned(),
            plan_text: Some(plan.to_string()),
            targets,
            name: self.name.clone(),
            settings: self.settings.clone(),
            seed,
            server: self.server.clone(),
            permission: self.permission.clone(),
            ..RunArguments::default()
        }
    }
}

/// The machine of servers that run elsewhere, for `run` and `ab`.
#[derive(Debug, Default, Clone, Args)]
pub struct ServerHost {
    /// Machine of the server, as `ssh://USER@HOST[:PORT]`, to be sampled and described through ssh;
    /// without it the CPU, IOPS and platform of a server elsewhere are unknown
    #[arg(long = "host", value_name = "URL")]
    pub address: Option<String>,
    /// Block device under the server's data, where dbdyno may not find it out
    #[arg(long = "host-device", value_name = "NAME")]
    pub device: Option<String>,
}
