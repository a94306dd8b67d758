//! Arguments of `dbdyno run`, and of the verbs that run a plan of their own.

use std::path::PathBuf;

use clap::Args;

use super::common::MeasureOptions;
use super::secret::SecretText;

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Built-in plan or path of a plan file
    #[arg(default_value = "quick")]
    pub plan: String,
    /// Database to measure, as ENGINE:PATH (no path: in memory) or ENGINE://USER@HOST/DATABASE; repeat it for
    /// several engines, or for the nodes of one cluster (default: SQLite and DuckDB in temporary files)
    #[arg(long = "target", value_name = "URL")]
    pub targets: Vec<SecretText>,
    /// Number of repetitions of the whole plan
    #[arg(long, value_name = "N")]
    pub repeat: Option<u32>,
    /// Resume an interrupted run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["plan", "targets", "name", "settings", "repeat", "seed", "platform", "ssh", "allow_busy"])]
    pub resume: Option<String>,
    /// Test library to use instead of the built-in one
    #[arg(long, value_name = "DIR")]
    pub library: Option<PathBuf>,
    #[command(flatten)]
    pub options: MeasureOptions,
}

/// Repetitions and common options of a plan that is built from flags, for `run` of the workloads.
#[derive(Debug, Clone, Args)]
pub struct Occasion {
    /// Number of repetitions
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub repeat: u32,
    #[command(flatten)]
    pub options: MeasureOptions,
}
