//! Arguments of `dbdyno data … olap`.

use std::time::Duration;

use clap::Args;
use olap::{JOBS_MAX, Scale};

use crate::arguments::TextOrJson;
use crate::arguments::length::length;
use crate::arguments::positional::OneTarget;

#[derive(Debug, Args)]
pub struct OlapLoadArguments {
    #[command(flatten)]
    pub target: OneTarget,
    /// Scale factor; 1 is about a gigabyte of text
    #[arg(long, value_name = "SF")]
    pub scale: Scale,
    /// Concurrent loading sessions (default: one per CPU, or 1 if the engine has a single writer)
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub clients: Option<u32>,
    /// Replace an existing analytical database
    #[arg(long)]
    pub replace: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all counts and answers checked are correct · 3 a count or an answer is wrong"
)]
pub struct OlapCheckArguments {
    #[command(flatten)]
    pub target: OneTarget,
    /// Queries to run (default: all)
    #[arg(long, value_name = "14,6,1", value_parser = olap::query::numbers)]
    pub queries: Option<std::vec::Vec<u32>>,
    /// Cancel a query after this time; it then has no answer
    #[arg(long, value_name = "DURATION", value_parser = length)]
    pub timeout: Option<Duration>,
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
