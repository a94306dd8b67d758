//! Arguments of `dbdyno run backup`.

use backup::WAREHOUSES_DEFAULT;
use clap::Args;

use crate::arguments::common::Occasion;
use crate::arguments::positional::Targets;

#[derive(Debug, Args)]
#[command(
    after_help = "Backups and restored copies are in new directories of --work-dir (default: the directory of the archive), and are removed. \
--set takes the keys of [step.backup] by their names, such as work_seconds=5, point_in_time=true, max_mb_per_s=100 or processors=half \
(docs/FORMAT.md)\n\n\
Exit status: 0 every backup was restored and proven · 3 a backup failed, or its restored copy failed a proof"
)]
pub struct BackupRunArguments {
    #[command(flatten)]
    pub targets: Targets,
    /// Methods to measure (default: all that the engine has; docs/BACKUP.md)
    #[arg(long, value_name = "METHOD,…", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Numbers of channels that copy at once (default: 1)
    ///
    /// Methods that can have several are measured with each number.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub dop: Vec<u32>,
    /// Number of warehouses to load if there is no order-entry database
    #[arg(long, value_name = "W", default_value_t = WAREHOUSES_DEFAULT)]
    pub warehouses: u32,
    /// Number of clients that enter orders
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub clients: u32,
    /// Transactions per second that the clients are offered before and during each backup
    ///
    /// The point has the backup's impact on them. The default is no load during a backup.
    #[arg(short = 'R', long, value_name = "PER-S")]
    pub rate: Option<f64>,
    #[command(flatten)]
    pub occasion: Occasion,
}
