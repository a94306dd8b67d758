//! Arguments of `dbdyno run columnar`.

use std::time::Duration;

use clap::Args;
use columnar::{Level, memory};
use olap::Scale;

use crate::arguments::common::Occasion;
use crate::arguments::length::length;
use crate::arguments::positional::Targets;

#[derive(Debug, Args)]
#[command(
    after_help = "TARGET is the database on disk, the baseline at 100 %; the analytical workload is loaded into it if it is missing. \
--set oltp_users=N adds N users of order entry on the same server, alone and alongside the queries, with \
oltp_warehouses=W (1) and oltp_seconds=S (30); other keys are those of [step.olap] and [step.columnar] (docs/FORMAT.md)\n\n\
Exit status: 0 every point is valid · 3 an answer is wrong or missing, a table differs from its source, or a \
compression level did not take effect"
)]
pub struct ColumnarRunArguments {
    #[command(flatten)]
    pub targets: Targets,
    /// Scale factor of the analytical workload
    #[arg(long, value_name = "SF", default_value = "0.1")]
    pub scale: Scale,
    /// Compression levels to compare with disk (default: all five)
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',')]
    pub levels: Vec<Level>,
    /// Degrees of parallelism within a session
    ///
    /// Each is limited to the engine's maximum.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,2", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub dop: Vec<u32>,
    /// Concurrent clients, measured in addition to a single one
    #[arg(short, long, value_name = "N", default_value_t = 5)]
    pub clients: u32,
    /// Queries to run (default: all)
    #[arg(long, value_name = "14,6,1", value_parser = olap::query::numbers)]
    pub queries: Option<std::vec::Vec<u32>>,
    /// Memory for the tables and their queries, such as 4GiB
    ///
    /// The default is 80 % of what is available, divided by the levels. A database on disk that dbdyno creates gets a cache of
    /// the same size.
    #[arg(long, value_name = "SIZE", value_parser = memory::limit_of)]
    pub memory: Option<u64>,
    /// Cancel a query after this time (default: 1h)
    ///
    /// It is invalid, and the run continues.
    #[arg(long, value_name = "DURATION", value_parser = length)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub occasion: Occasion,
}
