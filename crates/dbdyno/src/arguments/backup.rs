//! Arguments of `dbdyno backup`.

use std::path::PathBuf;

use backup::WAREHOUSES_DEFAULT;
use clap::{Args, Subcommand};

use super::{Occasion, Rows, SecretText};

#[derive(Debug, Args)]
pub struct BackupArguments {
    #[command(subcommand)]
    pub verb: BackupVerb,
}

#[derive(Debug, Subcommand)]
pub enum BackupVerb {
    /// Measure backup methods; restore and prove each backup
    Run(Box<BackupRunArguments>),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 every backup was restored and proven · 3 a backup failed, or its restored copy failed a proof"
)]
pub struct BackupRunArguments {
    /// Database to back up (default: SQLite and DuckDB in temporary files); an order-entry database is loaded if there is none
    #[arg(long, value_name = "URL")]
    pub target: Option<SecretText>,
    /// Methods to measure (default: all that the engine has; docs/BACKUP.md)
    #[arg(long, value_name = "METHOD,…", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Numbers of channels that copy at once, one point for each, of methods that can have several (default: 1)
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub channels: Vec<u32>,
    /// Number of warehouses to load if there is no order-entry database
    #[arg(long, value_name = "W", default_value_t = WAREHOUSES_DEFAULT)]
    pub warehouses: u32,
    /// Rows of each of these warehouses: those of the TPC-C specification, or a tenth of them (default: full)
    #[arg(long, value_enum, value_name = "ROWS")]
    pub warehouse_rows: Option<Rows>,
    /// Seconds for which a user enters orders before each backup; its acknowledged transactions must be in the restored copy
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    pub work_seconds: f64,
    /// Number of users who enter orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub users: u32,
    /// Transactions per second that the users are offered before each backup and beside it: what they feel of it (default: nobody
    /// works beside)
    #[arg(long, value_name = "RATE", conflicts_with = "point_in_time")]
    pub beside: Option<f64>,
    /// Restore to a point in time behind the backup, with work before and after the point
    #[arg(long)]
    pub point_in_time: bool,
    /// Highest rate in 10^6 bytes per second, of methods that can be held to one (pg_basebackup): as of a slower medium
    #[arg(long, value_name = "MB")]
    pub max_mb_per_s: Option<u32>,
    /// Processors that server, programs and users have, the first by their numbers: all, half, or how many (default: all)
    #[arg(long, value_name = "all|half|N")]
    pub processors: Option<String>,
    /// Directory for backups and restored copies; dbdyno makes a new directory in it for each, and removes it (default: that of
    /// the archive)
    #[arg(long, value_name = "DIR")]
    pub repository: Option<PathBuf>,
    #[command(flatten)]
    pub occasion: Occasion,
}
