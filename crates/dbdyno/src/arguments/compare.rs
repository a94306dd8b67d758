//! Arguments of `dbdyno compare`.

use std::path::PathBuf;

use clap::Args;

use super::judging::Judging;

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Baseline run: number, label, or "last"; or the name of a study, alone
    #[arg(value_name = "RUN-A")]
    pub a: String,
    /// Run to judge against it
    #[arg(value_name = "RUN-B")]
    pub b: Option<String>,
    /// Also compare points measured differently (size, schedule, cache …), with a label
    #[arg(long)]
    pub allow_mismatch: bool,
    /// Response-time histograms of the storage array's own monitoring
    ///
    /// A CSV file (docs/VDBENCH.md); RUN=FILE for the second run.
    #[arg(long, value_name = "[RUN=]FILE.csv")]
    pub array: Vec<String>,
    /// Give verdicts although one run was made after the other
    ///
    /// You vouch that nothing but the recorded differences changed in between.
    #[arg(long)]
    pub trust_sequential: bool,
    /// Show all secondary metrics and all configuration differences
    #[arg(long)]
    pub full: bool,
    /// Write the page of both runs, or - for standard output
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub judging: Judging,
}
