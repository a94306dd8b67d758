//! What can be typed behind `dbdyno olap`.

use clap::{Args, Subcommand};
use workload::olap::{JOBS_MAX, Scale};

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
    pub target: String,
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

/// `dbdyno olap check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 nothing that was looked at is wrong · 3 a count or an answer is wrong"
)]
pub struct CheckArguments {
    /// Database to check
    #[arg(long, value_name = "URL")]
    pub target: String,
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
    pub target: String,
}
