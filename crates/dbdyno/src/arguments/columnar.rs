//! What can be typed behind `dbdyno columnar`.

use clap::{Args, Subcommand};
use workload::columnar::size::Budget;
use workload::columnar::{JOBS_MAX, Level, Unfit, memory};
use workload::olap::Scale;

use super::{Occasion, SecretText};

/// `dbdyno columnar`.
#[derive(Debug, Args)]
pub struct ColumnarArguments {
    /// What to do with them
    #[command(subcommand)]
    pub verb: ColumnarVerb,
}

/// The verbs of lifted tables.
#[derive(Debug, Subcommand)]
pub enum ColumnarVerb {
    /// Lift tables, and say how much memory they take, how long it took, and that they are the same
    Lift(LiftArguments),
    /// Set every level beside the disk: sizes, and the analytical queries by one user and by several
    Run(Box<StudyArguments>),
    /// Predict how much memory tables would take at each level, from a sample of their blocks
    Size(SizeArguments),
}

/// `dbdyno columnar lift`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all tables are lifted, right, and kept as asked for · 3 a table is not the same as \
in its source, or its level did not take"
)]
pub struct LiftArguments {
    #[command(flatten)]
    pub wanted: Wanted,
    /// How hard they are compressed: none, query-low, query-high, capacity-low or capacity-high
    #[arg(long)]
    pub level: Level,
    /// Memory for them, as 500MB or 4GiB (default: 80 % of what is available)
    #[arg(long, value_name = "SIZE", value_parser = memory::limit_of)]
    pub memory: Option<u64>,
    /// Streams that read at the same time (default: one for each processor, or 1 where the source has no more)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
    /// Print JSON (docs/COLUMNAR.md) instead of lines
    #[arg(long)]
    pub json: bool,
}

/// Tables of a database that is only read.
#[derive(Debug, Args)]
pub struct Wanted {
    /// Database to read, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE; nothing is written to it
    #[arg(long, value_name = "URL")]
    pub from: SecretText,
    /// Tables, as NAME or SCHEMA.NAME, * and ? standing for any; with a minus in front, all but these (default: all that
    /// this user may read and that have rows of their own)
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub tables: Vec<String>,
    /// Columns, as TABLE.COLUMN: of a table with such only these count; with a minus in front, all but these
    #[arg(
        long,
        value_name = "TABLE.COLUMN,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub columns: Vec<String>,
    /// Columns and values that no level can hold: fail ends, skip leaves such columns out, and tables with such values,
    /// text keeps the columns as texts
    #[arg(long, value_name = "HOW", default_value = "fail")]
    pub unfit: Unfit,
}

/// `dbdyno columnar run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 every point is valid · 3 an answer is wrong or missing, a table is not the same as in \
its source, or a level did not take"
)]
pub struct StudyArguments {
    /// Database whose tables are lifted, and asked as they lie on disk: 100 % (default: SQLite in a file of its own)
    #[arg(long, value_name = "URL")]
    pub from: Option<SecretText>,
    /// Scale factor of the analytical workload that is loaded there, unless it is there already
    #[arg(long, value_name = "SF", default_value = "0.1")]
    pub scale: Scale,
    /// Levels to set beside the disk (default: all five)
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',')]
    pub levels: Vec<Level>,
    /// Degrees of parallelism inside a session, each clamped to what the engine takes
    #[arg(long, value_name = "2,32,…", value_delimiter = ',', default_value = "1,2", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub dop: Vec<u32>,
    /// Users who ask at the same time, beside one alone
    #[arg(long, value_name = "S", default_value_t = 5)]
    pub users: u32,
    /// Queries to ask (default: all)
    #[arg(long, value_name = "14,6,1", value_parser = workload::olap::query::numbers)]
    pub queries: Option<std::vec::Vec<u32>>,
    /// Memory for the lifted tables with their queries, and the same for the cache of the database on disk where
    /// dbdyno makes it (default: 80 % of what is available, divided by the levels)
    #[arg(long, value_name = "SIZE", value_parser = memory::limit_of)]
    pub memory: Option<u64>,
    /// A query that takes longer is ended and invalid, and the run goes on (default: 3600)
    #[arg(long, value_name = "S")]
    pub query_limit: Option<f64>,
    /// Users of an order-entry load in the same server: measured alone, and with the queries beside it on disk and at
    /// each level (default: no such load)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub oltp_users: Option<u32>,
    /// Warehouses of its database, which is loaded for it
    #[arg(long, value_name = "W", default_value_t = 1, requires = "oltp_users")]
    pub oltp_warehouses: u32,
    /// Seconds that it is measured, and at least beside queries: their last pass is awaited
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

/// `dbdyno columnar size`.
#[derive(Debug, Args)]
pub struct SizeArguments {
    #[command(flatten)]
    pub wanted: Wanted,
    /// How hard they would be compressed: all, none, query-low, query-high, capacity-low or capacity-high
    #[arg(long, default_value = "all")]
    pub level: Levels,
    /// What reading may take: a share of the rows, a time, or both, as 2%, 30s or 2%,30s
    #[arg(long, value_name = "SHARE,TIME", default_value = "2%,30s")]
    pub budget: Budget,
    /// Memory, as 64GB or 48GiB: say which tables it holds
    #[arg(long, value_name = "SIZE", value_parser = memory::bytes_of)]
    pub memory: Option<u64>,
    /// Users who ask at the same time: say how many cores they need
    #[arg(long, value_name = "N", requires = "threads", value_parser = clap::value_parser!(u32).range(1..))]
    pub users: Option<u32>,
    /// Threads with which each of them asks
    #[arg(long, value_name = "N", requires = "users", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Seed of the choice of the blocks
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON (docs/COLUMNAR.md) instead of lines
    #[arg(long)]
    pub json: bool,
}

/// One level, or all of them.
#[derive(Debug, Clone, Copy)]
pub enum Levels {
    /// Every one.
    All,
    /// Only this one.
    One(Level),
}

impl Levels {
    /// Those that are meant.
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
