//! Arguments of `dbdyno observe`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use observe::LINES_DEFAULT;

use super::length::length;
use super::{SecretText, ServerHost};
use crate::event_outputs::WatchArguments;

#[derive(Debug, Args)]
#[command(
    after_help = "The observation is a run of the archive: `dbdyno report last` writes its page, `compare` sets it beside another one, \
`judge` checks its limits. docs/OBSERVE.md has rights and meanings"
)]
pub struct ObserveArguments {
    /// Running server to observe; its other sessions are neither refused nor disturbed
    #[arg(long, value_name = "URL", required_unless_present = "of")]
    pub target: Option<SecretText>,
    /// How long to observe, from 1s to 24h
    #[arg(long = "for", value_name = "LENGTH", default_value = "10m", value_parser = length)]
    pub length: Duration,
    /// Keep no texts of statements, not even without their values
    #[arg(long)]
    pub no_sql: bool,
    /// Statements, tables, blockers and the like to keep of each kind
    #[arg(long, value_name = "N", default_value_t = LINES_DEFAULT)]
    pub lines: u32,
    /// Label of the run
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    pub name: Option<String>,
    /// Also write a plan whose load has the observed profile, without the data and without the SQL, and print how well it fits
    #[arg(long, value_name = "FILE.toml")]
    pub plan: Option<PathBuf>,
    /// Observe nothing: write the plan of an observation in the archive (number, label, or "last")
    #[arg(long, value_name = "RUN", requires = "plan", conflicts_with_all = ["target", "length", "no_sql", "lines", "name"])]
    pub of: Option<String>,
    #[command(flatten)]
    pub server: ServerHost,
    #[command(flatten)]
    pub watch: WatchArguments,
}
