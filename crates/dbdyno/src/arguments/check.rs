//! Arguments of `dbdyno check`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::length::length;
use super::positional::OneTarget;
use super::{ServerHost, TextOrJson};
use crate::consent::Permission;

#[derive(Debug, Args)]
#[command(
    override_usage = "dbdyno check [OPTIONS] TARGET\n       dbdyno check --inventory[=DIR] [OPTIONS]",
    after_help = "Exit status: 0 a run can start, and no check of --compatibility and no invariant of --self-test failed; the inventory was \
taken · 1 the database or the machine cannot be reached · 2 invalid input, or --compatibility or --self-test was not confirmed · \
3 a run would be refused, a check failed, or an invariant is broken; the output says why"
)]
pub struct CheckArguments {
    #[command(flatten)]
    pub target: OneTarget,
    /// Also run the suite that every engine has to pass (types, transactions, deadlock, cancel, bulk load, catalogue,
    /// counters, waits …), in a separate schema or file, which is removed afterwards
    #[arg(long)]
    pub compatibility: bool,
    /// Also check that dbdyno measures this database correctly (about four minutes): invariants of every correct measurement, such
    /// as N = X(R + Z) and committed = changed, in a separate schema or file, which is removed afterwards
    #[arg(long)]
    pub self_test: bool,
    /// Length of each of the 112 points of --self-test
    #[arg(short = 'T', long, value_name = "DURATION", default_value = "1.5s", requires = "self_test", value_parser = point_time)]
    pub time: Duration,
    /// With --self-test: print every fact and invariant, not only the result
    #[arg(long, requires = "self_test")]
    pub full: bool,
    #[allow(rustdoc::broken_intra_doc_links)] // Brackets of the help, no link.
    /// Instead of a database: show the inventory of this machine, or of the one of --ssh, and how it departs from published
    /// advice. DIR has proc, sys and etc, such as a tree copied from another machine (default: /)
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "/",
          conflicts_with_all = ["texts", "targets", "allow_busy", "compatibility", "self_test", "yes"])]
    pub inventory: Option<PathBuf>,
    /// Show how the inventory differs from a run, or from a file with an inventory as JSON
    #[arg(long, value_name = "RUN")]
    pub against: Option<String>,
    /// File describing what dbdyno cannot discover: storage array, RAID level, cache, licensed options
    #[arg(long, value_name = "FILE.toml")]
    pub platform: Option<PathBuf>,
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

impl CheckArguments {
    /// True with an option that only an inventory has.
    pub fn needs_inventory(&self) -> bool {
        self.against.is_some() || self.platform.is_some()
    }

    pub fn is_json(&self) -> bool {
        let end = self.output.as_deref().and_then(Path::extension);
        self.format.is_json() || end.is_some_and(|end| end == "json")
    }
}

const POINT_MIN: Duration = Duration::from_millis(100);
const POINT_MAX: Duration = Duration::from_secs(60);

fn point_time(text: &str) -> Result<Duration, String> {
    let time = length(text)?;
    if !(POINT_MIN..=POINT_MAX).contains(&time) {
        return Err("expected a duration from 100ms to 60s".to_owned());
    }
    Ok(time)
}
