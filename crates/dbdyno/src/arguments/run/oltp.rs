//! Arguments of `dbdyno run oltp`.

use std::time::Duration;

use clap::Args;

use crate::arguments::common::Occasion;
use crate::arguments::length::length;
use crate::arguments::positional::Targets;

#[derive(Debug, Args)]
#[command(
    after_help = "--set takes the keys of [step.oltp] by their names, such as statements=procedure (stored procedures), check=light, journal=true or stop=false (docs/FORMAT.md)\n\n\
Exit status: 0 every point is valid · 3 a check failed; the database may be inconsistent"
)]
pub struct OltpRunArguments {
    #[command(flatten)]
    pub targets: Targets,
    /// Number of warehouses that the database must have
    ///
    /// With --repeat it is restored before each repetition.
    #[arg(long, value_name = "W")]
    pub warehouses: Option<u32>,
    /// Clients: a number, a list (1,2,4) or a ramp (FROM..TO/STEP)
    #[arg(short, long, value_name = "N", default_value = "1")]
    pub clients: String,
    /// Measured time per level
    #[arg(short = 'T', long, value_name = "DURATION", default_value = "60s", value_parser = length)]
    pub time: Duration,
    /// Load before each level is measured
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = length)]
    pub ramp_up: Duration,
    /// Transactions per second that all clients together are offered
    ///
    /// Without it, each client waits for its answer before its next transaction.
    #[arg(short = 'R', long, value_name = "PER-S")]
    pub rate: Option<f64>,
    /// Driver threads (default: one, and more if it is saturated)
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<u32>,
    /// Use the keying and think times of the TPC-C specification
    ///
    /// Without them, each client sends its next transaction at once, and the number of warehouses sets only the size of the
    /// data.
    #[arg(long)]
    pub think_time: bool,
    /// Response-time limit at which the ramp ends
    ///
    /// The supported number of clients is reported.
    #[arg(long, value_name = "p95=50ms")]
    pub limit: Option<String>,
    /// Find the highest rate that meets this response time, starting from --rate
    #[arg(long, value_name = "p95=50ms")]
    pub find_rate: Option<String>,
    /// Count a transaction as failed if it takes longer
    #[arg(long, value_name = "DURATION", value_parser = length)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub occasion: Occasion,
}
