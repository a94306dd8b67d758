//! Arguments of `dbdyno observe`.

use std::time::Duration;

use clap::Args;

use super::ResultOptions;
use super::ServerHost;
use super::length::length;
use super::positional::OneTarget;
use crate::event_outputs::WatchArguments;

#[derive(Debug, Args)]
#[command(
    override_usage = "dbdyno observe [OPTIONS] TARGET",
    after_help = "The observation is a run of the archive: `dbdyno report last` writes its page, checks its limits, or makes a plan of it \
(--format plan); `compare` compares it with another one. docs/OBSERVE.md has rights and meanings"
)]
pub struct ObserveArguments {
    #[command(flatten)]
    pub target: OneTarget,
    /// How long to observe, from 1s to 24h
    #[arg(short = 'T', long, value_name = "DURATION", default_value = "10m", value_parser = length)]
    pub time: Duration,
    /// Set a key of the observation: sql=false (no texts of statements, not even without their values), lines=N (rows of each
    /// table; default: 10)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Name of the run, to refer to it later
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub name: Option<String>,
    #[command(flatten)]
    pub server: ServerHost,
    #[command(flatten)]
    pub watch: WatchArguments,
    #[command(flatten)]
    pub results: ResultOptions,
}
