//! What can be typed behind `dbdyno olap`.

use clap::{Args, Subcommand, ValueEnum};
use workload::olap::{JOBS_MAX, Scale};

use super::{Occasion, SecretText};

/// `dbdyno olap`.
#[derive(Debug, Args)]
pub struct OlapArguments {
    /// What to do with it
    #[command(subcommand)]
    pub verb: OlapVerb,
}

/// The verbs of the analytical workload.
#[derive(Debug, Subcommand)]
pub enum OlapVerb {
    /// Load the eight tables, with keys and statistics
    Load(LoadArguments),
    /// Ask the queries, each as a point, and compare every answer
    Run(Box<AskArguments>),
    /// Count the rows, and check the answers of the queries
    Check(CheckArguments),
    /// Remove the tables
    Drop(DropArguments),
}

/// `dbdyno olap load`.
#[derive(Debug, Args)]
pub struct LoadArguments {
    /// Database to load, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Scale factor; 1 is about a gigabyte of text
    #[arg(long, value_name = "SF")]
    pub scale: Scale,
    /// Sessions that load at the same time (default: one for each processor, or 1 where the engine has one writer)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
    /// Remove an analytical database that is there
    #[arg(long)]
    pub replace: bool,
}

/// `dbdyno olap run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 every point is valid · 3 an answer is wrong or missing, or a gate failed"
)]
pub struct AskArguments {
    /// Database to ask; with several, their answers are compared with each other
    #[arg(long = "target", value_name = "URL", required = true)]
    pub targets: Vec<SecretText>,
    /// Scale that the database must have
    #[arg(long, value_name = "SF")]
    pub scale: Option<Scale>,
    /// Queries to ask (default: all), in the order of the specification's stream 0
    #[arg(long, value_name = "14,6,1", value_parser = workload::olap::query::numbers)]
    pub queries: Option<std::vec::Vec<u32>>,
    /// How often each is asked (default: once)
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// Users of a throughput run behind the queries, each in an order of its own (default: no such run)
    #[arg(long, value_name = "S")]
    pub streams: Option<u32>,
    /// Degrees of parallelism inside a session, one after the other (default: as the target is opened); what an engine
    /// does not take is clamped to what it does
    #[arg(long, value_name = "2,32", value_delimiter = ',')]
    pub dop: Vec<u32>,
    /// Let orders come in before the queries of a user and go behind them, and both beside several users; the rows are
    /// put back afterwards
    #[arg(long)]
    pub refresh: bool,
    /// Where the parameters of the queries come from
    #[arg(long, value_enum, default_value = "qualification")]
    pub parameters: Parameters,
    /// State of the caches before each query
    #[arg(long, value_enum, default_value = "warm")]
    pub cache: Cache,
    /// A query that takes longer is ended and invalid, and the run goes on (default: 3600)
    #[arg(long, value_name = "S")]
    pub query_limit: Option<f64>,
    /// Seed of parameters that are drawn
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub occasion: Occasion,
}

/// Where parameters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Parameters {
    /// Those whose answers are known
    Qualification,
    /// Drawn from the seed
    Seeded,
}

/// State of the caches before each query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cache {
    /// Each query is asked once before
    Warm,
    /// Engine and kernel have forgotten the data, as far as the target can see to that
    Cold,
}

/// `dbdyno olap check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 nothing that was looked at is wrong · 3 a count or an answer is wrong"
)]
pub struct CheckArguments {
    /// Database to check
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Queries to ask (default: all)
    #[arg(long, value_name = "14,6,1", value_parser = workload::olap::query::numbers)]
    pub queries: Option<std::vec::Vec<u32>>,
    /// A query that takes longer is ended, and has no answer
    #[arg(long, value_name = "S")]
    pub query_limit: Option<f64>,
    /// Print JSON (docs/OLAP.md) instead of lines
    #[arg(long, conflicts_with = "answers")]
    pub json: bool,
    /// Print the answers as they are stored for a scale, instead of what was found
    #[arg(long, hide = true)]
    pub answers: bool,
}

/// `dbdyno olap drop`.
#[derive(Debug, Args)]
pub struct DropArguments {
    /// Database to remove the tables from
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
}
