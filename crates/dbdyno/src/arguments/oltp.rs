//! Arguments of `dbdyno oltp`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use oltp::{JOBS_MAX, WAREHOUSES_MAX};

use super::{Occasion, SecretText, TextOrJson};

#[derive(Debug, Args)]
pub struct OltpArguments {
    #[command(subcommand)]
    pub verb: OltpVerb,
}

#[derive(Debug, Subcommand)]
pub enum OltpVerb {
    /// Load the nine tables, or resume an interrupted load
    Load(LoadArguments),
    /// Run users at one level or along a ramp, checking the database before and after
    Run(Box<UsersArguments>),
    /// Check the twelve consistency conditions and the row counts
    Check(CheckArguments),
    /// Restore the database to its state right after loading
    Restore(RestoreArguments),
    /// Check the database against a log of acknowledged transactions, kept by `run --journal`
    Reconcile(ReconcileArguments),
    /// Drop the tables
    Drop(DropArguments),
}

#[derive(Debug, Args)]
pub struct LoadArguments {
    /// Database to load, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Number of warehouses, about 100 MB each
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u32).range(1..=i64::from(WAREHOUSES_MAX)))]
    pub warehouses: u32,
    /// Rows of each warehouse: those of the TPC-C specification, or a tenth of them, to try something out
    #[arg(long, value_enum, value_name = "ROWS", default_value = "full")]
    pub warehouse_rows: Rows,
    /// Concurrent loading sessions (default: 2, or 1 if the engine has a single writer)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
    /// Random seed; the same seed gives the same rows
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Add foreign keys
    #[arg(long)]
    pub foreign_keys: bool,
    /// Replace an existing order-entry database
    #[arg(long)]
    pub replace: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Rows {
    Full,
    Tenth,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 every point is valid · 3 a check failed; the database may be inconsistent"
)]
pub struct UsersArguments {
    /// Database to work on
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Number of warehouses that the database must have; with --repeat it is restored before each repetition
    #[arg(long, value_name = "W")]
    pub warehouses: Option<u32>,
    /// Rows that each warehouse must have; with --repeat, those that are restored (default: full)
    #[arg(long, value_enum, value_name = "ROWS")]
    pub warehouse_rows: Option<Rows>,
    /// Users: a number, a list (1,2,4) or a ramp (FROM..TO/STEP)
    #[arg(long, value_name = "USERS", default_value = "1")]
    pub users: String,
    /// Connections shared by the users (default: one per user)
    #[arg(long, value_name = "N")]
    pub connections: Option<u32>,
    /// Measured seconds per level
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub seconds: f64,
    /// Seconds of load before each level is measured
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub ramp_up: f64,
    /// Maximum seconds of warm-up before the first level of each repetition; it ends sooner once throughput is steady;
    /// 0 for none
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub warm_up_max: f64,
    /// Where the transaction logic runs
    #[arg(long, value_enum, default_value = "client")]
    pub mode: Mode,
    /// Use the keying and think times of the TPC-C specification; without them, each user sends its next transaction at
    /// once, and the number of warehouses sets only the size of the data
    #[arg(long)]
    pub pauses: bool,
    /// Response-time limit: the ramp ends once it is exceeded, and the supported number of users is reported
    #[arg(long, value_name = "p95=50ms")]
    pub limit: Option<String>,
    /// Find the highest arrival rate that meets this response time, starting from --rate
    #[arg(long, value_name = "p95=50ms")]
    pub slo: Option<String>,
    /// Open-loop arrival rate of all users together, instead of users that wait for their answers
    #[arg(long, value_name = "PER-S")]
    pub rate: Option<f64>,
    /// Spacing of the arrivals
    #[arg(long, value_enum, value_name = "HOW", requires = "rate")]
    pub arrivals: Option<Arrivals>,
    /// Conditions to check before and after; `light` skips conditions 6, 10 and 12
    #[arg(long, value_enum, default_value = "full")]
    pub check: Check,
    /// Count a transaction as failed if it takes longer than this many seconds
    #[arg(long, value_name = "S")]
    pub operation_limit: Option<f64>,
    /// Measure every level, even after the ramp's stopping rule is met
    #[arg(long)]
    pub all_levels: bool,
    /// Log acknowledged transactions and check the database against the log afterwards
    #[arg(long)]
    pub journal: bool,
    /// Driver threads (default: one, and more if it is saturated)
    #[arg(long, value_name = "N")]
    pub driver_threads: Option<u32>,
    #[command(flatten)]
    pub occasion: Occasion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The driver sends statements
    Client,
    /// The driver calls stored procedures
    Procedure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// Evenly spaced
    Constant,
    /// Exponentially distributed gaps
    Poisson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// All conditions
    Full,
    /// All but those that read every order line
    Light,
    /// None; the result says so
    None,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 all conditions checked hold · 3 a condition is violated")]
pub struct CheckArguments {
    /// Database to check
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Skip conditions 6, 10 and 12, which read every order line
    #[arg(long)]
    pub light: bool,
    /// Format: text, or JSON (docs/OLTP.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The first restore keeps a copy of the whole database beside it, which takes as much space again; `oltp drop` \
                  removes it. Where no copy can be kept, the database is reloaded."
)]
pub struct RestoreArguments {
    /// Database to restore
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Concurrent loading sessions, if it has to be reloaded (default: as for load)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub jobs: Option<u32>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 every acknowledged transaction is there · 3 something is missing"
)]
pub struct ReconcileArguments {
    /// Database that the log belongs to, unchanged since
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// The log; an interrupted run leaves it beside the archive
    #[arg(long, value_name = "FILE")]
    pub journal: PathBuf,
}

#[derive(Debug, Args)]
pub struct DropArguments {
    /// Database to drop the tables from
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
}
