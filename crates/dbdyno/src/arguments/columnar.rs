//! What can be typed behind `dbdyno columnar`.

use clap::{Args, Subcommand};
use workload::columnar::{JOBS_MAX, Level, memory};

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
}

/// `dbdyno columnar lift`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all tables are lifted, right, and kept as asked for · 3 a table is not the same as \
in its source, or its level did not take"
)]
pub struct LiftArguments {
    /// Database to read, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE; nothing is written to it
    #[arg(long, value_name = "URL")]
    pub from: String,
    /// Tables to lift, as NAME or SCHEMA.NAME (default: all that this user may read)
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub tables: Vec<String>,
    /// Columns, as TABLE.COLUMN: of a table with such only these are lifted; with a minus in front, all but these
    #[arg(
        long,
        value_name = "TABLE.COLUMN,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub columns: Vec<String>,
    /// How hard they are compressed: none, query-low, query-high, capacity-low or capacity-high
    #[arg(long)]
    pub level: Level,
    /// Memory for them, as 500MB or 4GiB (default: 80 % of what is available)
    #[arg(long, value_name = "SIZE", value_parser = memory::bytes_of)]
    pub memory: Option<u64>,
    /// Streams that read at the same time (default: one for each processor, or 1 where the source has no more)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
    /// Print JSON (docs/COLUMNAR.md) instead of lines
    #[arg(long)]
    pub json: bool,
}
