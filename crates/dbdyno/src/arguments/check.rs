//! Arguments of `dbdyno check`.

use std::path::PathBuf;

use clap::Args;

use super::{SecretText, ServerHost};

/// `dbdyno check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 a run can start, and no check of --engine failed · 1 the database cannot be reached · 2 invalid input, or --engine was not agreed to · \
3 a run would be refused, or a check failed; the output says why"
)]
pub struct CheckArguments {
    /// Database to check, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    #[command(flatten)]
    pub server: ServerHost,
    /// Allow servers with other active sessions, as in `dbdyno run`
    #[arg(long)]
    pub shared: bool,
    /// Also run the suite that every engine has to pass (types, transactions, deadlock, cancel, bulk load, catalogue,
    /// counters, waits …), in a schema or file of its own that is removed afterwards
    #[arg(long)]
    pub engine: bool,
    /// Start --engine without asking
    #[arg(long)]
    pub yes: bool,
    /// Print JSON (docs/CHECK.md)
    #[arg(long)]
    pub json: bool,
    /// Write the result to a file instead: JSON if its name ends in .json, else text
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
