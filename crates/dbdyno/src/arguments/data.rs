//! Arguments of `dbdyno data`.

mod columnar;
mod olap;
mod oltp;

use clap::{Args, Subcommand};

use super::positional::OneTarget;

pub use columnar::{Chosen, ColumnarLoadArguments, EstimateArguments};
pub use olap::{OlapCheckArguments, OlapLoadArguments};
pub use oltp::{OltpCheckArguments, OltpLoadArguments, OltpRestoreArguments};

#[derive(Debug, Args)]
pub struct DataArguments {
    #[command(subcommand)]
    pub verb: DataVerb,
}

/// Each action takes the workload first and the database after it.
#[derive(Debug, Subcommand)]
pub enum DataVerb {
    /// Load a workload's tables, or resume an interrupted load
    #[command(subcommand, subcommand_value_name = "WORKLOAD")]
    Load(Load),
    /// Check a loaded database: consistency conditions, row counts, answers of queries
    #[command(subcommand, subcommand_value_name = "WORKLOAD")]
    Check(Check),
    /// Restore a database to its state right after loading
    #[command(subcommand, subcommand_value_name = "WORKLOAD")]
    Restore(Restore),
    /// Drop a workload's tables
    #[command(subcommand, subcommand_value_name = "WORKLOAD")]
    Drop(Drop),
    /// Predict the size of tables in memory at each compression level, from a sample
    Estimate(EstimateArguments),
}

#[derive(Debug, Subcommand)]
pub enum Load {
    /// The nine tables of order entry
    Oltp(OltpLoadArguments),
    /// The eight tables of the analytical workload, with keys and statistics
    Olap(OlapLoadArguments),
    /// Tables of a database into memory; report size and time, and verify the contents
    Columnar(ColumnarLoadArguments),
}

#[derive(Debug, Subcommand)]
pub enum Check {
    /// The twelve consistency conditions of order entry and its row counts, or its log of acknowledged transactions
    Oltp(OltpCheckArguments),
    /// Row counts and the queries' answers
    Olap(OlapCheckArguments),
}

#[derive(Debug, Subcommand)]
pub enum Restore {
    /// The order-entry database
    Oltp(OltpRestoreArguments),
}

#[derive(Debug, Subcommand)]
pub enum Drop {
    /// The tables of order entry
    Oltp(DropArguments),
    /// The tables of the analytical workload
    Olap(DropArguments),
}

#[derive(Debug, Args)]
pub struct DropArguments {
    #[command(flatten)]
    pub target: OneTarget,
}
