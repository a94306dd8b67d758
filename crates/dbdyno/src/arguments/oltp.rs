//! What can be typed behind `dbdyno oltp`.

use clap::{Args, Subcommand};
use workload::oltp::{JOBS_MAX, WAREHOUSES_MAX};

/// `dbdyno oltp`.
#[derive(Debug, Args)]
pub struct OltpArguments {
    /// What to do with it
    #[command(subcommand)]
    pub verb: OltpVerb,
}

/// The verbs of the order-entry workload.
#[derive(Debug, Subcommand)]
pub enum OltpVerb {
    /// Load the nine tables, or go on with a load that was broken off
    Load(LoadArguments),
    /// Check the twelve consistency conditions and the row counts
    Check(CheckArguments),
    /// Bring the database back to what it was right after its load
    Restore(RestoreArguments),
    /// Remove the tables
    Drop(DropArguments),
}

/// `dbdyno oltp load`.
#[derive(Debug, Args)]
pub struct LoadArguments {
    /// Database to load, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    pub target: String,
    /// Warehouses; each is about 100 MB
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u32).range(1..=i64::from(WAREHOUSES_MAX)))]
    pub warehouses: u32,
    /// Sessions that load at the same time (default: 2, or 1 where the engine has one writer)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
    /// Seed of everything random; the same seed gives the same rows
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Add foreign keys
    #[arg(long)]
    pub foreign_keys: bool,
    /// Remove an order-entry database that is there
    #[arg(long)]
    pub replace: bool,
}

/// `dbdyno oltp check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 everything that was looked at holds · 3 a condition is broken"
)]
pub struct CheckArguments {
    /// Database to check
    #[arg(long, value_name = "URL")]
    pub target: String,
    /// Put off the conditions 6, 10 and 12, which read every order line; what was put off is said
    #[arg(long)]
    pub light: bool,
    /// Print JSON (docs/OLTP.md) instead of lines
    #[arg(long)]
    pub json: bool,
}

/// `dbdyno oltp restore`.
#[derive(Debug, Args)]
#[command(
    after_help = "The first time a copy of the whole database is kept beside it, which takes as much room again; \
                  it goes with `oltp drop`. Where none can be kept the database is loaded anew."
)]
pub struct RestoreArguments {
    /// Database to restore
    #[arg(long, value_name = "URL")]
    pub target: String,
    /// Sessions that load where it has to be loaded anew (default: as for load)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
}

/// `dbdyno oltp drop`.
#[derive(Debug, Args)]
pub struct DropArguments {
    /// Database to remove the tables from
    #[arg(long, value_name = "URL")]
    pub target: String,
}
