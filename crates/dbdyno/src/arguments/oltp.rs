//! What can be typed behind `dbdyno oltp`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use workload::oltp::{JOBS_MAX, WAREHOUSES_MAX};

use super::{Occasion, SecretText};

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
    /// Let users work, at one level or at more and more of them, and check the database before and after
    Run(Box<UsersArguments>),
    /// Check the twelve consistency conditions and the row counts
    Check(CheckArguments),
    /// Bring the database back to what it was right after its load
    Restore(RestoreArguments),
    /// Hold a log of acknowledged transactions, which `run --journal` kept, against the database
    Reconcile(ReconcileArguments),
    /// Remove the tables
    Drop(DropArguments),
}

/// `dbdyno oltp load`.
#[derive(Debug, Args)]
pub struct LoadArguments {
    /// Database to load, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
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

/// `dbdyno oltp run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 every point is valid · 3 a check or a gate failed, the database is broken say"
)]
pub struct UsersArguments {
    /// Database to work on
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Size that the database must have; with --repeat it is brought back to its load before each repetition
    #[arg(long, value_name = "W")]
    pub warehouses: Option<u32>,
    /// Users: a number, a list as 1,2,4 or a ramp FROM..TO/STEP
    #[arg(long, value_name = "USERS", default_value = "1")]
    pub users: String,
    /// Connections that the users share (default: one for each)
    #[arg(long, value_name = "N")]
    pub connections: Option<u32>,
    /// Measured seconds of each level
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub seconds: f64,
    /// Seconds of work before each level is measured
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub ramp_up: f64,
    /// Longest warm-up before the first level of each repetition: users work until throughput is steady; 0 for none
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub warm_up_max: f64,
    /// Where the logic of the transactions is
    #[arg(long, value_enum, default_value = "client")]
    pub mode: Mode,
    /// Keying and think times as the specification has them; without them warehouses are only a size
    #[arg(long)]
    pub pauses: bool,
    /// Response time that has to be held: the ramp ends behind it, and supported users are told
    #[arg(long, value_name = "p95=50ms")]
    pub limit: Option<String>,
    /// Search the highest rate of arrivals that holds this response time; --rate is where it begins
    #[arg(long, value_name = "p95=50ms")]
    pub slo: Option<String>,
    /// Arrivals per second of all users together, instead of users who wait for their answers
    #[arg(long, value_name = "PER-S")]
    pub rate: Option<f64>,
    /// How they arrive
    #[arg(long, value_enum, value_name = "HOW", requires = "rate")]
    pub arrivals: Option<Arrivals>,
    /// Conditions that are checked before and after; light puts 6, 10 and 12 off
    #[arg(long, value_enum, default_value = "full")]
    pub check: Check,
    /// An operation that takes longer has failed
    #[arg(long, value_name = "S")]
    pub operation_limit: Option<f64>,
    /// Measure every level, even when a rule says that the ramp has seen enough
    #[arg(long)]
    pub all_levels: bool,
    /// Log what was acknowledged, and hold the database against it afterwards
    #[arg(long)]
    pub journal: bool,
    /// Threads of the driver (default: one, and more when it is saturated)
    #[arg(long, value_name = "N")]
    pub driver_threads: Option<u32>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub occasion: Occasion,
}

/// Where the logic of the transactions is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The driver sends statements
    Client,
    /// The driver calls stored procedures
    Procedure,
}

/// How operations arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// At equal distances
    Constant,
    /// Independently of each other
    Poisson,
}

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Every condition
    Full,
    /// Not those that read every order line
    Light,
    /// Nothing; the result says so
    None,
}

/// `dbdyno oltp check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 everything that was looked at holds · 3 a condition is broken"
)]
pub struct CheckArguments {
    /// Database to check
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
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
    pub target: SecretText,
    /// Sessions that load where it has to be loaded anew (default: as for load)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
}

/// `dbdyno oltp reconcile`.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 everything acknowledged is there · 3 something is missing")]
pub struct ReconcileArguments {
    /// Database that the log is of; nobody may have worked on it since
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// The log: it lies beside the archive, and a run that was broken off leaves it there
    #[arg(long, value_name = "FILE")]
    pub journal: PathBuf,
}

/// `dbdyno oltp drop`.
#[derive(Debug, Args)]
pub struct DropArguments {
    /// Database to remove the tables from
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
}
