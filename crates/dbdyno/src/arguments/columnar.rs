//! Arguments of `dbdyno columnar`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use columnar::size::Budget;
use columnar::{JOBS_MAX, Level, Unfit, memory};
use olap::Scale;

use super::{Occasion, SecretText, TextOrJson};

#[derive(Debug, Args)]
pub struct ColumnarArguments {
    #[command(subcommand)]
    pub verb: ColumnarVerb,
}

#[derive(Debug, Subcommand)]
pub enum ColumnarVerb {
    /// Load tables into memory; report size and time, and verify the contents
    Lift(LiftArguments),
    /// Compare every compression level with disk: sizes, and query times for one user and several
    Run(Box<StudyArguments>),
    /// Predict the in-memory size at each compression level from a sample of blocks
    Size(SizeArguments),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all tables are in memory, verified and compressed as requested · 3 a table differs from its source, or \
its compression level did not take effect"
)]
pub struct LiftArguments {
    #[command(flatten)]
    pub wanted: Wanted,
    /// Compression level: none, query-low, query-high, capacity-low or capacity-high
    #[arg(long)]
    pub level: Level,
    /// Memory limit, such as 500MB or 4GiB (default: 80 % of what is available)
    #[arg(long, value_name = "SIZE", value_parser = memory::limit_of)]
    pub memory: Option<u64>,
    /// Concurrent reading streams (default: one per processor, or 1 if the source offers no more)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
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
pub struct Wanted {
    /// Database to read, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE; it is never written to
    #[arg(long, value_name = "URL")]
    pub from: SecretText,
    /// Tables, as NAME or SCHEMA.NAME, with * and ? as wildcards; a leading minus excludes (default: all that
    /// you may read)
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub tables: Vec<String>,
    /// Columns, as TABLE.COLUMN; a table with none listed is taken whole, and a leading minus excludes
    #[arg(
        long,
        value_name = "TABLE.COLUMN,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub columns: Vec<String>,
    /// Treatment of unsupported columns and values: `fail`, `skip` such columns and tables, or keep the
    /// columns as `text`
    #[arg(long, value_name = "HOW", default_value = "fail")]
    pub unfit: Unfit,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 every point is valid · 3 an answer is wrong or missing, a table differs from its source, or a \
compression level did not take effect"
)]
pub struct StudyArguments {
    /// Database on disk, the baseline at 100 %; unlike `lift` and `size`, this loads the analytical workload into it if it
    /// is missing (default: SQLite in a temporary file)
    #[arg(long, value_name = "URL")]
    pub from: Option<SecretText>,
    /// Scale factor of the analytical workload in the --from database
    #[arg(long, value_name = "SF", default_value = "0.1")]
    pub scale: Scale,
    /// Compression levels to compare with disk (default: all five)
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',')]
    pub levels: Vec<Level>,
    /// Degrees of parallelism within a session, each clamped to what the engine takes
    #[arg(long, value_name = "2,32,…", value_delimiter = ',', default_value = "1,2", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub dop: Vec<u32>,
    /// Concurrent users, measured besides a single one
    #[arg(long, value_name = "S", default_value_t = 5)]
    pub users: u32,
    /// Queries to run (default: all)
    #[arg(long, value_name = "14,6,1", value_parser = olap::query::numbers)]
    pub queries: Option<std::vec::Vec<u32>>,
    /// Memory for the in-memory tables and their queries; a database on disk that dbdyno creates gets a cache
    /// of the same size (default: 80 % of what is available, divided by the levels)
    #[arg(long, value_name = "SIZE", value_parser = memory::limit_of)]
    pub memory: Option<u64>,
    /// Cancel a query after this many seconds; it is invalid, and the run continues (default: 3600)
    #[arg(long, value_name = "S")]
    pub query_limit: Option<f64>,
    /// Users of an order-entry load on the same server, measured alone and alongside the queries, on disk and
    /// at each level (default: none)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub oltp_users: Option<u32>,
    /// Warehouses of the order-entry database, which is loaded for it
    #[arg(long, value_name = "W", default_value_t = 1, requires = "oltp_users")]
    pub oltp_warehouses: u32,
    /// Measured seconds of the order-entry load; alongside queries it lasts until their last pass ends
    #[arg(
        long,
        value_name = "S",
        default_value_t = 30.0,
        requires = "oltp_users"
    )]
    pub oltp_seconds: f64,
    #[command(flatten)]
    pub occasion: Occasion,
}

#[derive(Debug, Args)]
pub struct SizeArguments {
    #[command(flatten)]
    pub wanted: Wanted,
    /// Compression level: all, none, query-low, query-high, capacity-low or capacity-high
    #[arg(long, default_value = "all")]
    pub level: Levels,
    /// Sampling budget: a share of the rows, a time, or both (2%, 30s or 2%,30s)
    #[arg(long, value_name = "SHARE,TIME", default_value = "2%,30s")]
    pub budget: Budget,
    /// Memory size, such as 64GB or 48GiB: report which tables fit, and how much of tables like these it holds
    #[arg(long, value_name = "SIZE", value_parser = memory::bytes_of)]
    pub memory: Option<u64>,
    /// Size on disk of tables like these, such as 3TB: report how much memory they need
    #[arg(long, value_name = "SIZE", value_parser = memory::bytes_of)]
    pub data: Option<u64>,
    /// Concurrent users: report how many cores they need
    #[arg(long, value_name = "N", requires = "threads", value_parser = clap::value_parser!(u32).range(1..))]
    pub users: Option<u32>,
    /// Threads per user
    #[arg(long, value_name = "N", requires = "users", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Cores of the server: report how many may be taken out
    #[arg(long, value_name = "N", requires = "users", value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: Option<u32>,
    /// Prices (docs/FORMAT.md): report the licences that fewer cores save
    #[arg(long, value_name = "FILE.toml", requires = "cores")]
    pub prices: Option<PathBuf>,
    /// Random seed of the sample
    #[arg(long, default_value_t = 1)]
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

/// One level, or all of them.
#[derive(Debug, Clone, Copy)]
pub enum Levels {
    All,
    One(Level),
}

impl Levels {
    /// The chosen levels.
    pub fn levels(self) -> std::vec::Vec<Level> {
        match self {
            Levels::All => Level::ALL.to_vec(),
            Levels::One(level) => vec![level],
        }
    }
}

impl std::str::FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Levels::All),
            level => level.parse().map(Levels::One),
        }
    }
}
