//! Arguments of `dbdyno data load columnar` and `dbdyno data estimate`.

use std::path::PathBuf;

use clap::Args;
use columnar::size::Budget;
use columnar::{JOBS_MAX, Level, Unfit, memory};

use crate::arguments::TextOrJson;
use crate::arguments::positional::OneTarget;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all tables are in memory, verified and compressed as requested · 3 a table differs from its source, or \
its compression level did not take effect"
)]
pub struct ColumnarLoadArguments {
    #[command(flatten)]
    pub chosen: Chosen,
    /// Compression level: none, query-low, query-high, capacity-low or capacity-high
    #[arg(long, value_name = "LEVEL,…")]
    pub levels: Level,
    /// Memory limit, such as 500MB or 4GiB (default: 80 % of what is available)
    #[arg(long, value_name = "SIZE", value_parser = memory::limit_of)]
    pub memory: Option<u64>,
    /// Concurrent reading sessions (default: one per CPU, or 1 if the source offers no more)
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub clients: Option<u32>,
    /// Format: text, or JSON (docs/COLUMNAR.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
}

/// Tables of a database that is only read.
#[derive(Debug, Args)]
pub struct Chosen {
    #[command(flatten)]
    pub target: OneTarget,
    /// Tables, or columns of tables (default: all that you may read)
    ///
    /// A table is NAME or SCHEMA.NAME, with * and ? as wildcards. A leading minus excludes.
    #[arg(
        long,
        value_name = "TABLE[:COLUMN],…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub tables: Vec<String>,
    /// Treatment of unsupported columns and values: fail, skip or text
    ///
    /// `skip` omits such columns and tables, `text` stores the columns as text.
    #[arg(long, value_name = "HOW", default_value = "fail")]
    pub unfit: Unfit,
}

#[derive(Debug, Args)]
pub struct EstimateArguments {
    #[command(flatten)]
    pub chosen: Chosen,
    /// Compression levels (default: all): none, query-low, query-high, capacity-low or capacity-high
    #[arg(
        long,
        value_name = "LEVEL,…",
        value_delimiter = ',',
        hide_default_value = true
    )]
    pub levels: Vec<Level>,
    /// Size of the sample: a share of the rows, a time, or both (2%, 30s or 2%,30s)
    #[arg(long, value_name = "SIZE", default_value = "2%,30s")]
    pub size: Budget,
    /// Report which tables fit into this memory, such as 64GB or 48GiB
    ///
    /// Also how much of tables like these it holds.
    #[arg(long, value_name = "SIZE", value_parser = memory::bytes_of)]
    pub memory: Option<u64>,
    /// Report how much memory tables like these of this size on disk need, such as 3TB
    #[arg(long, value_name = "SIZE", value_parser = memory::bytes_of)]
    pub data: Option<u64>,
    /// Concurrent clients: report how many cores they need
    #[arg(short, long, value_name = "N", requires = "dop", value_parser = clap::value_parser!(u32).range(1..))]
    pub clients: Option<u32>,
    /// Threads per client
    #[arg(long, value_name = "N,…", requires = "clients", value_parser = clap::value_parser!(u32).range(1..))]
    pub dop: Option<u32>,
    /// Cores of the server: report how many you could remove
    #[arg(long, value_name = "N", requires = "clients", value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: Option<u32>,
    /// Prices (docs/FORMAT.md): report the licences that fewer cores save
    #[arg(long, value_name = "FILE.toml", requires = "cores")]
    pub prices: Option<PathBuf>,
    /// Random seed of the sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Format: text, or JSON (docs/COLUMNAR.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
}
