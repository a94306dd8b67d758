//! Arguments of `dbdyno check`.

use std::path::PathBuf;

use clap::Args;

use super::{SecretText, ServerHost, TextOrJson};
use crate::consent::Permission;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 a run can start, and no check of --engine and no invariant of --method failed · 1 the database cannot be reached · 2 invalid input, or --engine or --method was not agreed to · \
3 a run would be refused, a check failed, or an invariant is broken; the output says why"
)]
pub struct CheckArguments {
    /// Database to check, as ENGINE:PATH or ENGINE://USER@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    pub target: SecretText,
    /// Also run the suite that every engine has to pass (types, transactions, deadlock, cancel, bulk load, catalogue,
    /// counters, waits …), in a schema or file of its own that is removed afterwards
    #[arg(long)]
    pub engine: bool,
    /// Also measure whether dbdyno measures this database rightly (about four minutes): invariants that every right measurement
    /// keeps, such as N = X(R + Z) and committed = changed, in a schema or file of its own that is removed afterwards
    #[arg(long)]
    pub method: bool,
    /// Length of each of the 112 points of --method
    #[arg(long, value_name = "SECONDS", default_value_t = 1.5, requires = "method", value_parser = point_seconds)]
    pub seconds: f64,
    /// Format: text, or JSON (docs/CHECK.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
    /// Write the result to a file instead: JSON if its name ends in .json, else text
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerHost,
    #[command(flatten)]
    pub permission: Permission,
}

fn point_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok();
    seconds
        .filter(|seconds| (0.1..=60.0).contains(seconds))
        .ok_or_else(|| "expected a number of seconds from 0.1 to 60".to_owned())
}
