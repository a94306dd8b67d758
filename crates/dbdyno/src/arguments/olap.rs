//! Arguments of `dbdyno olap`.

use clap::{Args, Subcommand, ValueEnum};
use olap::{JOBS_MAX, Scale};

use super::{DropArguments, Occasion, SecretText, TextOrJson};

#[derive(Debug, Args)]
pub struct OlapArguments {
    #[command(subcommand)]
    pub verb: OlapVerb,
}

#[derive(Debug, Subcommand)]
pub enum OlapVerb {
    /// Load the eight tables, with keys and statistics
    Load(LoadArguments),
    /// Run the queries and verify every answer
    Run(Box<OlapRunArguments>),
    /// Check row counts and the queries' answers
    Check(CheckArguments),
    /// Drop the tables
    Drop(DropArguments),
}

#[derive(Debug, Args)]
pub struct LoadArguments {
    /// Database to load, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Scale factor; 1 is about a gigabyte of text
    #[arg(long, value_name = "SF")]
    pub scale: Scale,
    /// Concurrent loading sessions (default: one per processor, or 1 if the engine has a single writer)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
    /// Replace an existing analytical database
    #[arg(long)]
    pub replace: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 every point is valid · 3 an answer is wrong or missing, or a check failed"
)]
pub struct OlapRunArguments {
    /// Database to query; repeat the option to compare the answers of several databases
    #[arg(long = "target", value_name = "URL", required = true)]
    pub targets: Vec<SecretText>,
    /// Scale factor that the database must have
    #[arg(long, value_name = "SF")]
    pub scale: Option<Scale>,
    /// Queries to run (default: all), in the order of stream 0 of the TPC-H specification
    #[arg(long, value_name = "14,6,1", value_parser = olap::query::numbers)]
    pub queries: Option<std::vec::Vec<u32>>,
    /// Runs of each query (default: 1)
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// Run all queries in N rounds, as one point that keeps each execution; the caches are emptied or warmed before the
    /// first round only
    #[arg(long, value_name = "N", conflicts_with_all = ["iterations", "streams", "refresh"])]
    pub rounds: Option<u32>,
    /// Streams of a throughput run after the power run (default: no throughput run)
    #[arg(long, value_name = "S")]
    pub streams: Option<u32>,
    /// Degrees of parallelism within a session, measured in turn and clamped to what the engine takes (default:
    /// the target's own)
    #[arg(long, value_name = "2,32", value_delimiter = ',')]
    pub dop: Vec<u32>,
    /// Run the refresh functions RF1 (inserts) and RF2 (deletes) around the power run and during the throughput run; the data are restored afterwards
    #[arg(long)]
    pub refresh: bool,
    /// Source of the query parameters
    #[arg(long, value_enum, default_value = "qualification")]
    pub parameters: Parameters,
    /// State of the caches before each query
    #[arg(long, value_enum, default_value = "warm")]
    pub cache: Cache,
    /// Cancel a query after this many seconds; it is invalid, and the run continues (default: 3600)
    #[arg(long, value_name = "S")]
    pub query_limit: Option<f64>,
    #[command(flatten)]
    pub occasion: Occasion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Parameters {
    /// The qualification parameters, whose answers are known
    Qualification,
    /// Drawn at random
    Seeded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cache {
    /// Each query runs once beforehand
    Warm,
    /// Engine and kernel caches are emptied, as far as the target can do that
    Cold,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all counts and answers checked are right · 3 a count or an answer is wrong"
)]
pub struct CheckArguments {
    /// Database to check
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Queries to run (default: all)
    #[arg(long, value_name = "14,6,1", value_parser = olap::query::numbers)]
    pub queries: Option<std::vec::Vec<u32>>,
    /// Cancel a query after this many seconds; it then has no answer
    #[arg(long, value_name = "S")]
    pub query_limit: Option<f64>,
    /// Format: text, or JSON (docs/OLAP.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
    /// Print the answers in the form in which they are stored for a scale
    #[arg(long, hide = true)]
    pub answers: bool,
}
