//! Arguments of `dbdyno run`.

mod backup;
mod columnar;
mod olap;
mod oltp;

use std::time::Duration;

use clap::{Args, Subcommand};

use super::common::Occasion;
use super::length::length;
use super::secret::SecretText;

pub use backup::BackupRunArguments;
pub use columnar::ColumnarRunArguments;
pub use olap::OlapRunArguments;
pub use oltp::OltpRunArguments;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "WORKLOAD",
    subcommand_help_heading = "Workloads with options of their own",
    override_usage = "dbdyno run [PLAN] [TARGET…] [OPTIONS]\n       dbdyno run oltp|olap|columnar|backup [TARGET…] [OPTIONS]"
)]
pub struct RunArguments {
    #[command(subcommand)]
    pub workload: Option<Workload>,
    /// Plan (default: quick) and databases to measure, in any order
    ///
    /// The plan is a built-in one (`dbdyno list plans`), some tests (T611,T616; `dbdyno list tests`) or the path of a file. A database is ENGINE://USER@HOST/DATABASE or
    /// ENGINE:PATH (no path: in memory).
    #[arg(value_name = "PLAN|TARGET", hide_default_value = true)]
    pub texts: Vec<SecretText>,
    /// Database to measure, in place of a positional TARGET
    ///
    /// Several for several engines, or for the nodes of one cluster.
    #[arg(long = "target", value_name = "URL", hide_short_help = true)]
    pub targets: Vec<SecretText>,
    /// Sessions of the component tests, in place of the plan's: 8, or 1,4,16
    #[arg(short, long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub clients: Vec<u32>,
    /// Measured time of each point, in place of the plan's
    #[arg(short = 'T', long, value_name = "DURATION", value_parser = length)]
    pub time: Option<Duration>,
    /// Resume an interrupted run
    #[arg(long, value_name = "NAME", conflicts_with_all = ["texts", "targets", "demo", "name", "settings", "clients", "time", "repeat", "seed", "platform", "ssh", "allow_busy"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub occasion: Occasion,
}

/// Workloads whose plan is built from options.
#[derive(Debug, Subcommand)]
pub enum Workload {
    /// Order entry derived from TPC-C: clients at one level or along a ramp, the database checked before and after
    Oltp(Box<OltpRunArguments>),
    /// Analytical queries derived from TPC-H, every answer verified
    Olap(Box<OlapRunArguments>),
    /// Compare every compression level of an in-memory column store with disk: sizes, and query times
    Columnar(Box<ColumnarRunArguments>),
    /// Measure backup methods; restore and prove each backup
    Backup(Box<BackupRunArguments>),
}

impl Workload {
    pub const NAMES: [&str; 4] = ["oltp", "olap", "columnar", "backup"];
}
