//! Arguments of `dbdyno data … oltp`.

use std::path::PathBuf;

use clap::Args;
use oltp::{JOBS_MAX, WAREHOUSES_MAX};

use crate::arguments::TextOrJson;
use crate::arguments::positional::OneTarget;

#[derive(Debug, Args)]
pub struct OltpLoadArguments {
    #[command(flatten)]
    pub target: OneTarget,
    /// Number of warehouses, about 100 MB each
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u32).range(1..=i64::from(WAREHOUSES_MAX)))]
    pub warehouses: u32,
    /// Concurrent loading sessions (default: 2, or 1 if the engine has a single writer)
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub clients: Option<u32>,
    /// Random seed; the same seed gives the same rows
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Replace an existing order-entry database
    #[arg(long)]
    pub replace: bool,
    /// foreign_keys=true or warehouse_rows=tenth
    ///
    /// Foreign keys are absent by default. A tenth of the rows is enough to try something out.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all conditions checked hold, and every acknowledged transaction of --journal is there · 3 a condition is \
violated, or a transaction is missing"
)]
pub struct OltpCheckArguments {
    #[command(flatten)]
    pub target: OneTarget,
    /// Check the database against this log of acknowledged transactions instead
    ///
    /// `run oltp --set journal=true` writes the log, and leaves it next to the archive if it is interrupted. The database must
    /// be unchanged since.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["settings", "format"])]
    pub journal: Option<PathBuf>,
    /// check=light skips conditions 6, 10 and 12, which read every order line
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Format: text, or JSON (docs/OLTP.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The first restore copies the whole database into the same server, which takes as much space again; \
                  `data drop oltp` removes the copy. Where no copy is possible, the database is reloaded."
)]
pub struct OltpRestoreArguments {
    #[command(flatten)]
    pub target: OneTarget,
    /// Concurrent loading sessions, if it has to be reloaded (default: as for load)
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub clients: Option<u32>,
}
