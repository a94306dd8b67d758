//! Arguments of `dbdyno run olap`.

use std::time::Duration;

use clap::Args;
use olap::Scale;

use crate::arguments::common::Occasion;
use crate::arguments::length::length;
use crate::arguments::positional::Targets;

#[derive(Debug, Args)]
#[command(
    after_help = "Several targets: their answers are compared. --set takes the keys of [step.olap] by their names, such as \
iterations=3, rounds=10, refresh=true, cache=cold or parameters=seeded (docs/FORMAT.md)\n\n\
Exit status: 0 every point is valid · 3 an answer is wrong or missing, or a check failed"
)]
pub struct OlapRunArguments {
    #[command(flatten)]
    pub targets: Targets,
    /// Scale factor that the database must have
    #[arg(long, value_name = "SF")]
    pub scale: Option<Scale>,
    /// Queries to run (default: all)
    ///
    /// They run in the order of stream 0 of the TPC-H specification.
    #[arg(long, value_name = "14,6,1", value_parser = olap::query::numbers)]
    pub queries: Option<std::vec::Vec<u32>>,
    /// Clients of a throughput run after the power run (default: no throughput run)
    #[arg(short, long, value_name = "N")]
    pub clients: Option<u32>,
    /// Degrees of parallelism within a session, measured in turn
    ///
    /// Each is limited to the engine's maximum. The default is the target's own.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub dop: Vec<u32>,
    /// Cancel a query after this time (default: 1h)
    ///
    /// It is invalid, and the run continues.
    #[arg(long, value_name = "DURATION", value_parser = length)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub occasion: Occasion,
}
